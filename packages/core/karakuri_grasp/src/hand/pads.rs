//! Pads of two fingers on an object: the law of a pair that is pressed on by force.
//!
//! Units: m, rad, N.

use core::f64::consts::{FRAC_PI_2, FRAC_PI_4};

use karakuri_spatial::{Matrix3, Vector3};

use super::hold::{Fit, Stop};
use super::payload::{COM_TOLERANCE, MOVABLE, Payload, ToolMotion, too_heavy};
use crate::EndEffector;
use crate::end_effector::Reach;
use crate::pick_and_place::PlanError;
use crate::pick_and_place::types::{PickAndPlaceGoal, Profile};
use crate::slip::{Grip, Patch, effective_radius, friction_for, required_force, traction};

/// Clearance between a fingertip and the support of the object. [m]
pub(super) const TIP_CLEARANCE: f64 = 0.004;
/// Length of a line of contact below which it counts as a point. [m]
const SHORT: f64 = 0.002;
/// Clearance on each side of the object when the hand is open. [m]
pub(super) const CLEARANCE: f64 = 0.012;

/// Pads of two fingers that hold an object by one of its widths.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pads {
    /// Width of the object between the fingers. [m]
    pub(super) width: f64,
    /// Height of the pads' middle above the object's centre. [m]
    pub(super) raise: f64,
    /// Position of the pads' middle along the tool's x. [m]
    pub(super) depth: f64,
    /// Reach of the object from the pads' middle.
    pub(super) reach: Reach,
    /// Opening for going about the object. [m]
    pub(super) open: f64,
    /// Opening at which the object stops the fingers. [m]
    pub(super) opening: f64,
    /// Angle by which the fingers lean there. [rad]
    pub(super) lean: f64,
    /// Contact patch of the fingers.
    pub(super) patch: Patch,
    /// Whether the object is too low for the pads to touch its round side.
    pub(super) is_low: bool,
}

/// Least height of an object with a round side: pads end at their clearance above its support, and reach below its middle by as much. [m]
pub(super) const LEAST_HEIGHT: f64 = 4.0 * TIP_CLEARANCE;

/// Horizontal edge of an object's box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    X,
    Y,
}

impl Edge {
    /// Length of the edge. [m]
    pub(super) fn of(self, size: &Vector3) -> f64 {
        match self {
            Self::X => size.x,
            Self::Y => size.y,
        }
    }

    /// Length of the other edge. [m]
    pub(super) fn other(self, size: &Vector3) -> f64 {
        match self {
            Self::X => size.y,
            Self::Y => size.x,
        }
    }

    /// Whether what the pads press along it on is round about a horizontal axis: at half its height alone it is as wide.
    fn is_round_across(self, goal: &PickAndPlaceGoal) -> bool {
        match goal.profile {
            Profile::Box | Profile::Standing { .. } | Profile::Cone => false,
            Profile::Lying { .. } => self == Self::Y,
            Profile::Ball => true,
        }
    }
}

/// Turns of the tool about an object [rad], and the edges that are between the fingers then: quarters, and eighths where the object is round.
pub(super) fn ways(profile: Profile) -> impl Iterator<Item = (f64, Edge)> {
    let (n, step) = match profile {
        Profile::Box | Profile::Lying { .. } => (4, FRAC_PI_2),
        Profile::Standing { .. } | Profile::Ball | Profile::Cone => (8, FRAC_PI_4),
    };
    (0..n).map(move |k: u8| {
        let is_quarter = n == 4 && !k.is_multiple_of(2);
        (step * f64::from(k), if is_quarter { Edge::X } else { Edge::Y })
    })
}

impl Pads {
    /// Pads about one of the object's edges.
    pub(super) fn about(hand: &dyn EndEffector, goal: &PickAndPlaceGoal, edge: Edge) -> Self {
        let width = edge.of(&goal.size);
        // The pads' middle is at the object's centre, higher if the fingertips would touch the ground.
        let half = 0.5 * goal.size.z;
        let ground = 0.5 * hand.pad_depth() + TIP_CLEARANCE - half;
        // What reaches further into the hand than it may is held further up.
        let raise = ground.max(half - hand.headroom(hand.position(width))).max(0.0);
        let reach = Reach { inward: half - raise, outward: half + raise };
        let opening = hand.opening_about(width, reach);
        let position = hand.position(opening);
        let lean = hand.lean(position);
        let open = hand.opening_about(width + 2.0 * CLEARANCE, reach);
        Self {
            width,
            raise,
            depth: hand.tool_depth(position),
            reach,
            open: open.min(hand.opening_range().1),
            opening,
            lean,
            patch: patch(hand, goal, edge, raise, lean),
            // Round sides are touched at half their height, which the pads must reach.
            is_low: edge.is_round_across(goal) && raise > 0.5 * hand.pad_depth() - TIP_CLEARANCE,
        }
    }

    /// Opening of the fingers about the object.
    pub(super) fn fit(&self) -> Fit {
        let Self { width, open, opening, reach, lean, .. } = *self;
        let (stop, pushes_out) = (Stop::Pads(reach), lean.abs() > 0.0);
        Fit { width, open, opening, stop, pushes_out, spread: None }
    }

