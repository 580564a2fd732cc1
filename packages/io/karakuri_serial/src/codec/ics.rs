//! ICS 3.5 and 3.6: Kondo servos, each on the one wire itself.
//!
//! The first byte is a command (3 bits, the highest set) and the servo's id (5 bits); all others have their highest bit clear, and so has
//! the first byte of an answer. There is no checksum. On one wire the host hears its own bytes before the answer; the decoder of
//! answers leaves them out.
//!
//! Source: Kondo, ICS 3.5 software manual (2015); nibbles of the EEPROM and the scales of current and temperature by the Python
//! package rcb4 0.1.6.

mod decode;
mod eeprom;
mod units;

use super::FrameError;
pub use decode::{AnswerDecoder, RequestDecoder};
pub use eeprom::{Eeprom, FIELDS, Field, Flags};
pub use units::{
    CENTRE, COUNTS_PER_RADIAN, MAX_COUNTS, MIN_COUNTS, byte_from_current, byte_from_temperature,
    counts_from_angle, current_from_byte, position_from_counts, temperature_from_byte,
};

/// Greatest id of a servo.
pub const MAX_ID: u8 = 31;
/// Baud rates that a servo can have, 8E1. [bit/s]
pub const BAUDS: [u32; 3] = [115_200, 625_000, 1_250_000];
/// Time that a servo takes to write its EEPROM, before it answers. [s]
pub const EEPROM_TIME: f64 = 0.35;

/// Greatest word of 14 bits.
const MAX_WORD: u16 = 0x3fff;
/// Longest frame: the EEPROM with its two leading bytes.
const LONGEST: usize = 2 + Eeprom::LEN;
const POSITION: u8 = 0x80;
const READ: u8 = 0xa0;
const WRITE: u8 = 0xc0;
const ID: u8 = 0xe0;
const EEPROM: u8 = 0;

/// A value of one byte that a servo has besides its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter {
    /// Stiffness, 1 to 127.
    Stretch = 1,
    /// Greatest speed, 1 to 127.
    Speed = 2,
    /// Read: current by [`current_from_byte`]. Written: its limit, 1 to 63 in 0.1 A.
    Current = 3,
    /// Read: temperature by [`temperature_from_byte`]. Written: its limit, 1 to 127.
    Temperature = 4,
}

impl Parameter {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Stretch, Self::Speed, Self::Current, Self::Temperature];

    /// That of a sub-command.
    pub fn of(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|p| *p as u8 == code)
    }
}

/// What a servo is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Moves a servo; 0 makes it limp, and the answer still carries its angle.
    Move {
        /// Id of the servo.
        id: u8,
        /// Where to, 3500 to 11500; 7500 is the middle. [counts]
        position: u16,
    },
    /// Asks for the angle (ICS 3.6).
    Position {
        /// Id of the servo.
        id: u8,
    },
    /// Reads a parameter.
    Read {
        /// Id of the servo.
        id: u8,
        /// Which.
        parameter: Parameter,
    },
    /// Writes a parameter.
    Write {
        /// Id of the servo.
        id: u8,
        /// Which.
        parameter: Parameter,
        /// Its value from now on, 1 to 127.
        value: u8,
    },
    /// Reads the EEPROM.
    ReadEeprom {
        /// Id of the servo.
        id: u8,
    },
    /// Writes the EEPROM.
    WriteEeprom {
        /// Id of the servo.
        id: u8,
        /// What it holds from now on.
        eeprom: Eeprom,
    },
    /// Asks for the id of the only servo on the line.
    GetId,
    /// Gives the only servo on the line another id.
    SetId {
        /// Its id from now on.
        id: u8,
    },
}

/// What a servo answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Its angle, after a move. [counts]
    Moved(u16),
    /// Its angle, when asked for it. [counts]
    Position(u16),
    /// A parameter as it was read.
    Read(Parameter, u8),
    /// A parameter as it was written.
    Written(Parameter, u8),
    /// Its EEPROM.
    Eeprom(Eeprom),
    /// The EEPROM is written.
    EepromWritten,
    /// Its id.
    Id,
}

/// Sub-command of the angle, which is no [`Parameter`] as it has 14 bits.
const ANGLE: u8 = 5;

impl Request {
    /// Appends the frame.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Move { id, position } => {
                out.push(POSITION | id);
                push_word(*position, out);
            }
            Self::Position { id } => out.extend([READ | id, ANGLE]),
            Self::Read { id, parameter } => out.extend([READ | id, *parameter as u8]),
            Self::Write { id, parameter, value } => {
                out.extend([WRITE | id, *parameter as u8, value & 0x7f]);
            }
            Self::ReadEeprom { id } => out.extend([READ | id, EEPROM]),
            Self::WriteEeprom { id, eeprom } => {
                out.extend([WRITE | id, EEPROM]);
                out.extend(eeprom.bytes());
            }
            Self::GetId => out.extend([ID | MAX_ID, 0, 0, 0]),
            Self::SetId { id } => out.extend([ID | id, 1, 1, 1]),
        }
    }
}

impl Answer {
    /// Appends the frame of the servo with an id.
    pub fn encode(&self, id: u8, out: &mut Vec<u8>) {
        match self {
            Self::Moved(position) => {
                out.push(POSITION & 0x7f | id);
                push_word(*position, out);
            }
            Self::Position(position) => {
                out.extend([READ & 0x7f | id, ANGLE]);
                push_word(*position, out);
            }
            Self::Read(parameter, value) => {
                out.extend([READ & 0x7f | id, *parameter as u8, value & 0x7f]);
            }
            Self::Written(parameter, value) => {
                out.extend([WRITE & 0x7f | id, *parameter as u8, value & 0x7f]);
            }
            Self::Eeprom(eeprom) => {
                out.extend([READ & 0x7f | id, EEPROM]);
                out.extend(eeprom.bytes());
            }
            Self::EepromWritten => out.extend([WRITE & 0x7f | id, EEPROM]),
            Self::Id => out.push(ID & 0x7f | id),
        }
    }
}

/// Appends 14 bits, the high seven first.
fn push_word(word: u16, out: &mut Vec<u8>) {
    let [high, low] = (word.min(MAX_WORD) << 1).to_be_bytes();
    out.extend([high, low >> 1]);
}

/// The word of two bytes of seven bits.
fn word(high: u8, low: u8) -> u16 {
    u16::from(high & 0x7f) << 7 | u16::from(low & 0x7f)
}

#[cfg(test)]
mod tests;
