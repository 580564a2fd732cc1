//! The program in the ROM: where it is, where it came from, what it waits for.
//!
//! The address of the next step is in RAM, where the host reads and writes it; behind it is the address to return to while a call is under
//! way, 0 otherwise. Assumed: a step that moves servos is over when they have arrived, and a return without a call leads to the main
//! loop.

use super::drive;
use super::memory::Memory;
use crate::codec::rcb4::memory::{CONFIGURATION, Configuration, PROGRAM_COUNTER, ROM_MAIN_LOOP};
use crate::codec::rcb4::{Condition, Frame, Request, ServoSet};

/// Address in RAM of the address to return to.
const RETURN_ADDRESS: u16 = PROGRAM_COUNTER + 3;
/// Calls within calls, at most.
const DEEPEST: usize = 16;

#[derive(Debug, Default)]
pub(super) struct Program {
    /// Where the calls under way came from.
    calls: Vec<u32>,
    /// Servos that have to arrive before it goes on.
    awaited: ServoSet,
}

impl Program {
    /// Waits for no servo any more, as when the host sets the program counter.
    pub(super) fn stop_waiting(&mut self) {
        self.awaited = ServoSet::default();
    }

    /// Whether servos of the last step are still moving.
    pub(super) fn waits(&self, memory: &Memory) -> bool {
        self.awaited.numbers().any(|servo| drive::is_moving(memory, servo))
    }

    /// Takes the next step; what is to be done besides jumping.
    pub(super) fn next_step(&mut self, memory: &mut Memory) -> Option<Request> {
        self.awaited = ServoSet::default();
        let address = address_at(memory, PROGRAM_COUNTER);
        let frame = Frame::first_of(memory.rom(address)).ok().flatten();
        let Some((frame, Ok(request))) = frame.map(|frame| (frame, frame.request())) else {
            fail(memory);
            return None;
        };
        let size = u32::try_from(frame.bytes().len()).unwrap_or(0);
        set_address(memory, PROGRAM_COUNTER, address + size);
        match request {
            Request::Jump { address, condition } => self.jump(memory, address, condition),
            Request::Call { address, condition } => self.call(memory, address, condition),
            Request::Return { condition } => self.come_back(memory, condition),
            request => {
                self.awaited = match request {
                    Request::MoveServo { servo, .. } => {
                        std::iter::once(usize::from(servo)).collect()
                    }
                    Request::MoveServos { servos, .. }
                    | Request::MoveServosApart { servos, .. } => servos,
                    _ => ServoSet::default(),
                };
                return Some(request);
            }
        }
        None
    }

    /// Goes on at an address.
    pub(super) fn jump(&mut self, memory: &mut Memory, address: u32, condition: Condition) {
        if holds(memory, condition) {
            self.awaited = ServoSet::default();
            set_address(memory, PROGRAM_COUNTER, address);
        }
    }

    /// Goes on at an address until a return.
    pub(super) fn call(&mut self, memory: &mut Memory, address: u32, condition: Condition) {
        self.heed_host(memory);
        if !holds(memory, condition) {
            return;
        }
        if self.calls.len() == DEEPEST {
            return fail(memory);
        }
        let from = address_at(memory, PROGRAM_COUNTER);
        self.calls.push(from);
        set_address(memory, RETURN_ADDRESS, from);
        self.jump(memory, address, Condition::default());
    }

    /// Goes back to after the last call.
    pub(super) fn come_back(&mut self, memory: &mut Memory, condition: Condition) {
        self.heed_host(memory);
        if holds(memory, condition) {
            let address = self.calls.pop().unwrap_or(ROM_MAIN_LOOP);
            set_address(memory, RETURN_ADDRESS, self.calls.last().copied().unwrap_or(0));
            self.jump(memory, address, Condition::default());
        }
    }

    /// Forgets the calls if the host has cleared the address to return to.
    fn heed_host(&mut self, memory: &Memory) {
        if address_at(memory, RETURN_ADDRESS) == 0 {
            self.calls.clear();
        }
    }
}

/// Stops the program at something that is no step.
pub(super) fn fail(memory: &mut Memory) {
    memory.set_flag(Configuration::PROGRAM_ERROR, true);
    memory.set_flag(Configuration::RUN, false);
}

fn holds(memory: &Memory, condition: Condition) -> bool {
    let flags = Configuration(memory.word(CONFIGURATION));
    condition.zero.is_none_or(|zero| flags.has(Configuration::ZERO) == zero)
        && condition.carry.is_none_or(|carry| flags.has(Configuration::CARRY) == carry)
}

/// The address of three bytes in RAM.
fn address_at(memory: &Memory, place: u16) -> u32 {
    u32::from(memory.word(place)) | u32::from(memory.byte(place + 2)) << 16
}

fn set_address(memory: &mut Memory, place: u16, address: u32) {
    let [a, b, c, _] = address.to_le_bytes();
    memory.store(place, &[a, b, c]);
}
