//! RCB-1: the two boards on the back of a KHR-1, 12 channels each.
//!
//! A command byte begins a frame, its length follows from the command ([`COMMANDS`]), and the last byte is the sum of all before it
//! in 7 bits. A request that sets something is answered by `ID 06` without a sum, one that reads by `ID data… SUM`.
//!
//! Source: Kondo, RCB-1 command reference 1.0B (2005). Fields of key assignments and times of speed codes are assumptions; each says so.

mod decode;
mod value;

use super::FrameError;
pub use decode::{AnswerDecoder, RequestDecoder};
pub use value::{CHANNELS, Channel, KeyAssignment, MAX_ID, MAX_SPEED, Pose, Speed, Switches};

/// Motions of a board.
pub const MOTIONS: u8 = 40;
/// Positions of a motion, at most.
pub const POSITIONS: u8 = 100;
/// Scenarios of a board.
pub const SCENARIOS: u8 = 4;
/// Motions of a scenario, at most.
pub const SCENARIO_LENGTH: u8 = 200;
/// Baud rate of the line, 8N1; there is no other. [bit/s]
pub const BAUD: u32 = 115_200;
/// Time within which a board answers. [s]
pub const ANSWER_TIME: f64 = 0.030;

/// The second byte of an answer without data.
const ACK: u8 = 0x06;
/// The second byte of `set id`, whose first no other command has.
const SET_ID: u8 = 0x5a;
/// Longest request.
const LONGEST: usize = 18;

/// One command of the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    /// First byte of its request.
    pub code: u8,
    /// What it does.
    pub name: &'static str,
    /// Bytes of its request, with the sum.
    pub request: usize,
    /// Bytes of its answer; 2 is an acknowledgement or an id.
    pub answer: usize,
}

/// All commands, by falling code.
pub const COMMANDS: [Command; 22] = [
    command(0xff, "set id", 4, 2),
    command(0xfe, "get id", 2, 2),
    command(0xfd, "set positions", 16, 2),
    command(0xfc, "get positions", 3, 14),
    command(0xfb, "store home", 3, 2),
    command(0xfa, "get home", 3, 14),
    command(0xf9, "write position", 18, 2),
    command(0xf8, "read position", 5, 15),
    command(0xf7, "set position count", 5, 2),
    command(0xf6, "get position count", 4, 3),
    command(0xf5, "write scenario entry", 6, 2),
    command(0xf4, "read scenario entry", 5, 3),
    command(0xf3, "set scenario length", 5, 2),
    command(0xf2, "get scenario length", 4, 3),
    command(0xf1, "set switches", 4, 2),
    command(0xf0, "get switches", 3, 3),
    command(0xef, "play motion", 4, 2),
    command(0xee, "play scenario", 4, 2),
    command(0xed, "set key", 7, 2),
    command(0xec, "get key", 4, 5),
    command(0xe9, "set trims", 15, 2),
    command(0xe8, "get trims", 3, 14),
];

const fn command(code: u8, name: &'static str, request: usize, answer: usize) -> Command {
    Command { code, name, request, answer }
}

impl Command {
    /// The command that a byte begins.
    pub fn of(code: u8) -> Option<&'static Self> {
        COMMANDS.iter().find(|c| c.code == code)
    }
}

/// What is asked of a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Gives the board on the line another id; there may be one board only.
    SetId {
        /// Its id from now on.
        id: u8,
    },
    /// Asks for the id; every board on the line answers.
    GetId,
    /// Something that one board is asked for.
    Board {
        /// Id of the board.
        id: u8,
        /// What it is to do.
        order: Order,
    },
}

/// What one board is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Moves all channels now.
    Move(Pose),
    /// Asks where the channels are.
    Positions,
    /// Keeps the present positions as home.
    StoreHome,
    /// Asks for home.
    Home,
    /// Writes one position of a motion.
    WritePosition {
        /// The motion.
        motion: u8,
        /// Index of the position.
        position: u8,
        /// Where to go and how fast.
        pose: Pose,
    },
    /// Reads one position of a motion.
    ReadPosition {
        /// The motion.
        motion: u8,
        /// Index of the position.
        position: u8,
    },
    /// Sets how many positions a motion has.
    SetPositionCount {
        /// The motion.
        motion: u8,
        /// Number of its positions.
        count: u8,
    },
    /// Asks how many positions a motion has.
    PositionCount {
        /// The motion.
        motion: u8,
    },
    /// Writes one motion of a scenario.
    WriteScenario {
        /// The scenario.
        scenario: u8,
        /// Index in it.
        index: u8,
        /// The motion to play there.
        motion: u8,
    },
    /// Reads one motion of a scenario.
    ReadScenario {
        /// The scenario.
        scenario: u8,
        /// Index in it.
        index: u8,
    },
    /// Sets how many motions a scenario has.
    SetScenarioLength {
        /// The scenario.
        scenario: u8,
        /// Number of its motions.
        count: u8,
    },
    /// Asks how many motions a scenario has.
    ScenarioLength {
        /// The scenario.
        scenario: u8,
    },
    /// Sets the software switches.
    SetSwitches(Switches),
    /// Asks for the software switches.
    Switches,
    /// Plays a motion.
    PlayMotion {
        /// The motion.
        motion: u8,
    },
    /// Plays a scenario.
    PlayScenario {
        /// The scenario.
        scenario: u8,
    },
    /// Gives a key of the remote control its meaning.
    SetKey(KeyAssignment),
    /// Asks for the meaning of a key.
    Key {
        /// The key.
        key: u8,
    },
    /// Sets what is added to the positions of all channels. [deg] (12)
    SetTrims([i8; CHANNELS]),
    /// Asks for the trims.
    Trims,
}

