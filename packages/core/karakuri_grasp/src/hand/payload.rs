//! What is held and moved.
//!
//! Units: SI.

use karakuri_spatial::{Motion, Pose};

use crate::pick_and_place::PlanError;
use crate::pick_and_place::types::{PickAndPlaceGoal, PickAndPlaceSettings};

/// Ratio of the weight that a grip must carry to the object's own, so that the object can be accelerated. [-]
pub(crate) const MOVABLE: f64 = 1.1;
/// Largest distance of the centre of mass from the middle of the object's box. [m]
pub(crate) const COM_TOLERANCE: f64 = 0.002;

/// What is held, where it is held, and how safely.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Payload {
    /// Mass of the object. [kg]
    pub(crate) mass: f64,
    /// Coefficient of friction of hand and object. [-]
    pub(crate) friction: f64,
    /// Safety factor s, at least 1. [-]
    pub(crate) safety: f64,
    /// Gravitational acceleration. [m/s²]
    pub(crate) gravity: f64,
}

impl Payload {
    pub(crate) fn of(goal: &PickAndPlaceGoal, settings: &PickAndPlaceSettings) -> Self {
        Self {
            mass: goal.mass,
            friction: goal.friction,
            safety: settings.slip_safety,
            gravity: settings.gravity,
        }
    }
}

/// Motion of the tool at an instant, in world axes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolMotion<'a> {
    /// Pose of the tool.
    pub(crate) X_WT: &'a Pose,
    /// Velocity of the tool. [rad/s; m/s]
    pub(crate) V: &'a Motion,
    /// Classical acceleration of the tool. [rad/s²; m/s²]
    pub(crate) A: &'a Motion,
}

/// Refusal of a payload that needs more strength than is allowed, or than there is: `limits` are both. [N] (2)
pub(crate) fn too_heavy(
    payload: &Payload,
    needed: f64,
    [given, highest]: [f64; 2],
    unit: &'static str,
) -> PlanError {
    let Payload { mass, friction, safety, .. } = *payload;
    PlanError::TooHeavy { mass, friction, safety, needed, given, highest, unit }
}
