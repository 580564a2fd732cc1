//! Serial lines, as drivers need them.
//!
//! A [`Port`] is its process's alone, reads until a deadline, and tells a device that is silent from one that is gone. One that is
//! gone has to be dropped at once: Linux keeps the name of an adapter taken for as long as anybody has it open, so that it comes back
//! under another. Names in `/dev/serial/by-id` follow the adapter.

mod error;
mod latency;
mod wire;

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serialport::{ClearBuffer, SerialPort};

use crate::line::{Line, Parity};
pub use error::{OpenError, PortError};
pub use wire::Wire;

/// How long a port may take no more bytes. [s]
const LONGEST_STALL: Duration = Duration::from_secs(1);

/// How a port is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// How bytes are sent.
    pub line: Line,
    /// Whether the line DTR is raised. A KHR-1 needs it low. Linux raises it for a moment at each opening, whatever is set.
    pub raises_dtr: bool,
}

/// An open serial port.
#[derive(Debug)]
pub struct Port {
    wire: Box<dyn Wire>,
    /// Shared with the errors, so that silence allocates nothing.
    path: Arc<Path>,
    latency_ms: Option<u32>,
    has_echo: bool,
    /// Bytes that were sent and are to come back.
    echo: VecDeque<u8>,
}

impl Port {
    /// Opens a port for this process alone, and shortens the latency of its adapter where the system allows it.
    ///
    /// # Errors
    /// When there is no such device, it may not be opened, another process has it, or it does not take the line's settings.
    pub fn open(path: &Path, settings: Settings) -> Result<Self, OpenError> {
        let mut tty = serialport::new(path.to_string_lossy(), settings.line.baud)
            .parity(parity(settings.line))
            .timeout(LONGEST_STALL)
            .dtr_on_open(settings.raises_dtr)
            .open_native()
            .map_err(|error| OpenError::new(path, &error))?;
        tty.clear(ClearBuffer::All).map_err(|error| OpenError::new(path, &error))?;
        // A pseudo-terminal has no DTR, and an adapter without the line loses nothing.
        let _unsupported = tty.write_data_terminal_ready(settings.raises_dtr);
        let latency_ms = latency::shorten(Path::new("/sys"), path);
        Ok(Self { latency_ms, ..Self::over(Box::new(tty), path) })
    }

    /// A port over a wire that is open; the path stands in its messages.
    pub fn over(wire: Box<dyn Wire>, path: &Path) -> Self {
        let (path, echo) = (path.into(), VecDeque::new());
        Self { wire, path, latency_ms: None, has_echo: false, echo }
    }

    /// Present instant of the clock that deadlines are read from.
    pub fn now(&self) -> Instant {
        self.wire.now()
    }

    /// Tells that no whole answer can be there before an instant, so that it is not looked for in vain.
    pub fn expect_at(&mut self, instant: Instant) {
        self.wire.expect_at(instant);
    }

    /// For how long the adapter holds short answers back, if it is one that does (FTDI). 1 ms, unless the system did not allow it. [ms]
    pub fn latency_ms(&self) -> Option<u32> {
        self.latency_ms
    }

    /// Sends and hears with another line from now on.
    ///
    /// # Errors
    /// When the device does not take them, or is lost.
    pub fn set_line(&mut self, line: Line) -> Result<(), PortError> {
        self.wire.set_line(line).map_err(|error| self.lost(&error))
    }

    /// Forgets what has come and nobody has read: before a request is repeated, or its answer is that of the first.
    ///
    /// # Errors
    /// When the line is lost.
    pub fn clear(&mut self) -> Result<(), PortError> {
        self.echo.clear();
        self.wire.clear().map_err(|error| self.lost(&error))
    }

    /// Sends bytes.
    ///
    /// # Errors
    /// When the line is lost, or does not take the bytes in time.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), PortError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.wire.write(rest) {
                Ok(n) => rest = &rest[n..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::TimedOut => {
                    return Err(PortError::Stalled { path: Arc::clone(&self.path) });
                }
                Err(error) => return Err(self.lost(&error)),
            }
        }
        if self.has_echo {
            self.echo.extend(bytes);
        }
        Ok(())
    }

    /// Takes bytes that have come, at least one, waiting until a deadline at most; how many. The echo of what was sent is left out.
    ///
    /// # Errors
    /// When nothing comes until the deadline, something else comes than the echo of what was sent, or the line is lost.
    pub fn receive(&mut self, buffer: &mut [u8], deadline: Instant) -> Result<usize, PortError> {
        loop {
            let n = self.read(buffer, deadline)?;
            let n_echo = n.min(self.echo.len());
            if self.echo.drain(..n_echo).ne(buffer[..n_echo].iter().copied()) {
                self.echo.clear();
                return Err(PortError::Collision { path: Arc::clone(&self.path) });
            }
            if n > n_echo {
                buffer.copy_within(n_echo..n, 0);
                return Ok(n - n_echo);
            }
        }
    }

    /// Finds out whether this process hears what it sends, as on one wire: sends a request that is answered or ignored, and reads until
    /// a deadline. The answer is dropped.
    ///
    /// # Errors
    /// When the line is lost or the port fails.
    pub fn detect_echo(&mut self, request: &[u8], deadline: Instant) -> Result<bool, PortError> {
        self.has_echo = false;
        self.clear()?;
        self.send(request)?;
        let mut heard = Vec::new();
        let mut buffer = [0; 256];
        loop {
            match self.receive(&mut buffer, deadline) {
                Ok(n) => heard.extend_from_slice(&buffer[..n]),
                Err(PortError::Silent { .. }) => break,
                Err(error) => return Err(error),
            }
        }
        self.has_echo = heard.starts_with(request);
        Ok(self.has_echo)
    }

    fn read(&mut self, buffer: &mut [u8], deadline: Instant) -> Result<usize, PortError> {
        loop {
            return match self.wire.read(buffer, deadline) {
                Ok(0) => Err(self.lost(&ErrorKind::UnexpectedEof.into())),
                Ok(n) => Ok(n),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::TimedOut => {
                    Err(PortError::Silent { path: Arc::clone(&self.path) })
                }
                Err(error) => Err(self.lost(&error)),
            };
        }
    }

    fn lost(&self, error: &io::Error) -> PortError {
        PortError::Lost { path: Arc::clone(&self.path), what: error.to_string() }
    }
}

fn parity(line: Line) -> serialport::Parity {
    match line.parity {
        Parity::None => serialport::Parity::None,
        Parity::Even => serialport::Parity::Even,
    }
}

#[cfg(test)]
mod tests;
