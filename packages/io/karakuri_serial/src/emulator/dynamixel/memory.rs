//! The bytes of a control table.

use crate::codec::dynamixel::{
    Access, Block, ErrorNumber, IndirectBlock, Model, Register, Values, register as r,
};

/// First address that an indirect address can name: settings are not reached that way.
const FIRST_INDIRECT: i32 = 64;

#[derive(Debug, Clone)]
pub(super) struct Memory {
    pub(super) model: &'static Model,
    bytes: Vec<u8>,
    indirect: &'static [IndirectBlock],
}

impl Memory {
    /// All values as they leave the factory.
    pub(super) fn new(model: &'static Model) -> Self {
        let indirect = model.indirect(model.firmware);
        let end = indirect.iter().map(IndirectBlock::end).max().unwrap_or_default();
        let mut memory = Self { model, bytes: vec![0; usize::from(end)], indirect };
        memory.reset(|_| true);
        memory.reset_indirect();
        memory.set(r::MODEL_NUMBER, model.number.into());
        memory.set(r::FIRMWARE_VERSION, model.firmware.into());
        memory
    }

    /// Gives the registers that `which` picks their first values.
    pub(super) fn reset(&mut self, which: impl Fn(&Register) -> bool) {
        for register in self.model.registers().filter(|register| which(register)) {
            if register.access == Access::Write {
                self.set(register, register.initial);
            }
        }
    }

    /// Lets indirect addresses name their own data.
    pub(super) fn reset_indirect(&mut self) {
        for block in self.indirect {
            for n in 0..block.count {
                self.put(block.addresses + 2 * n, &(block.data + n).to_le_bytes());
                self.put(block.data + n, &[0]);
            }
        }
    }

    /// Number in a register; 0 in one that the model does not have.
    pub(super) fn get(&self, register: Register) -> i32 {
        register.value(self.slice(register.address, register.size.into()))
    }

    pub(super) fn set(&mut self, register: Register, value: i32) {
        self.put(register.address, &value.to_le_bytes()[..usize::from(register.size)]);
    }

    /// Whether the model has a register.
    pub(super) fn has(&self, register: Register) -> bool {
        self.model.register(register.address).is_some()
    }

    /// Appends the bytes of a part to `out`.
    pub(super) fn read(&self, block: Block, out: &mut Vec<u8>) -> Result<(), ErrorNumber> {
        let end = usize::from(block.address) + usize::from(block.length);
        if block.length == 0 {
            return Err(ErrorNumber::Length);
        }
        if end > self.bytes.len() {
            return Err(ErrorNumber::Access);
        }
        let addresses = block.address..block.address + block.length;
        out.extend(addresses.map(|address| self.bytes[usize::from(self.target(address))]));
        Ok(())
    }

    /// Stores what [`Self::writes`] has taken apart.
    pub(super) fn store(&mut self, write: &Write<'_>) {
        self.put(write.register.address, write.data);
    }

    /// Takes a write apart into registers, each with its bytes.
    pub(super) fn writes<'a>(&self, address: u16, data: &'a [u8]) -> Writes<'_, 'a> {
        Writes { memory: self, address, data }
    }

    /// A copy of its bytes.
    pub(super) fn copy(&self) -> Vec<u8> {
        self.bytes.clone()
    }

    /// Gives the registers that `which` picks their bytes in a copy.
    pub(super) fn restore(&mut self, copy: &[u8], which: impl Fn(&Register) -> bool) {
        for register in self.model.registers().filter(|register| which(register)) {
            let range = usize::from(register.address)..usize::from(register.end());
            if let Some(bytes) = copy.get(range) {
                self.put(register.address, bytes);
            }
        }
    }

    fn slice(&self, address: u16, size: usize) -> &[u8] {
        let start = usize::from(address);
        self.bytes.get(start..start + size).unwrap_or_default()
    }

    fn put(&mut self, address: u16, bytes: &[u8]) {
        let start = usize::from(address);
        if let Some(place) = self.bytes.get_mut(start..start + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }

    /// The address that an address stands for: another one where it is indirect data.
    fn target(&self, address: u16) -> u16 {
        let block = self.indirect.iter().find(|block| (block.data..block.end()).contains(&address));
        let Some(block) = block else { return address };
        match *self.slice(block.addresses + 2 * (address - block.data), 2) {
            [low, high] => u16::from_le_bytes([low, high]),
            _ => address,
        }
    }

    /// The register that begins at an address, also where it is one of many alike.
    fn register(&self, address: u16) -> Option<Register> {
        let last = i32::try_from(self.bytes.len()).unwrap_or(i32::MAX) - 1;
        self.model.register(address).or_else(|| {
            self.indirect.iter().find_map(|block| {
                let words = block.addresses..block.addresses + 2 * block.count;
                let register = |name, size, values| Register {
                    name,
                    address,
                    size,
                    access: Access::Write,
                    values,
                    initial: 0,
                };
                if words.contains(&address) && (address - words.start).is_multiple_of(2) {
                    let values = Values::Between { least: FIRST_INDIRECT, most: last };
                    Some(register("indirect_address", 2, values))
                } else if (block.data..block.end()).contains(&address) {
                    Some(register("indirect_data", 1, Values::Any))
                } else {
                    None
                }
            })
        })
    }
}

/// A register and the bytes that are to be written to it.
#[derive(Debug)]
pub(super) struct Write<'a> {
    pub(super) register: Register,
    pub(super) data: &'a [u8],
}

impl Write<'_> {
    pub(super) fn value(&self) -> i32 {
        self.register.value(self.data)
    }
}

/// Registers of a write, in the order of its bytes.
pub(super) struct Writes<'m, 'a> {
    memory: &'m Memory,
    address: u16,
    data: &'a [u8],
}

impl<'a> Iterator for Writes<'_, 'a> {
    type Item = Result<Write<'a>, ErrorNumber>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.data.is_empty() {
            return None;
        }
        let target = self.memory.target(self.address);
        let Some(register) = self.memory.register(target) else {
            self.data = &[];
            return Some(Err(ErrorNumber::Access));
        };
        let size = u16::from(register.size);
        let is_whole =
            (1..size).all(|byte| self.memory.target(self.address + byte) == target + byte);
        let Some((data, rest)) = self.data.split_at_checked(size.into()).filter(|_| is_whole)
        else {
            self.data = &[];
            return Some(Err(ErrorNumber::Length));
        };
        self.address += size;
        self.data = rest;
        Some(Ok(Write { register, data }))
    }
}
