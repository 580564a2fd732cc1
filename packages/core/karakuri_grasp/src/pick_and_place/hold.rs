//! How the hand holds an object: at which opening, where its pads touch, and with what force at least.
//!
//! Units: m, rad, N.

use karakuri_spatial::{Matrix3, Vector3};

use super::plan::PlanError;
use super::tuning::{CLEARANCE, COM_TOLERANCE, MOVABLE};
use super::{PickAndPlaceGoal, PickAndPlaceSettings};
use crate::EndEffector;
use crate::end_effector::Reach;
use crate::slip::{Grip, Patch, effective_radius, required_force};

/// Clearance between a fingertip and the support of the object. [m]
const TIP_CLEARANCE: f64 = 0.004;

/// Hold of an object by one of its widths, the tool looking down.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hold {
    /// Yaw of the tool against the object. [rad]
    pub(super) turn: f64,
    /// Width of the object between the fingers. [m]
    pub(super) width: f64,
    /// Height of the pads' middle above the object's centre. [m]
    pub(super) raise: f64,
    /// Reach of the object from the pads' middle.
    pub(super) reach: Reach,
    /// Opening for going about the object. [m]
    pub(super) open: f64,
    /// Opening at which the object stops the fingers. [m]
    pub(super) opening: f64,
    /// Position of the pads' middle there along the tool's x. [m]
    pub(super) depth: f64,
    /// Reach of the fingertips beyond the tool, with some clearance. [m]
    pub(super) tip: f64,
    /// Angle by which the fingers lean there. [rad]
    pub(super) lean: f64,
    /// Contact patch of the fingers.
    pub(super) patch: Patch,
}

impl Hold {
    /// Hold after so many quarters of a turn: by the object's y at 0 and 2, by its x at 1 and 3.
    fn new(hand: &dyn EndEffector, goal: &PickAndPlaceGoal, quarter: u8) -> Self {
        let width = if quarter.is_multiple_of(2) { goal.size.y } else { goal.size.x };
        // The pads' middle is at the object's centre, higher if the fingertips would touch the ground.
        let raise = (0.5 * hand.pad_depth() + TIP_CLEARANCE - 0.5 * goal.size.z).max(0.0);
        let half = 0.5 * goal.size.z;
        let reach = Reach { inward: half - raise, outward: half + raise };
        let opening = hand.opening_about(width, reach);
        let position = hand.position(opening);
        let lean = hand.lean(position);
        let open = hand.opening_about(width + 2.0 * CLEARANCE, reach);
        Self {
            turn: core::f64::consts::FRAC_PI_2 * f64::from(quarter),
            width,
            raise,
            reach,
            open: open.min(hand.opening_range().1),
            opening,
            depth: hand.tool_depth(position),
            tip: 0.5 * hand.pad_depth() + 0.01,
            lean,
            patch: patch(hand, goal, raise, lean),
        }
    }

    /// Whether the hand opens far enough to go about the object.
    fn fits(&self, hand: &dyn EndEffector) -> bool {
        // Half of the clearance on each side is the least; the hand opens for all of it where it can.
        hand.opening_about(self.width + CLEARANCE, self.reach) <= hand.opening_range().1
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

    /// Force of each finger with which the object is gripped: the goal's, or what the object needs. [N]
    pub(super) fn grip(&self, goal: &PickAndPlaceGoal, settings: &PickAndPlaceSettings) -> f64 {
        // A grip that only just holds the object could not accelerate it.
        let needed = MOVABLE * self.force(goal, settings);
        goal.grip_force.max(needed).min(goal.max_grip_force)
    }

    /// Refuses what would be squeezed out, and what is too heavy.
    fn check(
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

/// Refuses an object that neither of its two widths lets the hand hold.
pub(super) fn check(
    hand: &dyn EndEffector,
    goal: &PickAndPlaceGoal,
    settings: &PickAndPlaceSettings,
) -> Result<(), PlanError> {
    let [y, x] = [0, 1].map(|quarter| Hold::new(hand, goal, quarter));
    let (narrow, wide) = if x.width < y.width { (x, y) } else { (y, x) };
    narrow
        .check(hand, goal, settings)
        .or_else(|why| wide.check(hand, goal, settings).map_err(|_| why))
}

/// Ways to hold an object, by their yaws.
pub(super) fn holds(
    hand: &dyn EndEffector,
    goal: &PickAndPlaceGoal,
    settings: &PickAndPlaceSettings,
) -> Result<Vec<Hold>, PlanError> {
    let mut found = Vec::new();
    let mut refusal: Option<PlanError> = None;
    for hold in (0..4).map(|quarter| Hold::new(hand, goal, quarter)) {
        if !hold.fits(hand) {
            continue;
        }
        // Parallel fingers need the same force by either side, which the goal's check has compared.
        let fault =
            if hold.lean.abs() > 0.0 { hold.check(hand, goal, settings).err() } else { None };
        match fault {
            Some(fault) => _ = refusal.get_or_insert(fault),
            None => found.push(hold),
        }
    }
    if found.is_empty() {
        return Err(refusal.unwrap_or_else(|| too_wide(hand, goal)));
    }
    Ok(found)
}

/// Refusal of an object that is too wide by either side.
fn too_wide(hand: &dyn EndEffector, goal: &PickAndPlaceGoal) -> PlanError {
    let reach = Hold::new(hand, goal, 0).reach;
    let widest = hand.width_between(hand.position(hand.opening_range().1), reach) - CLEARANCE;
    PlanError::Range {
        what: "object_size, its narrow side [m],",
        value: goal.size.x.min(goal.size.y),
        range: format!("below {widest:.4}, the hand's opening less clearance"),
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
