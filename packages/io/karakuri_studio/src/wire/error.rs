//! Errors as clients get them.

use serde::Serialize;

/// Why a request was refused; the page words it by its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The message is no request: not JSON, no `id`, wrong arguments.
    Malformed,
    /// There is no such operation.
    UnknownOperation,
    /// The first message was no `hello`, or its token is wrong.
    Unauthorized,
    /// Another client has the operator lease.
    NoLease,
    /// The document has changed since, and what is meant is not there any more.
    Conflict,
    /// The file on disk has changed since it was read.
    FileChanged,
    /// A value is outside its range.
    Limit,
    /// Something of that name does not exist.
    NotFound,
    /// A path leads out of the opened folders.
    Forbidden,
    /// It cannot be done now: nothing runs, no drag has begun, no robot is there.
    State,
    /// The input is wrong: a file, an edit, a value.
    Invalid,
    /// The server could not do it: a full disk, a stopped thread.
    Failed,
}

/// A refused request.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireError {
    /// Why.
    pub code: Code,
    /// What is wrong, in one sentence of English.
    pub text: String,
    /// The place in the document, the file or the arguments; empty where the text says it.
    #[serde(rename = "where")]
    pub place: String,
    /// What to do instead; may be empty.
    pub hint: String,
}

impl WireError {
    /// An error without a place.
    pub fn new(code: Code, text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, text: text.into(), place: String::new(), hint: hint.into() }
    }

    /// The error at a place.
    #[must_use]
    pub fn at(self, place: impl Into<String>) -> Self {
        Self { place: place.into(), ..self }
    }

    /// An error whose text has its remedy after a semicolon, as those of the libraries have.
    pub fn from_text(code: Code, error: &impl ToString) -> Self {
        let text = error.to_string();
        let (what, remedy) = text.split_once("; ").unwrap_or((&text, ""));
        Self::new(code, what, remedy)
    }

    /// The answer to a request that is refused, as JSON; without a number if the request had none.
    pub(crate) fn reply(&self, id: Option<u32>) -> String {
        serde_json::json!({ "id": id, "error": self }).to_string()
    }
}
