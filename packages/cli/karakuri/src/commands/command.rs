//! What `karakuri do` and `karakuri mcp` have in common: a commander of a scene, with an envelope and an audit log.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Result, anyhow};
use karakuri_commander::{Commander, Settings, SystemError, open_log, read_envelope};
use karakuri_rehearsal::CellFile;

use crate::input::input_file;

/// Scene, envelope and log of a commander.
#[derive(Debug, clap::Args)]
pub(crate) struct CommanderArgs {
    /// The scene, with one robot that has a hand, or, with --gait, that walks
    #[arg(value_parser = input_file())]
    scene: PathBuf,
    /// How the scene's robot walks, for `walk_to`
    #[arg(long, value_name = "FILE.yaml", value_parser = input_file())]
    gait: Option<PathBuf>,
    /// Tools of the scene's robot, for `change_tool`
    #[arg(long, value_name = "FILE.yaml", value_parser = input_file())]
    tools: Option<PathBuf>,
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
        let envelope = read_envelope(&self.envelope)?;
        let scene = CellFile {
            gait: self.gait.clone(),
            tools: self.tools.clone(),
            ..CellFile::new(&self.scene)
        };
        let (cell, urdf) = scene.open_with_urdf()?;
        let (tail, log) = open_log(&self.audit).map_err(|error| match error {
            SystemError::Log { .. } => anyhow!("{error} with --audit"),
            other => other.into(),
        })?;
        Ok(Commander::new(Settings { robot: Box::new(cell), urdf, envelope, log, tail }))
    }
}

/// Names of requests of this program, each once.
pub(crate) fn next_request() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("request-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}
