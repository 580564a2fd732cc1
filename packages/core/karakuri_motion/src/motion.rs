//! Motions: scenes in their order, tracks on top of them, markers.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

/// A motion: scenes one after another, and tracks of single joints on top.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct Motion {
    /// Period at which the motion is sampled for a robot. [s]
    pub frame: f64,
    /// Whether it begins again at its end.
    #[serde(rename = "loop")]
    pub is_loop: bool,
    /// State at time zero.
    pub start: Start,
    /// Scenes in their order.
    pub scenes: Vec<Scene>,
    /// Joint and its keys in absolute time.
    #[cfg_attr(feature = "ts", ts(as = "std::collections::BTreeMap<String, Track>"))]
    pub tracks: IndexMap<String, Track>,
    /// Named times.
    pub markers: Vec<Marker>,
}

impl Default for Motion {
    /// An empty motion with frames of 15 ms, those of small servo boards.
    fn default() -> Self {
        Self {
            frame: 0.015,
            is_loop: false,
            start: Start::default(),
            scenes: Vec::new(),
            tracks: IndexMap::new(),
            markers: Vec::new(),
        }
    }
}

/// State at the beginning of a motion.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct Start {
    /// Pose at time zero; `None`: each joint begins where its first key has it.
    pub pose: Option<String>,
    /// The feet that stand until a scene says otherwise.
    pub support: Support,
    /// Pose of the robot on the floor: of the root link where nothing supports it, else of the point between the soles
    /// that stand.
    pub root: RootPose,
}

/// Pose of a root link.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct RootPose {
    /// Position of its origin in the world. [m] (3)
    pub xyz: [f64; 3],
    /// Fixed-axis roll, pitch, yaw. [the document's angle] (3)
    pub rpy: [f64; 3],
}

/// The feet that stand still on the floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// The left foot.
    Left,
    /// The right foot.
    Right,
    /// Both feet.
    Both,
    /// No foot: keys of the root say where the robot is, or it flies.
    None,
    /// The foot that is lowest.
    #[default]
    Auto,
}

/// A scene: a pose, or another motion, and the time to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct Scene {
    /// Pose at the end of the scene.
    pub pose: Option<String>,
    /// Motion that the scene plays, in place of a pose.
    pub motion: Option<String>,
    /// Whether left and right are exchanged.
    pub mirror: bool,
    /// Number of times that the motion is played.
    pub repeat: u32,
    /// Time from the previous scene; of a scene with a motion, time before it begins. [s]
    pub time: f64,
    /// Interpolation over the interval that ends with this scene.
    pub ease: Ease,
    /// The feet that stand from the previous scene until this one; `None`: as before.
    pub support: Option<Support>,
    /// Positions of joints on top of the pose. [the document's angle or m]
    #[cfg_attr(feature = "ts", ts(as = "std::collections::BTreeMap<String, f64>"))]
    pub joints: IndexMap<String, f64>,
    /// Pose of the root link at the end of the scene, on top of the pose's.
    pub root: Option<RootPose>,
    /// Note of the user.
    pub note: String,
}

impl Default for Scene {
    /// A scene of no time that changes nothing.
    fn default() -> Self {
        Self {
            pose: None,
            motion: None,
            mirror: false,
            repeat: 1,
            time: 0.0,
            ease: Ease::default(),
            support: None,
            joints: IndexMap::new(),
            root: None,
            note: String::new(),
        }
    }
}

/// Interpolation over the interval that ends at a key.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Ease {
    /// The value before, until the key.
    Hold,
    /// Straight line.
    Linear,
    /// `3u² − 2u³`, at rest at both ends.
    #[default]
    Smooth,
    /// `10u³ − 15u⁴ + 6u⁵`, at rest and without acceleration at both ends.
    MinimumJerk,
    /// Cubic spline through neighbouring keys of this ease, its ends without curvature.
    Natural,
    /// Cubic spline through neighbouring keys of this ease, at rest at its ends.
    #[serde(alias = "cubic")]
    Clamped,
    /// Cubic curve without overshoot (PCHIP).
    Monotone,
    /// Cubic spline whose ends match, for loops.
    Periodic,
    /// Cubic Bézier curve from (0, 0) to (1, 1) with the handles `[x1, y1, x2, y2]`; x1 and x2 from 0 to 1. [-] (4)
    Bezier([f64; 4]),
}

/// Keys of one joint in absolute time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct Track {
    /// How the track goes with the scenes.
    pub blend: Blend,
    /// Keys in ascending time.
    pub keys: Vec<Key>,
}

/// How a track goes with the scenes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Blend {
    /// The track is the joint's position.
    #[default]
    Replace,
    /// The track is added to the position of the scenes.
    Add,
}

/// A key of a track.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Time. [s]
    pub t: f64,
    /// Position, or what is added to it. [the document's angle or m]
    pub y: f64,
    /// Interpolation over the interval that ends here.
    #[serde(default)]
    pub ease: Ease,
}

/// A named time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Marker {
    /// Time. [s]
    pub t: f64,
    /// Name of the marker.
    pub name: String,
}
