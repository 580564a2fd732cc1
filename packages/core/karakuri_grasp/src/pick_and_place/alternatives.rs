//! Other ways to hold an object than the usual ones, for fingers that do not get down beside what stands near it: further up, beside the
//! middle, and about what is round at more yaws.
//!
//! Units: m, rad.

use core::f64::consts::FRAC_PI_8;

use karakuri_spatial::{Pose, Vector3};

use super::types::{Grasp, PickAndPlaceGoal, PickAndPlaceSettings, Profile};
use crate::hand::hold::Hold;
use crate::hand::interface::Hand;

/// Heights above the usual one. [m]
// Pads of 28 mm then cover two thirds, and a third, of what they usually do.
const HIGHER: [f64; 3] = [0.0, 0.009, 0.018];
/// Distances beside the middle, across the closing direction. [m]
const BESIDE: [f64; 3] = [0.0, 0.01, -0.01];

/// Other ways to hold the goal's object, the nearest to the usual `holds` first; each by the law of the hand. None of hands without fingers.
pub(super) fn alternatives(
    hand: &dyn Hand,
    goal: &PickAndPlaceGoal,
    settings: &PickAndPlaceSettings,
    holds: &[Hold],
) -> Vec<Hold> {
    let is_round = matches!(goal.profile, Profile::Ball | Profile::Standing { .. });
    let turns: &[f64] = if is_round { &[0.0, FRAC_PI_8] } else { &[0.0] };
    // Beside the middle what is round about the vertical is only narrower.
    let beside = if is_round { &BESIDE[..1] } else { &BESIDE[..] };
    let mut found = Vec::new();
    for &higher in &HIGHER {
        for &aside in beside {
            for &turn in turns {
                let is_usual = higher.hypot(aside).hypot(turn) <= 0.0;
                for hold in holds.iter().filter(|hold| !is_usual && hold.closed() > 0.0) {
                    let grasp = moved(hold, Vector3::new(aside, 0.0, higher), turn);
                    found.extend(hand.grasp(goal, settings, &grasp));
                }
            }
        }
    }
    found
}

/// Grasp of a hold that is moved across its closing direction and upwards [m] (3), and turned. [rad]
fn moved(hold: &Hold, by: Vector3, turn: f64) -> Grasp {
    let turn = hold.turn + turn;
    let across = Pose::from_axis_angle(&Vector3::z(), turn).transform_vector(&by);
    let tool = Vector3::z() * (hold.raise + hold.depth) + hold.middle;
    Grasp { turn, position: tool + across, width: None, score: 0.0 }
}
