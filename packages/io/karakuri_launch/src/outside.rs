//! What evaluation asks of the machine: files, programs, a fresh name. Tests put a table in its place.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Largest launch or parameter file, value, and output of a `$(command ...)`. [bytes]
pub(crate) const SIZE_LIMIT: usize = 4 << 20;

/// Environment variables by name.
pub type Environment = BTreeMap<String, String>;

/// The machine, as far as the evaluation of a launch file needs it.
pub trait Outside {
    /// The text of a file: UTF-8, of at most 4 MiB.
    fn read(&self, file: &Path) -> io::Result<String>;
    /// Whether there is such a file.
    fn is_file(&self, file: &Path) -> bool;
    /// Whether there is such a file, and it can be run.
    fn is_executable(&self, file: &Path) -> bool;
    /// The names in a folder, sorted; none if there is no such folder.
    fn list(&self, folder: &Path) -> Vec<String>;
    /// Runs a program to its end, for `$(command ...)`; it may write at most 4 MiB.
    fn run(&self, command: &[String], environment: &Environment) -> io::Result<Output>;
    /// A text that no other launch uses; for `$(anon ...)`.
    fn unique(&self) -> String;
}

/// This machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Machine;

impl Outside for Machine {
    fn read(&self, file: &Path) -> io::Result<String> {
        let mut bytes = Vec::new();
        std::fs::File::open(file)?.take(SIZE_LIMIT as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > SIZE_LIMIT {
            return Err(too_large("it has"));
        }
        String::from_utf8(bytes)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
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
        let mut child = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(environment)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        // Each pipe has a reader of its own: a program that fills one while the other is read would never end.
        let (stdout, stderr) = std::thread::scope(|scope| {
            let errors = scope.spawn(|| read_limited(stderr));
            let output = read_limited(stdout);
            (output, errors.join().unwrap_or_else(|_| Err(io::Error::other("cannot read stderr"))))
        });
        // Whoever writes more than is read is stopped by the closed pipe, and at the latest here.
        if stdout.is_err() || stderr.is_err() {
            child.kill()?;
        }
        let status = child.wait()?;
        Ok(Output { status, stdout: stdout?, stderr: stderr? })
    }

    fn unique(&self) -> String {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let nanoseconds = since.map_or(0, |d| d.as_nanos());
        format!("{}_{nanoseconds}", std::process::id())
    }
}

fn read_limited(pipe: Option<impl Read>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(SIZE_LIMIT as u64 + 1).read_to_end(&mut bytes)?;
    }
    if bytes.len() > SIZE_LIMIT { Err(too_large("it wrote")) } else { Ok(bytes) }
}

fn too_large(what: &str) -> io::Error {
    let problem = format!("{what} more than {} MiB", SIZE_LIMIT >> 20);
    io::Error::new(io::ErrorKind::FileTooLarge, problem)
}
