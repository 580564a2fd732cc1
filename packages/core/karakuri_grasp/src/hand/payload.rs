//! What is held and moved.
//!
//! Units: SI.

use karakuri_spatial::{Motion, Pose};

use crate::end_effector::LEAN_SHARE;
use crate::pick_and_place::PlanError;
use crate::pick_and_place::types::{PickAndPlaceGoal, PickAndPlaceSettings};

/// Ratio of the weight that a grip must carry to the object's own, so that the object can be accelerated. [-]
pub(crate) const MOVABLE: f64 = 1.1;
/// Largest distance of the centre of mass from the middle of the object's box. [m]
pub(crate) const COM_TOLERANCE: f64 = 0.002;

/// Share of `atan(μ/s)` up to which faces may lean: nearer to it the force that holds grows beyond all bounds. [-]
const SURE_SHARE: f64 = 0.95;

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

    /// The safety factor, applied to a contact whose faces lean by an angle. [rad]
    pub(crate) fn law(&self, lean: f64) -> Law {
        let Self { friction, safety, .. } = *self;
        if lean.abs() > 0.0 {
            Law { friction: friction / safety, safety: 1.0 }
        } else {
            // The same in fewer roundings.
            Law { friction, safety }
        }
    }

    /// Largest angle of a face against the closing direction at which it is held. [rad]
    pub(crate) fn largest_lean(&self) -> f64 {
        (LEAN_SHARE * self.friction.atan()).min(SURE_SHARE * (self.friction / self.safety).atan())
    }
}

/// Coefficient of friction and factor on the force with which a contact is evaluated: (13) of the theory. What leaning faces bear, `tan(φ − γ)`, falls faster
/// than the friction, so that the safety factor divides the friction there, and multiplies the force elsewhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Law {
    /// Coefficient of friction. [-]
    pub(crate) friction: f64,
    /// Factor on the force. [-]
    pub(crate) safety: f64,
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
