//! Messages between the server and its clients: JSON texts, and binary frames of numbers. `docs/studio-wire.md` is their
//! manual; the page's TypeScript types are generated from these.
//!
//! Angles are in rad and lengths in m everywhere but inside the document and its operations, whose angles are in the
//! document's unit.

mod convert;
mod error;
mod event;
pub mod frame;
mod operation;
mod result;
mod robot;
mod run;
#[cfg(test)]
mod typescript;

pub use error::{Code, WireError};
pub use event::{Event, Level};
pub use operation::{Operation, Request};
pub use result::{
    BalanceCurves, ClipReport, ClipRequest, DocumentPatch, Edited, Evaluated, Exported, FileEntry,
    FileList, FileState, Finding, IkGoal, IkReport, IkTargetGoal, Imported, Joints, LeaseState,
    PoseRequest, Recovery, Saved, Undone, Viewer, Welcome,
};
pub use robot::{
    JointDescription, LinkDescription, MeshReference, MimicDescription, Place, PostureDescription,
    RobotDescription, ShapeDescription, Stage, StageObject, Visual,
};
pub use run::{
    BoardState, Grab, LiveMode, LiveState, Parameter, ParameterValue, PreviewReport, PreviewState,
    Recording, RunPhase, RunState, ScriptState, SnapshotReport, Taught, Verdict, VerdictKind,
};

/// Subprotocol of the WebSocket.
pub const PROTOCOL: &str = "karakuri.studio.v1";
/// Largest message that a client may send. [bytes]
pub const MESSAGE_LIMIT: usize = 16 << 20;
