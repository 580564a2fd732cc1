//! Output of results: JSON to stdout or to a file, which is written whole or not at all; a sentence on stderr on the outcome.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use karakuri_files::write_atomic;
use serde::Serialize;

/// Quiet mode of the whole program: set once, from the command line.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Suppresses sentences on success and progress bars from now on; warnings and errors stay.
pub fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether only warnings and errors go to stderr.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Reports on stderr the work done, in one sentence, unless `--quiet` is given.
pub fn done(sentence: &str) {
    if !is_quiet() {
        eprintln!("{sentence}");
    }
}

/// Text `, wrote a.csv and b.svg` of the files that were asked for; empty without files.
pub fn wrote(files: &[Option<&Path>]) -> String {
    let names: Vec<String> = files.iter().flatten().map(|f| f.display().to_string()).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => format!(", wrote {one}"),
        [most @ .., last] => format!(", wrote {} and {last}", most.join(", ")),
    }
}

/// Writes pretty JSON to the file, or to stdout without one.
///
/// # Errors
/// When the value has no form in JSON, or the file or stdout cannot be written.
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
///
/// # Errors
/// When stdout cannot be written for any other reason.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to stdout"),
    }
}

/// Reads the name of a plot's file from the command line: plots are SVG, whatever the name says.
///
/// # Errors
/// When the name does not end in `.svg`; the text suggests one that does.
pub fn svg_file(text: &str) -> Result<PathBuf, String> {
    with_extension(text, "svg", "plots are written as SVG")
}

/// Reads the name of a picture's file from the command line: pictures are PNG.
///
/// # Errors
/// When the name does not end in `.png`; the text suggests one that does.
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
