//! What a robot measures, in the coordinates of its model.

use karakuri_hardware::{RobotLayout, RobotState};
use karakuri_model::Model;
use karakuri_spatial::Time;

/// Positions, velocities and efforts of a model, as a sample gives them.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    /// Positions; of a floating base those at its start. [rad or m] (nq)
    pub(crate) q: Vec<f64>,
    /// Velocities. [rad/s or m/s] (nv)
    pub(crate) v: Vec<f64>,
    /// Efforts of the drives; NaN where none is measured. [N·m or N] (nv)
    pub(crate) effort: Vec<f64>,
}

impl Measured {
    /// A robot of which nothing was measured yet.
    pub(crate) fn new(model: &Model) -> Self {
        Self {
            q: model.neutral_position(),
            v: vec![0.0; model.nv],
            effort: vec![f64::NAN; model.nv],
        }
    }

    /// Takes a sample.
    pub(crate) fn take(&mut self, layout: &RobotLayout, sample: &RobotState) {
        for (i, joint) in layout.joints.iter().enumerate() {
            self.q[joint.q] = sample.position[i];
            self.v[joint.v] = sample.velocity[i];
            self.effort[joint.v] = sample.effort[i];
        }
    }
}

/// A sample, and when it was taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Instant<'a> {
    pub(crate) now: Time,
    /// Time to the next one. [s]
    pub(crate) period: f64,
    pub(crate) sample: &'a RobotState,
    pub(crate) measured: &'a Measured,
}
