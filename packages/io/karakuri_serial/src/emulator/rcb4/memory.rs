//! RAM and ROM of the board.

use super::Data;
use crate::codec::rcb4::memory::{
    CONFIGURATION, Configuration, RAM_SIZE, ROM_PAGE, ROM_SIZE, ROM_WRITE_TIME, record_of,
};
use crate::codec::rcb4::{Operation, Place, Source};

#[derive(Debug)]
pub(super) struct Memory {
    ram: Vec<u8>,
    rom: Vec<u8>,
    /// Until when the ROM writes a page. [s]
    writes_until: f64,
}

impl Memory {
    /// RAM of zeros, ROM as it is erased.
    pub(super) fn new() -> Self {
        Self {
            ram: vec![0; RAM_SIZE.into()],
            rom: vec![0xff; usize::try_from(ROM_SIZE).unwrap_or(0)],
            writes_until: f64::NEG_INFINITY,
        }
    }

    /// A word of the RAM; 0 beyond its end.
    pub(super) fn word(&self, address: u16) -> u16 {
        let address = usize::from(address);
        let bytes = self.ram.get(address..address + 2);
        bytes.map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    /// Sets a word of the RAM; none beyond its end.
    pub(super) fn set_word(&mut self, address: u16, word: u16) {
        self.store(address, &word.to_le_bytes());
    }

    /// A byte of the RAM; 0 beyond its end.
    pub(super) fn byte(&self, address: u16) -> u8 {
        self.ram.get(usize::from(address)).copied().unwrap_or(0)
    }

    /// Writes to the RAM. Whether all of it fits.
    pub(super) fn store(&mut self, address: u16, bytes: &[u8]) -> bool {
        let address = usize::from(address);
        let Some(place) = self.ram.get_mut(address..address + bytes.len()) else { return false };
        place.copy_from_slice(bytes);
        true
    }

    /// The ROM from an address on.
    pub(super) fn rom(&self, address: u32) -> &[u8] {
        usize::try_from(address).ok().and_then(|a| self.rom.get(a..)).unwrap_or_default()
    }

    /// Writes to the ROM as a programmer does before power comes.
    pub(super) fn burn(&mut self, address: u32, bytes: &[u8]) {
        let place = usize::try_from(address).ok().and_then(|a| self.rom.get_mut(a..));
        for (place, byte) in place.into_iter().flatten().zip(bytes) {
            *place = *byte;
        }
    }

    /// What a copy takes; none if there is no such memory.
    pub(super) fn read(&self, from: &Source) -> Option<Data> {
        let bytes = match from {
            Source::Literal(data) => return Some(*data),
            Source::Ram { address, count } => {
                let address = usize::from(*address);
                self.ram.get(address..address + usize::from(*count))
            }
            Source::Device { servo, offset, count } => {
                let address = usize::from(record_of((*servo).into())) + usize::from(*offset);
                self.ram.get(address..address + usize::from(*count))
            }
            Source::Rom { address, count } => self.rom(*address).get(..usize::from(*count)),
        };
        Data::new(bytes?).ok()
    }

    /// What a copy gives, at `now` [s]. Whether there is such memory.
    pub(super) fn write(&mut self, to: Place, data: &Data, now: f64) -> bool {
        match to {
            Place::Ram { address } => self.store(address, data.bytes()),
            Place::Device { servo, offset } => {
                let address = record_of(servo.into()).saturating_add(offset.into());
                self.store(address, data.bytes())
            }
            Place::Rom { address } => {
                // It is acknowledged all the same: who writes has to wait.
                if now >= self.writes_until {
                    let room = usize::try_from(ROM_PAGE - address % ROM_PAGE).unwrap_or(0);
                    let bytes = data.bytes();
                    self.burn(address, &bytes[..bytes.len().min(room)]);
                    self.writes_until = now + ROM_WRITE_TIME;
                }
                true
            }
            Place::Host => true,
        }
    }

    /// Computes with a value in RAM of as many bytes as the second one has. Whether there is such memory.
    pub(super) fn operate(
        &mut self,
        operation: Operation,
        compare: bool,
        address: u16,
        value: &Data,
    ) -> bool {
        let count = u8::try_from(value.bytes().len()).unwrap_or(u8::MAX);
        let Some(first) = self.read(&Source::Ram { address, count }) else { return false };
        let mut result = [0; crate::codec::rcb4::MAX_DATA];
        let mut borrow = false;
        let pairs = first.bytes().iter().zip(value.bytes());
        for (result, (a, b)) in result.iter_mut().zip(pairs) {
            *result = match operation {
                Operation::And => a & b,
                Operation::Or => a | b,
                Operation::Xor => a ^ b,
                Operation::Subtract => {
                    let (difference, first) = a.overflowing_sub(*b);
                    let (difference, second) = difference.overflowing_sub(borrow.into());
                    borrow = first || second;
                    difference
                }
            };
        }
        let result = &result[..value.bytes().len()];
        if !compare {
            self.store(address, result);
        }
        let is_zero = result.iter().all(|byte| *byte == 0);
        self.set_flag(Configuration::ZERO, is_zero);
        self.set_flag(Configuration::CARRY, borrow);
        true
    }

    /// Sets a bit of the configuration.
    pub(super) fn set_flag(&mut self, flag: u16, on: bool) {
        let word = self.word(CONFIGURATION);
        self.set_word(CONFIGURATION, if on { word | flag } else { word & !flag });
    }
}
