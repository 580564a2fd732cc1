//! Efforts for a desired motion, by interchangeable methods.
//!
//! A method is one file and one line in [`method`]. All of them answer the same question: which efforts of the driven
//! joints give the accelerations, with loops and couplings held.

mod completed;
mod nodal;
mod recursive;
mod simulated;
#[cfg(test)]
mod tests;

pub use nodal::Nodal;
pub use recursive::Recursive;
pub use simulated::Simulated;

use dyn_clone::DynClone;
use karakuri_model::Model;
use karakuri_spatial::{Force, Vector3};

/// A desired motion, one entry a coordinate. Coordinates that follow (mimic joints, passive joints of loops) are
/// computed by the method; their `q` only selects the branch of the loop.
#[derive(Debug, Clone, Copy)]
pub struct DesiredMotion<'a> {
    /// Desired positions. [rad or m] (nq)
    pub q: &'a [f64],
    /// Desired velocities. [rad/s or m/s] (nv)
    pub v: &'a [f64],
    /// Desired accelerations. [rad/s² or m/s²] (nv)
    pub vdot: &'a [f64],
    /// Whether a velocity coordinate has a drive that may give effort. (nv)
    pub driven: &'a [bool],
    /// Wrench of the surroundings on every body at its frame's origin, in world axes, or empty. A wrench that the robot
    /// exerts on them enters with minus sign. [N·m; N] (n bodies)
    pub external: &'a [Force],
}

/// Residuals of a motion that cannot be realised exactly.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Realised {
    /// Largest gap left in a loop. [m or rad]
    pub loop_gap: f64,
    /// Largest generalized effort that no drive can supply: above zero the mechanism is under-actuated or at a dead
    /// point. [N·m or N]
    pub missing_effort: f64,
}

/// A method of inverse dynamics.
pub trait InverseDynamics: core::fmt::Debug + DynClone + Send {
    /// Its name in the registry.
    fn name(&self) -> &'static str;

    /// Sets the gravitational acceleration, in world axes; default: the earth's along −Z. [m/s²] (3)
    fn set_gravity(&mut self, gravity: &Vector3);

    /// Forgets the last sample, from which loops are closed: the next one starts another motion.
    fn restart(&mut self);

    /// Efforts of the driven joints for `motion`, the next sample of one that is followed; zero elsewhere. [N·m or N] (nv)
    fn efforts(&mut self, model: &Model, motion: &DesiredMotion<'_>, tau: &mut [f64]) -> Realised;
}

dyn_clone::clone_trait_object!(InverseDynamics);

/// The names that [`method`] knows.
pub const METHODS: &[&str] = &["nodal", "recursive", "simulated"];

/// The method of this name, with scratch for this model.
pub fn method(name: &str, model: &Model) -> Option<Box<dyn InverseDynamics>> {
    match name {
        "nodal" => Some(Box::new(Nodal::new(model))),
        "recursive" => Some(Box::new(Recursive::new(model))),
        "simulated" => Some(Box::new(Simulated::new(model))),
        _ => None,
    }
}
