//! Requests and answers, and their bytes.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

use crate::codec::FrameError;

/// Id that addresses all servos. They do not answer, but for a ping.
pub const BROADCAST: u8 = 0xFE;

/// What begins a frame.
pub(super) const HEADER: [u8; 2] = [0xFF; 2];
/// Bytes of a frame without its parameters.
pub(super) const OVERHEAD: usize = 6;
/// Parameters that fit into one frame: its length byte counts two more.
const MOST_PARAMETERS: usize = 253;

const PING: u8 = 0x01;
const READ: u8 = 0x02;
const WRITE: u8 = 0x03;
const REG_WRITE: u8 = 0x04;
const ACTION: u8 = 0x05;
const FACTORY_RESET: u8 = 0x06;
const SYNC_READ: u8 = 0x82;
const SYNC_WRITE: u8 = 0x83;

/// What a host asks of one servo, or of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request<'a> {
    /// Say that you are there.
    Ping {
        /// Whom.
        id: u8,
    },
    /// Send registers.
    Read {
        /// Whom.
        id: u8,
        /// The first register.
        address: u8,
        /// How many bytes.
        size: u8,
    },
    /// Set registers now.
    Write {
        /// Whom.
        id: u8,
        /// The first register.
        address: u8,
        /// Their bytes.
        data: &'a [u8],
    },
    /// Set registers at the next [`Request::Action`].
    RegWrite {
        /// Whom.
        id: u8,
        /// The first register.
        address: u8,
        /// Their bytes.
        data: &'a [u8],
    },
    /// Do what [`Request::RegWrite`] said.
    Action {
        /// Whom.
        id: u8,
    },
    /// Go back to the factory's settings.
    FactoryReset {
        /// Whom.
        id: u8,
    },
    /// Send the same registers, one servo after the other as listed.
    SyncRead {
        /// The first register.
        address: u8,
        /// How many bytes each.
        size: u8,
        /// Whom.
        ids: &'a [u8],
    },
    /// Set the same registers of several servos, each to bytes of its own.
    SyncWrite {
        /// The first register.
        address: u8,
        /// How many bytes each.
        size: u8,
        /// An id and its `size` bytes, servo after servo.
        entries: &'a [u8],
    },
}

impl Request<'_> {
    /// Appends the frame.
    ///
    /// # Errors
    ///
    /// When an id is no id, or what it carries does not fit into a frame; then nothing is appended.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), FrameError> {
        self.check()?;
        let (id, instruction, head, tail): (u8, u8, &[u8], &[u8]) = match *self {
            Request::Ping { id } => (id, PING, &[], &[]),
            Request::Read { id, address, size } => (id, READ, &[address, size], &[]),
            Request::Write { id, address, data } => (id, WRITE, &[address], data),
            Request::RegWrite { id, address, data } => (id, REG_WRITE, &[address], data),
            Request::Action { id } => (id, ACTION, &[], &[]),
            Request::FactoryReset { id } => (id, FACTORY_RESET, &[], &[]),
            Request::SyncRead { address, size, ids } => {
                (BROADCAST, SYNC_READ, &[address, size], ids)
            }
            Request::SyncWrite { address, size, entries } => {
                (BROADCAST, SYNC_WRITE, &[address, size], entries)
            }
        };
        append(out, [id, instruction], head, tail)
    }

    /// What must hold apart from the length of the frame.
    fn check(&self) -> Result<(), FrameError> {
        match *self {
            Request::Ping { id }
            | Request::Read { id, .. }
            | Request::Action { id }
            | Request::FactoryReset { id } => check_id(id),
            Request::Write { id, data, .. } | Request::RegWrite { id, data, .. } => {
                check_id(id)?;
                if data.is_empty() { Err(length(0, 1)) } else { Ok(()) }
            }
            Request::SyncRead { ids, .. } => {
                if ids.is_empty() {
                    return Err(length(0, 1));
                }
                ids.iter().try_for_each(|id| check_id(*id))
            }
            Request::SyncWrite { size, entries, .. } => {
                let stride = usize::from(size) + 1;
                if size == 0 || entries.is_empty() || entries.len() % stride != 0 {
                    return Err(length(entries.len(), stride));
                }
                entries.chunks_exact(stride).try_for_each(|entry| check_id(entry[0]))
            }
        }
    }
}

