//! Values of a robot YAML as they are read.

use std::ops::RangeInclusive;

use crate::builder::{EndEffectorSpec, LoopSpec, SensorSpec};
use crate::diagnostic::Place;
use crate::joint_motion::Reshaped;
use crate::{Base, Convex, MotorSpec, SuctionUnit};

/// Range of numbers that are at least zero.
// The upper end is beyond any gain, and keeps products of such numbers from overflow.
pub(super) const POSITIVE: RangeInclusive<f64> = 0.0..=1e12;
/// Range of any finite number.
pub(super) const ANY: RangeInclusive<f64> = -1e12..=1e12;

/// A robot YAML, read and typed; names are not resolved yet.
#[derive(Default)]
pub(crate) struct RobotConfig {
    pub(crate) base: Option<Base>,
    pub(crate) groups: Vec<(String, Vec<String>)>,
    pub(crate) joints: Vec<(String, Place, Reshaped)>,
    pub(crate) gears: Vec<(String, Place, GearConfig)>,
    pub(crate) drives: Vec<(String, Place, DriveConfig)>,
    pub(crate) loops: Vec<LoopSpec>,
    pub(crate) motors: Vec<MotorSpec>,
    pub(crate) sensors: Vec<SensorSpec>,
    pub(crate) suctions: Vec<SuctionUnit<String>>,
    pub(crate) end_effector: Option<EndEffectorSpec>,
    pub(crate) postures: Vec<(String, Vec<(String, f64)>)>,
    pub(crate) ignored_pairs: Vec<(String, String, Place)>,
    pub(crate) touching_pairs: Vec<(String, String, Place)>,
    /// Whether no link touches another of the same robot.
    pub(crate) passes_through_itself: bool,
    pub(crate) materials: Vec<(String, Place, MaterialConfig)>,
    pub(crate) convex: Vec<(String, Place, Convex)>,
    pub(crate) srdf: Option<(String, Place)>,
}

/// One joint's drive; `None` keeps what the URDF says.
#[derive(Debug, Default)]
pub(crate) struct DriveConfig {
    pub(crate) stiffness: Option<f64>,
    pub(crate) damping: Option<f64>,
    pub(crate) armature: Option<f64>,
    pub(crate) friction: Option<f64>,
    pub(crate) viscous: Option<f64>,
    pub(crate) back_emf: Option<f64>,
    pub(crate) effort: Option<f64>,
    pub(crate) velocity: Option<f64>,
    pub(crate) limit_stiffness: Option<f64>,
    pub(crate) limit_damping: Option<f64>,
    pub(crate) limit_restitution: Option<f64>,
}

/// Two joints of the tree that turn by a fixed ratio: `q[follower] = ratio · q[leader] + offset`.
#[derive(Debug)]
pub(crate) struct GearConfig {
    pub(crate) follower: String,
    pub(crate) leader: String,
    pub(crate) ratio: f64,
    pub(crate) offset: f64,
}

/// One link's surface; `None` keeps the default.
#[derive(Debug, Default)]
pub(crate) struct MaterialConfig {
    pub(crate) friction: Option<f64>,
    pub(crate) restitution: Option<f64>,
}
