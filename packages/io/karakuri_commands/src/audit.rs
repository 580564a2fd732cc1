//! Audit log: JSON lines, each with the SHA-256 of the line before, so that a change of any line but the last breaks the chain. The
//! last one is guarded by whoever keeps its hash ([`Tail`]) elsewhere.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::canonical::{canonical, sha256};

/// What an act, or what was refused, leaves in the log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Record {
    /// Time of the call by the clock. [s]
    pub time_s: f64,
    /// Principal.
    pub principal: String,
    /// Verb, or what a person at the robot has done.
    pub verb: String,
    /// Canonical arguments.
    pub arguments: String,
    /// Digest of the world before.
    pub world: Option<String>,
    /// Hash of the envelope.
    pub envelope: String,
    /// Digest of robot model and build.
    pub build: String,
    /// What the rehearsal predicted.
    pub prediction: Option<Value>,
    /// Who approved.
    pub approval: Option<String>,
    /// Hash of the stream of commands.
    pub command_hash: Option<String>,
    /// Result, or refusal.
    pub result: Value,
}

/// Line of the log.
#[derive(Serialize)]
struct Line<'a> {
    /// Number, from 1.
    number: u64,
    /// SHA-256 of the line before; of nothing before the first.
    before: &'a str,
    #[serde(flatten)]
    record: &'a Record,
}

/// What the chain needs of a line.
#[derive(Deserialize)]
struct Link {
    number: u64,
    before: String,
}

/// End of a log, where its chain goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// Number of lines.
    pub lines: u64,
    /// SHA-256 of the last line; of nothing in an empty log.
    pub hash: String,
}

impl Default for Tail {
    fn default() -> Self {
        Self { lines: 0, hash: sha256(b"") }
    }
}

/// Reason why a record is not in the log. The act is then to be refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The line was not written, or not to its end.
    #[error(
        "cannot write line {number} of the audit log: {error}; nothing is carried out without it"
    )]
    Write {
        /// Number of the line.
        number: u64,
        /// Error of the system.
        error: io::Error,
    },
    /// An earlier line was not written to its end.
    #[error("the audit log ended in the middle of line {number}; verify it and start again")]
    Ended {
        /// Number of that line.
        number: u64,
    },
}

/// Reason why a log is not the one that was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The log cannot be read.
    #[error("cannot read line {number} of the audit log: {error}")]
    Read {
        /// Number of the line.
        number: u64,
        /// Error of the system.
        error: io::Error,
    },
    /// A line does not follow from the one before: it, or that one, was changed.
    #[error("line {number} of the audit log {problem}")]
    Broken {
        /// Number of the line.
        number: u64,
        /// Problem.
        problem: &'static str,
    },
    /// The last line has no end, as after a power failure.
    #[error(
        "line {number} of the audit log has no end; keep the first {whole} bytes and log that the rest is lost"
    )]
    Torn {
        /// Number of the line.
        number: u64,
        /// Length of the lines before it. [bytes]
        whole: u64,
    },
}

/// Log that is written.
#[derive(Debug)]
pub struct AuditLog<W> {
    writer: W,
    tail: Tail,
    /// Whether a line may be there in part.
    is_torn: bool,
}

impl<W: Write> AuditLog<W> {
    /// Log that goes on after its tail, as [`verify_log`] found it. `writer` appends; its `flush` is to return once the line is kept.
    pub fn new(writer: W, tail: Tail) -> Self {
        Self { writer, tail, is_torn: false }
    }

    /// Appends a record; the end of the log.
    ///
    /// # Errors
    /// When the line is not written, and from then on always.
    pub fn append(&mut self, record: &Record) -> Result<&Tail, AuditError> {
        let number = self.tail.lines + 1;
        if self.is_torn {
            return Err(AuditError::Ended { number });
        }
        let text = canonical(&Line { number, before: &self.tail.hash, record });
        let written = self.writer.write_all(format!("{text}\n").as_bytes());
        if let Err(error) = written.and_then(|()| self.writer.flush()) {
            self.is_torn = true;
            return Err(AuditError::Write { number, error });
        }
        self.tail = Tail { lines: number, hash: sha256(text.as_bytes()) };
        Ok(&self.tail)
    }
}

/// Reads a log from its start and follows the chain; its end.
///
/// # Errors
/// With the first line that cannot be read, does not follow from the one before, or has no end.
pub fn verify_log(mut log: impl BufRead) -> Result<Tail, VerifyError> {
    let mut tail = Tail::default();
    let mut whole = 0;
    let mut line = Vec::new();
    loop {
        let number = tail.lines + 1;
        line.clear();
        let length = log.read_until(b'\n', &mut line);
        let length = length.map_err(|error| VerifyError::Read { number, error })?;
        if length == 0 {
            return Ok(tail);
        }
        let Some(text) = line.strip_suffix(b"\n") else {
            return Err(VerifyError::Torn { number, whole });
        };
        let broken = |problem| VerifyError::Broken { number, problem };
        let link: Link = serde_json::from_slice(text).map_err(|_| broken("is no line of a log"))?;
        if link.number != number {
            return Err(broken("has the number of another: lines are missing or moved"));
        }
        if link.before != tail.hash {
            return Err(broken(
                "does not follow from the one before, of which something was changed",
            ));
        }
        whole += length as u64;
        tail = Tail { lines: number, hash: sha256(text) };
    }
}

#[cfg(test)]
mod tests;
