//! Free motion of a tree by a variational midpoint rule on the Lie group of positions.
//!
//! The action of a step is `h L(q_m, u)` with `q_m = q ⊞ ½h u` and `q' = q ⊞ h u`. Its stationarity, with impulses `h τ`
//! of servos and dampers at the middle, in terms of the momentum `p = M(q) v` of the step's two ends:
//!
//! ```text
//! p = P − ½h s + [(c − ½t) x × (x × P) + ½h t x × s],   x = h ω,      p' = p + h s
//! ```
//!
//! with `P = M(q_m) u` and `s = ṗ(q_m, u)`, the rate of momentum, both of one recursion. The bracket is that of rotations
//! only: `dexp⁻¹` and its half step, `c = (1 − ½θ cot ½θ)/θ²`, `t = tan(¼θ)/θ`, `θ = ‖x‖`. The first equation is solved
//! for `u` by Newton's method with the factor of `M(q_m)` for its derivative, to round-off; every round costs O(n).
//!
//! Loops add `Jᵀ(q) λ` to `p`, with `λ` such that they are closed at `q'`, and then take from `p'` what would open them, along
//! `Jᵀ(q')` (RATTLE). Redundant ones get one `λ` of those that do.
//!
//! The rule is its own inverse under `h → −h` and of second order. It keeps the symplectic form, so the energy stays within
//! O(h²) for exponentially long times, and, as `L` does not change when the world is turned or shifted, the momentum of a
//! floating tree. [Marsden, West 2001, §1; Johnson, Murphey 2009; Lee, Liu, Park, Srinivasa 2016; Hairer 2006, §VI.6]
//!
//! A floating tree goes through the step in the frame of its centre of mass, in which its linear momentum is zero and the forces
//! that act on all of its mass alike vanish; the frame itself moves exactly. So the centre of mass stays on its path, and the
//! motion of the links does not depend on how fast they fly.
//!
//! Limits: a step that turns something by more than about a radian may not converge; the default's rule takes it then.

use std::sync::Arc;

use karakuri_dynamics::{
    SingularInertia, center_of_mass, forward_kinematics, integrate, momentum_balance,
    update_velocities,
};
use karakuri_model::{JointKind, Model};
use karakuri_spatial::Vector3;

use crate::constraint::spring::AttachedSpring;
use crate::state::free_motion::FreeMotion;
use crate::state::robot::Robot;

/// Most rounds of Newton's method; each gains a factor of about `h` times the joint rates.
const ROUNDS: usize = 40;
/// Relative change of the rates at which they stop.
const TOLERANCE: f64 = 1e-16;
/// Relative change that is round-off once it does not shrink any more.
const FLOOR: f64 = 1e-11;
/// Gap of a loop that counts as closed. [m or rad]
const CLOSED: f64 = 1e-11;
/// Margin of loops below which their impulses at the step's start do not close them at its end.
const SINGULAR: f64 = 1e-5;
/// Multiple of the first change at which they do not converge.
const DIVERGING: f64 = 10.0;
/// Largest turn of a joint with three degrees of freedom in a step. [rad]
const LARGEST_TURN: f64 = 3.0;

