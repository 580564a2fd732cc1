//! Pads of two fingers on an object: the law of a pair that is pressed on by force.
//!
//! Units: m, rad, N.

use core::f64::consts::{FRAC_PI_2, FRAC_PI_4};

use karakuri_spatial::{Matrix3, Vector3};

use super::hold::{Fit, Stop};
use super::payload::{COM_TOLERANCE, Law, MOVABLE, Payload, ToolMotion, too_heavy};
use super::springs::Held;
use crate::EndEffector;
use crate::end_effector::{Reach, SqueezedOut};
use crate::pick_and_place::PlanError;
use crate::pick_and_place::types::{PickAndPlaceGoal, Profile};
use crate::slip::{
    Grip, Patch, SpecificWrench, effective_radius, friction_for, required_force, traction,
};

/// Clearance between a fingertip and the support of the object. [m]
pub(super) const TIP_CLEARANCE: f64 = 0.004;
/// Length of a line of contact below which it counts as a point. [m]
pub(super) const SHORT: f64 = 0.002;
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
    pub(super) stop: Stop,
    /// Opening for going about the object. [m]
    pub(super) open: f64,
    /// Opening at which the object stops the fingers. [m]
    pub(super) opening: f64,
    /// Angle by which the fingers lean there. [rad]
    pub(super) lean: f64,
    /// Contact patch of the fingers, in the tool's axes.
    pub(super) patch: Patch,
    pub(super) held: Held,
    /// Whether the object is too low for the pads to touch its round side.
    pub(super) is_low: bool,
    /// Whether the pads touch the object at two points, about which it would turn.
    pub(super) turns: bool,
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

    /// What of an object stops pads along it, whose middle is so far above the object's. [m]
    pub(super) fn stop(self, goal: &PickAndPlaceGoal, raise: f64) -> Stop {
        let half = 0.5 * goal.size.z;
        if self.is_round_across(goal) {
            Stop::Round { raise }
        } else {
            Stop::Pads(Reach { inward: half - raise, outward: half + raise })
        }
    }

    /// Whether what the pads press along it on is round about a horizontal axis: at half its height alone it is as wide.
    pub(super) fn is_round_across(self, goal: &PickAndPlaceGoal) -> bool {
        match goal.profile {
            Profile::Box | Profile::Standing { .. } | Profile::Cone | Profile::Hull(_) => false,
            Profile::Lying { .. } => self == Self::Y,
            Profile::Ball => true,
        }
    }
}

/// Turns of the tool about an object [rad], and the edges that are between the fingers then: quarters, and eighths where the object is round.
pub(super) fn ways(profile: &Profile) -> impl Iterator<Item = (f64, Edge)> + use<> {
    let (n, step) = match profile {
        Profile::Box | Profile::Lying { .. } | Profile::Hull(_) => (4, FRAC_PI_2),
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
        let least = ground.max(half - hand.headroom(hand.position(width)));
        let height = if edge.is_round_across(goal) {
            level_with(hand, width, least)
        } else {
            Height { raise: least.max(0.0), touched: 0.0 }
        };
        Self::at(hand, goal, edge, height)
    }

    /// Pads about one of the object's edges, at a height.
    pub(super) fn at(
        hand: &dyn EndEffector,
        goal: &PickAndPlaceGoal,
        edge: Edge,
        height: Height,
    ) -> Self {
        let width = edge.of(&goal.size);
        let Height { raise, touched } = height;
        let is_round = edge.is_round_across(goal);
        let stop = edge.stop(goal, raise);
        let opening = stop.opening_about(hand, width);
        let position = hand.position(opening);
        let (lean, depth) = (hand.lean(position), hand.tool_depth(position));
        let open = stop.opening_about(hand, width + 2.0 * CLEARANCE);
        let edges = Vector3::new(goal.size.z, width, edge.other(&goal.size));
        // A pair of lines or points is where the object is widest.
        let below = if is_round { touched } else { raise };
        let (radius, uncertainty) = patch(hand, goal, edge, lean);
        Self {
            width,
            raise,
            depth,
            stop,
            open: open.min(hand.opening_range().1),
            opening,
            lean,
            patch: Patch { radius, offset: Vector3::x() * below, uncertainty, width },
            held: Held::new(Vector3::x() * (depth + raise), &edges),
            turns: lean.abs() > 0.0 && !is_round && goal.profile != Profile::Box,
            // Round sides are touched at about half their height, which the pads must reach.
            is_low: is_round
                && (raise - touched).abs() > 0.5 * hand.pad_depth() * lean.cos() - TIP_CLEARANCE,
        }
    }

    /// Opening of the fingers about the object.
    pub(super) fn fit(&self) -> Fit {
        let Self { width, open, opening, stop, lean, .. } = *self;
        Fit { width, open, opening, stop, pushes_out: lean.abs() > 0.0, spread: None }
    }

    /// Whether the hand opens far enough to go about the object.
    pub(super) fn fits(&self, hand: &dyn EndEffector) -> bool {
        // Half of the clearance on each side is the least; the hand opens for all of it where it can.
        !self.is_low
            && self.stop.opening_about(hand, self.width + CLEARANCE) <= hand.opening_range().1
    }

    /// Refuses what would be squeezed out, and what is too heavy.
    pub(super) fn check(
        &self,
        hand: &dyn EndEffector,
        payload: &Payload,
        given: f64,
    ) -> Result<(), PlanError> {
        SqueezedOut::check(self.width, self.lean, payload.friction, payload.largest_lean())?;
        let (needed, highest) = (self.at_rest(payload), hand.force_max());
        // Before anything moves: a grip that is too weak would lose the object only in the air.
        if given > highest || needed > given {
            return Err(too_heavy(payload, needed, [given, highest], UNIT));
        }
        Ok(())
    }

    /// Force of each finger that holds the payload at rest, its centre of mass off by the tolerance. [N]
    pub(super) fn at_rest(&self, payload: &Payload) -> f64 {
        let Payload { mass, gravity, .. } = *payload;
        let Law { friction, safety } = payload.law(self.lean);
        if self.lean.abs() > 0.0 {
            // A load is inverse to the force: at 1 N a finger it is the force at which it would be 1.
            let grip = Grip { mass, friction, force: 2.0, safety };
            // In the axes of a tool that looks down.
            let up = SpecificWrench::without_moment(-Vector3::x() * gravity);
            return grip.leaning_load(&up, &Matrix3::identity(), &self.patch, self.lean);
        }
        // Sliding and twisting share the friction, `N √(1 + (d/r_c)²)`: the ellipse of the slip condition.
        let twist = (self.lever().abs() + COM_TOLERANCE) / self.patch.radius;
        required_force(mass, friction, safety, gravity) * twist.hypot(1.0)
    }

    /// Distance of the centre of mass from the middle of the patch along the tool's z. [m]
    pub(super) fn lever(&self) -> f64 {
        self.patch.offset.z
    }

    /// Force of each finger that carries the payload, and can move it. [N]
    pub(super) fn needed(&self, payload: &Payload) -> f64 {
        // What is squeezed out at any force bears nothing.
        let Law { friction, safety } = payload.law(self.lean);
        let bears = traction(friction, self.lean).max(0.0);
        let twist = self.lever() / self.patch.radius;
        required_force(payload.mass, bears, safety, MOVABLE * payload.gravity) * twist.hypot(1.0)
    }

    /// Share of the force of each finger that a motion uses. [-]
    pub(super) fn load(&self, payload: &Payload, force: f64, motion: &ToolMotion<'_>) -> f64 {
        let (mass, Law { friction, safety }) = (payload.mass, payload.law(self.lean));
        // Both fingers press, and friction acts on both pads.
        let grip = Grip { mass, friction, force: 2.0 * force, safety };
        let needed = self.held.needed(payload, motion);
        grip.leaning_load(&needed, &Matrix3::identity(), &self.patch, self.lean)
    }

    /// Friction at which a force of each finger just bears a load: `μ = load/ΣN`. [-]
    pub(super) fn friction_at(&self, load: f64, force: f64) -> f64 {
        friction_for(load / (2.0 * force), self.lean)
    }

    /// Friction that makes a force of each finger enough for the payload. [-]
    pub(super) fn friction_enough(&self, payload: &Payload, force: f64) -> f64 {
        let Law { friction, .. } = payload.law(self.lean);
        let bears = traction(friction, self.lean) * self.needed(payload);
        payload.friction / friction * friction_for(bears / force, self.lean)
    }
}

