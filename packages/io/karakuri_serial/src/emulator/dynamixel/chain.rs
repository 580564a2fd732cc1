//! Servos on one wire: who obeys a request, and who answers it when.

use super::Member;
use super::servo::Program;
use crate::codec::dynamixel::{
    BAUD_RATES, BROADCAST, Block, ErrorNumber, FastAnswer, Frame, Instruction, Keep, Request,
    Status,
};
use crate::emulator::device::{Answers, Line};
use crate::emulator::servo::Servo;

/// What a servo answers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Ping = 0,
    Read = 1,
    Write = 2,
}

#[derive(Debug)]
pub(super) struct Chain {
    programs: Vec<Program>,
    /// Electromechanics, in the same order.
    pub(super) servos: Vec<Servo>,
    /// Baud rate of those that listen now. [bit/s]
    baud: u32,
    data: Vec<u8>,
    frame: Vec<u8>,
}

/// One servo of a list that is read, and what of it.
#[derive(Debug, Clone, Copy)]
struct Turn {
    id: u8,
    block: Block,
}

impl Chain {
    pub(super) fn new(members: &[Member], baud: u32) -> Self {
        let (programs, servos): (Vec<_>, Vec<_>) =
            members.iter().map(|member| Program::new(*member, baud)).unzip();
        let baud = programs.first().map_or(BAUD_RATES[1], Program::baud);
        Self { programs, servos, baud, data: Vec::new(), frame: Vec::new() }
    }

    pub(super) fn line(&self) -> Line {
        Line::eight_n_one(self.baud)
    }

    /// Lets those be heard that listen with a baud rate [bit/s].
    pub(super) fn attune(&mut self, baud: u32) {
        if self.programs.iter().any(|program| program.baud() == baud) {
            self.baud = baud;
        }
    }

    pub(super) fn advance(&mut self, now: f64) {
        for (program, servo) in self.programs.iter_mut().zip(&mut self.servos) {
            program.advance(servo, now);
        }
    }

    /// Does what a frame says that ends at `now` [s].
    pub(super) fn obey(&mut self, frame: &Frame<'_>, now: f64, answers: &mut Answers) {
        for program in &mut self.programs {
            program.notice(now);
        }
        let request = match Request::parse(frame) {
            Ok(request) => request,
            Err(error) => {
                if let Some(index) = self.answering(frame.id, now) {
                    self.answer(index, Kind::Write, Err(error), now, answers);
                }
                return;
            }
        };
        match request.instruction {
            Instruction::Ping => self.ping(request.id, now, answers),
            Instruction::Read(block) => {
                if let Some(index) = self.answering(request.id, now) {
                    let result = self.read(index, block, now);
                    self.answer(index, Kind::Read, result, now, answers);
                }
            }
            Instruction::SyncRead { block, ids } => {
                self.list(ids.iter().map(|&id| Turn { id, block }), now, answers);
            }
            Instruction::BulkRead(reads) => {
                self.list(reads.iter().map(|(id, block)| Turn { id, block }), now, answers);
            }
            Instruction::FastSyncRead { block, ids } => {
                self.fast_list(ids.iter().map(|&id| Turn { id, block }), now, answers);
            }
            Instruction::FastBulkRead(reads) => {
                self.fast_list(reads.iter().map(|(id, block)| Turn { id, block }), now, answers);
            }
            Instruction::SyncWrite { address, items } => {
                for (id, data) in items.iter() {
                    self.command(id, Instruction::Write { address, data }, now, None);
                }
            }
            Instruction::BulkWrite(writes) => {
                for (id, address, data) in writes.iter() {
                    self.command(id, Instruction::Write { address, data }, now, None);
                }
            }
            Instruction::FactoryReset(Keep::Nothing) if request.id == BROADCAST => {}
            instruction => self.command(request.id, instruction, now, Some(answers)),
        }
        self.follow_baud();
    }

    /// The servo of a frame whose CRC is wrong says so.
    pub(super) fn report_wrong_crc(&mut self, id: u8, now: f64, answers: &mut Answers) {
        if let Some(index) = self.answering(id, now) {
            self.answer(index, Kind::Write, Err(ErrorNumber::Crc), now, answers);
        }
    }

    fn hears(&self, index: usize, now: f64) -> bool {
        let program = &self.programs[index];
        program.baud() == self.baud && program.is_there(&self.servos[index], now)
    }

    /// The servo that answers to an id.
    fn answering(&self, id: u8, now: f64) -> Option<usize> {
        (0..self.programs.len())
            .find(|&index| self.programs[index].id() == id && self.hears(index, now))
    }

    /// Whether at most one servo answers to an id.
    fn is_alone(&self, id: u8, now: f64) -> bool {
        let same = (0..self.programs.len()).filter(|&index| self.programs[index].id() == id);
        same.filter(|&index| self.hears(index, now)).count() <= 1
    }

