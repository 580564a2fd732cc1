//! What clients get unasked.

use serde::Serialize;

use super::{
    BoardState, DocumentPatch, FileState, LeaseState, LiveState, Parameter, PreviewState, RunState,
    ScriptState, Stage,
};

/// Severity of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Something to know.
    Info,
    /// Something to look at.
    Warning,
    /// Something that went wrong.
    Error,
}

/// Events, by `ev`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "ev", rename_all = "snake_case")]
pub enum Event {
    /// The document has changed: by an edit, undo, redo, an import, a recovery.
    Doc {
        /// Revision of the document now.
        rev: u32,
        /// Client that changed it.
        by: String,
        /// What changed, as undo says it.
        label: String,
        /// Parts that changed, whole.
        patch: DocumentPatch,
        /// What the next undo and redo would take back and make again; `None`: nothing.
        undo: Option<String>,
        /// See `undo`.
        redo: Option<String>,
    },
    /// A drag shows this document; at its end comes `doc`, or `drag` with the document as it was.
    Drag {
        /// Client that drags.
        by: String,
        /// Parts that differ from the document, or differed until now, whole.
        patch: DocumentPatch,
    },
    /// Robots or bodies on the stage are others now.
    Stage(Stage),
    /// The file is saved, changed or another one.
    File(FileState),
    /// Clients have come, gone, or passed the operator lease on.
    Lease(LeaseState),
    /// News of the preview.
    Preview(PreviewState),
    /// News of the simulation.
    Run(RunState),
    /// A parameter of the run has changed.
    Param(Parameter),
    /// News of the robot.
    Live(LiveState),
    /// News of an upload to boards.
    Board(BoardState),
    /// News of a script.
    Script(ScriptState),
    /// A sentence for the user.
    Log {
        /// Severity.
        level: Level,
        /// Sentence.
        text: String,
    },
}
