//! An RCB-4 with ICS servos.
//!
//! The board is its memory: the host reads and writes RAM and ROM, moves write the records of servos in RAM, and once a frame the board
//! drives the servos by them (`drive.rs`). Programs in the ROM do what the host may do (`program.rs`).
//!
//! Assumed: an answer begins 0.1 ms after the request, a frame that breaks off for 20 ms is dropped, what crosses a page of the ROM or
//! comes while it still writes is lost, as boards were seen to do. Not played: mixes, ports, analogue inputs, the message at the end of a
//! move.

mod drive;
mod memory;
mod program;
mod start_up;

use super::ics::{new_servo, protect};
use super::{Answers, Bus, Line, Servo};
use crate::codec::rcb4::memory::{
    CONFIGURATION, Configuration, N_TIMERS, PROGRAM_COUNTER, TIMERS, motion_address, motion_at,
};
use crate::codec::rcb4::{Answer, Data, Decoder, Frame, Place, Request, SERVOS, VERSION};
use memory::Memory;
use program::Program;

/// Time from the last byte of a request to the first of its answer. [s]
const ANSWER_DELAY: f64 = 1e-4;
/// A pause within a frame after which it is dropped. [s]
const LONGEST_PAUSE: f64 = 0.020;
/// Period of the timers. [s]
const TIMER_PERIOD: f64 = 0.100;
/// Word of a timer that has run out.
const RUN_OUT: u16 = 0x8000;

/// How the board is fitted and set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    /// ICS numbers of the servos that are plugged in: twice the id, and 1 more on the second port.
    pub servos: Vec<u8>,
    /// Baud rate of the line to the host when power comes; 115200 for one that the board does not have. [bit/s]
    pub baud: u32,
    /// Whether `HeartToHeart4` has written its project: servos are assigned and held, and the ROM program runs.
    pub project: bool,
}

impl Default for Setup {
    /// 17 servos of a humanoid on a board without a project.
    fn default() -> Self {
        Self { servos: (0..17).collect(), baud: 115_200, project: false }
    }
}

/// The board with its servos.
#[derive(Debug)]
pub struct Rcb4 {
    memory: Memory,
    program: Program,
    servos: Vec<Servo>,
    /// Servo of each ICS number, if one is plugged in.
    plugged: [Option<usize>; SERVOS],
    decoder: Decoder,
    /// When the last byte came. [s]
    heard: f64,
    /// When servos are driven next, and timers fall. [s]
    next_frame: f64,
    next_tick: f64,
    answer: Vec<u8>,
}

impl Rcb4 {
    /// The board as it is when power comes: servos in the middle, without torque.
    pub fn new(setup: &Setup) -> Self {
        let mut board = Self {
            memory: Memory::new(),
            program: Program::default(),
            servos: Vec::new(),
            plugged: [None; SERVOS],
            decoder: Decoder::default(),
            heard: f64::NEG_INFINITY,
            next_frame: f64::NEG_INFINITY,
            next_tick: f64::NEG_INFINITY,
            answer: Vec::new(),
        };
        for number in &setup.servos {
            if let Some(place) = board.plugged.get_mut(usize::from(*number)).filter(|p| p.is_none())
            {
                *place = Some(board.servos.len());
                board.servos.push(new_servo(*number));
            }
        }
        start_up::fill_rom(&mut board.memory, setup);
        start_up::power_up(&mut board.memory);
        board
    }

    fn configuration(&self) -> Configuration {
        Configuration(self.memory.word(CONFIGURATION))
    }

    /// Does what the host asks for at `now` [s].
    fn obey(&mut self, frame: &Frame, now: f64) -> Answer {
        let command = frame.command();
        let Ok(request) = frame.request() else { return Answer::Refused { command } };
        match request {
            Request::Version => return Answer::Version(VERSION),
            Request::Move { to: Place::Host, from } => {
                let data = self.memory.read(&from);
                return data.map_or(Answer::Refused { command }, Answer::Data);
            }
            Request::Call { address, condition } => {
                // Libraries differ in where the first motion begins; all mean the slot.
                let start = motion_at(address).and_then(motion_address).unwrap_or(address);
                self.program.call(&mut self.memory, start, condition);
            }
            Request::Jump { address, condition } => {
                self.program.jump(&mut self.memory, address, condition);
            }
            Request::Return { condition } => self.program.come_back(&mut self.memory, condition),
            request => {
                if !self.change(&request, now) {
                    return Answer::Refused { command };
                }
            }
        }
        Answer::Done { command }
    }

