//! What clients ask for.

use karakuri_motion::Op;
use serde::Deserialize;
use serde_json::Value;

use super::{ClipRequest, Code, Grab, IkGoal, Joints, ParameterValue, PoseRequest, WireError};

/// A request: `{"id": 7, "op": "undo", "args": {}}`; `rev` is the revision that the client saw.
#[derive(Debug, Clone)]
pub struct Request {
    /// Number by which the client knows the answer.
    pub id: u32,
    /// Revision of the document that the client saw.
    pub rev: Option<u32>,
    /// What is asked for.
    pub operation: Operation,
}

/// Operations, by `op`, with their `args`. Unknown keys of `args` are ignored.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(optional_fields = nullable))]
#[serde(tag = "op", content = "args", rename_all = "snake_case")]
pub enum Operation {
    /// Introduces a client; the first message of each. Answer: `Welcome`.
    Hello {
        /// Secret of the address that the server printed.
        token: String,
        /// Language of the page, `en` or `ja`.
        lang: Option<String>,
        /// Name to show to others.
        name: Option<String>,
    },
    /// Opens a file below the opened folders: URDF, motions or scene. Answer: `Welcome`.
    Open {
        /// Path relative to the opened folder.
        path: String,
        /// Whether unsaved changes may be lost.
        #[serde(default)]
        discard: bool,
    },
    /// Lists what can be opened. Answer: `FileList`.
    Files {
        /// Folder relative to the opened one; the opened one itself if not given.
        folder: Option<String>,
    },
    /// Writes the document. Answer: `Saved`.
    Save {
        /// Path relative to the opened folder; the present one if not given.
        path: Option<String>,
        /// Whether changes on disk may be overwritten.
        #[serde(default)]
        force: bool,
    },
    /// Takes up or drops what was found of an unsaved session. Answer: `Edited`.
    Recover {
        /// Whether it is taken up.
        accept: bool,
    },
    /// Reads motions from a file's bytes into the document. Answer: `Imported`.
    Import {
        /// Name of the file; its ending tells the format.
        name: String,
        /// Content, in base64.
        data: String,
        /// Rate of formats that have no time. [Hz]
        rate: Option<f64>,
    },
    /// Writes a motion in a format. Answer: `Exported`.
    Export {
        /// Name of the format, as `own_csv`.
        format: String,
        /// Name of the motion.
        motion: String,
    },
    /// Changes the document, all or nothing. Answer: `Edited`.
    Edit {
        /// What is changed, in this order.
        ops: Vec<Op>,
        /// What undo says, as "move key".
        label: Option<String>,
    },
    /// Takes the last change back. Answer: `Undone`.
    Undo {},
    /// Makes the change again that was taken back last. Answer: `Undone`.
    Redo {},
    /// Begins a drag. Answer: `Edited`.
    Begin {
        /// What undo will say.
        label: Option<String>,
    },
    /// Shows the drag as it is now, in place of the last `update`. Answer: `Edited`.
    Update {
        /// Changes to the document as it was at `begin`.
        ops: Vec<Op>,
    },
    /// Ends the drag: the last `update`, or these operations, become one step of history. Answer: `Edited`.
    Commit {
        /// In place of the last `update`.
        ops: Option<Vec<Op>>,
    },
    /// Ends the drag and leaves the document as it was at `begin`. Answer: `Edited`.
    Cancel {},
    /// Places the robot for a pose, with its balance. Answer: `Evaluated`.
    Evaluate(PoseRequest),
    /// Brings links to targets. Answer: `IkReport`.
    Ik(IkGoal),
    /// Samples a motion: its rows at `/clip/<hash>`, its checks and balance. Answer: `ClipReport`.
    Clip(ClipRequest),
    /// Simulates a motion in the background; the newest request wins. Answer: `PreviewState`.
    Preview {
        /// Name of the motion.
        motion: String,
    },
    /// Ends the preview. Answer: `PreviewState`.
    #[serde(rename = "preview.cancel")]
    PreviewCancel {},
    /// Starts the simulation, or goes on with it. Answer: `RunState`.
    Run {
        /// Motion that the robot plays meanwhile; it stands if not given.
        motion: Option<String>,
        /// Simulated time over wall time; 1 if not given, 0 as fast as it goes. [-]
        speed: Option<f64>,
    },
    /// Pauses the simulation. Answer: `RunState`.
    Pause {},
    /// Steps a paused simulation. Answer: `RunState`.
    Step {
        /// Number of time steps; one if not given.
        steps: Option<u32>,
    },
    /// Ends the simulation. Answer: `RunState`.
    Stop {},
    /// Lists the parameters of the run, or of the scene where none runs. Answer: list of `Parameter`.
    #[serde(rename = "param.get")]
    ParamGet {
        /// Beginning of the names; all if not given.
        prefix: Option<String>,
    },
    /// Sets a parameter of the run. Answer: `Parameter`.
    #[serde(rename = "param.set")]
    ParamSet {
        /// Name of the parameter.
        name: String,
        /// Value.
        value: ParameterValue,
    },
    /// Takes the changed parameters of the run into the document, as one step. Answer: `Edited`.
    #[serde(rename = "param.keep")]
    ParamKeep {},
    /// Remembers the state of the run. Answer: `SnapshotReport`.
    Snapshot {},
    /// Brings the run back to a snapshot, or to the last one before a time. Answer: `SnapshotReport`.
    Restore {
        /// Number of a snapshot.
        id: Option<u32>,
        /// Time to go back to. [s]
        time: Option<f64>,
    },
    /// Pushes a part of the run for a while. Answer: `RunState`.
    Push {
        /// Name of a body, or `robot/link`.
        part: String,
        /// Force in world axes. [N] (3)
        force: [f64; 3],
        /// Duration; 0.1 if not given. [s]
        duration: Option<f64>,
    },
    /// Pulls a part of the run with a spring, or moves the spring's end. Answer: `RunState`.
    Grab(Grab),
    /// Lets go of what is grabbed. Answer: `RunState`.
    Release {},
    /// Takes the operator lease. Answer: `LeaseState`.
    #[serde(rename = "lease.take")]
    LeaseTake {},
    /// Gives the operator lease up, or to the client that asked. Answer: `LeaseState`.
    #[serde(rename = "lease.give")]
    LeaseGive {},
    /// Readies the robot for motions; needs a preview of the motion with the verdict `ok`. Answer: `LiveState`.
    #[serde(rename = "live.arm")]
    LiveArm {
        /// Motion whose preview is the ground for it.
        motion: String,
        /// Whether to arm; disarms otherwise.
        on: bool,
    },
    /// Lets the robot follow the pose that is edited. Answer: `LiveState`.
    #[serde(rename = "live.follow")]
    LiveFollow {
        /// Position of joints. [rad or m]
        joints: Joints,
        /// Fraction of the joints' speed limits, in (0, 1]. [-]
        speed: Option<f64>,
    },
    /// Sends the robot to a pose. Answer: `LiveState`.
    #[serde(rename = "live.send")]
    LiveSend {
        /// Position of joints. [rad or m]
        joints: Joints,
        /// Fraction of the joints' speed limits, in (0, 1]. [-]
        speed: Option<f64>,
    },
    /// Stops the robot where it is; any client may. Answer: `LiveState`.
    #[serde(rename = "live.stop")]
    LiveStop {},
    /// Plays a motion on the robot. Answer: `LiveState`.
    Play {
        /// Name of the motion.
        motion: String,
        /// Speed of the motion's time, in (0, 1]. [-]
        speed: Option<f64>,
    },
    /// Begins to record where the robot is, as a person moves it; or ends that, and fits keys to what was recorded: a motion of its own, one
    /// step of history. Answer: `Taught`.
    #[serde(rename = "live.record")]
    LiveRecord {
        /// Whether to record.
        on: bool,
        /// Farthest that the motion may be from what was measured; 0.02 if not given. [rad or m]
        tolerance: Option<f64>,
    },
    /// Writes a motion into the memory of boards; needs a preview of it with the verdict `ok`. Nothing moves. Answer: `BoardState`.
    #[serde(rename = "board.upload")]
    BoardUpload {
        /// Name of the motion.
        motion: String,
        /// Number that it gets in the boards, from 0 to 39; what they had under it is lost.
        number: u8,
    },
    /// Begins or ends a recording of the run. Answer: `Recording`.
    Record {
        /// Whether to record.
        on: bool,
    },
    /// Allows a script of the document to run, as it is now. Answer: `ScriptState`.
    #[serde(rename = "script.allow")]
    ScriptAllow {
        /// Name of the script.
        name: String,
        /// SHA-256 of its text, as the client showed it to its user.
        hash: String,
    },
    /// Scripts of the document and whether they may run. Answer: list of `ScriptState`.
    #[serde(rename = "script.list")]
    ScriptList {},
    /// Confirms a frame of states. No answer.
    Ack {
        /// Its number.
        seq: u32,
    },
    /// Says that the client and its user are there. No answer.
    Ping {},
}

