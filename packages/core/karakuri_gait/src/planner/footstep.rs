//! Footsteps, and their clipping to the limits of the robot.

use karakuri_spatial::Vector3;
use serde::{Deserialize, Serialize};

use super::place::{Place, turned};
use super::side::Side;

/// A place for a foot.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Footstep {
    /// Foot that moves.
    pub side: Side,
    /// Place where it lands.
    pub to: Place,
    /// Slide before the step, with both feet on the floor: the left foot forward by this, the right one backward; the remaining
    /// friction turns the robot to the left. [m]
    #[serde(default)]
    pub slide: f64,
}

/// Cut of a footstep's quantity to its limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Clip {
    /// Quantity that was cut.
    pub what: ClipKind,
    /// Value asked for. [m or rad]
    pub asked: f64,
    /// Value after the cut. [m or rad]
    pub done: f64,
}

/// Quantity of a footstep that has a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClipKind {
    /// Length of the step, forward or backward.
    Length,
    /// Distance of the feet across: too near or too far apart.
    Width,
    /// Turn of the step.
    Turn,
    /// Turn of legs without a yaw joint.
    NoYaw,
    /// Height of the step, up or down.
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

/// Limits of a footstep.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepLimits {
    /// Longest step forward, against the standing foot. [m]
    pub forward: f64,
    /// Longest step backward. [m]
    pub backward: f64,
    /// Least and greatest distance of the feet across. [m] (2)
    pub width: [f64; 2],
    /// Largest turn of a step. [rad]
    pub turn: f64,
    /// Highest step up or down. [m]
    pub height: f64,
}

/// Clips a footstep to the limits; cuts are added to `clips`.
pub fn clip(
    step: &Footstep,
    standing: &Place,
    limits: &StepLimits,
    has_yaw: bool,
    clips: &mut Vec<Clip>,
) -> Footstep {
    let mut cut = |what, asked: f64, low: f64, high: f64| {
        let done = asked.clamp(low, high);
        // Round-off of a step at its limit is no cut to report.
        if (done - asked).abs() > 1e-9 {
            clips.push(Clip { what, asked, done });
        }
        done
    };
    let side = step.side.sign();
    // Length, width and height in the heading of the standing foot.
    let R = turned(standing.yaw);
    let between = Vector3::from(step.to.position) - Vector3::from(standing.position);
    let relative = R.tr_mul(&between);
    let length = cut(ClipKind::Length, relative.x, -limits.backward, limits.forward);
    let [narrow, wide] = limits.width;
    // Towards the stepping side positive, so that one range holds for both feet.
    let width = cut(ClipKind::Width, side * relative.y, narrow, wide);
    let height = cut(ClipKind::Height, relative.z, -limits.height, limits.height);
    let asked = step.to.yaw - standing.yaw;
    let turn = if has_yaw {
        cut(ClipKind::Turn, asked, -limits.turn, limits.turn)
    } else {
        // A range of nothing: the turn is left out, and reported as a cut.
        cut(ClipKind::NoYaw, asked, 0.0, 0.0)
    };
    let position =
        Vector3::from(standing.position) + R * Vector3::new(length, side * width, height);
    // The foot keeps to the plane of the floor where the clipped place lies.
    let mut to = Place { position: position.into(), ..step.to }.headed(standing.yaw + turn);
    let [x, y, _] = step.to.position;
    to.position[2] += step.to.rise(to.position[0] - x, to.position[1] - y);
    Footstep { to, ..*step }
}

/// Turning without yaw joints: the feet slide past each other, and friction turns the robot. Each floor has its own rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlipTurn {
    /// Largest slide of each foot. [m]
    pub slide: f64,
    /// Duration of a slide. [s]
    pub time: f64,
    /// Rate at which the robot turns during a slide, as measured. [rad/s]
    pub rate: f64,
}

/// Places of the feet after a slide. [m]
pub(super) fn slid(feet: &[Place; 2], slide: f64) -> [Place; 2] {
    [feet[0].moved([slide, 0.0]), feet[1].moved([-slide, 0.0])]
}
