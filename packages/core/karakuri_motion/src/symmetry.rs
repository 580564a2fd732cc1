//! Mirror table of a robot, by the axes of its joints.

use karakuri_dynamics::{Data, forward_kinematics};
use karakuri_model::{Base, JointKind, Model};
use karakuri_spatial::{Pose, Vector3};

use crate::mirror::{Mirror, MirrorPair};

/// Least cosine between an axis and the mirror image of the other one for two joints to be a pair. [-]
// 26 degrees: axes of drawings lean a little, and those of other joints are square to them.
const PARALLEL: f64 = 0.9;

/// Beginnings and endings of names that say a side: left, right.
// Whole words first, which begin with the letters of the short ones.
const SIDES: [(&str, &str); 7] = [
    ("left", "right"),
    ("Left", "Right"),
    ("LEFT", "RIGHT"),
    ("l_", "r_"),
    ("L_", "R_"),
    ("_l", "_r"),
    ("_L", "_R"),
];

impl Mirror {
    /// The table of a robot about its x-z plane: names propose the pairs, the axes in the neutral position say the signs. With
    /// `S = diag(1, −1, 1)`, a turn about `a` is a turn about `−S a` in the mirror; a shift along `a` is one along `S a`.
    pub fn of(model: &Model) -> Self {
        let mut data = Data::new(model);
        forward_kinematics(model, &mut data, &model.neutral_position());
        // The plane of symmetry is the root link's own, wherever the robot stands.
        let X_RootW = match model.base {
            Base::Fixed(pose) => pose.inverse(),
            Base::Floating => data.pose_in_world.first().map_or(Pose::IDENTITY, Pose::inverse),
        };
        let axis = |joint: usize| {
            let (axis, is_turn) = match &model.joints[joint].kind {
                JointKind::Revolute { axis } => (axis, true),
                JointKind::Prismatic { axis } => (axis, false),
                _ => return None,
            };
            let R_RootB = X_RootW.rotation * data.pose_in_world[joint].rotation;
            Some(Axis { direction: R_RootB * axis, is_turn })
        };
        let sign = |a: usize, b: usize| {
            let (a, b) = (axis(a)?, axis(b)?);
            // A mirror reverses the sense of turning, so an axis of rotation gets another sign than one of sliding.
            let image = Vector3::new(a.direction.x, -a.direction.y, a.direction.z);
            let cosine = image.dot(&b.direction) * if a.is_turn { -1.0 } else { 1.0 };
            (a.is_turn == b.is_turn && cosine.abs() > PARALLEL).then(|| cosine.signum())
        };
        let mut mirror = Self::default();
        for (i, joint) in model.joints.iter().enumerate() {
            match partner(&joint.name) {
                Some(Partner::Right(name)) => {
                    let other = model.joint(&name);
                    if let Some((other, sign)) = other.and_then(|o| Some((o, sign(i, o.0)?))) {
                        let right = model.joints[other.0].name.clone();
                        mirror.pairs.push(MirrorPair(joint.name.clone(), right, sign));
                    }
                }
                // Its left partner brings it.
                Some(Partner::Left) => {}
                None => {
                    if let Some(sign) = sign(i, i) {
                        mirror.own.insert(joint.name.clone(), sign);
                    }
                }
            }
        }
        mirror
    }
}

/// A joint's axis in the root link's axes, and whether it turns or slides.
struct Axis {
    direction: Vector3,
    is_turn: bool,
}

/// What a name says of its partner.
enum Partner {
    /// The joint is of the left, and its partner has this name.
    Right(String),
    /// The joint is of the right.
    Left,
}

fn partner(name: &str) -> Option<Partner> {
    for (left, right) in SIDES {
        let at_end = left.starts_with('_');
        let swapped = |from: &str, to: &str| {
            if at_end {
                name.strip_suffix(from).map(|rest| format!("{rest}{to}"))
            } else {
                name.strip_prefix(from).map(|rest| format!("{to}{rest}"))
            }
        };
        if let Some(other) = swapped(left, right) {
            return Some(Partner::Right(other));
        }
        // A joint of the right is not its own mirror image, even where its left partner is missing.
        if swapped(right, left).is_some() {
            return Some(Partner::Left);
        }
    }
    None
}
