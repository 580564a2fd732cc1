//! Answers to requests, and what requests are made of.

use indexmap::IndexMap;
use karakuri_motion::{
    Document, GamepadBinding, Mirror, Motion, Panel, PhysicsScene, Pose, RobotReference, Support,
    Units,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use super::{BoardState, LiveState, Place, PreviewState, RunState, ScriptState, Stage};

/// Joint and its position. [rad or m]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(transparent)]
pub struct Joints(
    /// Positions by the joints' names. [rad or m]
    #[cfg_attr(test, ts(type = "{ [joint: string]: number }"))]
    pub IndexMap<String, f64>,
);

/// Answer to `hello` and `open`: all that a page shows at first.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Welcome {
    /// Name of the client, by which `by` in events is meant.
    pub client: String,
    /// Version of the program.
    pub version: String,
    /// Revision of the document.
    pub rev: u32,
    /// Document.
    pub document: Arc<Document>,
    /// Robots and bodies.
    pub stage: Stage,
    /// File of the document.
    pub file: FileState,
    /// What is left of a session that was not saved.
    pub recovery: Option<Recovery>,
    /// Clients and the operator lease.
    pub lease: LeaseState,
    /// The simulation.
    pub run: RunState,
    /// The preview.
    pub preview: PreviewState,
    /// The robot.
    pub live: LiveState,
    /// Boards that motions can be uploaded to, if there are some.
    pub board: Option<BoardState>,
    /// Scripts and whether they may run.
    pub scripts: Vec<ScriptState>,
    /// Formats that motions are written in.
    pub export_formats: Vec<String>,
    /// What the next undo and redo would take back and make again.
    pub undo: Option<String>,
    /// See `undo`.
    pub redo: Option<String>,
}

/// The file of the document.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FileState {
    /// Path relative to the opened folder; `None`: the document has no file yet.
    pub path: Option<String>,
    /// What was opened: `urdf`, `motion` or `scene`.
    pub kind: String,
    /// Whether the document differs from what was saved.
    pub changed: bool,
}

/// What is left of a session that was not saved.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Recovery {
    /// Number of changes.
    pub edits: u32,
    /// Age of the last change. [s]
    pub age: f64,
}

/// The clients and which of them has the operator lease.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LeaseState {
    /// Client that may change things; `None`: nobody.
    pub holder: Option<String>,
    /// Client that asks for it, and gets it after 5 s unless the holder gives it before.
    pub asked_by: Option<String>,
    /// All clients.
    pub clients: Vec<Viewer>,
}

/// A client.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Viewer {
    /// Name given by the server: `A`, `B`, ...
    pub client: String,
    /// Name that it gave itself; may be empty.
    pub name: String,
}

/// Files and folders that can be opened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FileList {
    /// Folder, relative to the opened one.
    pub folder: String,
    /// Entries, folders first.
    pub entries: Vec<FileEntry>,
}

/// A file or folder.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FileEntry {
    /// Name.
    pub name: String,
    /// `folder`, `urdf`, `yaml` or `motion`.
    pub kind: String,
}

/// Answer to `save`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Saved {
    /// Path that was written, relative to the opened folder.
    pub path: String,
    /// Revision that was written.
    pub rev: u32,
}

/// Answer to what changes the document.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Edited {
    /// Revision now.
    pub rev: u32,
}

/// Answer to `undo` and `redo`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Undone {
    /// Revision now.
    pub rev: u32,
    /// What was taken back or made again.
    pub label: String,
}

/// Parts of a document, whole where they are given.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(optional_fields))]
pub struct DocumentPatch {
    /// The robot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub robot: Option<RobotReference>,
    /// Units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units: Option<Units>,
    /// All poses, if one of them changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "{ [name: string]: Pose }"))]
    pub poses: Option<IndexMap<String, Pose>>,
    /// Names of all motions in order, if that changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub motion_order: Option<Vec<String>>,
    /// Motions that changed or are new.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "{ [name: string]: Motion }"))]
    pub motions: Option<IndexMap<String, Arc<Motion>>>,
    /// Bodies and connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scene: Option<PhysicsScene>,
    /// Parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "{ [name: string]: number | boolean | string }"))]
    pub parameters: Option<IndexMap<String, serde_json::Value>>,
    /// Panels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panels: Option<Vec<Panel>>,
    /// Scripts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "{ [name: string]: string }"))]
    pub scripts: Option<IndexMap<String, String>>,
    /// All that a gamepad moves, if it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamepad: Option<Vec<GamepadBinding>>,
    /// Mirror table; `null`: the one that the robot's axes say.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "Mirror | null"))]
    pub mirror: Option<Option<Mirror>>,
}

/// A remark of an import or export.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Finding {
    /// Line of the file, from 1; 0 where it has none.
    pub line: u32,
    /// What was rounded, clipped, guessed or left out.
    pub text: String,
}

/// Answer to `import`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Imported {
    /// Revision now.
    pub rev: u32,
    /// Names of the motions that are new.
    pub motions: Vec<String>,
    /// Remarks.
    pub report: Vec<Finding>,
}