    /// Two servos of one id speak at once, and nobody understands either.
    fn garble_unless(&mut self, is_alone: bool) {
        if !is_alone && let Some(last) = self.frame.last_mut() {
            *last ^= 0xFF;
        }
    }

    /// Has an instruction done by all whom it is for; the one whose own id it names answers.
    fn command(
        &mut self,
        id: u8,
        instruction: Instruction<'_>,
        now: f64,
        mut answers: Option<&mut Answers>,
    ) {
        let is_alone = self.is_alone(id, now);
        for index in 0..self.programs.len() {
            let program = &self.programs[index];
            let is_own = program.id() == id;
            if !(is_own || program.is_shadow(id) || id == BROADCAST) || !self.hears(index, now) {
                continue;
            }
            // A reset may change what its answer depends on.
            let (delay, level) = (program.delay(), program.status_level());
            let result = self.programs[index].obey(instruction, &mut self.servos[index], now);
            if let Some(answers) = answers.as_deref_mut()
                && is_own
                && level >= Kind::Write as i32
            {
                let alert = self.programs[index].alert();
                self.frame.clear();
                Status { id, alert, error: result.err(), data: &[] }.encode(&mut self.frame);
                self.garble_unless(is_alone);
                answers.send(now + delay, &self.frame);
            }
        }
    }

    fn ping(&mut self, id: u8, now: f64, answers: &mut Answers) {
        if id != BROADCAST {
            if let Some(index) = self.answering(id, now) {
                self.introduce(index);
                self.answer(index, Kind::Ping, Ok(()), now, answers);
            }
            return;
        }
        let mut time = now;
        for id in 0..BROADCAST {
            if let Some(index) = self.answering(id, now) {
                self.introduce(index);
                time = self.answer(index, Kind::Ping, Ok(()), time, answers).unwrap_or(time);
            }
        }
    }

    /// Makes model and firmware the data of the next answer.
    fn introduce(&mut self, index: usize) {
        let model = self.programs[index].memory.model;
        self.data.clear();
        self.data.extend_from_slice(&model.number.to_le_bytes());
        self.data.push(model.firmware);
    }

    /// Makes what is read the data of the next answer.
    fn read(&mut self, index: usize, block: Block, now: f64) -> Result<(), ErrorNumber> {
        self.data.clear();
        self.programs[index].read(block, &self.servos[index], now, &mut self.data)
    }

    /// Answers one after the other, up to the first that is silent.
    fn list(&mut self, turns: impl Iterator<Item = Turn>, now: f64, answers: &mut Answers) {
        let mut time = now;
        for turn in turns {
            let Some(index) = self.answering(turn.id, now) else { return };
            let result = self.read(index, turn.block, now);
            match self.answer(index, Kind::Read, result, time, answers) {
                Some(end) => time = end,
                None => return,
            }
        }
    }

    /// One answer of all, which breaks off at the first that is silent.
    fn fast_list(
        &mut self,
        turns: impl Iterator<Item = Turn> + Clone,
        now: f64,
        answers: &mut Answers,
    ) {
        let mut frame = std::mem::take(&mut self.frame);
        frame.clear();
        let mut delay = None;
        let mut answer = FastAnswer::new(&mut frame, turns.clone().map(|turn| turn.block.length));
        for turn in turns {
            let index = self.answering(turn.id, now);
            let Some(index) = index.filter(|index| self.programs[*index].status_level() > 0) else {
                break;
            };
            let error = self.read(index, turn.block, now).err();
            self.data.resize(turn.block.length.into(), 0);
            let program = &self.programs[index];
            answer.part(&Status { id: turn.id, alert: program.alert(), error, data: &self.data });
            delay.get_or_insert(program.delay());
        }
        if let Some(delay) = delay {
            answers.send(now + delay, &frame);
        }
        self.frame = frame;
    }

    /// Sends the answer of a servo after `time` [s], if it gives any of this kind; when that ends. [s]
    fn answer(
        &mut self,
        index: usize,
        kind: Kind,
        result: Result<(), ErrorNumber>,
        time: f64,
        answers: &mut Answers,
    ) -> Option<f64> {
        let program = &self.programs[index];
        if program.status_level() < kind as i32 {
            return None;
        }
        let data = if result.is_ok() { self.data.as_slice() } else { &[] };
        self.frame.clear();
        let error = result.err();
        Status { id: program.id(), alert: program.alert(), error, data }.encode(&mut self.frame);
        let start = time + program.delay();
        let is_alone = self.is_alone(self.servos[index].id, time);
        self.garble_unless(is_alone);
        answers.send(start, &self.frame);
        Some(start + self.frame.len() as f64 * self.line().byte_time())
    }

    /// Changes the line's baud rate once no servo listens with it any more.
    fn follow_baud(&mut self) {
        if self.programs.iter().all(|program| program.baud() != self.baud)
            && let Some(program) = self.programs.last()
        {
            self.baud = program.baud();
        }
    }
}
