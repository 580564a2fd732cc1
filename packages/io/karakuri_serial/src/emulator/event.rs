//! What happens to an emulator that a person can act on.

use std::fmt;
use std::path::PathBuf;

use super::{Alarm, Fault};

/// An event; its text is one line.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The devices can be reached.
    Ready {
        /// Link to the terminal, whose name may change.
        link: PathBuf,
        /// The terminal.
        terminal: PathBuf,
        /// How the devices listen. [bit/s]
        baud: u32,
    },
    /// A program opened the port.
    Opened,
    /// A program closed it.
    Closed,
    /// A program sends at another baud rate than that of the devices, which hear nothing.
    WrongBaud {
        /// That of the program. [bit/s]
        host: u32,
        /// That of the devices. [bit/s]
        devices: u32,
    },
    /// The devices listen with another baud rate from now on.
    BaudChanged {
        /// The new one. [bit/s]
        baud: u32,
    },
    /// A fault is switched on.
    FaultOn(Fault),
    /// A fault is switched off.
    FaultOff(Fault),
    /// The emulated time goes slower than the machine's clock: moving the servos takes too long.
    Lags {
        /// Emulated time in a second of the machine's, since the last such event. [-]
        pace: f64,
        /// By how much it is behind by now. [s]
        behind_s: f64,
    },
    /// The port is gone, and comes back.
    PulledOut {
        /// After this time. [s]
        away_s: f64,
    },
    /// A servo raises an alarm.
    Raised {
        /// The servo.
        id: u8,
        /// Why.
        alarm: Alarm,
    },
    /// A servo no longer raises an alarm.
    Cleared {
        /// The servo.
        id: u8,
        /// Which.
        alarm: Alarm,
    },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready { link, terminal, baud } => {
                write!(f, "ready: {} -> {}, {baud} baud", link.display(), terminal.display())
            }
            Self::Opened => write!(f, "a program opened the port"),
            Self::Closed => write!(f, "a program closed the port"),
            Self::WrongBaud { host, devices } => write!(
                f,
                "not heard: the program sends at {host} baud, the devices listen at {devices}; \
                 open the port at {devices}"
            ),
            Self::BaudChanged { baud } => write!(f, "the devices listen at {baud} baud now"),
            Self::FaultOn(fault) => write!(f, "fault on: {fault}"),
            Self::FaultOff(fault) => write!(f, "fault off: {fault}"),
            Self::Lags { pace, behind_s } => write!(
                f,
                "cannot keep up: {pace:.2} of real time, {behind_s:.2} s behind by now; \
                 end other programs, or take a simpler scene"
            ),
            Self::PulledOut { away_s } => write!(f, "port pulled out, back in {away_s} s"),
            Self::Raised { id, alarm } => write!(f, "servo {id}: alarm {}", alarm.name()),
            Self::Cleared { id, alarm } => write!(f, "servo {id}: alarm {} cleared", alarm.name()),
        }
    }
}
