//! Findings of the libraries as clients get them.

use karakuri_motion::formats::Note;
use karakuri_motion::{Check, Finding};
use karakuri_simulation::{PreviewEvent, Verdict as Outcome};

use super::{Verdict, VerdictKind};

impl From<Check> for VerdictKind {
    fn from(check: Check) -> Self {
        match check {
            Check::Position => Self::Limit,
            Check::Speed => Self::Speed,
            Check::Torque => Self::Torque,
            Check::TorqueAtSpeed => Self::TorqueAtSpeed,
            Check::Impulse => Self::Impulse,
            Check::Collision => Self::Collision,
            Check::Slip => Self::Slip,
            Check::Static => Self::Static,
            Check::Balance => Self::Balance,
            Check::Sole => Self::Sole,
        }
    }
}

impl From<Outcome> for VerdictKind {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Ok => Self::Ok,
            Outcome::Falls => Self::Falls,
            Outcome::Limit => Self::Limit,
            Outcome::Torque => Self::Torque,
            Outcome::Slip => Self::Slip,
            Outcome::Collision => Self::Collision,
        }
    }
}

fn scene(index: usize) -> Option<u32> {
    u32::try_from(index).ok()
}

impl From<&Finding> for Verdict {
    fn from(finding: &Finding) -> Self {
        Self {
            kind: finding.check.into(),
            time: finding.time,
            scene: scene(finding.scene),
            what: finding.what.clone(),
            value: finding.value,
            limit: finding.limit,
        }
    }
}

impl From<&PreviewEvent> for Verdict {
    fn from(event: &PreviewEvent) -> Self {
        Self {
            kind: event.kind.into(),
            time: event.time,
            scene: scene(event.scene),
            what: event.what.clone(),
            value: event.value,
            limit: event.limit,
        }
    }
}

impl From<&Note> for super::Finding {
    fn from(note: &Note) -> Self {
        let line = u32::try_from(note.line).unwrap_or(u32::MAX);
        Self { line, text: note.message.clone() }
    }
}
