//! Boards that keep motions in their memory, and what writes one there.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::wire::{BoardState, Finding};

/// The pair of RCB-1 boards of a KHR-1, behind a serial port of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Board {
    /// Serial port.
    pub device: PathBuf,
    /// The program `karakuri`, which talks to the boards.
    pub program: PathBuf,
}

impl Board {
    /// Boards at a port. The program is the one beside this program, else the one that the shell finds.
    #[must_use]
    pub fn at(device: PathBuf) -> Self {
        let name = Path::new("karakuri");
        let here = std::env::current_exe().ok().map(|program| program.with_file_name(name));
        let beside = here.filter(|program| program.is_file());
        Self { device, program: beside.unwrap_or_else(|| name.to_owned()) }
    }

    /// Writes positions, the YAML of `karakuri hardware upload`, into the boards as motion `number`; what was done, or why not.
    fn write(&self, number: u8, positions: &str) -> Result<String, String> {
        let file = |error: std::io::Error| format!("the motion cannot be handed over: {error}");
        let mut handed = tempfile::Builder::new().suffix(".yaml").tempfile().map_err(file)?;
        handed.write_all(positions.as_bytes()).map_err(file)?;
        let mut command = Command::new(&self.program);
        command.args(["hardware", "upload", "rcb1"]).arg(&self.device);
        command.arg(number.to_string()).arg(handed.path()).arg("--yes");
        let ended = command
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("`{}` cannot be started: {error}", self.program.display()))?;
        let text = String::from_utf8_lossy(&ended.stderr);
        let last = text.trim().lines().last().unwrap_or_default();
        if ended.status.success() {
            return Ok(last.to_owned());
        }
        // Of an error its sentence, with what is said below it.
        Err(match text.split_once("error: ") {
            Some((_, error)) => error.trim().to_owned(),
            None => format!("the upload ended with {}: {last}", ended.status),
        })
    }
}

/// Boards, and what became of the last upload.
#[derive(Debug)]
pub(crate) struct Boards {
    board: Board,
    state: BoardState,
}

impl Boards {
    pub(crate) fn new(board: Board) -> Self {
        let device = board.device.display().to_string();
        Self { board, state: BoardState { device, ..BoardState::default() } }
    }

    /// State as clients get it.
    pub(crate) fn state(&self) -> &BoardState {
        &self.state
    }

    /// Begins to write positions into the boards as motion `number`; `done` gets what became of it. A process of its own does the
    /// talking: boards that answer late hold nothing up here.
    ///
    /// # Errors
    /// When the operating system has no thread left.
    pub(crate) fn upload(
        &mut self,
        number: u8,
        positions: String,
        report: Vec<Finding>,
        done: impl FnOnce(Result<String, String>) + Send + 'static,
    ) -> std::io::Result<()> {
        let board = self.board.clone();
        let write = move || done(board.write(number, &positions));
        std::thread::Builder::new().name("upload".to_owned()).spawn(write)?;
        let device = std::mem::take(&mut self.state.device);
        self.state = BoardState { device, busy: true, report, ..BoardState::default() };
        Ok(())
    }

    /// Takes what became of the upload.
    pub(crate) fn ended(&mut self, result: Result<String, String>) {
        self.state.busy = false;
        self.state.failed = result.is_err();
        self.state.text = result.unwrap_or_else(|error| error);
    }
}