impl Request {
    /// Reads a request. The error has its `id`, if there is one.
    ///
    /// # Errors
    /// When the text is no JSON, the operation is unknown, or an argument is missing or wrong.
    pub fn parse(text: &str) -> Result<Self, (Option<u32>, WireError)> {
        let malformed = |text: String| {
            WireError::new(
                Code::Malformed,
                text,
                "write {\"id\": 1, \"op\": \"ping\", \"args\": {}}",
            )
        };
        let value: Value = serde_json::from_str(text)
            .map_err(|e| (None, malformed(format!("the message is no JSON: {e}"))))?;
        let number = |key: &str| value.get(key).and_then(Value::as_u64).map(u32::try_from);
        let Some(Ok(id)) = number("id") else {
            return Err((None, malformed("`id` is no whole number".to_owned())));
        };
        let fail = |error| (Some(id), error);
        let Some(op) = value.get("op").and_then(Value::as_str) else {
            return Err(fail(malformed("`op` is no text".to_owned())));
        };
        let rev = number("rev").and_then(Result::ok);
        let args =
            value.get("args").cloned().unwrap_or_else(|| Value::Object(serde_json::Map::default()));
        let tagged = serde_json::json!({ "op": op, "args": args });
        let operation = Operation::deserialize(&tagged).map_err(|e| {
            let text = e.to_string();
            if text.starts_with("unknown variant") && text.contains(&format!("`{op}`")) {
                let known = "docs/studio-wire.md lists the operations";
                let text = format!("there is no operation `{}`", shortened(op));
                return fail(WireError::new(Code::UnknownOperation, text, known));
            }
            fail(WireError::new(Code::Malformed, text, "correct the arguments").at(op))
        })?;
        Ok(Self { id, rev, operation })
    }
}

/// Start of a text that a client sent, to be quoted.
fn shortened(text: &str) -> String {
    const QUOTED: usize = 40;
    text.chars().take(QUOTED).collect()
}

impl Operation {
    /// Whether only the client with the operator lease may ask for it.
    pub fn needs_lease(&self) -> bool {
        !matches!(
            self,
            Self::Hello { .. }
                | Self::Files { .. }
                | Self::Export { .. }
                | Self::Evaluate(_)
                | Self::Ik(_)
                | Self::Clip(_)
                | Self::ParamGet { .. }
                | Self::LeaseTake {}
                | Self::LeaseGive {}
                | Self::LiveStop {}
                | Self::ScriptList {}
                | Self::Ack { .. }
                | Self::Ping {}
        )
    }
}