    /// Whether the hand opens far enough to go about the object.
    pub(super) fn fits(&self, hand: &dyn EndEffector) -> bool {
        // Half of the clearance on each side is the least; the hand opens for all of it where it can.
        !self.is_low
            && hand.opening_about(self.width + CLEARANCE, self.reach) <= hand.opening_range().1
    }

    /// Refuses what would be squeezed out, and what is too heavy.
    pub(super) fn check(
        &self,
        hand: &dyn EndEffector,
        payload: &Payload,
        given: f64,
    ) -> Result<(), PlanError> {
        hand.refuse_squeezed(self.width, self.reach, payload.friction)?;
        let (needed, highest) = (self.at_rest(payload), hand.force_max());
        // Before anything moves: a grip that is too weak would lose the object only in the air.
        if given > highest || needed > given {
            return Err(too_heavy(payload, needed, [given, highest], UNIT));
        }
        Ok(())
    }

    /// Force of each finger that holds the payload at rest, its centre of mass off by the tolerance. [N]
    pub(super) fn at_rest(&self, payload: &Payload) -> f64 {
        let Payload { mass, friction, safety, gravity } = *payload;
        if self.lean.abs() > 0.0 {
            // A load is inverse to the force: at 1 N a finger it is the force at which it would be 1.
            let grip = Grip { mass, friction, force: 2.0, safety };
            let up = Vector3::z() * gravity;
            let R_WT = Matrix3::from_columns(&[-Vector3::z(), Vector3::y(), Vector3::x()]);
            return grip.leaning_load(&up, &R_WT, &self.patch, self.lean);
        }
        // Sliding and twisting share the friction, `N √(1 + (d/r_c)²)`: the ellipse of the slip condition.
        let twist = COM_TOLERANCE / self.patch.radius;
        required_force(mass, friction, safety, gravity) * twist.hypot(1.0)
    }

    /// Force of each finger that carries the payload, and can move it. [N]
    pub(super) fn needed(&self, payload: &Payload) -> f64 {
        let bears = traction(payload.friction, self.lean);
        required_force(payload.mass, bears, payload.safety, MOVABLE * payload.gravity)
    }

    /// Share of the force of each finger that a motion uses. [-]
    pub(super) fn load(&self, payload: &Payload, force: f64, motion: &ToolMotion<'_>) -> f64 {
        let Payload { mass, friction, safety, gravity } = *payload;
        // Both fingers press, and friction acts on both pads.
        let grip = Grip { mass, friction, force: 2.0 * force, safety };
        // `a − g`, by which the fingers must accelerate the object.
        let specific = motion.A.linear + Vector3::z() * gravity;
        grip.leaning_load(&specific, &motion.X_WT.rotation, &self.patch, self.lean)
    }

    /// Friction at which a force of each finger just bears a load: `μ = load/ΣN`. [-]
    pub(super) fn friction_at(&self, load: f64, force: f64) -> f64 {
        friction_for(load / (2.0 * force), self.lean)
    }

    /// Friction that makes a force of each finger enough for the payload. [-]
    pub(super) fn friction_enough(&self, payload: &Payload, force: f64) -> f64 {
        let bears = traction(payload.friction, self.lean) * self.needed(payload);
        friction_for(bears / force, self.lean)
    }
}

/// What the force is the force of, after a number in newtons.
pub(super) const UNIT: &str = "N a finger";

/// Effective radius of level pads on a round object [m]: a quarter of the line of contact, a third of the diameter of a flat end; infinite on
/// a point, whose turning does not matter. `None` of a box.
fn round_radius(hand: &dyn EndEffector, goal: &PickAndPlaceGoal, edge: Edge) -> Option<f64> {
    let line = |pad: f64, straight: f64| match pad.min(straight) {
        length if length < SHORT => f64::INFINITY,
        length => 0.25 * length,
    };
    match (goal.profile, edge) {
        (Profile::Box | Profile::Cone, _) => None,
        (Profile::Standing { straight, .. }, _) => Some(line(hand.pad_depth(), straight)),
        (Profile::Lying { straight }, Edge::Y) => Some(line(hand.pad_width(), straight)),
        (Profile::Lying { .. }, Edge::X) => {
            Some(hand.pad_depth().min(hand.pad_width()).min(goal.size.z) / 3.0)
        }
        (Profile::Ball, _) => Some(f64::INFINITY),
    }
}

/// Contact patch of fingers that are `raise` above the object's middle [m] and lean by `lean` [rad].
fn patch(
    hand: &dyn EndEffector,
    goal: &PickAndPlaceGoal,
    edge: Edge,
    raise: f64,
    lean: f64,
) -> Patch {
    if let Some(radius) = round_radius(hand, goal, edge) {
        // A pair of lines or points is where the object is widest. On points it hangs as it likes: a ball looks the same.
        let is_point = radius.is_infinite();
        let offset = if edge.is_round_across(goal) { 0.0 } else { -raise };
        let uncertainty = if is_point { 0.0 } else { COM_TOLERANCE };
        return Patch { radius, offset: Vector3::z() * offset, uncertainty };
    }
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
