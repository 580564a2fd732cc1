//! A bound on the kinetic energy of trees that turn far in a step.
//!
//! Coriolis and gyroscopic forces do no work on a tree whose inertia changes with its position: the energy that they give at the
//! old position is what the motion takes. Explicit in a step, they give energy at second order, and beyond about a radian a step
//! without bound, as do the fixed points of the other integrators. Where joints turn by more than a tenth of a radian in a step
//! under rows, dampers or servos, the sum of what they gave is kept at or below a hundredth of the kinetic energy by scaling the
//! motion about the centre of mass; beyond a radian every tree takes that rule, and its Coriolis forces may give nothing within
//! the step either. Between the two free motion keeps its integrator, and leaves it where its fixed point diverges; what it gains
//! there ends at a radian. Beyond, the kinetic energy never exceeds by more than a hundredth what it was plus the work of all
//! other forces. The integrators `momentum` and `variational` keep the angular momentum `L` of a floating tree first: there the
//! bound is that, or what `L` asks for in the posture, `½ L · I_c⁻¹ L`, if that is more.
//!
//! With `momentum` the bound holds at any rate and without allowance: where only gravity works a step ends with the energy that it
//! began with, and under rows, dampers and servos with no more than these leave. There the energy comes before the angular
//! momentum, should both not go together.

use karakuri_dynamics::{
    forward_kinematics, kinetic_energy, potential_energy, rnea_at_velocity, update_velocities,
};
use karakuri_model::{Base, Model};
use karakuri_spatial::Vector3;

use crate::state::robot::Robot;
use crate::state::turns::LongestTurn;

/// Rotation of a joint in a step from which on the energy is bounded under rows, dampers and servos. [rad]
const FAST: f64 = 0.1;
/// Rotation from which on a tree leaves its integrator of free motion, and Coriolis forces may give nothing. [rad]
const TOO_FAST: f64 = 1.0;
/// Growth of the kinetic energy in a step of free motion from which on its fixed point did not converge. [-]
const DIVERGED: f64 = 2.0;
/// Part of the kinetic energy that the integration may give. [-]
const ALLOWED: f64 = 0.01;

/// Most by which the energy of joints in free motion is raised in a step, where the integration took some. [-]
// Near a turning point of the joints a small energy asks for a large factor, which would be noise.
const MOST_GIVEN: f64 = 1.01;

/// Part of the kinetic energy below which a difference is rounding. [-]
const ROUNDING: f64 = 1e-13;

/// State of the bound of a robot.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EnergyGuard {
    /// Whether its joints turn far in this step.
    pub(crate) is_on: bool,
    /// Whether they turn too far for any rule.
    pub(crate) is_strict: bool,
    /// Whether the angular momentum of a floating tree is to be kept.
    pub(crate) keeps_spin: bool,
    /// Part of the kinetic energy that the integration may give; nothing, and at any rate, where the energy is exact. [-]
    allowed: f64,
    /// Energy that Coriolis forces took within the step, at its start's position; if exact, with the potential energy there less
    /// the work of gravity. [J]
    taken: f64,
    /// Energy at the start of the step, if only gravity can work in it. [J]
    at_start: Option<f64>,
    /// Kinetic energy that the step may end with; if exact, with the potential energy. [J]
    most: f64,
    /// Energy that the integration has given since its joints turned far. [J]
    surplus: f64,
}

impl EnergyGuard {
    /// Whether the integration may give nothing.
    fn is_exact(&self) -> bool {
        self.allowed == 0.0
    }

    /// Forgets what the integration has given: it was measured against another inertia.
    pub(crate) fn forget(&mut self) {
        self.surplus = 0.0;
    }
}

impl Robot {
    /// Decides on the bound for a step: always on where it is `exact`.
    pub(crate) fn set_energy_guard(&mut self, turn: LongestTurn, exact: bool) {
        let guard = &mut self.energy_guard;
        // A prescribed joint may put in any energy, so there is no bound to keep.
        let free = self.loops.prescribed.is_empty();
        guard.allowed = if exact { 0.0 } else { ALLOWED };
        guard.is_on = free && (turn.angle_of_links > FAST || exact);
        guard.is_strict = free && turn.angle_of_links > TOO_FAST;
        if !guard.is_on {
            // The account ends with the rotation that it was opened for.
            guard.surplus = 0.0;
        }
    }

