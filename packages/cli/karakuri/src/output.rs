//! Results: JSON to stdout or to a file that is whole or not there.

use std::io::{self, ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, Result};
use karakuri_files::write_atomic;
use serde::Serialize;

/// Writes pretty JSON to the file, or to stdout without one.
pub fn json(value: &impl Serialize, file: Option<&Path>) -> Result<()> {
    let mut text =
        serde_json::to_string_pretty(value).context("cannot write the result as JSON")?;
    text.push('\n');
    match file {
        Some(file) => Ok(write_atomic(file, text.as_bytes())?),
        None => print(&text),
    }
}

/// Writes text to stdout; a reader that has gone away (`| head`) is no error.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to stdout"),
    }
}
