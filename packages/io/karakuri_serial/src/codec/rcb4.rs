//! RCB-4: the board that followed the RCB-1; up to 35 ICS servos, motions as programs in its memory.
//!
//! A frame is `SIZE CMD … SUM`: SIZE counts all bytes, SUM is the sum of those before it in 8 bits. What the host may send is also what
//! programs in the board's ROM consist of. Words are little-endian.
//!
//! Sources: Kondo, RCB-4HV command reference (2013) and reference set 2.0 (2012); the Python package rcb4 0.1.6. What only the latter
//! or nobody states is marked where it stands.

mod copy;
mod decode;
pub mod memory;
mod servos;

use super::FrameError;
pub use copy::{Data, Place, Source};
pub use decode::{AnswerDecoder, Decoder, Frame};
pub use servos::{Goal, SERVOS, ServoParameter, ServoSet};

/// Baud rates of the line to the host, 8E1, from the slowest. [bit/s]
pub const BAUDS: [u32; 3] = [115_200, 625_000, 1_250_000];
/// Text that the first firmware answers to [`Request::Version`].
pub const VERSION: [u8; 32] = *b"CB-4 V1.0      090715          \xc7";
/// Most bytes of a [`Data`].
pub const MAX_DATA: usize = 128;

const ACK: u8 = 0x06;
const NAK: u8 = 0x15;
/// Shortest frame.
const SHORTEST: usize = 3;
/// Longest frame: a copy of [`MAX_DATA`] bytes.
const LONGEST: usize = MAX_DATA + 7;

const MOVE: u8 = 0x00;
const JUMP: u8 = 0x0b;
const CALL: u8 = 0x0c;
const RETURN: u8 = 0x0d;
const ONE_SERVO: u8 = 0x0f;
const SERVOS_ONE_TIME: u8 = 0x10;
const SERVOS_OWN_TIMES: u8 = 0x11;
const SERVO_PARAMETER: u8 = 0x12;
const GET_VERSION: u8 = 0xfd;
const ACKNOWLEDGE: u8 = 0xfe;
/// Bit of an operation's kind that keeps the result from being stored.
const COMPARE: u8 = 0x80;

/// When a jump, call or return is done.
///
/// (The bits of the byte are confirmed for "always" and "zero flag is 0" only.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Condition {
    /// What the zero flag has to be, if it matters.
    pub zero: Option<bool>,
    /// What the carry flag has to be, if it matters.
    pub carry: Option<bool>,
}

/// What two values become in an [`Request::Operate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Bits that both have.
    And = 0x01,
    /// Bits that any has.
    Or = 0x02,
    /// Bits that one has.
    Xor = 0x03,
    /// The difference. (Known from start-up programs of `HeartToHeart4`.)
    Subtract = 0x07,
}

/// What the board is asked for, or a step of a program in its ROM.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Request {
    /// Copies bytes; those that are copied to the host are the answer.
    Move {
        /// Where to.
        to: Place,
        /// Where from.
        from: Source,
    },
    /// Computes with a value in RAM and sets the flags.
    Operate {
        /// What to compute.
        operation: Operation,
        /// Sets the flags only, as a comparison does.
        compare: bool,
        /// Address of the first value, and of the result.
        address: u16,
        /// The second value.
        value: Data,
    },
    /// Goes on at an address of the ROM.
    Jump {
        /// The address.
        address: u32,
        /// When.
        condition: Condition,
    },
    /// Goes on at an address of the ROM until a return.
    Call {
        /// The address.
        address: u32,
        /// When.
        condition: Condition,
    },
    /// Goes back to after the last call.
    Return {
        /// When.
        condition: Condition,
    },
    /// Moves one servo.
    MoveServo {
        /// Its ICS number.
        servo: u8,
        /// Length of the move. [output frames]
        frames: u8,
        /// Where to.
        goal: Goal,
    },
    /// Moves servos in the same time.
    MoveServos {
        /// Which, by ICS number.
        servos: ServoSet,
        /// Length of the move. [output frames]
        frames: u8,
        /// Where to; those of `servos` count. (35)
        goals: [Goal; SERVOS],
    },
    /// Moves servos, each in its own time.
    MoveServosApart {
        /// Which, by ICS number.
        servos: ServoSet,
        /// Lengths of the moves; those of `servos` count. [output frames] (35)
        frames: [u8; SERVOS],
        /// Where to; those of `servos` count. (35)
        goals: [Goal; SERVOS],
    },
    /// Sets a parameter of servos.
    SetServos {
        /// Which, by ICS number.
        servos: ServoSet,
        /// What to set.
        parameter: ServoParameter,
        /// Its values; those of `servos` count. (35)
        values: [u8; SERVOS],
    },
    /// Asks for the text of the firmware's version.
    Version,
    /// Asks whether the board is there.
    Acknowledge,
}

