//! Limits of the joints of a robot with one degree of freedom, live: `<limit>` of the URDF.

use karakuri_model::{Limits, Model};

/// Limits of a joint with one degree of freedom; infinite where there is none. The limit of effort is that of its
/// [`Drives`](crate::Drives).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointLimits {
    /// Lower limit of position. [rad or m]
    pub lower: f64,
    /// Upper limit of position. [rad or m]
    pub upper: f64,
    /// Largest speed. [rad/s or m/s]
    pub velocity: f64,
}

impl JointLimits {
    fn of(limits: &Limits) -> Self {
        Self { lower: limits.lower, upper: limits.upper, velocity: limits.velocity }
    }

    /// Limits of a model's joints, one entry a velocity coordinate. (nv)
    pub(crate) fn of_model(model: &Model) -> Vec<Self> {
        let mut all = vec![Self::of(&Limits::NONE); model.nv];
        for joint in model.joints.iter().filter(|j| j.kind.single().is_some()) {
            all[joint.v_start] = Self::of(&joint.limits);
        }
        all
    }
}
