//! Impacts of free bodies at one instant, solved together: [Poisson's law](super::restitution) on one point a pair.

use karakuri_spatial::{Force, Matrix3, Vector3, skew, tangent_frame};

use crate::constraint::contact::SLIP;
use crate::pipeline::restitution::{passing, resist};
use crate::solver::solve_contact;
use crate::state::State;
use crate::state::body::Body;
use crate::state::materials::Surface;

/// A pair that may meet in this step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meeting {
    pub(crate) contact: usize,
    pub(crate) island: usize,
    /// Time at which it next meets, from the start of the step; infinite if it does not. [s]
    pub(crate) time: f64,
    pub(crate) normal: Vector3,
    pub(crate) point: Vector3,
}

/// Most sweeps over what strikes at one instant.
// Impulses pass on from body to body: long rows take many sweeps.
const SWEEPS: usize = 500;
/// Change of an impulse, relative to the largest, at which they end. [-]
const SETTLED: f64 = 1e-14;

/// Two bodies that meet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strike {
    pub(crate) contact: usize,
    /// Indices of the free bodies among them.
    bodies: [Option<usize>; 2],
    /// Lever arms from the centres of mass to the point. [m] (3)
    arms: [Vector3; 2],
    /// Axes of the contact, normal first. (3×3)
    axes: Matrix3,
    /// Delassus matrix along the axes. [1/kg] (3×3)
    G: Matrix3,
    friction: f64,
    restitution: f64,
    /// Relative velocity before the impact, along the axes. [m/s] (3)
    pub(crate) before: Vector3,
    /// Relative velocity after compression, along the axes. [m/s] (3)
    compressed: Vector3,
    compression: Vector3,
    /// Impulse of restitution, `e λ_c` and its friction. [N·s] (3)
    returned: Vector3,
    /// Impulse that keeps apart what the restitution of others pushes together. [N·s] (3)
    separation: Vector3,
}

impl Strike {
    /// Strike of a meeting, at the present poses and velocities.
    pub(crate) fn new(
        state: &State,
        meeting: &Meeting,
        bodies: [Option<usize>; 2],
        surface: &Surface,
    ) -> Self {
        let [t1, t2] = tangent_frame(&meeting.normal);
        let axes = Matrix3::from_columns(&[meeting.normal, t1, t2]);
        let mut G = Matrix3::zeros();
        let arms = bodies.map(|i| {
            let Some(body) = free(state, i) else { return Vector3::zeros() };
            let arm = meeting.point - body.pose.translation;
            let turn = skew(&arm);
            // `1/m − [r]× I⁻¹ [r]×` of each side that moves.
            G += Matrix3::identity() / body.description.mass
                - turn * body.inverse_inertia_world * turn;
            arm
        });
        let mut strike = Self {
            contact: meeting.contact,
            bodies,
            arms,
            axes,
            // Along the contact's axes, in which the cone is round.
            G: axes.tr_mul(&(G * axes)),
            friction: 0.0,
            restitution: surface.restitution,
            before: Vector3::zeros(),
            compressed: Vector3::zeros(),
            compression: Vector3::zeros(),
            returned: Vector3::zeros(),
            separation: Vector3::zeros(),
        };
        strike.before = strike.velocity(state);
        // What slips before the impact has the dynamic friction.
        let slips = strike.before.yz().norm() > SLIP;
        strike.friction = if slips { surface.dynamic_friction } else { surface.friction };
        strike
    }

    /// Relative velocity along the axes. [m/s] (3)
    fn velocity(&self, state: &State) -> Vector3 {
        let mut u = Vector3::zeros();
        // B less A, as the normal points from A to B.
        for ((sign, body), arm) in [-1.0, 1.0].into_iter().zip(self.bodies).zip(&self.arms) {
            if let Some(body) = free(state, body) {
                u += (body.velocity.linear + body.velocity.angular.cross(arm)) * sign;
            }
        }
        self.axes.tr_mul(&u)
    }

