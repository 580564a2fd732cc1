//! What servos do with requests, in a time that the tests hand out.

mod cycle;
mod motion;
mod program;
mod wire;

use super::*;
use crate::codec::dynamixel::{
    Block, ErrorNumber, FastParts, Instruction, Register, Request, Status, register as r,
};
use crate::emulator::servo::{FreeMotion, move_servos};

/// Servos on a line, and the host's end of it.
struct Rig {
    bus: Dynamixel,
    now: f64,
}

/// An answer, with the time of its first bit [s].
#[derive(Debug, Clone, PartialEq)]
struct Answer {
    time: f64,
    id: u8,
    alert: bool,
    error: Option<ErrorNumber>,
    data: Vec<u8>,
}

impl Rig {
    /// Servos 1, 2, ... of these models.
    fn new(models: &[&str]) -> Self {
        Self::with(models, Settings { baud: 1_000_000, is_strict: true })
    }

    fn with(models: &[&str], settings: Settings) -> Self {
        let members: Vec<Member> = (1..)
            .zip(models)
            .map(|(id, model)| Member { id, model: Model::named(model).unwrap() })
            .collect();
        Self { bus: Dynamixel::new(&members, settings), now: 0.0 }
    }

    /// Moves time on in steps of 1 ms.
    fn pass(&mut self, time: f64) {
        let mut answers = Answers::new(self.bus.line());
        let end = self.now + time - 1e-9;
        while self.now < end {
            self.now += 1e-3;
            self.bus.advance(self.now, &mut answers);
            move_servos(self.bus.servos_mut(), &mut FreeMotion, 1e-3);
        }
    }

    /// What is sent to the host when it sends bytes, in no time.
    fn bytes(&mut self, bytes: &[u8]) -> Vec<(f64, Vec<u8>)> {
        let mut answers = Answers::new(self.bus.line());
        for byte in bytes {
            self.bus.receive(*byte, self.now, &mut answers);
        }
        answers.drain()
    }

    fn ask(&mut self, id: u8, instruction: Instruction<'_>) -> Vec<Answer> {
        let mut request = Vec::new();
        Request { id, instruction }.encode(&mut request);
        let mut decoder = Decoder::default();
        let mut found = Vec::new();
        for (time, bytes) in self.bytes(&request) {
            for byte in bytes {
                let Some(frame) = decoder.push(byte) else { continue };
                let Status { id, alert, error, data } = Status::parse(&frame.unwrap()).unwrap();
                found.push(Answer { time: time - self.now, id, alert, error, data: data.to_vec() });
            }
        }
        found
    }

    /// The one answer to a request.
    fn answer(&mut self, id: u8, instruction: Instruction<'_>) -> Answer {
        let answers = self.ask(id, instruction);
        assert_eq!(answers.len(), 1, "{answers:?}");
        answers[0].clone()
    }

    fn get(&mut self, id: u8, register: Register) -> i32 {
        let block = Block { address: register.address, length: register.size.into() };
        let answer = self.answer(id, Instruction::Read(block));
        assert_eq!(answer.error, None, "{register:?}");
        register.value(&answer.data)
    }

    /// Writes a number to a register; why that was refused.
    fn put(&mut self, id: u8, register: Register, value: i32) -> Option<ErrorNumber> {
        let data = &value.to_le_bytes()[..usize::from(register.size)];
        self.answer(id, Instruction::Write { address: register.address, data }).error
    }

    /// Writes a number that is taken.
    #[track_caller]
    fn set(&mut self, id: u8, register: Register, value: i32) {
        assert_eq!(self.put(id, register, value), None, "{register:?} := {value}");
    }

    fn position(&mut self, id: u8) -> i32 {
        self.get(id, r::PRESENT_POSITION)
    }
}