/// What the force is the force of, after a number in newtons.
pub(super) const UNIT: &str = "N a finger";

/// Height of the pads on an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Height {
    /// Height of their middle above the object's centre. [m]
    pub(super) raise: f64,
    /// Height of the points which they touch, of what is round across; else 0. [m]
    pub(super) touched: f64,
}

/// Height of pads on what is round about the tool's z, at least `least`. [m]
fn level_with(hand: &dyn EndEffector, width: f64, least: f64) -> Height {
    let (mut raise, mut touched) = (least.max(0.0), 0.0);
    // Faces that lean touch it where they are square to its radius; how much they lean depends on where they are.
    for _ in 0..SETTLING {
        let opening = Stop::Round { raise }.opening_about(hand, width);
        touched = 0.5 * width * hand.lean(hand.position(opening)).sin();
        raise = least.max(touched);
    }
    Height { raise, touched }
}

/// Times that the height of the pads and the lean of their faces are found by each other.
const SETTLING: usize = 20;

/// Effective radius of level pads on a round object [m]: a quarter of the line of contact, a third of the diameter of a flat end; infinite on
/// a point, whose turning does not matter. `None` of a box.
fn round_radius(hand: &dyn EndEffector, goal: &PickAndPlaceGoal, edge: Edge) -> Option<f64> {
    let line = |pad: f64, straight: f64| match pad.min(straight) {
        length if length < SHORT => f64::INFINITY,
        length => 0.25 * length,
    };
    match (&goal.profile, edge) {
        (Profile::Box | Profile::Cone | Profile::Hull(_), _) => None,
        (Profile::Standing { straight, .. }, _) => Some(line(hand.pad_depth(), *straight)),
        (Profile::Lying { straight }, Edge::Y) => Some(line(hand.pad_width(), *straight)),
        (Profile::Lying { .. }, Edge::X) => {
            Some(hand.pad_depth().min(hand.pad_width()).min(goal.size.z) / 3.0)
        }
        (Profile::Ball, _) => Some(f64::INFINITY),
    }
}

/// Effective radius of the contact patch of fingers that lean by `lean` [rad], and the largest error of the centre of mass beside it. [m] (2)
fn patch(hand: &dyn EndEffector, goal: &PickAndPlaceGoal, edge: Edge, lean: f64) -> (f64, f64) {
    if let Some(radius) = round_radius(hand, goal, edge) {
        // On points it hangs as it likes: a ball looks the same.
        return (radius, if radius.is_infinite() { 0.0 } else { COM_TOLERANCE });
    }
    // Pads touch no more than the object offers; its narrower side is the cautious choice for either yaw.
    let width = hand.pad_width().min(goal.size.x.min(goal.size.y));
    let radius = if lean.abs() > 0.0 {
        // Along a line across the pad: the mean distance of its points from its middle.
        0.25 * width
    } else {
        effective_radius(hand.pad_depth().min(goal.size.z), width)
    };
    (radius, COM_TOLERANCE)
}