    /// Notes the energy at the start of a step in which, if no row acts, only gravity works; needs the kinematics of the start.
    pub(crate) fn note_energy(&mut self, gravity: &Vector3, h: f64) {
        self.energy_guard.at_start = None;
        if !self.energy_guard.is_exact() {
            return;
        }
        let driven = (0..self.v.len()).any(|k| self.feedforward(k) != 0.0);
        if self.is_pushed() || driven || self.springs.any() || !self.moves_freely(h) {
            return;
        }
        let v = std::mem::take(&mut self.v);
        let kinetic = self.kinetic_energy_at(&v);
        self.v = v;
        self.data.gravity = *gravity;
        self.energy_guard.at_start = Some(kinetic + potential_energy(&self.model, &self.data));
    }

    /// Kinetic energy at the start of a step of free motion that turns its joints far; otherwise none. [J]
    pub(crate) fn energy_before_flight(&mut self) -> Option<f64> {
        if !(self.energy_guard.is_on && self.free_motion.on) {
            return None;
        }
        let v = std::mem::take(&mut self.v);
        let energy = self.kinetic_energy_at(&v);
        self.v = v;
        Some(energy)
    }

    /// Ends a step in which only gravity worked with that energy; needs the kinematics of the end. [J]
    fn keep_energy(&mut self, at_start: f64) {
        let mut v = std::mem::take(&mut self.v);
        let energy = self.kinetic_energy_at(&v);
        let target = at_start - potential_energy(&self.model, &self.data);
        self.scale_motion(&mut v, energy, target, MOST_GIVEN);
        self.v = v;
        // These rates have the same momenta, but for rounding.
        self.keep_flight_at_end();
    }

    /// Whether free motion from that energy did not converge: then goes back to the start, to go on by the strict rule. (nv)
    pub(crate) fn leaves_free_motion(&mut self, energy: Option<f64>, out: &[f64]) -> bool {
        let Some(energy) = energy.filter(|_| self.free_motion.on) else { return false };
        // Only growth by a factor tells: free motion has an error of its own, and loses energy as well.
        // At the position where it left the kinematics, which sensors and work go on with.
        if self.kinetic_energy_at(out) <= DIVERGED * energy {
            return false;
        }
        self.free_motion.on = false;
        self.energy_guard.is_strict = true;
        forward_kinematics(&self.model, &mut self.data, &self.q);
        true
    }

    /// Measures what Coriolis forces gave to `out`, the velocity of free motion, and takes it if the joints turn too far; needs
    /// the forces of the step's start. (nv)
    pub(crate) fn guard_free_motion(&mut self, model: &Model, h: f64, out: &mut [f64]) {
        // Velocity without Coriolis forces: `v' + Â⁻¹ h (c(q, v) − c(q, 0))`.
        let mut without = std::mem::take(&mut self.residual);
        // `c(q, v)`, of which the part at zero rates is gravity and applied wrenches: the difference is Coriolis forces alone.
        without.copy_from_slice(&self.data.effort);
        update_velocities(model, &mut self.data, &self.zeros);
        rnea_at_velocity(model, &mut self.data, &self.zeros, &self.zeros, &self.applied);
        for (without, still) in without.iter_mut().zip(&self.data.effort) {
            *without = h * (*without - still);
        }
        self.respond(&mut without);
        for (without, out) in without.iter_mut().zip(&*out) {
            *without += out;
        }
        let allowed = self.kinetic_energy_at(&without);
        let mut energy = self.kinetic_energy_at(out);
        if self.energy_guard.is_strict && energy > allowed {
            self.scale_motion(out, energy, allowed, 1.0);
            energy = self.kinetic_energy_at(out);
        }
        self.energy_guard.taken = allowed - energy;
        if self.energy_guard.is_exact() {
            // Gravity works at the mean rate, whatever rate moves the position in the end.
            for (without, v) in without.iter_mut().zip(&self.v) {
                *without = 0.5 * (*without + v);
            }
            let lifted = h * self.lifting_power(&self.data.gravity, &without);
            self.energy_guard.taken += potential_energy(&self.model, &self.data) + lifted;
        }
        self.residual = without;
        // The data go on with the rates of the step's start, as sensors and works expect.
        update_velocities(model, &mut self.data, &self.v);
    }