    fn kick(&self, state: &mut State, impulse: &Vector3) {
        // The impulse is that on the second side; the first takes its opposite, at the same point.
        let push = self.axes * impulse;
        for ((sign, body), arm) in [-1.0, 1.0].into_iter().zip(self.bodies).zip(&self.arms) {
            if let Some(body) = body.and_then(|i| state.bodies[i].as_mut()) {
                body.kick(&Force::new(arm.cross(&(push * sign)), push * sign));
            }
        }
    }

    /// Impulse of the whole impact on the second side, in the world. [N·s] (3)
    pub(crate) fn impulse(&self) -> Vector3 {
        self.axes * (self.compression + self.returned + self.separation)
    }
}

fn free(state: &State, body: Option<usize>) -> Option<&Body> {
    body.and_then(|i| state.bodies[i].as_ref())
}

/// Part of a strike's impulses that a sweep works on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Impulse of compression, with friction.
    Compression,
    /// Friction of the returned impulse.
    Friction,
    /// Impulse that keeps apart what the returned impulses push together.
    Separation,
}

/// Impulses of all strikes, and the velocities after them; their work. [J]
pub(crate) fn solve_strikes(state: &mut State, strikes: &mut [Strike]) -> f64 {
    // Compression `λ_c`, then the part `e` of it returned, with friction; bodies that this pushes together are kept apart.
    sweep(state, strikes, Phase::Compression);
    for strike in &mut *strikes {
        strike.compressed = strike.velocity(state);
    }
    for strike in &mut *strikes {
        strike.returned.x = strike.restitution * strike.compression.x;
        // All at once: in turn, a strike would be compressed again by what its neighbour returned.
        strike.kick(state, &strike.returned);
    }
    sweep(state, strikes, Phase::Friction);
    // A single strike has nothing that its restitution could push together.
    if strikes.len() > 1 {
        sweep(state, strikes, Phase::Separation);
    }
    // The certificate: `E(s) = λ_cᵀ ½(u + u_c) + s λ_rᵀ u_c + ½ s² λ_rᵀ G λ_r`, with `G λ_r = u⁺ − u_c`.
    let (mut loss, mut linear, mut square) = (0.0, 0.0, 0.0);
    for s in &*strikes {
        let after = s.velocity(state);
        loss += 0.5 * s.compression.dot(&(s.before + s.compressed));
        let restitution = s.returned + s.separation;
        linear += restitution.dot(&s.compressed);
        square += 0.5 * restitution.dot(&(after - s.compressed));
    }
    // The largest part `s` of the restitution that gives no energy.
    let part = passing([loss.min(0.0), linear, square]);
    if part < 1.0 {
        for strike in &mut *strikes {
            // By the missing part, as velocities have all of it.
            strike.kick(state, &((strike.returned + strike.separation) * (part - 1.0)));
            strike.returned *= part;
            strike.separation *= part;
        }
    }
    loss + part * (linear + part * square)
}

/// Contact by contact until nothing changes.
fn sweep(state: &mut State, strikes: &mut [Strike], phase: Phase) {
    for _ in 0..SWEEPS {
        let (mut change, mut largest) = (0.0_f64, 0.0_f64);
        for strike in &mut *strikes {
            let u = strike.velocity(state);
            let delta = strike.delta(&u, phase);
            strike.kick(state, &delta);
            let impulse = match phase {
                Phase::Compression => &mut strike.compression,
                Phase::Friction => &mut strike.returned,
                Phase::Separation => &mut strike.separation,
            };
            *impulse += delta;
            change = change.max(delta.norm());
            largest = largest.max(impulse.norm());
        }
        // One contact is solved in closed form, so a second sweep has nothing to do; its friction takes steps.
        if strikes.len() == 1 && phase != Phase::Friction || change <= SETTLED * largest {
            return;
        }
    }
}

impl Strike {
    /// Change of the impulse of a phase at the relative velocity `u`. [N·s] (3)
    fn delta(&self, u: &Vector3, phase: Phase) -> Vector3 {
        // The one-contact problem with the velocity that is left without its own impulse.
        let solved = |impulse: &Vector3| {
            solve_contact(&self.G, &(u - self.G * impulse), self.friction) - impulse
        };
        match phase {
            Phase::Compression => solved(&self.compression),
            Phase::Friction => resist(&self.G, &self.returned, u, self.friction),
            Phase::Separation => solved(&self.separation),
        }
    }
}