/// What the board answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// A request is done.
    Done {
        /// Its command.
        command: u8,
    },
    /// A request is refused.
    Refused {
        /// Its command.
        command: u8,
    },
    /// The bytes that were asked for.
    Data(Data),
    /// The text of the version.
    Version([u8; 32]),
}

impl Request {
    /// The second byte of the frame.
    pub fn command(&self) -> u8 {
        match self {
            Self::Move { .. } => MOVE,
            Self::Operate { operation, .. } => *operation as u8,
            Self::Jump { .. } => JUMP,
            Self::Call { .. } => CALL,
            Self::Return { .. } => RETURN,
            Self::MoveServo { .. } => ONE_SERVO,
            Self::MoveServos { .. } => SERVOS_ONE_TIME,
            Self::MoveServosApart { .. } => SERVOS_OWN_TIMES,
            Self::SetServos { .. } => SERVO_PARAMETER,
            Self::Version => GET_VERSION,
            Self::Acknowledge => ACKNOWLEDGE,
        }
    }

    /// Appends the frame.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let start = begin(out, self.command());
        match self {
            Self::Move { to, from } => copy::encode(*to, from, out),
            Self::Operate { compare, address, value, .. } => {
                let [low, high] = address.to_le_bytes();
                let compare = if *compare { COMPARE } else { 0 };
                out.extend([copy::LITERAL_TO_RAM | compare, low, high, 0]);
                out.extend_from_slice(value.bytes());
            }
            Self::Jump { address, condition } | Self::Call { address, condition } => {
                copy::push_rom_address(*address, out);
                out.push(condition.bits());
            }
            // Programs of `HeartToHeart4` return always, without saying so.
            Self::Return { condition } if *condition == Condition::default() => {}
            Self::Return { condition } => out.push(condition.bits()),
            Self::MoveServo { servo, frames, goal } => {
                out.extend([*servo, *frames]);
                out.extend(goal.word().to_le_bytes());
            }
            Self::MoveServos { servos, frames, goals } => {
                out.extend(servos.bytes());
                out.push(*frames);
                out.extend(servos.pick(goals).flat_map(|goal| goal.word().to_le_bytes()));
            }
            Self::MoveServosApart { servos, frames, goals } => {
                out.extend(servos.bytes());
                for (frames, goal) in servos.pick(frames).zip(servos.pick(goals)) {
                    let [low, high] = goal.word().to_le_bytes();
                    out.extend([frames, low, high]);
                }
            }
            Self::SetServos { servos, parameter, values } => {
                out.extend(servos.bytes());
                out.push(*parameter as u8);
                out.extend(servos.pick(values));
            }
            Self::Version => {}
            Self::Acknowledge => out.push(ACK),
        }
        end(out, start);
    }
}

impl Answer {
    /// Appends the frame.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let start = match self {
            Self::Done { command } | Self::Refused { command } => begin(out, *command),
            Self::Data(_) => begin(out, MOVE),
            Self::Version(_) => begin(out, GET_VERSION),
        };
        match self {
            Self::Done { .. } => out.push(ACK),
            Self::Refused { .. } => out.push(NAK),
            Self::Data(data) => out.extend_from_slice(data.bytes()),
            Self::Version(text) => out.extend(text),
        }
        end(out, start);
    }
}

impl Condition {
    fn bits(self) -> u8 {
        u8::from(self.zero == Some(true))
            | u8::from(self.carry == Some(true)) << 1
            | u8::from(self.zero.is_some()) << 2
            | u8::from(self.carry.is_some()) << 3
    }

    fn from_bits(bits: u8) -> Self {
        let flag = |bit: u8| (bits & (4 << bit) != 0).then_some(bits & (1 << bit) != 0);
        Self { zero: flag(0), carry: flag(1) }
    }
}

/// Begins a frame whose size is not known yet; the index where it starts.
fn begin(out: &mut Vec<u8>, command: u8) -> usize {
    let start = out.len();
    out.extend([0, command]);
    start
}

/// Fills the size in and appends the sum.
fn end(out: &mut Vec<u8>, start: usize) {
    out[start] = u8::try_from(out.len() + 1 - start).unwrap_or(u8::MAX);
    let sum = checksum(&out[start..]);
    out.push(sum);
}

/// The sum of bytes in 8 bits.
fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

#[cfg(test)]
mod tests;
