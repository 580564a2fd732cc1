//! Positions of the twelve bodies from the angles.
//!
//! The left foot stands; going up its leg, across the pelvis and down the right leg gives every joint, with jets
//! also its velocity and acceleration. A leg link of angle `b` points along `Rx(θ) Ry(b) z`. [Kume 1991]

use core::ops::{Add, Mul, Sub};

use super::{BodyData, Jet};

/// Index of left quantities in pairs.
pub const LEFT: usize = 0;
/// Index of right quantities in pairs.
pub const RIGHT: usize = 1;

/// The bodies, in the study's order 1 to 12.
pub const BODIES: [&str; 12] = [
    "left_shank",
    "left_thigh",
    "pelvis",
    "trunk",
    "left_upper_arm",
    "left_forearm",
    "right_upper_arm",
    "right_forearm",
    "right_thigh",
    "right_shank",
    "right_foot",
    "left_foot",
];

/// Elbow angles, which are constant.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Elbow {
    /// A11: both forearms inwards. [rad]
    pub inward: f64,
    /// A12L, A12R: forearm forward. [rad] (2)
    pub forward: [f64; 2],
}

/// All angles of the walker; absolute, not relative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Posture {
    /// θ: angle of both legs about X; negative moves the body to +Y. [rad]
    pub sway: Jet,
    /// φ: angle of the trunk about Y; positive leans forward. [rad]
    pub pitch: Jet,
    /// b1 of the thighs, left and right: about Y, negative puts a swinging leg forward. [rad] (2)
    pub thigh: [Jet; 2],
    /// b2 of the shanks, left and right. [rad] (2)
    pub shank: [Jet; 2],
    /// b4 of the arms, left and right: negative puts the arm forward. [rad] (2)
    pub arm: [Jet; 2],
    /// Pitch of the right foot about its ankle; positive puts the toes down. The left foot stands level. [rad]
    pub foot: Jet,
    /// Elbow angles, constant.
    pub elbow: Elbow,
}

/// A moving point. [m] (3)
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Forward coordinate. [m]
    pub x: Jet,
    /// Coordinate to the left. [m]
    pub y: Jet,
    /// Upward coordinate. [m]
    pub z: Jet,
}

impl Point {
    /// Point at rest. [m]
    pub const fn fixed(x: f64, y: f64, z: f64) -> Self {
        Self { x: Jet::constant(x), y: Jet::constant(y), z: Jet::constant(z) }
    }

    /// Position. [m] (3)
    pub fn position(&self) -> [f64; 3] {
        [self.x.value, self.y.value, self.z.value]
    }
}

impl Add for Point {
    type Output = Self;
    #[inline]
    fn add(self, o: Self) -> Self {
        Self { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
}

impl Sub for Point {
    type Output = Self;
    #[inline]
    fn sub(self, o: Self) -> Self {
        Self { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z }
    }
}

impl Mul<f64> for Point {
    type Output = Self;
    #[inline]
    fn mul(self, k: f64) -> Self {
        Self { x: self.x * k, y: self.y * k, z: self.z * k }
    }
}

/// Joints and centres of mass of the walker, from the floor under the left ankle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Skeleton {
    /// Ankles, left and right. [m] (2)
    pub ankle: [Point; 2],
    /// Knees, left and right. [m] (2)
    pub knee: [Point; 2],
    /// Hips, left and right. [m] (2)
    pub hip: [Point; 2],
    /// Joint between pelvis and trunk. [m]
    pub waist: Point,
    /// Shoulders, left and right. [m] (2)
    pub shoulder: [Point; 2],
    /// Elbows, left and right. [m] (2)
    pub elbow: [Point; 2],
    /// Centres of mass, in the order of [`BODIES`]. [m] (12)
    pub center: [Point; 12],
}

/// Joints and centres of mass of a posture; the origin is on the floor under the left ankle.
pub fn skeleton(body: &BodyData, posture: &Posture) -> Skeleton {
    let l = &body.lengths;
    // Offsets within the pelvis and the standing foot, which do not turn.
    let side = |y: f64, z: f64| Point::fixed(0.0, y, z);
    let (s_sway, c_sway) = posture.sway.sin_cos();
    // Unit vectors of the links: `Rx(θ) Ry(b) ẑ` for the legs, `Ry(φ) ẑ` for trunk, arms and swinging foot.
    let along_leg = |b: Jet| {
        let (s, c) = b.sin_cos();
        Point { x: s, y: -(c * s_sway), z: c * c_sway }
    };
    let upright = |angle: Jet| {
        let (s, c) = angle.sin_cos();
        Point { x: s, y: Jet::default(), z: c }
    };
    let thigh = posture.thigh.map(along_leg);
    let shank = posture.shank.map(along_leg);

    // From the standing left foot up its leg, across the pelvis, down the right leg.
    let foot_left = side(0.0, l.sole_to_foot);
    let ankle_left = foot_left + side(0.0, l.foot_to_ankle);
    let knee_left = ankle_left + shank[LEFT] * (2.0 * l.half_shank);
    let hip_left = knee_left + thigh[LEFT] * (2.0 * l.half_thigh);
    let pelvis = hip_left + side(-l.half_pelvis_width, l.hip_to_pelvis);
    let hip_right = pelvis + side(-l.half_pelvis_width, -l.hip_to_pelvis);
    // Links point upwards on both sides, so down the right leg they are subtracted.
    let knee_right = hip_right - thigh[RIGHT] * (2.0 * l.half_thigh);
    let ankle_right = knee_right - shank[RIGHT] * (2.0 * l.half_shank);
    let foot_right = ankle_right - upright(posture.foot) * l.foot_to_ankle;

    // Trunk and arms, from the waist up; the elbows add their constant angles to the forearms.
    let waist = pelvis + side(0.0, l.hip_to_pelvis);
    let spine = upright(posture.pitch);
    let neck = waist + spine * l.waist_to_shoulder;
    let shoulder = [1.0, -1.0].map(|left| neck + side(left * l.half_shoulder_width, 0.0));
    let upper_arm = posture.arm.map(upright);
    let forearm = [LEFT, RIGHT].map(|i| {
        // A negative angle puts an arm forward, hence the minus of an elbow's bend.
        let turned = upright(posture.arm[i] - Jet::constant(posture.elbow.forward[i]));
        let left = if i == LEFT { 1.0 } else { -1.0 };
        // Forearms hang along the negative of this vector: outwards here is inwards there.
        turned * posture.elbow.inward.cos() + side(left * posture.elbow.inward.sin(), 0.0)
    });
    let elbow = [LEFT, RIGHT].map(|i| shoulder[i] - upper_arm[i] * (2.0 * l.half_upper_arm));
    let upper_arm_center = [LEFT, RIGHT].map(|i| shoulder[i] - upper_arm[i] * l.half_upper_arm);
    let forearm_center = [LEFT, RIGHT].map(|i| elbow[i] - forearm[i] * l.half_forearm);

    let center = [
        ankle_left + shank[LEFT] * l.half_shank,
        knee_left + thigh[LEFT] * l.half_thigh,
        pelvis,
        waist + spine * l.waist_to_trunk,
        upper_arm_center[LEFT],
        forearm_center[LEFT],
        upper_arm_center[RIGHT],
        forearm_center[RIGHT],
        hip_right - thigh[RIGHT] * l.half_thigh,
        knee_right - shank[RIGHT] * l.half_shank,
        foot_right,
        foot_left,
    ];
    Skeleton {
        ankle: [ankle_left, ankle_right],
        knee: [knee_left, knee_right],
        hip: [hip_left, hip_right],
        waist,
        shoulder,
        elbow,
        center,
    }
}