    /// Notes the energy at the end of the solve, before positions move. [J] (nv)
    pub(crate) fn guard_solved(&mut self, after: &[f64]) {
        // Kinetic energy by all forces but Coriolis, which have to do no work.
        self.energy_guard.most = self.kinetic_energy_at(after) + self.energy_guard.taken;
    }

    /// Bounds the energy at the end of the step, in which rows `touched` the robot or not; needs the kinematics of the end.
    pub(crate) fn guard_end(&mut self, touched: bool) {
        if let Some(at_start) = self.energy_guard.at_start.filter(|_| !touched) {
            self.keep_energy(at_start);
            return;
        }
        // Free motion has an error of its own, which its fixed point bounds.
        if self.free_motion.on {
            return;
        }
        let mut v = std::mem::take(&mut self.v);
        let energy = self.kinetic_energy_at(&v);
        let EnergyGuard { mut most, surplus, .. } = self.energy_guard;
        let is_exact = self.energy_guard.is_exact();
        if is_exact {
            most -= potential_energy(&self.model, &self.data);
        }
        // What the steps gave in sum beyond `most`; above a hundredth of the energy it is taken back.
        let allowed = self.energy_guard.allowed * most.max(0.0);
        let gained = surplus + energy - most;
        // Below the allowance the surplus is remembered, so that many small gains do not add up. Where nothing is allowed,
        // what the integration took is no credit either.
        self.energy_guard.surplus = if is_exact { 0.0 } else { gained.min(allowed) };
        if gained > allowed {
            let target = energy - (gained - allowed);
            self.scale_motion(&mut v, energy, target, 1.0);
            let left = if is_exact { self.kinetic_energy_at(&v) } else { target };
            if left - target > ROUNDING * energy {
                // The angular momentum asks for more in this posture: then it gives way.
                self.energy_guard.keeps_spin = false;
                self.scale_motion(&mut v, left, target, 1.0);
            }
        }
        self.v = v;
        if gained > allowed && is_exact && self.energy_guard.keeps_spin {
            self.keep_flight_at_end();
        }
    }

    /// Kinetic energy of the rates `v` at the present position, armatures included. [J] (nv)
    fn kinetic_energy_at(&mut self, v: &[f64]) -> f64 {
        update_velocities(&self.model, &mut self.data, v);
        let of_drives: f64 = v.iter().zip(&self.armature).map(|(v, a)| 0.5 * a * v * v).sum();
        kinetic_energy(&self.model, &self.data) + of_drives
    }

    /// Scales a motion from one kinetic energy to another, as far as that goes: of a floating tree all but the velocity of its
    /// centre of mass, and, where its angular momentum is to be kept, but its rotation as one body; the energy of the rest grows
    /// to `most` times itself. Needs [`Self::kinetic_energy_at`] of `v`. (nv)
    fn scale_motion(&self, v: &mut [f64], energy: f64, target: f64, most: f64) {
        let (mut mean, mut of_mean) = ([0.0; 6], 0.0);
        if self.model.base == Base::Floating {
            let (now, inertia) = self.flight_of_data();
            let spin = inertia.try_inverse().map(|inverse| inverse * now.spin);
            // The part of the motion that stays: the whole tree as one body, by its centre of mass and, if kept, its spin.
            let spin = spin.filter(|_| self.energy_guard.keeps_spin).unwrap_or_default();
            let arm = self.data.pose_in_world[0].translation - now.com;
            mean[..3].copy_from_slice((now.velocity + spin.cross(&arm)).as_slice());
            mean[3..].copy_from_slice(spin.as_slice());
            of_mean = 0.5 * (now.mass * now.velocity.norm_squared() + spin.dot(&now.spin));
        }
        // The energies of both parts add up, as the rest has no momentum: `E = E_mean + s² (E − E_mean)`.
        let (rest, desired) = (energy - of_mean, (target - of_mean).max(0.0));
        // Where all is mean, the rest is rounding, of either sign.
        let scale = if rest > 0.0 { (desired / rest).min(most).sqrt() } else { 1.0 };
        for (k, v) in v.iter_mut().enumerate() {
            let mean = mean.get(k).copied().unwrap_or(0.0);
            // Of the difference, so that a small correction brings small rounding.
            *v += (scale - 1.0) * (*v - mean);
        }
    }
}
