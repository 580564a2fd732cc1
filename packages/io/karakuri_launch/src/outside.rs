//! What evaluation asks of the machine: files, programs, a fresh name. Tests put a table in its place.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Environment variables by name.
pub type Environment = BTreeMap<String, String>;

/// The machine, as far as the evaluation of a launch file needs it.
pub trait Outside {
    /// The text of a file.
    fn read(&self, file: &Path) -> io::Result<String>;
    /// Whether there is such a file.
    fn is_file(&self, file: &Path) -> bool;
    /// Whether there is such a file, and it can be run.
    fn is_executable(&self, file: &Path) -> bool;
    /// The names in a folder, sorted; none if there is no such folder.
    fn list(&self, folder: &Path) -> Vec<String>;
    /// Runs a program to its end; for `$(command ...)`.
    fn run(&self, command: &[String], environment: &Environment) -> io::Result<Output>;
    /// A text that no other launch uses; for `$(anon ...)`.
    fn unique(&self) -> String;
}

/// This machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Machine;

impl Outside for Machine {
    fn read(&self, file: &Path) -> io::Result<String> {
        std::fs::read_to_string(file)
    }

    fn is_file(&self, file: &Path) -> bool {
        file.is_file()
    }

    fn is_executable(&self, file: &Path) -> bool {
        use std::os::unix::fs::PermissionsExt;
        file.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    }

    fn list(&self, folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn run(&self, command: &[String], environment: &Environment) -> io::Result<Output> {
        let (program, arguments) = command
            .split_first()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the command is empty"))?;
        Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(environment)
            .stdin(Stdio::null())
            .output()
    }

    fn unique(&self) -> String {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let nanoseconds = since.map_or(0, |d| d.as_nanos());
        format!("{}_{nanoseconds}", std::process::id())
    }
}