impl<'a> Request<'a> {
    /// The request of a whole frame with a fitting checksum.
    pub(super) fn from_frame(frame: &'a [u8]) -> Result<Self, FrameError> {
        let (id, instruction) = (frame[2], frame[4]);
        let parameters = &frame[5..frame.len() - 1];
        let request = match (instruction, parameters) {
            (PING, []) => Request::Ping { id },
            (READ, &[address, size]) => Request::Read { id, address, size },
            (WRITE, [address, data @ ..]) => Request::Write { id, address: *address, data },
            (REG_WRITE, [address, data @ ..]) => Request::RegWrite { id, address: *address, data },
            (ACTION, []) => Request::Action { id },
            (FACTORY_RESET, []) => Request::FactoryReset { id },
            (SYNC_READ, [address, size, ids @ ..]) => {
                Request::SyncRead { address: *address, size: *size, ids }
            }
            (SYNC_WRITE, [address, size, entries @ ..]) => {
                Request::SyncWrite { address: *address, size: *size, entries }
            }
            (PING | ACTION | FACTORY_RESET, _) => return Err(length(parameters.len(), 0)),
            (READ | SYNC_READ | SYNC_WRITE, _) => return Err(length(parameters.len(), 2)),
            (WRITE | REG_WRITE, _) => return Err(length(parameters.len(), 1)),
            (code, _) => return Err(FrameError::Unknown { code }),
        };
        request.check()?;
        Ok(request)
    }
}

/// What a servo answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status<'a> {
    /// Who.
    pub id: u8,
    /// What is wrong with it. The data are good all the same.
    pub alarms: Alarms,
    /// The registers of a read; nothing otherwise.
    pub data: &'a [u8],
}

impl<'a> Status<'a> {
    /// Appends the frame.
    ///
    /// # Errors
    ///
    /// When the data do not fit into a frame; then nothing is appended.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), FrameError> {
        append(out, [self.id, self.alarms.0], &[], self.data)
    }

    /// The answer of a whole frame with a fitting checksum.
    pub(super) fn from_frame(frame: &'a [u8]) -> Self {
        Status { id: frame[2], alarms: Alarms(frame[4]), data: &frame[5..frame.len() - 1] }
    }
}

/// Alarm bits: those of an answer, of the status register, and of the masks that say which of them unload the motor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Alarms(pub u8);

impl Alarms {
    /// Nothing is wrong.
    pub const NONE: Self = Self(0);
    /// The supply is below or above its limits.
    pub const VOLTAGE: Self = Self(0x01);
    /// The angle sensor is broken.
    pub const SENSOR: Self = Self(0x02);
    /// Too hot.
    pub const HEAT: Self = Self(0x04);
    /// Too much current for too long.
    pub const CURRENT: Self = Self(0x08);
    /// Too much load for too long.
    pub const OVERLOAD: Self = Self(0x20);

    /// Whether one of `other` is set.
    pub fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Alarms {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Alarms {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl fmt::Display for Alarms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Self::VOLTAGE, "voltage"),
            (Self::SENSOR, "angle sensor"),
            (Self::HEAT, "heat"),
            (Self::CURRENT, "current"),
            (Self::OVERLOAD, "overload"),
        ];
        let mut separator = "";
        let mut unnamed = self.0;
        for (alarm, name) in names {
            if self.intersects(alarm) {
                write!(f, "{separator}{name}")?;
                separator = ", ";
                unnamed &= !alarm.0;
            }
        }
        if unnamed != 0 {
            return write!(f, "{separator}unnamed {unnamed:#04x}");
        }
        if self.0 == 0 { f.write_str("none") } else { Ok(()) }
    }
}

/// Complement of the sum of all bytes between header and checksum.
pub(super) fn checksum(bytes: &[u8]) -> u8 {
    !bytes.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte))
}

/// Appends a frame: header, id, length, instruction or alarms, parameters in two pieces, checksum.
fn append(
    out: &mut Vec<u8>,
    [id, code]: [u8; 2],
    head: &[u8],
    tail: &[u8],
) -> Result<(), FrameError> {
    let n_parameters = head.len() + tail.len();
    let too_long = FrameError::Length { got: n_parameters, least: 0, most: MOST_PARAMETERS };
    let counted = u8::try_from(n_parameters + 2).map_err(|_| too_long)?;
    let start = out.len() + HEADER.len();
    out.extend_from_slice(&HEADER);
    out.extend_from_slice(&[id, counted, code]);
    out.extend_from_slice(head);
    out.extend_from_slice(tail);
    out.push(checksum(&out[start..]));
    Ok(())
}

fn check_id(id: u8) -> Result<(), FrameError> {
    if id <= BROADCAST {
        return Ok(());
    }
    Err(FrameError::Range { field: "id", got: id.into(), least: 0, most: BROADCAST.into() })
}

fn length(got: usize, least: usize) -> FrameError {
    FrameError::Length { got, least, most: MOST_PARAMETERS }
}
