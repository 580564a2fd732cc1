//! Results: JSON to stdout or to a file that is whole or not there.

use std::fs::Permissions;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

/// Writes pretty JSON to the file, or to stdout without one.
pub fn json(value: &impl Serialize, file: Option<&Path>) -> Result<()> {
    let mut text =
        serde_json::to_string_pretty(value).context("cannot write the result as JSON")?;
    text.push('\n');
    match file {
        Some(file) => write_file(file, text.as_bytes()),
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

/// Writes a file by way of a temporary one beside it: a reader sees the old content or the new,
/// whenever the program is stopped. Makes missing folders.
pub fn write_file(file: &Path, content: &[u8]) -> Result<()> {
    let folder = file.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut temporary = tempfile::Builder::new()
            .permissions(Permissions::from_mode(0o666)) // less the umask, as any new file
            .tempfile_in(folder)?;
        temporary.write_all(content)?;
        temporary.persist(file)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", file.display()))
}
