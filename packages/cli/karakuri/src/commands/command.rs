//! What `karakuri do` and `karakuri mcp` have in common: a commander of a scene, with an envelope and an audit log.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, anyhow};
use karakuri_commander::{Commander, Outside, Settings};
use karakuri_commands::{Envelope, FileFacts, Tail, verify_log};
use karakuri_rehearsal::CellFile;

use crate::input::input_file;

/// Scene, envelope and log of a commander.
#[derive(Debug, clap::Args)]
pub(crate) struct CommanderArgs {
    /// The scene, with one robot that has a hand
    #[arg(value_parser = input_file())]
    scene: PathBuf,
    /// What the robot may do: a file that this program's user cannot write, as after `chmod 0444`
    #[arg(long, value_name = "FILE.yaml", value_parser = input_file())]
    envelope: PathBuf,
    /// Audit log, one line for each act, rehearsal and refusal; it goes on where it ended
    #[arg(long, value_name = "FILE.jsonl", default_value = "karakuri-audit.jsonl")]
    audit: PathBuf,
}

impl CommanderArgs {
    /// The commander, its world at rest.
    ///
    /// # Errors
    /// When a file is wrong, the envelope can be written, or the log is broken.
    pub(crate) fn open(&self) -> Result<Commander> {
        let envelope = self.read_envelope()?;
        let cell = CellFile::new(&self.scene).open()?;
        let (tail, log) = self.open_log()?;
        Ok(Commander::new(Settings { cell, envelope, log: Box::new(log), tail }))
    }

    fn read_envelope(&self) -> Result<Envelope> {
        let file = self.envelope.display();
        let facts = std::fs::metadata(&self.envelope);
        let facts = facts.with_context(|| format!("cannot read {file}"))?;
        let facts = FileFacts { owner: facts.uid(), mode: facts.mode() };
        let own = std::fs::metadata("/proc/self").context("cannot tell who runs this program")?;
        facts.check(own.uid()).with_context(|| {
            format!("{file} could be changed by what it is to limit: `chmod 0444 {file}`")
        })?;
        Ok(Envelope::read(&self.envelope)?)
    }

    fn open_log(&self) -> Result<(Tail, Synced)> {
        let file = self.audit.display();
        let tail = match File::open(&self.audit) {
            Ok(log) => verify_log(BufReader::new(log)).map_err(|error| {
                anyhow!("{file}: {error}; keep it, and name another file with --audit")
            })?,
            Err(error) if error.kind() == ErrorKind::NotFound => Tail::default(),
            Err(error) => return Err(error).with_context(|| format!("cannot read {file}")),
        };
        Ok((tail, Synced::append(&self.audit)?))
    }
}

/// File whose lines are on the disk when they are flushed.
#[derive(Debug)]
struct Synced(File);

impl Synced {
    fn append(path: &Path) -> Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        Ok(Self(file.with_context(|| format!("cannot write {}", path.display()))?))
    }
}

impl Write for Synced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}

/// Clock and random bits of the system.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct System;

impl Outside for System {
    fn now(&self) -> f64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0.0, |since| since.as_secs_f64())
    }

    fn random(&self) -> Option<[u8; 16]> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits).ok()?;
        Some(bits)
    }
}

/// Names of requests of this program, each once.
pub(crate) fn next_request() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("request-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}
