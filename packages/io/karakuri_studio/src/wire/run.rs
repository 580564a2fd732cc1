//! Preview, simulation, scripts and the robot.

use serde::{Deserialize, Serialize};

use super::Finding;

/// Value of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(untagged)]
pub enum ParameterValue {
    /// Switch.
    Bool(bool),
    /// Number.
    Number(f64),
    /// Word.
    Text(String),
}

/// A parameter of the simulation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Parameter {
    /// Name, as `khr1.drives.l_knee_pitch.stiffness`.
    pub name: String,
    /// Value now.
    pub value: ParameterValue,
    /// Value of the document's scene, to which *reset* goes back.
    pub initial: ParameterValue,
    /// Unit; empty for switches, words and ratios.
    pub unit: String,
    /// Least value. [the unit]
    pub min: Option<f64>,
    /// Largest value. [the unit]
    pub max: Option<f64>,
    /// What it does.
    pub text: String,
}

/// Kind of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    /// Nothing is wrong.
    Ok,
    /// The robot falls.
    Falls,
    /// A joint leaves its limits.
    Limit,
    /// A joint is faster than it can be.
    Speed,
    /// A joint needs more effort than it has.
    Torque,
    /// A foot slips.
    Slip,
    /// Links run into each other.
    Collision,
    /// The zero moment point leaves the support polygon.
    Balance,
    /// A joint needs more effort than its motor has at that speed. A remark.
    TorqueAtSpeed,
    /// The speed of a joint jumps. A remark.
    Impulse,
    /// The centre of mass leaves the support polygon: the robot cannot stop there. A remark.
    Static,
    /// A sole that is to stand is off the floor or leans. A remark.
    Sole,
}

/// What is wrong with a motion, and where first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Verdict {
    /// Kind.
    pub kind: VerdictKind,
    /// First time. [s]
    pub time: f64,
    /// Index of the scene.
    pub scene: Option<u32>,
    /// Joint, link or foot; may be empty.
    pub what: String,
    /// Value there. [SI]
    pub value: f64,
    /// Its limit. [SI]
    pub limit: f64,
}

/// News of the preview.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PreviewState {
    /// Number of the preview; 0: there was none.
    pub job: u32,
    /// Motion.
    pub motion: String,
    /// Part that is done, 0 to 1. [-]
    pub progress: f64,
    /// Whether it was ended before its end.
    pub cancelled: bool,
    /// Why it failed; empty.
    pub error: String,
    /// Result, at the end.
    pub report: Option<PreviewReport>,
}

/// Result of a preview.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PreviewReport {
    /// Worst that happens.
    pub verdict: VerdictKind,
    /// The first of each kind, in order of time.
    pub findings: Vec<Verdict>,
    /// Least margin of the zero moment point. [m]
    pub min_margin: Option<f64>,
    /// Joint, largest effort over its limit and largest speed over its limit. [-]
    pub peaks: Vec<(String, f64, f64)>,
    /// Digest of the final state: equal for equal input.
    pub digest: String,
    /// SHA-256 of the input.
    pub key: String,
    /// Rows at `/clip/<hash>`.
    pub clip: String,
    /// Number of rows.
    pub n_rows: u32,
    /// Time between rows. [s]
    pub dt: f64,
    /// Physics steps a second of wall time; 0 where the result was known. [1/s]
    pub steps_per_second: f64,
    /// Whether the result was known.
    pub cached: bool,
}

/// Phase of the simulation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RunPhase {
    /// There is none.
    #[default]
    Stopped,
    /// It runs.
    Running,
    /// It stands still.
    Paused,
}

/// The simulation.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RunState {
    /// Phase.
    pub phase: RunPhase,
    /// Simulated time. [s]
    pub time: f64,
    /// Simulated time over wall time that it aims at; 0: as fast as it goes. [-]
    pub speed: f64,
    /// Motion that the robot plays.
    pub motion: Option<String>,
    /// Digest of the state.
    pub digest: String,
    /// Names of the parameters that differ from the document's scene.
    pub changed: Vec<String>,
    /// Whether the document's scene or motion has changed since the start.
    pub stale: bool,
    /// Snapshots that `restore` knows: number and time.
    pub snapshots: Vec<SnapshotReport>,
    /// Why it ended by itself; empty.
    pub error: String,
    /// Names of the quantities of plot frames.
    pub plots: Vec<String>,
}

/// A remembered state.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SnapshotReport {
    /// Number.
    pub id: u32,
    /// Simulated time. [s]
    pub time: f64,
    /// Digest of the state.
    pub digest: String,
    /// Whether a user asked for it; the others are kept once a second.
    pub asked: bool,
}

/// Spring between a point of a part and a point in the world.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(optional_fields = nullable))]
pub struct Grab {
    /// Name of a body, or `robot/link`.
    pub part: String,
    /// Point of the part, in its frame. [m] (3)
    pub point: [f64; 3],
    /// Point to pull it to, in the world. [m] (3)
    pub to: [f64; 3],
    /// Stiffness; one that moves the part's robot or body within 0.2 s if not given. [N/m]
    pub stiffness: Option<f64>,
}

/// A recording.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Recording {
    /// Whether it goes on.
    pub on: bool,
    /// Number of rows.
    pub n_rows: u32,
    /// Table, in base64, at the end: `time_s` and a column a quantity.
    pub csv: Option<String>,
}

/// A script.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ScriptState {
    /// Name.
    pub name: String,
    /// SHA-256 of its text.
    pub hash: String,
    /// Whether it may run.
    pub allowed: bool,
    /// Why it has stopped, or cannot run; empty.
    pub error: String,
    /// Line of the error, from 1; 0 where there is none.
    pub line: u32,
    /// What it said last.
    pub said: String,
}

/// How the robot is moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum LiveMode {
    /// There is no robot: the studio runs without ROS.
    #[default]
    Absent,
    /// A robot is there and is only watched.
    Watching,
    /// It may be moved.
    Armed,
    /// It follows the pose that is edited.
    Following,
    /// It goes to a pose or plays a motion.
    Moving,
    /// It was stopped.
    Stopped,
}

/// Boards that keep motions, and what became of the last upload.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct BoardState {
    /// Serial port of the boards.
    pub device: String,
    /// Whether a motion is on its way to them.
    pub busy: bool,
    /// Whether the last upload failed.
    pub failed: bool,
    /// What became of the last upload; empty before the first.
    pub text: String,
    /// What was rounded or clipped of the motion on its way.
    pub report: Vec<Finding>,
}

/// The robot.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveState {
    /// How it is moved.
    pub mode: LiveMode,
    /// Motion that it may play: its preview is `ok`.
    pub armed_for: Option<String>,
    /// Why it stopped or refused; empty.
    pub text: String,
    /// Why it follows no commands, as its driver says; empty.
    pub fault: String,
    /// Age of the last measurement; `None`: there was none. [s]
    pub age: Option<f64>,
    /// Whether its positions are recorded.
    pub recording: bool,
}

/// Answer to `live.record`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Taught {
    /// Whether the recording goes on.
    pub on: bool,
    /// The new motion, at the end.
    pub motion: Option<String>,
    /// Number of samples.
    pub n_samples: u32,
    /// Number of keys.
    pub n_keys: u32,
}
