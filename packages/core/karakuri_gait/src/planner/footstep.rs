//! Places of feet: what a velocity or a distance asks for, cut to what the robot can do, with the reason.

use karakuri_spatial::{Matrix3, Pose, Vector3};
use serde::{Deserialize, Serialize};

use super::WalkSettings;

/// A foot, and what belongs to it, as an index of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// 0
    Left,
    /// 1
    Right,
}

impl Side {
    /// Both, left first.
    pub const BOTH: [Self; 2] = [Self::Left, Self::Right];

    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        if self == Self::Left { Self::Right } else { Self::Left }
    }

    /// Index in pairs.
    pub fn index(self) -> usize {
        usize::from(self == Self::Right)
    }

    /// +1 left, -1 right.
    pub fn sign(self) -> f64 {
        if self == Self::Left { 1.0 } else { -1.0 }
    }
}

/// Where a sole stands: its frame's origin on the floor, its heading, and how the floor slopes there.
/// `R_WSole = R_z(yaw) R_y(pitch) R_x(roll)`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Place {
    /// In the world. [m] (3)
    pub position: [f64; 3],
    /// About the vertical. [rad]
    pub yaw: f64,
    /// Roll and pitch of the floor; it falls ahead where the pitch is positive. [rad] (2)
    #[serde(default)]
    pub tilt: [f64; 2],
}

impl Place {
    /// On a level floor.
    pub fn level(position: [f64; 3], yaw: f64) -> Self {
        Self { position, yaw, tilt: [0.0; 2] }
    }

    /// `R_WSole`.
    pub fn rotation(&self) -> Matrix3 {
        let [roll, pitch] = self.tilt;
        Pose::from_xyz_rpy([0.0; 3], [roll, pitch, self.yaw]).rotation
    }

    /// `X_WSole`.
    pub fn pose(&self) -> Pose {
        Pose::new(self.rotation(), Vector3::from(self.position))
    }

    /// The same, forward and left by so much as seen from above, in the plane of the sole. [m] (2)
    #[must_use]
    pub fn moved(&self, [forward, left]: [f64; 2]) -> Self {
        let (sin, cos) = self.yaw.sin_cos();
        let (dx, dy) = (cos * forward - sin * left, sin * forward + cos * left);
        let [x, y, z] = self.position;
        Self { position: [x + dx, y + dy, z + self.rise(dx, dy)], ..*self }
    }

    /// The same, on the same floor, with another heading. [rad]
    #[must_use]
    pub fn headed(&self, yaw: f64) -> Self {
        let n = turned(yaw).tr_mul(&self.rotation().column(2).into_owned());
        Self { yaw, tilt: [-n.y.asin(), n.x.atan2(n.z)], ..*self }
    }

    /// How much higher the plane of the sole is there. [m]
    pub fn rise(&self, dx: f64, dy: f64) -> f64 {
        let n = self.rotation().column(2).into_owned();
        -(n.x * dx + n.y * dy) / n.z
    }

    /// A point of the sole in the world, seen from above. [m] (2)
    pub fn point(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let p = self.pose().transform_point(&Vector3::new(x, y, 0.0));
        [p.x, p.y]
    }
}

/// Rotation about the vertical.
pub(super) fn turned(yaw: f64) -> Matrix3 {
    Pose::from_axis_angle(&Vector3::z(), yaw).rotation
}

/// One step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Footstep {
    /// The foot that moves.
    pub side: Side,
    /// Where to.
    pub to: Place,
    /// Before it, with both feet on the floor, the left foot slides forward by this and the right one backward: what is left of the
    /// friction turns the robot to the left. [m]
    #[serde(default)]
    pub slide: f64,
}

/// What was cut, and why.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Clip {
    /// Which quantity.
    pub what: ClipKind,
    /// Asked for. [m or rad]
    pub asked: f64,
    /// Done. [m or rad]
    pub done: f64,
}

/// A quantity of a step that has a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClipKind {
    /// Longest step forward or backward.
    Length,
    /// Feet would be too near or too far apart.
    Width,
    /// Largest turn of a step.
    Turn,
    /// The legs have no yaw joint.
    NoYaw,
    /// Highest step up or down.
    Height,
}

