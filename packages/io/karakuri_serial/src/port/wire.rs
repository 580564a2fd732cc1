//! What carries the bytes of a port.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use serialport::{ClearBuffer, SerialPort, TTYPort};

use super::parity;
use crate::line::Line;

/// Carrier of the bytes of a [`Port`](super::Port), with the clock that its deadlines are read from.
pub trait Wire: Send + fmt::Debug {
    /// Send and hear with another line from now on.
    ///
    /// # Errors
    /// When the device does not take it or is lost.
    fn set_line(&mut self, line: Line) -> io::Result<()>;

    /// Forget what has come and was not read.
    ///
    /// # Errors
    /// When the device is lost.
    fn clear(&mut self) -> io::Result<()>;

    /// Send bytes, at least one; how many.
    ///
    /// # Errors
    /// [`TimedOut`](io::ErrorKind::TimedOut) where none is taken; else the device is lost.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Take bytes that have come; how many. None is an end.
    ///
    /// # Errors
    /// [`TimedOut`](io::ErrorKind::TimedOut) where none comes until the deadline; else the device is lost.
    fn read(&mut self, buffer: &mut [u8], deadline: Instant) -> io::Result<usize>;

    /// Hear that no whole answer can be there before an instant. A carrier for which each look at an answer costs something sleeps until
    /// then; others need not.
    fn expect_at(&mut self, instant: Instant) {
        _ = instant;
    }

    /// Present instant of its clock.
    fn now(&self) -> Instant;
}

/// A terminal of the system, by the machine's clock.
impl Wire for TTYPort {
    fn set_line(&mut self, line: Line) -> io::Result<()> {
        self.set_baud_rate(line.baud).and_then(|()| self.set_parity(parity(line)))?;
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        SerialPort::clear(self, ClearBuffer::Input)?;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Write::write(self, bytes)
    }

    fn read(&mut self, buffer: &mut [u8], deadline: Instant) -> io::Result<usize> {
        let terminal = borrow(self);
        await_bytes(terminal, deadline)?;
        Ok(rustix::io::read(terminal, buffer)?)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "nothing can come before, and whatever ends the wait would be looked for then"
    )]
    fn expect_at(&mut self, instant: Instant) {
        std::thread::sleep(instant.saturating_duration_since(Instant::now()));
    }

    fn now(&self) -> Instant {
        Instant::now()
    }
}

#[expect(unsafe_code, reason = "the crate lends a terminal's descriptor as a number only")]
fn borrow(tty: &TTYPort) -> BorrowedFd<'_> {
    // SAFETY: the descriptor is open as long as the terminal, which is borrowed as long as it.
    unsafe { BorrowedFd::borrow_raw(tty.as_raw_fd()) }
}

/// Waits until bytes have come, or a terminal is gone. The crate's own wait allocates its error, as often as an answer is late, and
/// its read waits once more.
fn await_bytes(terminal: BorrowedFd<'_>, deadline: Instant) -> io::Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    let left = Timespec::try_from(left).map_err(|_| ErrorKind::InvalidInput)?;
    match poll(&mut [PollFd::new(&terminal, PollFlags::IN)], Some(&left))? {
        0 => Err(ErrorKind::TimedOut.into()),
        _ => Ok(()),
    }
}
