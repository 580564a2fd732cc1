//! The feet of a robot on two legs.

use karakuri_model::{Base, FrameId, Model};

/// Names of the feet's links, left and right, of robots that are known.
const NAMES: [[&str; 2]; 4] = [
    ["l_foot", "r_foot"],
    ["left_foot", "right_foot"],
    ["left_ankle_roll_link", "right_ankle_roll_link"],
    ["left_sole_link", "right_sole_link"],
];

/// Links of the feet, left and right; `None` of a robot that is fixed or has no such links.
pub(crate) fn feet_of(model: &Model) -> Option<[FrameId; 2]> {
    if !matches!(model.base, Base::Floating) {
        return None;
    }
    let pair = |[left, right]: [&str; 2]| Some([model.frame(left)?, model.frame(right)?]);
    NAMES.into_iter().find_map(pair)
}
