//! Operations: everything that changes a document.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::document::{RobotReference, Units};
use crate::gamepad::GamepadBinding;
use crate::mirror::Mirror;
use crate::motion::{Key, Marker, Motion, Scene, Start, Support, Track};
use crate::panel::Panel;
use crate::pose::Pose;

/// A change of a document, as JSON `{"op": "pose.put", "name": …}`.
///
/// `put` replaces what has the name or the index, and adds where nothing has the name: at `index`, else at the end. Every operation
/// has an inverse made of operations, which [`Document::commit`](crate::Document::commit) returns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(tag = "op", deny_unknown_fields)]
pub enum Op {
    /// Names another robot.
    #[serde(rename = "robot.set")]
    SetRobot {
        /// The robot.
        robot: RobotReference,
    },
    /// Changes what the numbers mean, not the numbers.
    #[serde(rename = "units.set")]
    SetUnits {
        /// The units.
        units: Units,
    },
    /// Adds or replaces a pose.
    #[serde(rename = "pose.put")]
    PutPose {
        /// Name of the pose.
        name: String,
        /// The pose.
        pose: Pose,
        /// Place of a new pose.
        // Mostly an undo gives it: what was taken out comes back to its place.
        #[serde(default)]
        index: Option<usize>,
    },
    /// Sets joints of a pose; `null` takes a joint out of it.
    #[serde(rename = "pose.joints")]
    SetPoseJoints {
        /// Name of the pose.
        name: String,
        /// Joint and its position. [the document's angle or m]
        #[cfg_attr(feature = "ts", ts(as = "std::collections::BTreeMap<String, Option<f64>>"))]
        joints: IndexMap<String, Option<f64>>,
    },
    /// Removes a pose that nothing uses.
    #[serde(rename = "pose.remove")]
    RemovePose {
        /// Name of the pose.
        name: String,
    },
    /// Gives a pose another name, wherever it is used.
    #[serde(rename = "pose.rename")]
    RenamePose {
        /// Name of the pose.
        name: String,
        /// Its new name.
        to: String,
    },
    /// Moves a pose in the list.
    #[serde(rename = "pose.move")]
    MovePose {
        /// Name of the pose.
        name: String,
        /// Its new place.
        index: usize,
    },
    /// Adds or replaces a motion.
    #[serde(rename = "motion.put")]
    PutMotion {
        /// Name of the motion.
        name: String,
        /// The motion.
        motion: Motion,
        /// Place of a new motion.
        #[serde(default)]
        index: Option<usize>,
    },
    /// Removes a motion that nothing uses.
    #[serde(rename = "motion.remove")]
    RemoveMotion {
        /// Name of the motion.
        name: String,
    },
    /// Gives a motion another name, wherever it is used.
    #[serde(rename = "motion.rename")]
    RenameMotion {
        /// Name of the motion.
        name: String,
        /// Its new name.
        to: String,
    },
    /// Moves a motion in the list.
    #[serde(rename = "motion.move")]
    MoveMotion {
        /// Name of the motion.
        name: String,
        /// Its new place.
        index: usize,
    },
    /// Changes what a motion has beside scenes, tracks and markers.
    #[serde(rename = "motion.set")]
    SetMotion {
        /// Name of the motion.
        motion: String,
        /// Sampling period. [s]
        #[serde(default)]
        frame: Option<f64>,
        /// Whether it begins again at its end.
        #[serde(default, rename = "loop")]
        is_loop: Option<bool>,
        /// State at time zero.
        #[serde(default)]
        start: Option<Start>,
    },
    /// Inserts a scene before the one that has the index.
    #[serde(rename = "scene.insert")]
    InsertScene {
        /// Name of the motion.
        motion: String,
        /// Place of the scene.
        index: usize,
        /// The scene.
        scene: Scene,
    },
    /// Replaces a scene.
    #[serde(rename = "scene.put")]
    PutScene {
        /// Name of the motion.
        motion: String,
        /// Place of the scene.
        index: usize,
        /// The scene.
        scene: Scene,
    },
    /// Sets joints of a scene, on top of its pose; `null` takes a joint out of it.
    #[serde(rename = "scene.joints")]
    SetSceneJoints {
        /// Name of the motion.
        motion: String,
        /// Place of the scene.
        index: usize,
        /// Joint and its position. [the document's angle or m]
        #[cfg_attr(feature = "ts", ts(as = "std::collections::BTreeMap<String, Option<f64>>"))]
        joints: IndexMap<String, Option<f64>>,
    },
    /// Removes a scene.
    #[serde(rename = "scene.remove")]
    RemoveScene {
        /// Name of the motion.
        motion: String,
        /// Place of the scene.
        index: usize,
    },
    /// Moves a scene: out of one place, then into another of what is left.
    #[serde(rename = "scene.move")]
    MoveScene {
        /// Name of the motion.
        motion: String,
        /// Its place.
        index: usize,
        /// Its new place.
        to: usize,
    },
    /// Sets the feet that stand in a scene; `null`: as before it.
    #[serde(rename = "support.set")]
    SetSupport {
        /// Name of the motion.
        motion: String,
        /// Place of the scene.
        index: usize,
        /// The feet that stand.
        support: Option<Support>,
    },
    /// Adds or replaces a track.
    #[serde(rename = "track.put")]
    PutTrack {
        /// Name of the motion.
        motion: String,
        /// Joint of the track.
        joint: String,
        /// The track.
        track: Track,
        /// Place of a new track.
        #[serde(default)]
        index: Option<usize>,
    },
    /// Removes a track.
    #[serde(rename = "track.remove")]
    RemoveTrack {
        /// Name of the motion.
        motion: String,
        /// Joint of the track.
        joint: String,
    },
    /// Adds a key to a track, which is made if there is none; a key of the same time is replaced.
    #[serde(rename = "key.put")]
    PutKey {
        /// Name of the motion.
        motion: String,
        /// Joint of the track.
        joint: String,
        /// The key.
        key: Key,
    },
    /// Removes the key of a time.
    #[serde(rename = "key.remove")]
    // By time, not by index: indices move when another client of the studio puts a key.
    RemoveKey {
        /// Name of the motion.
        motion: String,
        /// Joint of the track.
        joint: String,
        /// Time of the key. [s]
        t: f64,
    },
    /// Moves a key to a time that has none.
    #[serde(rename = "key.move")]
    MoveKey {
        /// Name of the motion.
        motion: String,
        /// Joint of the track.
        joint: String,
        /// Time of the key. [s]
        t: f64,
        /// Its new time. [s]
        to: f64,
    },
    /// Inserts a marker.
    #[serde(rename = "marker.insert")]
    InsertMarker {
        /// Name of the motion.
        motion: String,
        /// Place of the marker.
        index: usize,
        /// The marker.
        marker: Marker,
    },
    /// Replaces a marker.
    #[serde(rename = "marker.put")]
    PutMarker {
        /// Name of the motion.
        motion: String,
        /// Place of the marker.
        index: usize,
        /// The marker.
        marker: Marker,
    },
    /// Removes a marker.
    #[serde(rename = "marker.remove")]
    RemoveMarker {
        /// Name of the motion.
        motion: String,
        /// Place of the marker.
        index: usize,
    },
    /// Adds or replaces an entry of the scene around the robot.
    #[serde(rename = "entry.put")]
    PutEntry {
        /// List of the entry.
        list: EntryList,
        /// Name of the entry.
        name: String,
        /// Its keys, as `docs/scenes.md` has them, without the name.
        #[cfg_attr(feature = "ts", ts(type = "unknown"))]
        entry: Value,
        /// Place of a new entry.
        #[serde(default)]
        index: Option<usize>,
    },
    /// Removes an entry; with a body go the joints and springs that name it.
    #[serde(rename = "entry.remove")]
    RemoveEntry {
        /// List of the entry.
        list: EntryList,
        /// Name of the entry.
        name: String,
        /// Whether what names a body stays.
        #[serde(default)]
        alone: bool,
    },
    /// Sets what the user keeps of a parameter; `null`: nothing.
    #[serde(rename = "param.set")]
    SetParameter {
        /// Name of the parameter.
        name: String,
        /// Its value.
        #[cfg_attr(feature = "ts", ts(type = "number | boolean | string | null"))]
        value: Option<Value>,
        /// Place of a new value.
        #[serde(default)]
        index: Option<usize>,
    },
    /// Inserts a panel.
    #[serde(rename = "panel.insert")]
    InsertPanel {
        /// Place of the panel.
        index: usize,
        /// The panel.
        panel: Panel,
    },
    /// Replaces a panel.
    #[serde(rename = "panel.put")]
    PutPanel {
        /// Place of the panel.
        index: usize,
        /// The panel.
        panel: Panel,
    },
    /// Removes a panel.
    #[serde(rename = "panel.remove")]
    RemovePanel {
        /// Place of the panel.
        index: usize,
    },
    /// Adds or replaces a script.
    #[serde(rename = "script.put")]
    PutScript {
        /// Name of the script.
        name: String,
        /// Its text.
        text: String,
        /// Place of a new script.
        #[serde(default)]
        index: Option<usize>,
    },
    /// Removes a script.
    #[serde(rename = "script.remove")]
    RemoveScript {
        /// Name of the script.
        name: String,
    },
    /// Sets all that a gamepad moves.
    #[serde(rename = "gamepad.set")]
    SetGamepad {
        /// Inputs and what they do.
        bindings: Vec<GamepadBinding>,
    },
    /// Sets the mirror table; `null`: that of the robot's axes.
    #[serde(rename = "mirror.set")]
    SetMirror {
        /// The table.
        mirror: Option<Mirror>,
    },
}

/// A list of the scene around the robot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum EntryList {
    /// Settings of the world: `gravity`, `ground` and so on.
    Settings,
    /// Bodies.
    Bodies,
    /// Joints between things.
    Joints,
    /// Springs.
    Springs,
}

impl EntryList {
    /// Key of the list in the document.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Bodies => "bodies",
            Self::Joints => "joints",
            Self::Springs => "springs",
        }
    }
}