/// What a board answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The request is done.
    Done,
    /// An id, that of the board.
    Id,
    /// Positions of all channels: where they are, or home.
    Channels([Channel; CHANNELS]),
    /// One position of a motion.
    Pose(Pose),
    /// Number of positions of a motion, or of motions of a scenario.
    Count(u8),
    /// A motion of a scenario.
    Motion(u8),
    /// The software switches.
    Switches(Switches),
    /// The meaning of a key.
    Key(KeyAssignment),
    /// Trims of all channels. [deg] (12)
    Trims([i8; CHANNELS]),
}

impl Request {
    /// The first byte of the frame.
    pub fn code(&self) -> u8 {
        match self {
            Self::SetId { .. } => 0xff,
            Self::GetId => 0xfe,
            Self::Board { order, .. } => order.code(),
        }
    }

    /// Appends the frame.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.push(self.code());
        match self {
            Self::SetId { id } => out.extend([SET_ID, *id]),
            Self::GetId => {}
            Self::Board { id, order } => {
                out.push(*id);
                order.encode(out);
            }
        }
        seal(out, start);
    }
}

impl Order {
    fn code(&self) -> u8 {
        match self {
            Self::Move(_) => 0xfd,
            Self::Positions => 0xfc,
            Self::StoreHome => 0xfb,
            Self::Home => 0xfa,
            Self::WritePosition { .. } => 0xf9,
            Self::ReadPosition { .. } => 0xf8,
            Self::SetPositionCount { .. } => 0xf7,
            Self::PositionCount { .. } => 0xf6,
            Self::WriteScenario { .. } => 0xf5,
            Self::ReadScenario { .. } => 0xf4,
            Self::SetScenarioLength { .. } => 0xf3,
            Self::ScenarioLength { .. } => 0xf2,
            Self::SetSwitches(_) => 0xf1,
            Self::Switches => 0xf0,
            Self::PlayMotion { .. } => 0xef,
            Self::PlayScenario { .. } => 0xee,
            Self::SetKey(_) => 0xed,
            Self::Key { .. } => 0xec,
            Self::SetTrims(_) => 0xe9,
            Self::Trims => 0xe8,
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Positions | Self::StoreHome | Self::Home | Self::Switches | Self::Trims => {}
            Self::Move(pose) => pose.encode(out),
            Self::WritePosition { motion, position, pose } => {
                out.extend([motion, position]);
                pose.encode(out);
            }
            Self::ReadPosition { motion, position } => out.extend([motion, position]),
            Self::SetPositionCount { motion, count } => out.extend([motion, count]),
            Self::PositionCount { motion } | Self::PlayMotion { motion } => out.push(motion),
            Self::WriteScenario { scenario, index, motion } => {
                out.extend([scenario, index, motion]);
            }
            Self::ReadScenario { scenario, index } => out.extend([scenario, index]),
            Self::SetScenarioLength { scenario, count } => out.extend([scenario, count]),
            Self::ScenarioLength { scenario } | Self::PlayScenario { scenario } => {
                out.push(scenario);
            }
            Self::SetSwitches(switches) => out.push(switches.bits()),
            Self::SetKey(a) => out.extend([a.key, a.kind, a.number, a.mode]),
            Self::Key { key } => out.push(key),
            Self::SetTrims(trims) => out.extend(trims.map(value::trim_to_byte)),
        }
    }
}

impl Answer {
    /// Appends the frame of the board with an id.
    pub fn encode(&self, id: u8, out: &mut Vec<u8>) {
        let start = out.len();
        out.push(id);
        match *self {
            // The only frame of the protocol without a sum.
            Self::Done => return out.push(ACK),
            Self::Id => {}
            Self::Channels(channels) => out.extend(channels.map(Channel::to_byte)),
            Self::Pose(pose) => pose.encode(out),
            Self::Count(byte) | Self::Motion(byte) => out.push(byte),
            Self::Switches(switches) => out.push(switches.bits()),
            Self::Key(a) => out.extend([a.kind, a.number, a.mode]),
            Self::Trims(trims) => out.extend(trims.map(value::trim_to_byte)),
        }
        seal(out, start);
    }
}

/// Appends the sum of a frame that starts at an index.
fn seal(out: &mut Vec<u8>, start: usize) {
    let sum = checksum(&out[start..]);
    out.push(sum);
}

/// The sum of bytes in 7 bits.
fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)) & 0x7f
}

/// Compares the last byte of a frame with the sum of those before it.
fn check_sum(frame: &[u8]) -> Result<(), FrameError> {
    let Some((&got, body)) = frame.split_last() else { return Ok(()) };
    let expected = checksum(body);
    if got == expected {
        return Ok(());
    }
    Err(FrameError::Checksum { got: got.into(), expected: expected.into() })
}

#[cfg(test)]
mod tests;
