//! Fingers that lean, where a goal's grasp has their tool.
//!
//! Their faces touch boxes and what lies along lines across them, and balls at two points: the laws of `pads`, at a height and a place along the object that are given.
//!
//! Units: m, rad, N; tool axes, x towards the object and y along the opening.

use core::f64::consts::FRAC_PI_2;

use karakuri_spatial::Vector3;

use super::pads::{Edge, Height, Pads, SHORT};
use super::payload::Payload;
use super::sides::{Grip, LEAST_COVER};
use super::springs::Held;
use super::stated::{Part, SQUARE, no_grip};
use crate::EndEffector;
use crate::pick_and_place::PlanError;
use crate::pick_and_place::types::{Grasp, PickAndPlaceGoal, Profile};

/// Times that the height of the pads and the opening about the object are found by each other.
const SETTLING: usize = 20;

/// Pads that lean on an object where a goal's grasp has the tool.
pub(super) fn given(
    hand: &dyn EndEffector,
    goal: &PickAndPlaceGoal,
    payload: &Payload,
    grasp: &Grasp,
) -> Result<Grip, PlanError> {
    let (turn, edge) = square(hand, goal, grasp)?;
    let height = height(hand, goal, edge, grasp.position.z);
    let mut pads = Pads::at(hand, goal, edge, height);
    let room = hand.headroom(hand.position(pads.opening));
    let part = Part { name: "pads", below: 0.5 * hand.pad_depth(), room };
    part.check(height.raise, goal.size.z)?;
    if 0.5 * goal.size.z - height.raise < LEAST_COVER - 0.5 * hand.pad_depth() {
        return Err(no_grip(format!("its pads cover less than {:.0} mm of it", 1e3 * LEAST_COVER)));
    }
    if pads.is_low {
        let off = 1e3 * (height.raise - height.touched).abs();
        return Err(no_grip(format!(
            "it is as wide as between the pads {off:.1} mm from their middle, where they do not reach"
        )));
    }
    if !pads.fits(hand) {
        return Err(no_grip(format!(
            "it is {:.1} mm wide between the fingers, which do not open for that and their clearance",
            1e3 * pads.width
        )));
    }
    let (sin, cos) = turn.sin_cos();
    let along = Vector3::new(cos, sin, 0.0);
    let beside = grasp.position.dot(&along);
    put_beside(&mut pads, hand, goal, Across { edge, beside })?;
    pads.check(hand, payload, goal.max_grip_force)?;
    Ok(Grip { turn, pads, middle: along * beside })
}

/// Yaw of the tool with its fingers square to a side, and the edge that is between them then.
fn square(
    hand: &dyn EndEffector,
    goal: &PickAndPlaceGoal,
    grasp: &Grasp,
) -> Result<(f64, Edge), PlanError> {
    let quarters = match goal.profile {
        Profile::Ball => return Ok((grasp.turn, Edge::Y)),
        Profile::Box => 1.0,
        Profile::Lying { .. } => 2.0,
        Profile::Standing { .. } | Profile::Cone | Profile::Hull(_) => {
            let taken = "boxes, balls and what lies by the grasps of a goal: its fingers lean";
            return Err(PlanError::Shape { hand: hand.kind(), taken });
        }
    };
    let step = quarters * FRAC_PI_2;
    let n = (grasp.turn / step).round();
    let off = (grasp.turn - n * step).abs();
    if off > SQUARE {
        return Err(no_grip(format!(
            "its fingers close {:.1} degrees off square to a side, at most {:.1} are taken",
            off.to_degrees(),
            SQUARE.to_degrees()
        )));
    }
    let is_quarter = (n * quarters).rem_euclid(2.0) > 0.5;
    Ok((n * step, if is_quarter { Edge::X } else { Edge::Y }))
}

/// Height of the middle of the pads with the tool so high above the object's middle. [m]
fn height(hand: &dyn EndEffector, goal: &PickAndPlaceGoal, edge: Edge, tool: f64) -> Height {
    let width = edge.of(&goal.size);
    let is_round = edge.is_round_across(goal);
    // Where the pads are on the tool depends on the opening, and the opening on where they are.
    let (mut opening, mut height) = (width, Height { raise: 0.0, touched: 0.0 });
    for _ in 0..SETTLING {
        let position = hand.position(opening);
        let raise = tool - hand.tool_depth(position);
        let touched = if is_round { 0.5 * width * hand.lean(position).sin() } else { 0.0 };
        height = Height { raise, touched };
        opening = edge.stop(goal, raise).opening_about(hand, width);
    }
    height
}

/// Place of pads across an object.
#[derive(Debug, Clone, Copy)]
struct Across {
    /// Edge between the pads.
    edge: Edge,
    /// Place of their middle along the other edge, from the object's middle. [m]
    beside: f64,
}

/// Puts pads beside the middle of the object: they touch what of it is between them.
fn put_beside(
    pads: &mut Pads,
    hand: &dyn EndEffector,
    goal: &PickAndPlaceGoal,
    place: Across,
) -> Result<(), PlanError> {
    let Across { edge, beside } = place;
    let other = edge.other(&goal.size);
    let half = match goal.profile {
        Profile::Lying { straight } => 0.5 * straight,
        _ => 0.5 * other,
    };
    let edges = Vector3::new(goal.size.z, pads.width, other);
    pads.held = Held::new(Vector3::new(pads.depth + pads.raise, 0.0, -beside), &edges);
    if goal.profile == Profile::Ball {
        return Ok(());
    }
    let (from, to) =
        ((beside - 0.5 * hand.pad_width()).max(-half), (beside + 0.5 * hand.pad_width()).min(half));
    if to - from < SHORT {
        return Err(no_grip("nothing of it is between pads there".to_owned()));
    }
    // The mean distance of a line's points from its middle.
    pads.patch.radius = pads.patch.radius.min(0.25 * (to - from));
    pads.patch.offset.z = -0.5 * (from + to);
    Ok(())
}
