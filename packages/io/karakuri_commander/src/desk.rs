//! What is asked and answered beside the cell: the gate, the audit log, rehearsals with open tickets, and what was seen last.

use std::collections::VecDeque;
use std::fmt;
use std::io::Write;

use karakuri_commands::{AuditLog, Code, Gate, Record, Refusal, Tail};
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::order::Memory;
use crate::preview::Preview;
use crate::seen::Seen;

/// Rehearsals that are kept; then the oldest is forgotten.
// As many as one principal may have tickets.
const KEPT: usize = 32;
/// Lines of the audit log that `log` can tell.
const LINES: usize = 256;

/// A rehearsal, by its number.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) number: u64,
    pub(crate) preview: Preview,
    /// The scene in which it was rehearsed.
    pub(crate) seen: Seen,
    /// Positions of the robot's joints then. [m or rad] (nq)
    pub(crate) joints: Vec<f64>,
    /// What a person at the robot said of it.
    pub(crate) decided: Option<bool>,
}

/// The desk of a commander.
pub(crate) struct Desk {
    pub(crate) gate: Gate,
    log: AuditLog<Box<dyn Write + Send>>,
    lines: VecDeque<Value>,
    n_lines: u64,
    kept: VecDeque<Kept>,
    n_rehearsals: u64,
    pub(crate) seen: Seen,
    pub(crate) memory: Memory,
    /// Resets of the robot that were noticed.
    pub(crate) n_resets: u64,
    /// Whether an act or a rehearsal is under way.
    pub(crate) is_busy: bool,
    /// Whether an act is.
    pub(crate) is_acting: bool,
    build: String,
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("is_busy", &self.is_busy).finish_non_exhaustive()
    }
}

/// What a call leaves in the log beside its result.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trace {
    pub(crate) world: Option<String>,
    pub(crate) prediction: Option<Value>,
    pub(crate) approval: Option<String>,
    pub(crate) command_hash: Option<String>,
}

impl Desk {
    pub(crate) fn new(gate: Gate, log: Box<dyn Write + Send>, tail: Tail, build: String) -> Self {
        Self {
            gate,
            n_lines: tail.lines,
            log: AuditLog::new(log, tail),
            lines: VecDeque::new(),
            kept: VecDeque::new(),
            n_rehearsals: 0,
            seen: Seen::default(),
            memory: Memory::default(),
            n_resets: 0,
            is_busy: false,
            is_acting: false,
            build,
        }
    }

    /// Digest of robot model and build.
    pub(crate) fn build(&self) -> &str {
        &self.build
    }

    /// Number of the next rehearsal.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.n_rehearsals += 1;
        self.n_rehearsals
    }

    /// Keeps a rehearsal until its ticket is used.
    pub(crate) fn keep(&mut self, kept: Kept) {
        if self.kept.len() >= KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(kept);
    }

    /// Numbers of the rehearsals that are kept.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        self.kept.iter().map(|kept| kept.number).collect()
    }

    /// A rehearsal that is kept.
    pub(crate) fn kept(&self, number: u64) -> Option<&Kept> {
        self.kept.iter().find(|kept| kept.number == number)
    }

    /// Writes down what a person at the robot says of a rehearsal; whether it is kept.
    pub(crate) fn decide(&mut self, number: u64, is_approved: bool) -> bool {
        let kept = self.kept.iter_mut().find(|kept| kept.number == number);
        kept.map(|kept| kept.decided = Some(is_approved)).is_some()
    }

    /// Forgets a rehearsal whose ticket was used, and says what it was.
    pub(crate) fn take(&mut self, number: u64) -> Option<Kept> {
        let index = self.kept.iter().position(|kept| kept.number == number)?;
        self.kept.remove(index)
    }

    /// Answer to `status`.
    pub(crate) fn status(&mut self, now: f64) -> Value {
        let mut status = self.seen.status(self.is_busy);
        status["acts_left"] = self.gate.acts_left(now).into();
        status["envelope"] = self.gate.envelope_hash().into();
        status
    }

    /// Answer to `log`: the lines from a number on, of those that are remembered.
    pub(crate) fn lines(&self, since: Option<u64>) -> Value {
        let first = self.n_lines - self.lines.len() as u64 + 1;
        let skipped = since.unwrap_or(0).saturating_sub(first);
        let lines = self.lines.iter().skip(usize::try_from(skipped).unwrap_or(usize::MAX));
        json!({"lines": lines.collect::<Vec<_>>(), "next": self.n_lines + 1})
    }

    /// Writes a line of the audit log.
    ///
    /// # Errors
    /// When it is not written: then nothing may move.
    pub(crate) fn write(
        &mut self,
        caller: &Caller<'_>,
        verb: &str,
        arguments: &str,
        result: &Value,
        trace: Trace,
    ) -> Result<(), Refusal> {
        let Trace { world, prediction, approval, command_hash } = trace;
        let record = Record {
            time_s: caller.date,
            principal: caller.principal.to_owned(),
            verb: verb.to_owned(),
            arguments: arguments.to_owned(),
            world,
            envelope: self.gate.envelope_hash().to_owned(),
            build: self.build.clone(),
            prediction,
            approval,
            command_hash,
            result: result.clone(),
        };
        let written = self.log.append(&record).map(|tail| tail.lines);
        self.n_lines = written.map_err(|_| {
            let hint = "make room for the audit log, and start the program again: without a log nothing moves";
            Refusal::new(Code::NotAllowed, hint).of("log", "not written")
        })?;
        let mut line = json!(record);
        line["number"] = self.n_lines.into();
        if self.lines.len() >= LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
        Ok(())
    }
}
