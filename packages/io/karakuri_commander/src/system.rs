//! What a commander takes from the system: its envelope, its audit log, a clock and random bits.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use karakuri_commands::{Envelope, FileFacts, FileGuardError, Tail, VerifyError, verify_log};
use karakuri_files::LoadError;
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::verbs::Outside;

/// What keeps a commander from its files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SystemError {
    /// A file cannot be read or written.
    #[error("cannot {what} {}: {error}", path.display())]
    File {
        /// What was to be done.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// Who the envelope limits could change it.
    #[error("{} could be changed by what it is to limit: `chmod 0444 {}`: {why}", path.display(), path.display())]
    Unguarded {
        /// The envelope.
        path: PathBuf,
        /// Who could.
        why: FileGuardError,
    },
    /// The envelope is wrong.
    #[error(transparent)]
    Envelope(#[from] LoadError),
    /// The log was changed.
    #[error("{}: {error}; keep it, and name another file", path.display())]
    Log {
        /// The log.
        path: PathBuf,
        /// What is wrong with it.
        error: VerifyError,
    },
}

/// Reads an envelope that this program's user cannot write.
///
/// # Errors
/// When it cannot be read, can be written, or is wrong.
pub fn read_envelope(path: &Path) -> Result<Envelope, SystemError> {
    let failed = |what| move |error| SystemError::File { what, path: path.to_owned(), error };
    let facts = std::fs::metadata(path).map_err(failed("read"))?;
    let facts = FileFacts { owner: facts.uid(), mode: facts.mode() };
    let own = std::fs::metadata("/proc/self").map_err(failed("tell who reads"))?;
    let unguarded = |why| SystemError::Unguarded { path: path.to_owned(), why };
    facts.check(own.uid()).map_err(unguarded)?;
    Ok(Envelope::read(path)?)
}

/// Opens an audit log where it ended, and its end; each line is on the disk when it has been written.
///
/// # Errors
/// When it cannot be read or written, or was changed.
pub fn open_log(path: &Path) -> Result<(Tail, Box<dyn Write + Send>), SystemError> {
    let failed = |what| move |error| SystemError::File { what, path: path.to_owned(), error };
    let tail = match File::open(path) {
        Ok(log) => verify_log(BufReader::new(log))
            .map_err(|error| SystemError::Log { path: path.to_owned(), error })?,
        Err(error) if error.kind() == ErrorKind::NotFound => Tail::default(),
        Err(error) => return Err(failed("read")(error)),
    };
    let file = OpenOptions::new().create(true).append(true).open(path);
    Ok((tail, Box::new(Synced(file.map_err(failed("write"))?))))
}

/// File whose lines are on the disk when they are flushed.
#[derive(Debug)]
struct Synced(File);

impl Write for Synced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}

/// Clocks and random bits of the system.
#[derive(Debug, Clone, Copy, Default)]
pub struct System;

impl Outside for System {
    fn now(&self) -> f64 {
        // It goes on while the machine sleeps, and is not set.
        let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Boottime);
        tv_sec as f64 + 1e-9 * tv_nsec as f64
    }

    fn date(&self) -> f64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0.0, |since| since.as_secs_f64())
    }

    fn random(&self) -> Option<[u8; 16]> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits).ok()?;
        Some(bits)
    }
}

impl System {
    /// 256 random bits, for what nobody may forge; `None` if the system gives none.
    pub fn key(&self) -> Option<[u8; 32]> {
        let mut bits = [0; 32];
        getrandom::fill(&mut bits).ok()?;
        Some(bits)
    }
}