impl core::fmt::Display for Clip {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (asked, done) = (self.asked, self.done);
        match self.what {
            ClipKind::Length => write!(f, "step length {asked:.3} m cut to {done:.3} m"),
            ClipKind::Width => write!(f, "distance of the feet {asked:.3} m made {done:.3} m"),
            ClipKind::Turn => write!(f, "turn of {asked:.3} rad a step cut to {done:.3} rad"),
            ClipKind::NoYaw => {
                write!(f, "turn of {asked:.3} rad a step left out: the legs have no yaw joint")
            }
            ClipKind::Height => write!(f, "step of {asked:.3} m up cut to {done:.3} m"),
        }
    }
}

/// What a robot can do in a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepLimits {
    /// Longest step forward, against the standing foot. [m]
    pub forward: f64,
    /// Longest step backward. [m]
    pub backward: f64,
    /// Least and greatest distance of the feet across. [m] (2)
    pub width: [f64; 2],
    /// Largest turn. [rad]
    pub turn: f64,
    /// Highest step up or down. [m]
    pub height: f64,
}

/// Moves a step into the limits; what was cut goes to `clips`.
pub fn clip(
    step: &Footstep,
    standing: &Place,
    (limits, has_yaw): (&StepLimits, bool),
    clips: &mut Vec<Clip>,
) -> Footstep {
    let mut cut = |what, asked: f64, low: f64, high: f64| {
        let done = asked.clamp(low, high);
        if (done - asked).abs() > 1e-9 {
            clips.push(Clip { what, asked, done });
        }
        done
    };
    let side = step.side.sign();
    let R = turned(standing.yaw);
    let between = Vector3::from(step.to.position) - Vector3::from(standing.position);
    let relative = R.tr_mul(&between);
    let length = cut(ClipKind::Length, relative.x, -limits.backward, limits.forward);
    let [narrow, wide] = limits.width;
    let width = cut(ClipKind::Width, side * relative.y, narrow, wide);
    let height = cut(ClipKind::Height, relative.z, -limits.height, limits.height);
    let asked = step.to.yaw - standing.yaw;
    let turn = if has_yaw {
        cut(ClipKind::Turn, asked, -limits.turn, limits.turn)
    } else {
        cut(ClipKind::NoYaw, asked, 0.0, 0.0)
    };
    let position =
        Vector3::from(standing.position) + R * Vector3::new(length, side * width, height);
    let mut to = Place { position: position.into(), ..step.to }.headed(standing.yaw + turn);
    let [x, y, _] = step.to.position;
    to.position[2] += step.to.rise(to.position[0] - x, to.position[1] - y);
    Footstep { to, ..*step }
}

/// Turning without yaw joints: the feet slide past each other, and friction turns the robot. Each floor has its own rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlipTurn {
    /// How far each foot slides at most. [m]
    pub slide: f64,
    /// How long it slides. [s]
    pub time: f64,
    /// What the robot turns then, as measured. [rad/s]
    pub rate: f64,
}

/// The feet after a slide. [m]
pub(super) fn slid(feet: &[Place; 2], slide: f64) -> [Place; 2] {
    [feet[0].moved([slide, 0.0]), feet[1].moved([-slide, 0.0])]
}

/// A velocity: forward, left [m/s], turning left [rad/s].
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Velocity {
    /// [m/s]
    #[serde(default)]
    pub forward: f64,
    /// [m/s]
    #[serde(default)]
    pub left: f64,
    /// [rad/s]
    #[serde(default)]
    pub turn: f64,
}

impl Velocity {
    /// The next step of `side` at this velocity, before clipping.
    ///
    /// Sideways the foot that leads takes the whole way, the other one closes up. On the plane of the standing sole.
    pub fn footstep(&self, side: Side, standing: &Place, settings: &WalkSettings) -> Footstep {
        let time = settings.step_time;
        let leads = self.left * side.sign() > 0.0;
        let sideways = if leads { 2.0 * self.left * time } else { 0.0 };
        let turn = self.turn * time;
        let half = 0.5 * settings.feet_apart * side.sign();
        let middle = standing.moved([self.forward * time, half + sideways]);
        let to = middle.headed(standing.yaw + turn).moved([0.0, half]);
        Footstep { side, to, slide: 0.0 }
    }
}