    /// Does what changes memories or servos, for the host or a program. Whether it could.
    fn change(&mut self, request: &Request, now: f64) -> bool {
        match *request {
            Request::Move { to, from } => {
                let Some(data) = self.memory.read(&from) else { return false };
                let end = |address: u16| usize::from(address) + data.bytes().len();
                if let Place::Ram { address } = to
                    && address < PROGRAM_COUNTER + 3
                    && end(address) > PROGRAM_COUNTER.into()
                {
                    self.program.stop_waiting();
                }
                self.memory.write(to, &data, now)
            }
            Request::Operate { operation, compare, address, value } => {
                self.memory.operate(operation, compare, address, &value)
            }
            Request::MoveServo { servo, frames, goal } => {
                drive::begin_move(&mut self.memory, servo.into(), frames, goal);
                true
            }
            Request::MoveServos { servos, frames, goals } => {
                for servo in servos.numbers() {
                    drive::begin_move(&mut self.memory, servo, frames, goals[servo]);
                }
                true
            }
            Request::MoveServosApart { servos, frames, goals } => {
                for servo in servos.numbers() {
                    drive::begin_move(&mut self.memory, servo, frames[servo], goals[servo]);
                }
                true
            }
            Request::SetServos { servos, parameter, values } => {
                for servo in servos.numbers() {
                    if let Some(index) = self.plugged[servo] {
                        drive::set(&mut self.servos[index], parameter, values[servo]);
                    }
                }
                true
            }
            _ => true,
        }
    }

    /// Lets the ROM program go on.
    fn run_program(&mut self, now: f64) {
        /// Steps in a millisecond. (Assumed.)
        const STEPS: usize = 8;
        for _ in 0..STEPS {
            if !self.configuration().has(Configuration::RUN) || self.program.waits(&self.memory) {
                return;
            }
            let Some(request) = self.program.next_step(&mut self.memory) else { continue };
            if !self.change(&request, now) {
                program::fail(&mut self.memory);
            }
        }
    }

    fn tick(&mut self) {
        for address in (0..N_TIMERS).map(|timer| TIMERS + 2 * timer) {
            match self.memory.word(address) {
                RUN_OUT.. => {}
                0 | 1 => self.memory.set_word(address, RUN_OUT),
                ticks => self.memory.set_word(address, ticks - 1),
            }
        }
    }
}

impl Bus for Rcb4 {
    fn line(&self) -> Line {
        // A code without a meaning leaves the slowest, which every board is found with.
        Line::eight_e_one(self.configuration().baud().unwrap_or(115_200))
    }

    fn receive(&mut self, byte: u8, now: f64, answers: &mut Answers) {
        if now - self.heard > LONGEST_PAUSE {
            self.decoder.reset();
        }
        self.heard = now;
        let Some(Ok(frame)) = self.decoder.push(byte) else { return };
        let answer = self.obey(&frame, now);
        self.answer.clear();
        answer.encode(&mut self.answer);
        answers.send(now + ANSWER_DELAY, &self.answer);
    }

    fn advance(&mut self, now: f64, _answers: &mut Answers) {
        self.servos.iter_mut().for_each(protect);
        if now >= self.next_tick {
            self.tick();
            self.next_tick = self.next_tick.max(now - TIMER_PERIOD) + TIMER_PERIOD;
        }
        if now >= self.next_frame {
            let period = self.configuration().frame_time();
            self.next_frame = self.next_frame.max(now - period) + period;
            drive::drive(&mut self.memory, &self.plugged, &mut self.servos);
        }
        self.run_program(now);
    }

    fn servos(&self) -> &[Servo] {
        &self.servos
    }

    fn servos_mut(&mut self) -> &mut [Servo] {
        &mut self.servos
    }
}

#[cfg(test)]
mod tests;