impl Robot {
    /// Velocity after a step of free motion into `out`, position into `free_motion.target`. (nv)
    pub(crate) fn variational_motion(
        &mut self,
        h: f64,
        gravity: &Vector3,
        springs: &[Option<AttachedSpring>],
        out: &mut [f64],
    ) -> Result<(), SingularInertia> {
        let model = Arc::clone(&self.model);
        let mut free_motion = std::mem::take(&mut self.free_motion);
        let flies = free_motion.keeps_momentum;
        // Equal bits: nobody has set the state since, so the momentum of the last end still belongs to it.
        let mut goes_on = self.v == free_motion.rates_at_end && self.q == free_motion.target;
        let mut base = [0.0; 3];
        self.data.gravity = *gravity;
        if flies {
            goes_on = free_motion.in_flight.goes_on && free_motion.keeps_variational_momentum;
            base.copy_from_slice(&self.v[..3]);
            // The frame of the centre of mass: no linear momentum, and its acceleration is taken off gravity.
            self.data.gravity -= free_motion.in_flight.acceleration(gravity);
            add(&mut self.v, &-free_motion.in_flight.start.velocity);
        }
        // A new start: by the Legendre transform `p = M(q) v`.
        if !goes_on {
            self.find_start_momentum(&model, &mut free_motion);
        }
        if flies {
            // Zero in the frame of the centre of mass, whatever rounding has left.
            free_motion.momentum_at_end[..3].fill(0.0);
        }
        let found = self.find_mean_rates(&model, &mut free_motion, h).and_then(|found| {
            if found {
                self.find_end(&model, &mut free_motion, h, out)?;
            }
            Ok(found)
        });
        // Undone before any return, as the caller's state is in world axes.
        if flies {
            self.v[..3].copy_from_slice(&base);
            self.data.gravity = *gravity;
        }
        if let (true, Ok(true)) = (flies, &found) {
            // Back to the world: the centre of mass moves exactly, the links about it.
            let end = free_motion.in_flight.after(gravity, h);
            add(&mut free_motion.target, &(end.com - center_of_mass(&model, &self.data)));
            add(out, &end.velocity);
            // In world axes, for comparison at the next start.
            free_motion.rates_at_end.copy_from_slice(out);
            free_motion.in_flight.end = end;
        }
        self.free_motion = free_motion;
        if found? {
            self.free_motion.keeps_momentum = false;
            self.free_motion.keeps_variational_momentum = true;
            return Ok(());
        }
        // What free motion allows takes the midpoint; soft servos do not, and take the implicit step.
        if self.moves_freely(h) {
            return self.midpoint_motion(h, gravity, springs, out);
        }
        self.free_motion.on = false;
        forward_kinematics(&model, &mut self.data, &self.q);
        self.free_motion(h, gravity, out)
    }

    /// Position, momentum and rates at the step's end. (nv)
    fn find_end(
        &mut self,
        model: &Model,
        free_motion: &mut FreeMotion,
        h: f64,
        out: &mut [f64],
    ) -> Result<(), SingularInertia> {
        integrate(model, &self.q, &free_motion.velocity, h, &mut free_motion.target);
        forward_kinematics(model, &mut self.data, &free_motion.target);
        self.factor.factorize(model, &mut self.data, &self.armature)?;
        // `p' = p + h s + Jᵀ λ`, then `v' = M(q')⁻¹ p'`, put on the loops at `q'`.
        for (k, p) in free_motion.momentum_at_end.iter_mut().enumerate() {
            *p += h * free_motion.rates[1][k] + free_motion.rates[2][k];
            out[k] = *p;
        }
        // Kept before loops project it: `p'` belongs to these rates.
        self.factor.solve(model, out);
        free_motion.rates_at_end.copy_from_slice(out);
        self.loops.factorize(model, &self.data, &mut self.factor);
        self.loops.project(out);
        Ok(())
    }

