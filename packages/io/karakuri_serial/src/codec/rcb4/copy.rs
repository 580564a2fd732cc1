//! The command that copies bytes between memories, servos and the host.
//!
//! Its kind is a byte: where to in bits 4 and 5, where from in bits 0 and 1.

use super::{FrameError, MAX_DATA};
use crate::codec::rcb4::memory::ROM_SIZE;

/// Kind of a copy of bytes that come with the frame to RAM.
pub(super) const LITERAL_TO_RAM: u8 = 0x02;
const RAM: u8 = 0;
const DEVICE: u8 = 1;
const HOST: u8 = 2;
const ROM: u8 = 3;

/// Some bytes, at most 128.
#[derive(Clone, Copy)]
pub struct Data {
    bytes: [u8; MAX_DATA],
    len: u8,
}

/// Where bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The RAM.
    Ram {
        /// Address.
        address: u16,
    },
    /// The record of a servo.
    Device {
        /// Its ICS number.
        servo: u8,
        /// Offset in the record.
        offset: u8,
    },
    /// The host.
    Host,
    /// The ROM, of which a page is written in [`super::memory::ROM_WRITE_TIME`].
    Rom {
        /// Address.
        address: u32,
    },
}

/// Where bytes come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The RAM.
    Ram {
        /// Address.
        address: u16,
        /// How many.
        count: u8,
    },
    /// The record of a servo.
    Device {
        /// Its ICS number.
        servo: u8,
        /// Offset in the record.
        offset: u8,
        /// How many.
        count: u8,
    },
    /// The frame itself.
    Literal(Data),
    /// The ROM.
    Rom {
        /// Address.
        address: u32,
        /// How many.
        count: u8,
    },
}

impl Data {
    /// Those of a slice.
    ///
    /// # Errors
    /// [`FrameError::Length`] for none or more than 128.
    pub fn new(bytes: &[u8]) -> Result<Self, FrameError> {
        let len =
            u8::try_from(bytes.len()).ok().filter(|len| (1..=MAX_DATA).contains(&(*len).into()));
        let Some(len) = len else {
            return Err(FrameError::Length { got: bytes.len(), least: 1, most: MAX_DATA });
        };
        let mut data = Self { bytes: [0; MAX_DATA], len };
        data.bytes[..bytes.len()].copy_from_slice(bytes);
        Ok(data)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl PartialEq for Data {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Data {}

impl std::fmt::Debug for Data {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:02X?}", self.bytes())
    }
}

/// Appends all but size, command and sum.
pub(super) fn encode(to: Place, from: &Source, out: &mut Vec<u8>) {
    let target = match to {
        Place::Ram { .. } => RAM,
        Place::Device { .. } => DEVICE,
        Place::Host => HOST,
        Place::Rom { .. } => ROM,
    };
    let source = match from {
        Source::Ram { .. } => RAM,
        Source::Device { .. } => DEVICE,
        Source::Literal(_) => HOST,
        Source::Rom { .. } => ROM,
    };
    out.push(target << 4 | source);
    match to {
        Place::Ram { address } => push_rom_address(address.into(), out),
        // Its order of offset and number is that of Kondo's C library.
        Place::Device { servo, offset } => out.extend([offset, servo, 0]),
        Place::Host => out.extend([0; 3]),
        Place::Rom { address } => push_rom_address(address, out),
    }
    match *from {
        Source::Ram { address, count } => {
            out.extend(address.to_le_bytes());
            out.push(count);
        }
        Source::Device { servo, offset, count } => out.extend([offset, servo, count]),
        Source::Literal(data) => out.extend_from_slice(data.bytes()),
        Source::Rom { address, count } => {
            push_rom_address(address, out);
            out.push(count);
        }
    }
}

/// Reads all but size, command and sum.
pub(super) fn decode(body: &[u8]) -> Result<(Place, Source), FrameError> {
    let [kind, a, b, c, from @ ..] = body else {
        return Err(FrameError::Length { got: body.len(), least: 5, most: MAX_DATA + 4 });
    };
    let to = match kind >> 4 {
        RAM => Place::Ram { address: u16::from_le_bytes([*a, *b]) },
        DEVICE => Place::Device { servo: *b, offset: *a },
        HOST => Place::Host,
        ROM => Place::Rom { address: rom_address([*a, *b, *c])? },
        _ => return Err(FrameError::Unknown { code: *kind }),
    };
    let from = match (kind & 0x0f, from) {
        (RAM, &[low, high, count]) => {
            Source::Ram { address: u16::from_le_bytes([low, high]), count: count_of(count)? }
        }
        (DEVICE, &[offset, servo, count]) => {
            Source::Device { servo, offset, count: count_of(count)? }
        }
        (HOST, data) => Source::Literal(Data::new(data)?),
        (ROM, &[a, b, c, count]) => {
            Source::Rom { address: rom_address([a, b, c])?, count: count_of(count)? }
        }
        (RAM | DEVICE | ROM, _) => {
            return Err(FrameError::Length { got: body.len(), least: 7, most: 8 });
        }
        _ => return Err(FrameError::Unknown { code: *kind }),
    };
    Ok((to, from))
}

/// Appends an address of three bytes.
pub(super) fn push_rom_address(address: u32, out: &mut Vec<u8>) {
    let [a, b, c, _] = address.to_le_bytes();
    out.extend([a, b, c]);
}

/// The address of three bytes.
pub(super) fn rom_address([a, b, c]: [u8; 3]) -> Result<u32, FrameError> {
    let (address, most) = (u32::from_le_bytes([a, b, c, 0]), ROM_SIZE - 1);
    if address <= most {
        return Ok(address);
    }
    Err(FrameError::Range { field: "ROM address", got: address, least: 0, most })
}

fn count_of(count: u8) -> Result<u8, FrameError> {
    if (1..=MAX_DATA).contains(&count.into()) {
        return Ok(count);
    }
    Err(FrameError::Length { got: count.into(), least: 1, most: MAX_DATA })
}
