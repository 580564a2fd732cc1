//! Problems of documents, edits and files of other programs.

use std::fmt;

use serde::Serialize;

/// What is wrong, where, and what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Problem {
    /// Kind of the problem.
    pub code: Code,
    /// Place in the document, as `motions.greet.scenes[1].time`; empty for all of it.
    pub place: String,
    /// What is wrong.
    pub message: String,
    /// What to do instead.
    pub remedy: String,
}

/// Kinds of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Code {
    /// A name, an index or a time is of nothing that there is.
    Missing,
    /// A name or a time is taken.
    Taken,
    /// Something that is used cannot go.
    InUse,
    /// A pose or motion is made of itself.
    Circular,
    /// A number is outside its range.
    Range,
    /// A name cannot be one.
    Name,
    /// Something is not of its kind.
    Kind,
}

impl Problem {
    pub(crate) fn new(code: Code, place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code, place: place.into(), message: message.into(), remedy: String::new() }
    }

    pub(crate) fn remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: remedy.into(), ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.message)?;
        if !self.remedy.is_empty() {
            write!(f, "; {}", self.remedy)?;
        }
        Ok(())
    }
}