    /// Solves for `u`, into `free_motion.velocity`, with `p` in `free_motion.momentum_at_end`, `s` in the second of
    /// `free_motion.rates` and `Jᵀ λ` in the third; whether it converged.
    fn find_mean_rates(
        &mut self,
        model: &Model,
        free_motion: &mut FreeMotion,
        h: f64,
    ) -> Result<bool, SingularInertia> {
        // First guess `u = v`: off by `½ h v̇`.
        free_motion.velocity.copy_from_slice(&self.v);
        self.prepare_factor(model, free_motion, h)?;
        if self.loops.margin() < SINGULAR {
            return Ok(false);
        }
        let (mut first, mut before) = (0.0, f64::INFINITY);
        for round in 0..ROUNDS {
            if !self.find_residual(model, free_motion, h) {
                return Ok(false);
            }
            let gap = self.find_change(model, free_motion, h);
            let (mut change, mut largest) = (0.0_f64, 0.0_f64);
            for (u, step) in free_motion.velocity.iter_mut().zip(&free_motion.displacement) {
                *u += step;
                change = change.max(step.abs());
                largest = largest.max(u.abs());
            }
            // One factor for all rounds, so convergence is linear, and ends where changes no longer fall.
            // Converged: within the tolerance, or at round-off, where changes no longer shrink.
            let fine = change > 0.5 * before && change <= FLOOR * largest;
            if gap <= CLOSED && (fine || change <= TOLERANCE * largest) {
                return Ok(true);
            }
            if round == 0 {
                first = change;
            }
            // A NaN compares false with everything, so it is asked for.
            if change.is_nan() || change > DIVERGING * first {
                return Ok(false);
            }
            before = change;
        }
        Ok(false)
    }

    /// Finds the momentum of the start where the last step did not leave it: it goes from step to step as it is, as round-off
    /// would add up by the rates.
    fn find_start_momentum(&mut self, model: &Model, free_motion: &mut FreeMotion) {
        let (momentum, rate) = (&mut free_motion.momentum_at_end, &mut free_motion.rates[1]);
        forward_kinematics(model, &mut self.data, &self.q);
        update_velocities(model, &mut self.data, &self.v);
        momentum_balance(model, &mut self.data, &[], momentum, rate);
        // The recursion is of rigid bodies; rotors add their own momentum.
        for (p, (armature, v)) in momentum.iter_mut().zip(self.armature.iter().zip(&self.v)) {
            *p += armature * v;
        }
    }

    /// Factorises near the middle of the step; with loops at its start, where their impulses act.
    fn prepare_factor(
        &mut self,
        model: &Model,
        free_motion: &mut FreeMotion,
        h: f64,
    ) -> Result<(), SingularInertia> {
        // With loops at the start, where `Jᵀ(q) λ` acts; else in the middle, where `P` is.
        let part = if self.loops.is_empty() { 0.5 * h } else { 0.0 };
        integrate(model, &self.q, &free_motion.velocity, part, &mut free_motion.stage);
        forward_kinematics(model, &mut self.data, &free_motion.stage);
        // Derivative by the soft servos and dampers at the middle: `½h B + ¼h² K` beside the inertia.
        let extra = &mut free_motion.rates[3];
        for (k, extra) in extra.iter_mut().enumerate() {
            let (stiffness, damping) = self.inner_gains(k);
            let damping = 0.5 * h * (damping + self.joint_damping[k]);
            *extra = self.armature[k] + damping + 0.25 * h * h * stiffness;
        }
        self.factor.factorize(model, &mut self.data, extra)?;
        self.loops.factorize(model, &self.data, &mut self.factor);
        Ok(())
    }

    /// Residual of the first equation at `u`, into `free_motion.displacement`; false where something turns too far.
    fn find_residual(&mut self, model: &Model, free_motion: &mut FreeMotion, h: f64) -> bool {
        let FreeMotion { stage, rates: [momentum, rate, ..], velocity, displacement, .. } =
            free_motion;
        // `p − P + ½h s` at `q_m = q ⊞ ½h u`, then less the bracket of the rotations.
        integrate(model, &self.q, velocity, 0.5 * h, stage);
        forward_kinematics(model, &mut self.data, stage);
        update_velocities(model, &mut self.data, velocity);
        momentum_balance(model, &mut self.data, &self.applied, momentum, rate);
        for k in 0..model.nv {
            momentum[k] += self.armature[k] * velocity[k];
            rate[k] += self.soft_effort(k, stage, velocity);
            displacement[k] = free_motion.momentum_at_end[k] - momentum[k] + 0.5 * h * rate[k];
        }
        let mean = MeanMotion { rates: velocity, momentum, momentum_rate: rate };
        subtract_rotation_terms(model, h, mean, displacement)
    }

