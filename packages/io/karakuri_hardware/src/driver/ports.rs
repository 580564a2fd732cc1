//! Where a driver finds its port and its time.

use std::fmt;
use std::path::Path;
use std::time::Instant;

use karakuri_serial::emulator::InProcess;
use karakuri_serial::port::{OpenError, Port, Settings};

use super::deadlines::sleep_until;

/// Ports of a machine, and its clock.
pub trait Ports: Send + fmt::Debug {
    /// Opens a port.
    ///
    /// # Errors
    /// When it is not there, or refuses.
    fn open(&mut self, path: &Path, settings: Settings) -> Result<Port, OpenError>;

    /// Present instant.
    fn now(&self) -> Instant;

    /// Waits until an instant.
    fn sleep_until(&mut self, deadline: Instant);
}

/// Serial ports of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SerialPorts;

impl Ports for SerialPorts {
    fn open(&mut self, path: &Path, settings: Settings) -> Result<Port, OpenError> {
        Port::open(path, settings)
    }

    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep_until(&mut self, deadline: Instant) {
        sleep_until(deadline);
    }
}

/// The one line of an emulation, whatever the path.
impl Ports for InProcess {
    fn open(&mut self, path: &Path, settings: Settings) -> Result<Port, OpenError> {
        let wire = Self::open(self, settings.line);
        let absent = || OpenError::Missing { path: path.to_owned(), present: Vec::new() };
        Ok(Port::over(wire.ok_or_else(absent)?, path))
    }

    fn now(&self) -> Instant {
        Self::now(self)
    }

    fn sleep_until(&mut self, deadline: Instant) {
        Self::sleep_until(self, deadline);
    }
}
