//! An emulation on a pseudo-terminal, by the machine's clock: the only place in this crate's emulators that reads one.

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};

use super::emulation::{Emulation, PortState};
use super::event::Event;
use super::pty::Pty;
use super::side::{Moment, SideChannel};

/// Time between two looks while bytes are under way, as long as a full-speed USB frame. [s]
const FRAME: f64 = 1e-3;
/// The same while nothing is: a request after a longer rest would leave a part of it out. [s]
const IDLE: f64 = LARGEST_LAG_OF_REQUEST;
/// Most emulated time between two looks at the terminal. [s]
const TURN: f64 = 1e-3;
/// Most that emulated time may be behind the machine's. What is longer is left out: emulated time goes slower. [s]
const LARGEST_LAG: f64 = 0.1;
/// The same when a request is taken. On a machine that cannot keep up its answer would be late by the lag, and drivers give up after some
/// 10 ms: a slow robot is better than a silent one. [s]
const LARGEST_LAG_OF_REQUEST: f64 = 2e-3;
/// Processor time in which a longer lag is made up for before a request is taken: what is left out is missing in the pauses that a
/// program makes between its requests. A plain bus needs 0.1 ms for all of `LARGEST_LAG`; a physics world may never catch up.
const CATCHING_UP: Duration = Duration::from_millis(2);
/// Time between two words about that. [s]
const LAG_REPORTS: f64 = 2.0;
/// What is not worth a word in that time. [s]
const SLIGHT_LAG: f64 = 0.1;
/// How long after the last byte a bus counts as busy. [s]
const BUSY: f64 = 0.1;

/// Where an emulation can be reached.
#[derive(Debug, Clone)]
pub struct Entrances {
    /// Link to the terminal; it is made, and removed at the end.
    pub link: PathBuf,
    /// Socket of the side channel, if there is one; it is made, and removed at the end.
    pub side: Option<PathBuf>,
}

/// Why an emulation cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The system gives no pseudo-terminal.
    #[error("cannot make a pseudo-terminal: {source}; is /dev/pts mounted?")]
    Terminal {
        /// What it says.
        source: io::Error,
    },
    /// The link cannot be made.
    #[error("cannot make the link {}: {source}; name one in a folder that exists and that you may write to", link.display())]
    Link {
        /// The link.
        link: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Something else than a link is there.
    #[error("{} exists and is no link; name another place for the link", link.display())]
    LinkTaken {
        /// The place.
        link: PathBuf,
    },
    /// The socket of the side channel cannot be made.
    #[error("cannot listen at {}: {source}; another emulator may: name another socket", path.display())]
    Side {
        /// The socket.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The servos cannot be moved on.
    #[error("{what}")]
    Plant {
        /// Why.
        what: String,
    },
    /// The terminal fails while it is in use.
    #[error("the pseudo-terminal fails: {source}")]
    Broken {
        /// What the system says.
        source: io::Error,
    },
}

/// Runs an emulation until `is_over` says so, which is asked every 2 ms and after each signal. `say` gets what happens.
///
/// # Errors
/// When the pseudo-terminal or the side channel fails, or the servos cannot be moved on.
pub fn run(
    emulation: &mut Emulation,
    entrances: &Entrances,
    is_over: &dyn Fn() -> bool,
    say: &mut dyn FnMut(&Event),
) -> Result<(), RunError> {
    let side = entrances.side.as_deref().map(SideChannel::open).transpose()?;
    let mut run = Run {
        entrances,
        clock: Clock::start(),
        pty: None,
        absent_until: 0.0,
        busy_until: 0.0,
        to_host: Vec::new(),
        side,
    };
    while !is_over() {
        run.turn(emulation, say)?;
    }
    Ok(())
}

struct Run<'a> {
    entrances: &'a Entrances,
    clock: Clock,
    /// None while it is pulled out.
    pty: Option<Pty>,
    /// When it is put in. [s]
    absent_until: f64,
    /// Until when a bus is looked at often. [s]
    busy_until: f64,
    to_host: Vec<u8>,
    side: Option<SideChannel>,
}

