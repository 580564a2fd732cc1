//! Results: JSON to stdout or to a file that is whole or not there.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

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

/// Reads the name of a plot's file from the command line: plots are SVG, whatever the name says.
pub fn svg_file(text: &str) -> Result<PathBuf, String> {
    with_extension(text, "svg", "plots are written as SVG")
}

/// Reads the name of a picture's file from the command line: pictures are PNG.
pub fn png_file(text: &str) -> Result<PathBuf, String> {
    with_extension(text, "png", "pictures are written as PNG")
}

fn with_extension(text: &str, extension: &str, why: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension)) {
        return Ok(path);
    }
    Err(format!("{why}: write `{}`", path.with_extension(extension).display()))
}
