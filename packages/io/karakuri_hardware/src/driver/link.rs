//! A port with the buffers of a driver: a request out, an answer in, byte by byte.

use std::path::Path;
use std::time::{Duration, Instant};

use karakuri_serial::port::{OpenError, Port, PortError, Settings};

use super::ports::Ports;

/// Time that adapter, kernel and device may add to an answer. [s] A full-speed USB frame is 1 ms, and a busy machine some more.
const SLACK: f64 = 0.030;

/// A port with its buffers.
#[derive(Debug)]
pub struct Link {
    port: Port,
    request: Vec<u8>,
    received: [u8; 1024],
    /// Bytes of `received` that are still to be taken.
    unread: std::ops::Range<usize>,
    settings: Settings,
    /// When the line has carried all that was sent.
    carried: Instant,
    /// When the bytes of an answer that is expected can be there.
    complete: Option<Instant>,
    /// Until when everything has to be over; none where it may take its time.
    hurry: Option<Instant>,
}

impl Link {
    /// Opens a port for this process alone.
    pub(super) fn open(
        ports: &mut dyn Ports,
        path: &Path,
        settings: Settings,
    ) -> Result<Self, OpenError> {
        let port = ports.open(path, settings)?;
        let request = Vec::with_capacity(1024);
        Ok(Self {
            carried: port.now(),
            port,
            request,
            received: [0; 1024],
            unread: 0..0,
            settings,
            complete: None,
            hurry: None,
        })
    }

    /// Present instant of the port's clock.
    pub(super) fn now(&self) -> Instant {
        self.port.now()
    }

    /// How bytes are sent now.
    pub(super) fn settings(&self) -> Settings {
        self.settings
    }

    /// Sends and hears at another baud rate from now on. [bit/s]
    pub(super) fn set_baud(&mut self, baud: u32) -> Result<(), PortError> {
        self.settings.line.baud = baud;
        self.port.set_line(self.settings.line)
    }

    /// Finds out whether this process hears what it sends, by a request that moves nothing.
    pub(super) fn detect_echo(
        &mut self,
        encode: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), PortError> {
        self.request.clear();
        encode(&mut self.request);
        let by = self.deadline(2 * self.request.len());
        self.port.detect_echo(&self.request, by)?;
        Ok(())
    }

    /// Sends a request, after forgetting what has come before it.
    pub(super) fn send(&mut self, encode: impl FnOnce(&mut Vec<u8>)) -> Result<(), PortError> {
        self.unread = 0..0;
        self.port.clear()?;
        self.send_after(encode)
    }

    /// Sends a request behind one that is not answered.
    pub(super) fn send_after(
        &mut self,
        encode: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), PortError> {
        self.request.clear();
        encode(&mut self.request);
        self.port.send(&self.request)?;
        self.carried = self.carried.max(self.now()) + self.wire_time(self.request.len());
        self.complete = None;
        Ok(())
    }

    /// Says how long the answer to what was sent is, so that the wait for it wakes up once and not for each piece of it. [byte]
    pub(super) fn expect(&mut self, n_bytes: usize) {
        self.complete = Some(self.carried + self.wire_time(n_bytes));
    }

    /// The next byte; none when nothing comes until a deadline, or what comes is spoiled by somebody else who sends.
    pub(super) fn byte(&mut self, by: Instant) -> Result<Option<u8>, PortError> {
        if self.unread.is_empty() {
            if let Some(complete) = self.complete.take() {
                self.port.expect_at(complete.min(by));
            }
            self.unread = match self.port.receive(&mut self.received, by) {
                Ok(n) => 0..n,
                Err(PortError::Silent { .. } | PortError::Collision { .. }) => return Ok(None),
                Err(error) => return Err(error),
            };
        }
        Ok(self.unread.next().map(|index| self.received[index]))
    }

    /// Sends a request; the first answer that `take` makes of the bytes until a deadline.
    pub(super) fn exchange<Answer>(
        &mut self,
        by: Instant,
        encode: impl FnOnce(&mut Vec<u8>),
        take: impl FnMut(u8) -> Option<Answer>,
    ) -> Result<Option<Answer>, PortError> {
        self.send(encode)?;
        self.answer(by, take)
    }

    /// The first answer that `take` makes of the bytes until a deadline, to a request that was sent before.
    pub(super) fn answer<Answer>(
        &mut self,
        by: Instant,
        mut take: impl FnMut(u8) -> Option<Answer>,
    ) -> Result<Option<Answer>, PortError> {
        while let Some(byte) = self.byte(by)? {
            if let Some(answer) = take(byte) {
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }

    /// Asks until there is an answer, [`tries`](Self::tries) times at most, each with time for so many bytes.
    pub(super) fn retry<Answer>(
        &mut self,
        usual: usize,
        n_bytes: usize,
        mut ask: impl FnMut(&mut Self, Instant) -> Result<Option<Answer>, PortError>,
    ) -> Result<Option<Answer>, PortError> {
        for _ in 0..self.tries(usual) {
            let by = self.deadline(n_bytes);
            let answer = ask(self, by)?;
            if answer.is_some() {
                return Ok(answer);
            }
        }
        Ok(None)
    }

    /// When an answer has to be there that is requested now, with its request so many bytes long.
    pub(super) fn deadline(&self, n_bytes: usize) -> Instant {
        let latency = f64::from(self.port.latency_ms().unwrap_or_default()) * 1e-3;
        let by = self.now() + self.wire_time(n_bytes) + Duration::from_secs_f64(SLACK + latency);
        self.hurry.map_or(by, |hurry| by.min(hurry))
    }

    fn wire_time(&self, n_bytes: usize) -> Duration {
        Duration::from_secs_f64(n_bytes as f64 * self.settings.line.byte_time())
    }

    /// Lets requests take until an instant at most, and be sent once; none lets them take their time.
    pub(super) fn set_hurry(&mut self, hurry: Option<Instant>) {
        self.hurry = hurry;
    }

    /// How often a request is sent whose answer does not come, `usual` times without hurry.
    pub(super) fn tries(&self, usual: usize) -> usize {
        if self.hurry.is_some() { 1 } else { usual }
    }

    /// Until when the next of `n` partners that are still to be asked until `by` may take, so that a silent one leaves time to the others.
    pub(super) fn share(&self, by: Instant, n: usize) -> Instant {
        let now = self.now();
        now + by.saturating_duration_since(now) / u32::try_from(n.max(1)).unwrap_or(1)
    }

    /// For how long the adapter holds short answers back, if it does. [ms]
    pub(super) fn latency_ms(&self) -> Option<u32> {
        self.port.latency_ms()
    }
}