impl Run<'_> {
    fn turn(
        &mut self,
        emulation: &mut Emulation,
        say: &mut dyn FnMut(&Event),
    ) -> Result<(), RunError> {
        let now = self.clock.tick();
        if let Some(lag) = self.clock.lag() {
            say(&lag);
        }
        if self.pty.is_none() && now >= self.absent_until {
            self.put_in(emulation, say)?;
        }
        self.listen(emulation, say).map_err(|source| RunError::Broken { source })?;
        self.to_host.clear();
        let port = emulation.advance(now, &mut self.to_host);
        if let Some(what) = emulation.failure() {
            return Err(RunError::Plant { what });
        }
        if let Some(pty) = &self.pty
            && !self.to_host.is_empty()
        {
            pty.write(&self.to_host).map_err(|source| RunError::Broken { source })?;
            self.busy_until = now + BUSY;
        }
        if let PortState::PulledOut { away_s } = port {
            self.pty = None;
            self.absent_until = now + away_s;
        }
        if let Some(side) = &mut self.side {
            side.serve(emulation, Moment { now, late: self.clock.behind });
        }
        emulation.events().for_each(|event| say(&event));
        self.sleep(emulation).map_err(|source| RunError::Broken { source })
    }

    fn put_in(
        &mut self,
        emulation: &Emulation,
        say: &mut dyn FnMut(&Event),
    ) -> Result<(), RunError> {
        let pty = Pty::open(&self.entrances.link)?;
        say(&Event::Ready {
            link: self.entrances.link.clone(),
            terminal: pty.terminal().to_owned(),
            baud: emulation.baud(),
        });
        self.pty = Some(pty);
        Ok(())
    }

    /// Takes what programs do with the terminal.
    fn listen(&mut self, emulation: &mut Emulation, say: &mut dyn FnMut(&Event)) -> io::Result<()> {
        let Some(pty) = &mut self.pty else { return Ok(()) };
        let openings = pty.look()?;
        if openings.closed {
            say(&Event::Closed);
        }
        if openings.opened {
            say(&Event::Opened);
        }
        if !self.clock.takes_requests() {
            return Ok(());
        }
        let mut buffer = [0; 4096];
        let n = pty.read(&mut buffer)?;
        if n > 0 {
            self.clock.leave_out(LARGEST_LAG_OF_REQUEST);
            let now = self.clock.now();
            emulation.hear(&buffer[..n], pty.baud()?, now);
            self.busy_until = now + BUSY;
        }
        Ok(())
    }

    /// Waits for bytes, partners, a signal, or the time of the next event.
    fn sleep(&self, emulation: &Emulation) -> io::Result<()> {
        let now = self.clock.now();
        let idle = if now - self.clock.last >= TURN {
            0.0
        } else if now < self.busy_until {
            FRAME
        } else {
            IDLE
        };
        let next = [emulation.next_time(), self.side.as_ref().and_then(SideChannel::next_time)];
        let wait = next.into_iter().flatten().map(|time| time - now).fold(idle, f64::min);
        let timeout = Timespec { tv_sec: 0, tv_nsec: nanoseconds(wait) };
        let terminal = self.pty.iter().flat_map(Pty::sources);
        let partners = self.side.iter().flat_map(SideChannel::sources);
        let mut sources: Vec<PollFd<'_>> = terminal
            .chain(partners)
            .map(|source| PollFd::from_borrowed_fd(source, PollFlags::IN))
            .collect();
        match poll(&mut sources, Some(&timeout)).map_err(io::Error::from) {
            Err(error) if error.kind() != ErrorKind::Interrupted => Err(error),
            _ => Ok(()),
        }
    }
}

/// Emulated time: that of the machine, less what could not be kept up with.
#[derive(Debug)]
struct Clock {
    start: Instant,
    /// Emulated time at the last turn. [s]
    last: f64,
    /// What was left out until now, and until the last report. [s]
    behind: f64,
    reported: f64,
    /// When there was time for a report. [s]
    looked: f64,
    /// Processor time of this thread when it fell behind too far to take a request, while it is.
    catches_up_from: Option<Duration>,
}

impl Clock {
    fn start() -> Self {
        Self {
            start: Instant::now(),
            last: 0.0,
            behind: 0.0,
            reported: 0.0,
            looked: 0.0,
            catches_up_from: None,
        }
    }

    /// Emulated time. [s]
    fn now(&self) -> f64 {
        self.start.elapsed().as_secs_f64() - self.behind
    }

    /// Goes on to the present, a turn at most; emulated time. [s]
    fn tick(&mut self) -> f64 {
        self.leave_out(LARGEST_LAG);
        self.last = self.now().min(self.last + TURN);
        self.last
    }

    /// Leaves out what emulated time is behind by more than `most` [s].
    fn leave_out(&mut self, most: f64) {
        self.behind += (self.now() - self.last - most).max(0.0);
    }

    /// Whether a request is taken now: there is no lag to make up for, or it takes too long.
    fn takes_requests(&mut self) -> bool {
        if self.now() - self.last <= LARGEST_LAG_OF_REQUEST {
            self.catches_up_from = None;
            return true;
        }
        let used = processor_time();
        let from = *self.catches_up_from.get_or_insert(used);
        used.saturating_sub(from) >= CATCHING_UP
    }

    /// What there is to say about being late.
    fn lag(&mut self) -> Option<Event> {
        let passed = self.last + self.behind - self.looked;
        if passed < LAG_REPORTS {
            return None;
        }
        let more = self.behind - self.reported;
        self.looked += passed;
        self.reported = self.behind;
        let pace = 1.0 - more / passed;
        (more > SLIGHT_LAG).then_some(Event::Lags { pace, behind_s: self.behind })
    }
}

/// Processor time that this thread has used.
fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// A wait [s] of less than a second in ns.
#[expect(clippy::cast_possible_truncation, reason = "between 0 and 1e9")]
fn nanoseconds(wait: f64) -> i64 {
    (wait.clamp(0.0, 0.999) * 1e9) as i64
}

#[cfg(test)]
mod tests;