/// Answer to `export`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Exported {
    /// Name for the file.
    pub name: String,
    /// Content, in base64.
    pub data: String,
    /// Remarks.
    pub report: Vec<Finding>,
}

/// Pose to be shown.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(optional_fields = nullable))]
pub struct PoseRequest {
    /// Pose of the document below the joints.
    pub pose: Option<String>,
    /// Motion of the document, at `time`, in place of a pose.
    pub motion: Option<String>,
    /// Time in the motion. [s]
    pub time: Option<f64>,
    /// Joints on top. [rad or m]
    #[serde(default)]
    pub joints: Joints,
    /// Pose of the root link; from the supporting foot if not given.
    pub root: Option<Place>,
    /// The feet that stand; `auto` if not given.
    pub support: Option<Support>,
}

/// A robot at a pose, with its balance.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Evaluated {
    /// Positions of all joints with one degree of freedom, mimic joints too. [rad or m]
    pub joints: Joints,
    /// Pose of the root link.
    pub root: Place,
    /// Poses of the bodies. (n bodies)
    pub bodies: Vec<Place>,
    /// Centre of mass. [m] (3)
    pub com: [f64; 3],
    /// Corners of the support polygon, counterclockwise. [m] (n × 2)
    pub polygon: Vec<[f64; 2]>,
    /// Distance of the centre of mass inside the polygon, negative outside; `None` where nothing supports it. [m]
    pub margin: Option<f64>,
    /// Height of the floor that the polygon is on. [m]
    pub floor: f64,
    /// The foot that lies off the floor where both stand. [m]
    pub support_error: f64,
}

/// Targets of links.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(optional_fields = nullable))]
pub struct IkGoal {
    /// Pose to start from.
    pub start: PoseRequest,
    /// Links and their targets.
    #[serde(default)]
    pub targets: Vec<IkTargetGoal>,
    /// Joints that keep their position.
    #[serde(default)]
    pub locked: Vec<String>,
    /// Links that stay where they are: the other foot, say.
    #[serde(default)]
    pub held: Vec<String>,
    /// Point of the floor that the centre of mass is to be above. [m] (2)
    pub com: Option<[f64; 2]>,
    /// Whether the robot's root may move; without it, it stays where the pose has it.
    #[serde(default)]
    pub root_moves: bool,
}

/// Target of a link.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(optional_fields = nullable))]
pub struct IkTargetGoal {
    /// Name of the link.
    pub link: String,
    /// Position of its origin in the world; free if not given. [m] (3)
    pub position: Option<[f64; 3]>,
    /// Orientation in the world, `x y z w`; free if not given. [-] (4)
    pub orientation: Option<[f64; 4]>,
    /// Whether only the link's z axis is to be vertical, as of a sole; in place of `orientation`.
    #[serde(default)]
    pub level: bool,
}

/// Answer to `ik`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct IkReport {
    /// Whether every target is reached.
    pub reached: bool,
    /// Largest position error. [m]
    pub position_error: f64,
    /// Largest orientation error. [rad]
    pub orientation_error: f64,
    /// What is in the way: `OutOfReach`, `Limit`, `NothingMoves`, `Stuck`.
    pub obstacle: Option<String>,
    /// Joint at its limit, where the obstacle is one.
    pub joint: Option<String>,
    /// One sentence.
    pub text: String,
    /// The pose that was found.
    pub pose: Evaluated,
}

/// Which motion to sample.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(optional_fields = nullable))]
pub struct ClipRequest {
    /// Name of the motion.
    pub motion: String,
    /// Rows a second; one a frame of the motion if not given. [Hz]
    pub rate: Option<f64>,
    /// Whether to check it and to follow its balance, which takes longer; yes if not given.
    pub checks: Option<bool>,
}

/// A sampled motion.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ClipReport {
    /// Rows at `/clip/<hash>`.
    pub hash: String,
    /// Number of rows; the last one is at the end of the motion.
    pub n_rows: u32,
    /// Time between rows. [s]
    pub dt: f64,
    /// Duration of the motion. [s]
    pub duration: f64,
    /// End of each scene. [s]
    pub scene_ends: Vec<f64>,
    /// Balance and checks.
    pub balance: BalanceCurves,
    /// What is wrong, the first of each kind and scene.
    pub findings: Vec<super::Verdict>,
}

/// Balance along a motion, a number a row.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct BalanceCurves {
    /// Centre of mass. [m] (n × 3)
    pub com: Vec<[f64; 3]>,
    /// Zero moment point on the floor; `None` in flight. [m] (n × 2)
    pub zmp: Vec<Option<[f64; 2]>>,
    /// Margin of the centre of mass. [m] (n)
    pub static_margin: Vec<Option<f64>>,
    /// Margin of the zero moment point. [m] (n)
    pub margin: Vec<Option<f64>>,
    /// Support polygons, each with the index of the first row that it holds for.
    pub polygons: Vec<(u32, Vec<[f64; 2]>)>,
}
