//! What readers and writers of files take and give.

use indexmap::IndexMap;
use serde::Serialize;

use crate::document::{AngleUnit, Document};
use crate::motion::Motion;
use crate::op::Op;
use crate::robot::Performer;

/// A servo of a board: which joint it turns, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Servo {
    /// Joint of the robot.
    pub joint: String,
    /// Channel of the boards, from 1.
    pub channel: usize,
    /// Position of the servo where the joint is at zero. [deg]
    pub zero_deg: f64,
    /// Whether the servo's position falls while the joint's rises.
    pub reversed: bool,
}

/// What a reader or writer has to know beside the file.
#[derive(Debug, Clone)]
pub struct FormatOptions<'a> {
    /// The robot that moves.
    pub performer: &'a Performer,
    /// Unit of the document's angles.
    pub unit: AngleUnit,
    /// Frames a second of files that do not say. [1/s]
    pub frames_per_second: f64,
    /// Servos of the boards, for files of channels.
    pub servos: &'a [Servo],
}

/// A remark of a reader or writer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Note {
    /// Line of the file; 0 for all of it.
    pub line: usize,
    /// What was rounded, clipped, guessed or left out.
    pub message: String,
}

/// What a file of another program becomes.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    /// Name of the motion.
    pub name: String,
    /// The motion.
    pub motion: Motion,
    /// What was rounded, clipped or guessed.
    pub notes: Vec<Note>,
}

impl Import {
    /// Operations that add the motion to a document, under a name that is free.
    pub fn ops(self, document: &Document) -> Vec<Op> {
        let free = |name: &String| !document.motions.contains_key(name);
        // Beside a motion of the same name, which may be in use: an import replaces nothing.
        let mut names = (2..).map(|n| format!("{} {n}", self.name));
        let name = if free(&self.name) { Some(self.name.clone()) } else { names.find(free) };
        // Not reached: the numbers do not end.
        let name = name.unwrap_or_default();
        vec![Op::PutMotion { name, motion: self.motion, index: None }]
    }
}

/// A motion as a file of another program.
#[derive(Debug, Clone, PartialEq)]
pub struct Export {
    /// Text of the file.
    pub text: String,
    /// What the format cannot express, and what was rounded or clipped.
    pub notes: Vec<Note>,
}

/// Notes of a writer, without lines.
pub(super) fn notes(messages: impl IntoIterator<Item = String>) -> Vec<Note> {
    messages.into_iter().map(|message| Note { line: 0, message }).collect()
}

/// Values by joint.
pub(super) type JointValues = IndexMap<String, f64>;