    /// The change of `u` for a residual, both in `free_motion.displacement`; the largest gap of the loops at `u`. [m or rad]
    fn find_change(&mut self, model: &Model, free_motion: &mut FreeMotion, h: f64) -> f64 {
        let FreeMotion { rates: [_, _, reaction, _], target, velocity, displacement, .. } =
            free_motion;
        if self.loops.is_empty() {
            reaction.fill(0.0);
            self.factor.solve(model, displacement);
            return 0.0;
        }
        // The impulses `Jᵀ λ` of the loops make up the residual at the solution, where they are closed at `q'`.
        for (reaction, left) in reaction.iter_mut().zip(&*displacement) {
            *reaction = -left;
        }
        self.factor.solve(model, displacement);
        integrate(model, &self.q, velocity, h, target);
        forward_kinematics(model, &mut self.data, target);
        self.loops.aim(model, &self.data, target, h, displacement)
    }
}

/// Adds to the translation of a floating base. (3)
fn add(base: &mut [f64], by: &Vector3) {
    for (x, by) in base.iter_mut().zip(by) {
        *x += by;
    }
}

/// The middle of a step. (nv each)
#[derive(Clone, Copy)]
struct MeanMotion<'a> {
    /// Mean rates `u`.
    rates: &'a [f64],
    /// Momentum `P = M(q_m) u`.
    momentum: &'a [f64],
    /// Rate of momentum `s = ṗ(q_m, u)`.
    momentum_rate: &'a [f64],
}

/// Subtracts the terms of rotations, the bracket of the module's equation, from `residual`; false where one turns too far.
/// (nv)
fn subtract_rotation_terms(model: &Model, h: f64, mean: MeanMotion, residual: &mut [f64]) -> bool {
    for joint in &model.joints {
        let k = match joint.kind {
            JointKind::Spherical => joint.v_start,
            JointKind::Floating => joint.v_start + 3,
            _ => continue,
        };
        let three = |x: &[f64]| Vector3::new(x[k], x[k + 1], x[k + 2]);
        let (x, P, s) = (three(mean.rates) * h, three(mean.momentum), three(mean.momentum_rate));
        let angle = x.norm();
        // Below half a turn, where the rotation vector is unique.
        if angle.is_nan() || angle >= LARGEST_TURN {
            return false;
        }
        // The bracket `(c − ½t) x × (x × P) + ½h t x × s` of the module's equation.
        let (c, t) = coefficients(angle);
        let terms = x.cross(&x.cross(&P)) * (c - 0.5 * t) + x.cross(&s) * (0.5 * h * t);
        for (residual, term) in residual[k..k + 3].iter_mut().zip(&terms) {
            *residual -= term;
        }
    }
    true
}

/// `c` and `t` of the module's equation for an angle below 2π.
fn coefficients(angle: f64) -> (f64, f64) {
    let square = angle * angle;
    // Taylor series, where the quotients lose digits.
    // Both series are exact to about 1e-15 up to here; the quotient for `c` cancels as `ε/θ²`.
    if angle < 0.03 {
        let c = (1.0 + square / 60.0 * (1.0 + square / 42.0)) / 12.0;
        let t = (1.0 + square / 48.0 * (1.0 + square / 40.0)) / 4.0;
        return (c, t);
    }
    let half = 0.5 * angle;
    ((1.0 - half / half.tan()) / square, (0.5 * half).tan() / angle)
}

#[cfg(test)]
mod tests {
    use super::coefficients;

    #[test]
    fn the_series_meets_the_closed_form() {
        let (series, closed) = (coefficients(0.03 - 1e-15), coefficients(0.03));
        assert!((series.0 - closed.0).abs() < 1e-12 && (series.1 - closed.1).abs() < 1e-14);
    }
}
