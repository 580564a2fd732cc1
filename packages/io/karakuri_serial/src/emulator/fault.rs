//! Faults of wires, boards and servos, switched on and off by name.

use std::fmt;
use std::str::FromStr;

use super::servo::{Servo, Trouble};

/// What can go wrong, on any bus. Read from `NAME` or `NAME=VALUE`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    /// Answers get lost.
    Drop {
        /// Share of them. [-]
        share: f64,
    },
    /// Answers come late.
    Delay {
        /// By how much. [ms]
        delay_ms: f64,
    },
    /// The last byte of answers is wrong.
    BadChecksum {
        /// Share of them. [-]
        share: f64,
    },
    /// Bytes that are no frame come before answers.
    Noise {
        /// Share of them. [-]
        share: f64,
    },
    /// The host hears its own bytes, as on one wire.
    Echo,
    /// The devices listen with another baud rate than anybody expects: nothing is heard.
    WrongBaud,
    /// The port goes away in the middle of the next answer, as an adapter that is pulled out, and comes back.
    Closed {
        /// How long it stays away. [s]
        away_s: f64,
    },
    /// A board is out of the chain.
    BoardMissing {
        /// Its number.
        board: usize,
    },
    /// One servo, or all of them, have a fault.
    Servo {
        /// Which; all without a number.
        id: Option<u8>,
        /// What is wrong.
        trouble: Trouble,
    },
    /// The supply of all servos.
    Voltage {
        /// What they get. [V]
        volts: f64,
    },
}

/// Why a text names no fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultError {
    /// No fault has this name.
    #[error("there is no fault `{name}`; write one of {}", Fault::NAMES.map(|(name, _)| name).join(", "))]
    Unknown {
        /// What was given.
        name: String,
    },
    /// A value that the fault cannot have.
    #[error("fault `{name}`: `{value}` cannot be its value; write {expected}")]
    Value {
        /// Name of the fault.
        name: &'static str,
        /// What was given.
        value: String,
        /// What it may be, with an example.
        expected: &'static str,
    },
}

const SHARE: &str = "the share of answers it strikes, from 0 to 1, as `=0.1`; all without a value";
const SERVO: &str = "the servo's id from 0 to 254, as `=3`; all servos without a value";

impl Fault {
    /// Every fault: its name, and what its value is.
    pub const NAMES: [(&str, &str); 15] = [
        ("drop", SHARE),
        ("delay-ms", "by how much answers are late in ms, as `=20`"),
        ("bad-checksum", SHARE),
        ("noise", SHARE),
        ("echo", "no value"),
        ("wrong-baud", "no value"),
        ("closed-mid-frame", "after how many seconds the port is back, as `=1`; 1 without a value"),
        ("board-missing", "the board's number, as `=1`"),
        ("servo-gone", SERVO),
        ("overload", SERVO),
        ("hot", SERVO),
        ("torque-lost", SERVO),
        ("sensor", SERVO),
        ("blocked", SERVO),
        ("voltage-v", "the supply in V, as `=9.5`"),
    ];

    /// Its name.
    pub fn name(&self) -> &'static str {
        let place = match self {
            Self::Drop { .. } => 0,
            Self::Delay { .. } => 1,
            Self::BadChecksum { .. } => 2,
            Self::Noise { .. } => 3,
            Self::Echo => 4,
            Self::WrongBaud => 5,
            Self::Closed { .. } => 6,
            Self::BoardMissing { .. } => 7,
            Self::Servo { trouble, .. } => match trouble {
                Trouble::Gone => 8,
                Trouble::Overload => 9,
                Trouble::Hot => 10,
                Trouble::TorqueLost => 11,
                Trouble::Sensor => 12,
                Trouble::Blocked => 13,
            },
            Self::Voltage { .. } => 14,
        };
        Self::NAMES[place].0
    }

    /// Whether it takes the place of another: the same name, on the same servo or board.
    pub(crate) fn strikes_the_same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Servo { id, .. }, Self::Servo { id: of, .. }) if id != of => false,
            (Self::BoardMissing { board }, Self::BoardMissing { board: of }) => board == of,
            _ => self.name() == other.name(),
        }
    }

    /// Switch what it does to servos on or off; nothing for those of the wire.
    pub(crate) fn apply(&self, servos: &mut [Servo], on: bool) {
        for servo in servos {
            match *self {
                Self::BoardMissing { board } if board == servo.board => {
                    servo.set(Trouble::Gone, on);
                }
                Self::Servo { id, trouble } if id.is_none_or(|id| id == servo.id) => {
                    servo.set(trouble, on);
                }
                Self::Voltage { volts } => {
                    servo.voltage = if on { volts } else { servo.rating.voltage };
                }
                _ => {}
            }
        }
    }
}

