//! An emulation in the process of its driver, in a time that goes on only while the driver waits.
//!
//! No terminal and no clock of the machine are between the two: runs of a driver over it are repeatable bit for bit, and as fast as the
//! machine can.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::emulation::{Emulation, PortState};
use super::side::{self, Moment};
use crate::line::Line;
use crate::port::Wire;

/// Time between two looks at the line while a driver waits for bytes. [ns]
const LOOK: u64 = 500_000;

/// An emulation and its time. Copies are the same line.
#[derive(Debug, Clone)]
pub struct InProcess {
    shared: Arc<Mutex<Shared>>,
    baud: u32,
    /// Time between two looks at the line. [ns]
    look: u64,
}

#[derive(Debug)]
struct Shared {
    emulation: Emulation,
    /// The instant that is time 0.
    origin: Instant,
    /// Time since then. [ns]
    now: u64,
    /// When a port that was pulled out is back. [s]
    absent_until: f64,
    to_host: Vec<u8>,
    unread: VecDeque<u8>,
}

impl Shared {
    fn seconds(&self) -> f64 {
        self.now as f64 * 1e-9
    }

    fn is_there(&self) -> bool {
        self.seconds() >= self.absent_until
    }

    /// Goes on until `to` [ns], in strides that an emulation does not take for a pause of the machine.
    fn advance(&mut self, to: u64) {
        const STRIDE: u64 = 100_000_000;
        while self.now + STRIDE < to {
            self.advance_at_once(self.now + STRIDE);
        }
        self.advance_at_once(to);
    }

    fn advance_at_once(&mut self, to: u64) {
        self.now = to.max(self.now);
        let now = self.seconds();
        self.to_host.clear();
        let port = self.emulation.advance(now, &mut self.to_host);
        self.unread.extend(&self.to_host);
        if let PortState::PulledOut { away_s } = port {
            self.absent_until = now + away_s;
            self.unread.clear();
        }
    }

    /// Time of an instant. [ns]
    fn time_of(&self, instant: Instant) -> u64 {
        u64::try_from(instant.saturating_duration_since(self.origin).as_nanos()).unwrap_or(u64::MAX)
    }
}

impl InProcess {
    /// Puts an emulation on a line at time 0.
    pub fn new(mut emulation: Emulation) -> Self {
        let baud = emulation.baud();
        emulation.advance(0.0, &mut Vec::new());
        let shared = Shared {
            emulation,
            origin: Instant::now(),
            now: 0,
            absent_until: 0.0,
            to_host: Vec::new(),
            unread: VecDeque::new(),
        };
        Self { shared: Arc::new(Mutex::new(shared)), baud, look: LOOK }
    }

    /// With answers rounded up to this, in place of half a millisecond: how long exchanges take is measured as well. [s]
    #[must_use]
    pub fn looking_every(self, period: Duration) -> Self {
        let look = u64::try_from(period.as_nanos()).unwrap_or(LOOK).max(1);
        Self { look, ..self }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the line at its host's end; none while its plug is out.
    pub fn open(&self, line: Line) -> Option<Box<dyn Wire>> {
        let mut shared = self.lock();
        shared.unread.clear();
        let wire = Self { baud: line.baud, ..self.clone() };
        shared.is_there().then(|| Box::new(wire) as Box<dyn Wire>)
    }

    /// Present instant of the line's time.
    pub fn now(&self) -> Instant {
        let shared = self.lock();
        shared.origin + Duration::from_nanos(shared.now)
    }

    /// Asks past the line for the truth, for faults or for a hand, as the side channel of an emulator takes it: a JSON request and its
    /// JSON answer, the state or an `error`. No time passes.
    pub fn ask(&self, request: &str) -> String {
        let mut shared = self.lock();
        let at = Moment { now: shared.seconds(), late: 0.0 };
        let answer = side::ask(request.as_bytes(), &mut shared.emulation, at);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Goes on until an instant.
    pub fn sleep_until(&self, deadline: Instant) {
        let mut shared = self.lock();
        let to = shared.time_of(deadline);
        shared.advance(to);
    }
}

impl Wire for InProcess {
    fn set_line(&mut self, line: Line) -> io::Result<()> {
        self.baud = line.baud;
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.lock().unread.clear();
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut shared = self.lock();
        if !shared.is_there() {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let now = shared.seconds();
        shared.emulation.hear(bytes, self.baud, now);
        Ok(bytes.len())
    }

    fn read(&mut self, buffer: &mut [u8], deadline: Instant) -> io::Result<usize> {
        let mut shared = self.lock();
        let by = shared.time_of(deadline);
        while shared.unread.is_empty() && shared.is_there() && shared.now < by {
            let next = (shared.now + self.look).min(by);
            shared.advance(next);
        }
        if !shared.is_there() {
            return Ok(0);
        }
        if shared.unread.is_empty() {
            return Err(ErrorKind::TimedOut.into());
        }
        let n = buffer.len().min(shared.unread.len());
        for (to, byte) in buffer.iter_mut().zip(shared.unread.drain(..n)) {
            *to = byte;
        }
        Ok(n)
    }

    fn now(&self) -> Instant {
        Self::now(self)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::emulator::FreeMotion;
    use crate::emulator::rcb1::{Rcb1, Setup};
    use crate::port::{Port, PortError};

    #[test]
    fn time_goes_on_while_an_answer_is_awaited_and_no_longer() {
        let boards = Box::new(Rcb1::new(&Setup::default()));
        let line = InProcess::new(Emulation::new(boards, Box::new(FreeMotion)));
        let wire = line.open(Line::eight_n_one(115_200)).unwrap();
        let mut port = Port::over(wire, Path::new("boards"));
        let start = line.now();
        port.send(&[0xFC, 0x00, 0x7C]).unwrap();
        assert_eq!(line.now(), start, "sending takes no time of the host");
        let mut answer = Vec::new();
        let mut buffer = [0; 32];
        while answer.len() < 14 {
            let by = port.now() + Duration::from_millis(30);
            let n = port.receive(&mut buffer, by).unwrap();
            answer.extend_from_slice(&buffer[..n]);
        }
        assert_eq!(answer[..3], [0x00, 0x05, 0x00]);
        // 3 bytes there, 2 ms, 14 bytes back: 3.5 ms.
        let took = (line.now() - start).as_secs_f64();
        assert!((3.4e-3..4.1e-3).contains(&took), "{took} s");
        assert!(
            line.ask("\"state\"").starts_with("{\"time_s\":0.003"),
            "{}",
            line.ask("\"state\"")
        );
        let refused = line.ask("{\"watch\": {\"period_s\": 0.1}}");
        assert!(refused.contains("ask for the \\\"state\\\" again"), "{refused}");
        let by = line.now() + Duration::from_millis(5);
        assert!(matches!(port.receive(&mut buffer, by), Err(PortError::Silent { .. })));
        assert_eq!(line.now(), by);
    }
}
