//! How the hand holds an object: at which opening, where its pads touch, and with what force at least.
//!
//! Units: m, rad, N.

use karakuri_spatial::{Matrix3, Vector3};

use super::plan::PlanError;
use super::tuning::{CLEARANCE, COM_TOLERANCE};
use super::{PickAndPlaceGoal, PickAndPlaceSettings};
use crate::EndEffector;
use crate::end_effector::Reach;
use crate::slip::{Grip, Patch, effective_radius, required_force};

/// Clearance between a fingertip and the support of the object. [m]
const TIP_CLEARANCE: f64 = 0.004;

/// Hold of an object by one of its widths, the tool looking down.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hold {
    /// Width of the object between the fingers. [m]
    pub(super) width: f64,
    /// Height of the pads' middle above the object's centre. [m]
    pub(super) raise: f64,
    /// Reach of the object from the pads' middle.
    pub(super) reach: Reach,
    /// Opening at which the object stops the fingers. [m]
    pub(super) opening: f64,
    /// Angle by which the fingers lean there. [rad]
    pub(super) lean: f64,
    /// Contact patch of the fingers.
    pub(super) patch: Patch,
}

impl Hold {
    /// Hold by a width. [m]
    pub(super) fn new(hand: &dyn EndEffector, goal: &PickAndPlaceGoal, width: f64) -> Self {
        // The pads' middle is at the object's centre, higher if the fingertips would touch the ground.
        let raise = (0.5 * hand.pad_depth() + TIP_CLEARANCE - 0.5 * goal.size.z).max(0.0);
        let half = 0.5 * goal.size.z;
        let reach = Reach { inward: half - raise, outward: half + raise };
        let opening = hand.opening_about(width, reach);
        let lean = hand.lean(hand.position(opening));
        Self { width, raise, reach, opening, lean, patch: patch(hand, goal, raise, lean) }
    }

    /// Whether the hand opens far enough to go about the object.
    pub(super) fn fits(&self, hand: &dyn EndEffector) -> bool {
        // Half of the clearance on each side is the least; the hand opens for all of it where it can.
        hand.opening_about(self.width + CLEARANCE, self.reach) <= hand.opening_range().1
    }

    /// Opening for going about the object. [m]
    pub(super) fn open(&self, hand: &dyn EndEffector) -> f64 {
        let open = hand.opening_about(self.width + 2.0 * CLEARANCE, self.reach);
        open.min(hand.opening_range().1)
    }

    /// Force of each finger that holds the object at rest, its centre of mass off by the tolerance. [N]
    pub(super) fn force(&self, goal: &PickAndPlaceGoal, settings: &PickAndPlaceSettings) -> f64 {
        let (mass, friction, safety) = (goal.mass, goal.friction, settings.slip_safety);
        if self.lean.abs() > 0.0 {
            // A load is inverse to the force: at 1 N a finger it is the force at which it would be 1.
            let grip = Grip { mass, friction, force: 2.0, safety };
            let up = Vector3::z() * settings.gravity;
            let R_WT = Matrix3::from_columns(&[-Vector3::z(), Vector3::y(), Vector3::x()]);
            return grip.leaning_load(&up, &R_WT, &self.patch, self.lean);
        }
        // Sliding and twisting share the friction, `N √(1 + (d/r_c)²)`: the ellipse of the slip condition.
        let twist = COM_TOLERANCE / self.patch.radius;
        required_force(mass, friction, safety, settings.gravity) * twist.hypot(1.0)
    }

    /// Refuses what would be squeezed out, and what is too heavy.
    pub(super) fn check(
        &self,
        hand: &dyn EndEffector,
        goal: &PickAndPlaceGoal,
        settings: &PickAndPlaceSettings,
    ) -> Result<(), PlanError> {
        hand.refuse_squeezed(self.width, self.reach, goal.friction)?;
        let (needed, highest) = (self.force(goal, settings), hand.force_max());
        // Before anything moves: a grip that is too weak would lose the object only in the air.
        if goal.max_grip_force > highest || needed > goal.max_grip_force {
            let (mass, friction, safety) = (goal.mass, goal.friction, settings.slip_safety);
            let given = goal.max_grip_force;
            return Err(PlanError::TooHeavy { mass, friction, safety, needed, given, highest });
        }
        Ok(())
    }
}

/// Contact patch of fingers that are `raise` above the object's middle [m] and lean by `lean` [rad].
fn patch(hand: &dyn EndEffector, goal: &PickAndPlaceGoal, raise: f64, lean: f64) -> Patch {
    // Pads touch no more than the object offers; its narrower side is the cautious choice for either yaw.
    let width = hand.pad_width().min(goal.size.x.min(goal.size.y));
    let radius = if lean.abs() > 0.0 {
        // Along a line across the pad: the mean distance of its points from its middle.
        0.25 * width
    } else {
        effective_radius(hand.pad_depth().min(goal.size.z), width)
    };
    Patch {
        radius,
        // The pads are raised, so the centre of mass hangs below the line between them.
        offset: Vector3::z() * -raise,
        uncertainty: COM_TOLERANCE,
    }
}