impl FromStr for Fault {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let Some(&(name, expected)) = Self::NAMES.iter().find(|(known, _)| *known == name) else {
            return Err(FaultError::Unknown { name: name.to_owned() });
        };
        read(name, value).ok_or_else(|| FaultError::Value {
            name,
            value: value.unwrap_or_default().to_owned(),
            expected,
        })
    }
}

/// The fault of a known name; none where the value does not fit.
fn read(name: &str, value: Option<&str>) -> Option<Fault> {
    let share = || number(value.unwrap_or("1"), 1.0);
    let servo = |trouble| {
        let id = match value {
            Some(text) => Some(text.parse().ok().filter(|id| *id < u8::MAX)?),
            None => None,
        };
        Some(Fault::Servo { id, trouble })
    };
    Some(match name {
        "drop" => Fault::Drop { share: share()? },
        "delay-ms" => Fault::Delay { delay_ms: number(value?, 60e3)? },
        "bad-checksum" => Fault::BadChecksum { share: share()? },
        "noise" => Fault::Noise { share: share()? },
        "echo" if value.is_none() => Fault::Echo,
        "wrong-baud" if value.is_none() => Fault::WrongBaud,
        "closed-mid-frame" => Fault::Closed { away_s: number(value.unwrap_or("1"), 3600.0)? },
        "board-missing" => Fault::BoardMissing { board: value?.parse().ok()? },
        "servo-gone" => servo(Trouble::Gone)?,
        "overload" => servo(Trouble::Overload)?,
        "hot" => servo(Trouble::Hot)?,
        "torque-lost" => servo(Trouble::TorqueLost)?,
        "sensor" => servo(Trouble::Sensor)?,
        "blocked" => servo(Trouble::Blocked)?,
        "voltage-v" => Fault::Voltage { volts: number(value?, 100.0)? },
        _ => return None,
    })
}

/// A number from 0 to `most`.
fn number(text: &str, most: f64) -> Option<f64> {
    text.parse().ok().filter(|number| (0.0..=most).contains(number))
}

/// As it is read.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Drop { share } | Self::BadChecksum { share } | Self::Noise { share } => {
                write!(f, "={share}")
            }
            Self::Delay { delay_ms } => write!(f, "={delay_ms}"),
            Self::Closed { away_s } => write!(f, "={away_s}"),
            Self::BoardMissing { board } => write!(f, "={board}"),
            Self::Servo { id: Some(id), .. } => write!(f, "={id}"),
            Self::Voltage { volts } => write!(f, "={volts}"),
            Self::Servo { id: None, .. } | Self::Echo | Self::WrongBaud => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::servo::Rating;
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<Fault>().unwrap_err().to_string()
    }

    #[test]
    fn every_name_is_read_and_printed_again() {
        for (name, expected) in Fault::NAMES {
            let example = expected.split('`').nth(1).unwrap_or_default();
            let text = format!("{name}{example}");
            let fault: Fault = text.parse().unwrap();
            assert_eq!((fault.to_string(), fault.name()), (text, name));
        }
        assert_eq!("drop".parse(), Ok(Fault::Drop { share: 1.0 }));
        assert_eq!("hot".parse(), Ok(Fault::Servo { id: None, trouble: Trouble::Hot }));
    }

    #[test]
    fn what_is_no_fault_is_answered_by_a_remedy() {
        assert!(
            error("dorp").starts_with("there is no fault `dorp`; write one of drop, delay-ms,")
        );
        assert_eq!(
            error("drop=2"),
            format!("fault `drop`: `2` cannot be its value; write {SHARE}")
        );
        for text in
            ["delay-ms", "echo=1", "servo-gone=255", "drop=nan", "voltage-v=-1", "board-missing"]
        {
            assert!(error(text).contains("cannot be its value; write "), "{text}");
        }
    }

    #[test]
    fn faults_strike_the_servos_that_they_name() {
        let mut servos: Vec<Servo> = (1..=3).map(|id| Servo::new(id, Rating::SMALL)).collect();
        servos[2].board = 1;
        let gone = |servos: &[Servo]| -> Vec<u8> {
            servos.iter().filter(|servo| servo.has(Trouble::Gone)).map(|servo| servo.id).collect()
        };
        let fault: Fault = "servo-gone=2".parse().unwrap();
        fault.apply(&mut servos, true);
        Fault::BoardMissing { board: 1 }.apply(&mut servos, true);
        assert_eq!(gone(&servos), [2, 3]);
        fault.apply(&mut servos, false);
        assert_eq!(gone(&servos), [3]);
        Fault::Voltage { volts: 9.0 }.apply(&mut servos, true);
        assert!((servos[0].voltage - 9.0).abs() < 1e-12);
        Fault::Voltage { volts: 9.0 }.apply(&mut servos, false);
        assert!((servos[0].voltage - 12.0).abs() < 1e-12);
    }
}
