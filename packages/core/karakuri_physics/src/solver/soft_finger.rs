//! A soft finger: friction and the moment about the normal share one limit.
//!
//! A patch of contact holds an ellipse, `‖λ_t/μ‖² + (λ_s/r)² ≤ λ_n²` with the impulse `λ_t` along the surface and
//! the moment `λ_s` about its normal; it slides along the ellipse's normal, `(u_t, ω) = −s (λ_t/μ², λ_s/r²)`. A ball
//! of rubber that slides holds no moment, one that spins slides at the least push. [Goyal, Ruina, Papadopoulos 1991; Howe
//! and Cutkosky 1996]
//!
//! The ellipse is split at an angle: `‖λ_t‖ ≤ μ cos φ λ_n` and `|λ_s| ≤ r sin φ λ_n` are the limits of a cone and of a moment on
//! their own, which solvers know. With impulses and velocities scaled by the half axes,
//! `(cos φ, sin φ) ∝ (‖λ_t/μ − μ u_t/g‖, |λ_s/r − r ω/g|)`: a fixed point of it holds the law, whatever `g > 0`. Where nothing
//! slides the impulses fit below both limits; where it does, both are reached, along the ellipse's normal.

use nalgebra::Vector3;

use super::{Admissible, Block, Problem};

/// Part of its half axis that is always left to friction: without any a cone has no sides. [-]
const LEAST: f64 = 1e-9;
/// Most by which a secant may leap beyond the map. [-]
// A longer leap comes of leads that hardly change, whose quotient is noise.
const LONGEST: f64 = 20.0;

/// The half axes of the ellipse at a unit normal force.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SoftFinger {
    /// Coefficient of friction `μ`, the half axis of sliding. [-]
    pub friction: f64,
    /// Half axis `r` of the moment about the normal. [m]
    pub spinning: f64,
    /// Distance of the last split from the law, as a velocity. [m/s or rad/s]
    pub error: f64,
    /// Angle of the last split, and the lead of the angle that the map gave over it; NaN before the first. [rad]
    pub(crate) last: [f64; 2],
}

/// A block's impulse, velocity and Delassus diagonal.
pub(crate) type Acting<'a> = (&'a Vector3<f64>, Vector3<f64>, f64);

impl SoftFinger {
    /// A soft finger with the limits `μ` [-] and `r` [m].
    pub fn new(friction: f64, spinning: f64) -> Self {
        Self { friction, spinning, error: 0.0, last: [f64::NAN; 2] }
    }

    /// Angle of the split that follows `now`, where the fixed point's map leads to `next`: by the secant through the last
    /// split, which a contact on its own follows in a few rounds.
    fn follow(&mut self, now: f64, next: f64) -> f64 {
        let [before, lead_before] = core::mem::replace(&mut self.last, [now, next - now]);
        let lead = next - now;
        // A secant for the root of the lead `next − now`; a step of the map where the lead does not fall, or the leap is long.
        let slope = (lead - lead_before) / (now - before);
        let leap = -lead / slope;
        let sound = slope < 0.0 && leap.abs() < LONGEST * lead.abs();
        (now + if sound { leap } else { lead }).clamp(0.0, core::f64::consts::FRAC_PI_2)
    }

    /// Limits of friction and of the moment at the present split, and what [`Self::error`] is there.
    pub(crate) fn split(&self, contact: Acting, turning: Acting) -> ([f64; 2], f64) {
        let (mu, r) = (self.friction, self.spinning);
        let ((force, u, k_force), (moment, omega, k_moment)) = (contact, turning);
        // In units of the half axes: impulses less a step against the velocities. Its direction is the split, by the header's
        // fixed point; `g` is the mean of both Delassus diagonals in these units.
        let g = 0.5 * (mu * mu * k_force + r * r * k_moment);
        let pushed = force.yz() / mu - u.yz() * (mu / g);
        let turned = moment.x / r - omega.x * (r / g);
        let length = pushed.norm().hypot(turned);
        // Neither load nor slip: both limits alike, so that whatever begins finds room on both.
        if length == 0.0 {
            return ([mu, r].map(|axis| axis * core::f64::consts::FRAC_1_SQRT_2), 0.0);
        }
        // Distances of both impulses from their projection on the ellipse; as velocities by their Delassus diagonals.
        let inside = (force.x.max(0.0) / length).min(1.0);
        let change_of_force = (force.yz() - pushed * (mu * inside)).norm();
        let change_of_moment = (moment.x - turned * (r * inside)).abs();
        let limits = [mu * (pushed.norm() / length).max(LEAST), r * turned.abs() / length];
        (limits, (change_of_force * k_force).max(change_of_moment * k_moment))
    }
}

impl Problem {
    /// Splits the limits of all soft fingers of an island by the impulses and velocities as they are.
    pub(crate) fn split_soft_fingers(&mut self, island: std::ops::Range<usize>) {
        // A friction moment comes right after the contact that bears it.
        for i in island.skip(1) {
            let (contact, turning) = (&self.blocks[i - 1], &self.blocks[i]);
            let (
                Admissible::Cone { friction },
                Admissible::FrictionMoment { spinning, rolling, load, soft: Some(mut soft) },
            ) = (contact.admissible, turning.admissible)
            else {
                continue;
            };
            let acting = |block: &Block| self.velocity_of(block) - block.bias;
            let (limits, error) = soft.split(
                (&contact.impulse, acting(contact), contact.inverse_effective_mass()),
                (&turning.impulse, acting(turning), turning.inverse_effective_mass()),
            );
            // The split angle `φ` of both limits, by their parts of the half axes.
            let angle = |[friction, spinning]: [f64; 2]| {
                (spinning / soft.spinning).atan2(friction / soft.friction)
            };
            let (now, next) = (angle([friction, spinning]), angle(limits));
            let (sin, cos) = soft.follow(now, next).sin_cos();
            soft.error = error;
            // A cone without any friction has no sides to project on.
            let (friction, spinning) = (soft.friction * cos.max(LEAST), soft.spinning * sin);
            let soft = Some(soft);
            self.blocks[i - 1].admissible = Admissible::Cone { friction };
            self.blocks[i].admissible =
                Admissible::FrictionMoment { spinning, rolling, load, soft };
        }
    }
}
