//! Reports: JSON, with units in the key names (`mass_kg`, `duration_s`).

use std::path::Path;

use serde::Serialize;

use crate::{WriteError, write_atomic};

/// Reason why a report was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A value has no representation in JSON.
    #[error("the report has no form in JSON: {0}")]
    NotJson(serde_json::Error),
    /// The file could not be written.
    #[error("{0}")]
    Write(#[from] WriteError),
}

/// Writes a value as indented JSON, whole or not at all. NaN and infinity become `null`.
///
/// # Errors
/// When the value has no representation in JSON or the file cannot be written.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<(), ReportError> {
    let mut text = serde_json::to_vec_pretty(value).map_err(ReportError::NotJson)?;
    text.push(b'\n');
    Ok(write_atomic(path, &text)?)
}
