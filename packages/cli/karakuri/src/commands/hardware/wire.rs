//! A port with the patience of a person who looks for something: requests, answers byte by byte, and Ctrl-C between them.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use karakuri_serial::Line;
use karakuri_serial::port::{Port, PortError, Settings};

use crate::interrupt::{Interrupt, Interrupted};

/// Times that a device is asked before it counts as silent.
const TRIES: usize = 3;
/// Time that device, adapter and a busy system may add to an answer: what is silent is asked for by a person, who has that time.
const PATIENCE: Duration = Duration::from_millis(150);

/// What came after a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Heard<T> {
    /// Nothing.
    Silence,
    /// Bytes that are no frame.
    Noise,
    /// An answer.
    Answer(T),
}

impl<T> Heard<T> {
    /// The answer, if it is one.
    pub(super) fn answer(self) -> Option<T> {
        match self {
            Self::Answer(answer) => Some(answer),
            Self::Silence | Self::Noise => None,
        }
    }

    /// The same with another answer.
    pub(super) fn map<U>(self, convert: impl FnOnce(T) -> U) -> Heard<U> {
        match self {
            Self::Silence => Heard::Silence,
            Self::Noise => Heard::Noise,
            Self::Answer(answer) => Heard::Answer(convert(answer)),
        }
    }
}

/// What a byte completes.
#[derive(Debug)]
pub(super) enum Step<T> {
    /// Nothing yet.
    Unfinished,
    /// A frame that is no answer to the request.
    Other,
    /// The answer.
    Answer(T),
}

/// An open port.
#[derive(Debug)]
pub(super) struct Wire {
    port: Port,
    path: PathBuf,
    settings: Settings,
    interrupt: Interrupt,
    /// Whether requests are sent although the user has ended the command: those that make a servo limp.
    goes_on: bool,
    /// Times that a device is asked.
    pub(super) tries: usize,
    /// Time that device, adapter and system may add to an answer.
    pub(super) patience: Duration,
}

impl Wire {
    pub(super) fn open(path: &Path, settings: Settings, interrupt: Interrupt) -> Result<Self> {
        let port = Port::open(path, settings)?;
        let (path, goes_on) = (path.to_owned(), false);
        Ok(Self { port, path, settings, interrupt, goes_on, tries: TRIES, patience: PATIENCE })
    }

    /// The port's name.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Baud rate. [bit/s]
    pub(super) fn baud(&self) -> u32 {
        self.settings.line.baud
    }

    /// Sends and hears with another line from now on.
    pub(super) fn set_line(&mut self, line: Line) -> Result<()> {
        self.settings.line = line;
        Ok(self.port.set_line(line)?)
    }

    /// Finds out whether what is sent is heard, by a request that moves nothing.
    pub(super) fn detect_echo(&mut self, request: &[u8]) -> Result<()> {
        let deadline = self.deadline(2 * request.len());
        self.port.detect_echo(request, deadline)?;
        Ok(())
    }

    /// Whether the user has ended the command.
    pub(super) fn check_interrupt(&self) -> Result<()> {
        if self.interrupt.is_raised() && !self.goes_on {
            return Err(Interrupted.into());
        }
        Ok(())
    }

    /// Sends requests from now on although the user has ended the command.
    pub(super) fn go_on(&mut self) {
        self.goes_on = true;
    }

    /// Waits, but not for long when the user ends the command.
    #[expect(clippy::disallowed_methods, reason = "what moves is real, and nothing tells when")]
    pub(super) fn wait(&self, time: Duration) -> Result<()> {
        const LOOK: Duration = Duration::from_millis(20);
        let end = Instant::now() + time;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            self.check_interrupt()?;
            std::thread::sleep(left.min(LOOK));
        }
        Ok(())
    }

    /// Sends a request and takes its answer of so many bytes, a few times if need be. `take` gets every byte.
    pub(super) fn ask<T>(
        &mut self,
        request: &[u8],
        n_bytes: usize,
        mut take: impl FnMut(u8) -> Step<T>,
    ) -> Result<Heard<T>> {
        let mut heard = Heard::Silence;
        for _ in 0..self.tries {
            self.check_interrupt()?;
            match self.ask_once(request, n_bytes, &mut take)? {
                Heard::Answer(answer) => return Ok(Heard::Answer(answer)),
                Heard::Noise => heard = Heard::Noise,
                Heard::Silence => {}
            }
        }
        Ok(heard)
    }

    fn ask_once<T>(
        &mut self,
        request: &[u8],
        n_bytes: usize,
        take: &mut impl FnMut(u8) -> Step<T>,
    ) -> Result<Heard<T>> {
        let mut buffer = [0; 512];
        let mut heard = Heard::Silence;
        self.port.clear()?;
        self.port.send(request)?;
        let deadline = self.deadline(request.len() + n_bytes);
        loop {
            let n = match self.port.receive(&mut buffer, deadline) {
                Ok(n) => n,
                Err(PortError::Silent { .. }) => return Ok(heard),
                Err(PortError::Collision { .. }) => return Ok(Heard::Noise),
                Err(error) => return Err(error.into()),
            };
            for byte in &buffer[..n] {
                match take(*byte) {
                    Step::Answer(answer) => return Ok(Heard::Answer(answer)),
                    Step::Other => heard = Heard::Silence,
                    Step::Unfinished => heard = Heard::Noise,
                }
            }
        }
    }

    /// When so many bytes have gone and come.
    fn deadline(&self, n_bytes: usize) -> Instant {
        let latency = Duration::from_millis(self.port.latency_ms().unwrap_or_default().into());
        let wire = n_bytes as f64 * self.settings.line.byte_time();
        Instant::now() + Duration::from_secs_f64(wire) + latency + self.patience
    }
}
