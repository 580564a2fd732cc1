//! Force of a hand without force sensors, estimated from the effort of its drive.
//!
//! What the drive exerts beyond what its own motion takes is the torque of the object: the residual of the generalized momentum of the
//! driven joint, `ṙ = K (I v̇ − (τ − c v − f s(v)) − r)`, which follows the external torque with the time constant 1/K [Haddadin 2017],
//! discretised by the implicit Euler method: no acceleration is measured, any period is stable.
//! `I` is the reflected rotor inertia, `c` and `f` viscous and dry friction of the joint, `s(v)` the sign of the velocity, gradual about 0.
//! The back-EMF of the motor is no part of `c`: the effort that a current tells is without it.
//!
//! Limits: at rest dry friction may take any part of ±f, so that the force is known to within f over the lever; the weight of the jaw and its
//! own inertia are left out. It is one torque: the same force is reported for both fingers, and nothing is known of the tangential ones.
//! Units: N·m or N, rad or m, s.

use karakuri_model::Joint;

use crate::{EndEffector, FingerForce};

/// K: slower than the steps that counts of a servo make in the velocity, faster than the force control. [1/s]
// 33 ms behind: a third of the time constant of the force control.
const BANDWIDTH: f64 = 30.0;
/// Velocity from which on all of the dry friction counts. [rad/s or m/s]
// Narrower: noise of the velocity at rest switches the friction to and fro; wider: in slow motions too little is taken off.
const SLIDING: f64 = 0.05;

/// Estimate of the torque that an object exerts on the driven joint of a hand.
#[derive(Debug, Clone, PartialEq)]
pub struct DriveForce {
    inertia: f64,
    viscous: f64,
    friction: f64,
    /// Velocity at the last update. [rad/s or m/s]
    velocity: Option<f64>,
    /// Residual: effort of the object on the joint, positive where it presses the hand open; none while the drive's is unknown. [N·m or N]
    residual: Option<f64>,
}

impl DriveForce {
    /// Estimate for a joint, of which nothing is known yet.
    pub fn new(joint: &Joint) -> Self {
        Self {
            inertia: joint.armature,
            // An effort that is measured has lost the back-EMF already.
            viscous: joint.damping - joint.back_emf,
            friction: joint.friction,
            velocity: None,
            residual: None,
        }
    }

    /// Forgets all that was measured (the clock jumped, the robot was away).
    pub fn reset(&mut self) {
        (self.velocity, self.residual) = (None, None);
    }

    /// Whether the effort of the drive is measured.
    pub fn is_known(&self) -> bool {
        self.residual.is_some()
    }

    /// Takes the velocity and the drive's effort `dt` after the last ones; an effort that is not finite is unknown.
    pub fn update(&mut self, velocity: f64, effort: f64, dt: f64) {
        if !effort.is_finite() {
            self.reset();
            return;
        }
        let dry = self.friction * (velocity / SLIDING).clamp(-1.0, 1.0);
        let net = effort - self.viscous * velocity - dry;
        // The first velocity has none before it, and so no change.
        let change =
            self.inertia * (velocity - self.velocity.replace(velocity).unwrap_or(velocity));
        self.residual = Some(match self.residual {
            // Implicit Euler of ṙ = K (I v̇ − net − r): r' (1 + K h) = r + K (I Δv − net h).
            Some(last) => (last + BANDWIDTH * (change - net * dt)) / (1.0 + BANDWIDTH * dt),
            // The first one is taken as lasting.
            None => -net,
        });
    }

    /// Forces of the object on both fingers at a position of the driven joint. (2)
    pub fn forces(&self, hand: &dyn EndEffector, position: f64) -> [FingerForce; 2] {
        // At rest the drive closes with −r against the object, and `force` takes closing efforts.
        let normal = hand.force(position, -self.residual.unwrap_or(0.0));
        [FingerForce { normal, ..FingerForce::default() }; 2]
    }
}

#[cfg(test)]
mod tests;
