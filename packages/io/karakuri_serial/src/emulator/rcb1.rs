//! The two RCB-1 boards of a KHR-1 on their line.
//!
//! Boards share the line, and only the one that is addressed answers. What the reference leaves open is assumed: a frame that breaks off
//! for 50 ms is dropped, a board answers after 2 ms, a write to its EEPROM takes 10 ms more, and of two boards that answer "get id" at
//! once either is heard, or a mixture. `board.rs` says what is assumed of motions.
//!
//! A servo's number is its channel, 1 to 12 on board 0, 13 to 24 on board 1; its zero is the byte 90.

mod board;

use super::{Answers, Bus, Line, Rating, Servo, Trouble};
use crate::codec::rcb1::{Answer, BAUD, CHANNELS, Channel, Order, Request, RequestDecoder};
use board::Board;

/// Boards of the chain.
pub const BOARDS: usize = 2;

/// A pause within a frame after which it is dropped. [s]
const LONGEST_PAUSE: f64 = 0.050;
/// Time from the last byte of a request to the first of its answer. [s]
const ANSWER_DELAY: f64 = 0.002;
/// What a write to the EEPROM adds to it. [s]
const EEPROM_TIME: f64 = 0.010;

/// KRS-784ICS at 6 V: 0.17 s for 60°, 8.7 kgf·cm. (Widely quoted; current and acceleration are assumed.)
const KRS_784: Rating = Rating {
    no_load_speed: 6.16,
    stall_torque: 0.853,
    stall_current: 1.5,
    voltage: 6.0,
    acceleration: 300.0,
    stops: [-1.92, 1.92],
};

/// Kind of servos: those with red cases know the special position bytes and report where their shafts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Case {
    /// Knows all bytes; positions that are read are those of the shafts.
    #[default]
    Red,
    /// Knows degrees only; positions that are read are those that were commanded.
    Blue,
}

/// How the boards are fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// Kind of servos.
    pub case: Case,
    /// Whether channels have a servo. (2×12)
    pub fitted: [[bool; CHANNELS]; BOARDS],
    /// Home positions in the boards' memories. [deg] (2×12)
    pub home: [[u8; CHANNELS]; BOARDS],
    /// By how much the boards' clocks are fast, as a share. [-] (2)
    pub clock_skew: [f64; BOARDS],
}

impl Default for Setup {
    /// A KHR-1 with 17 servos and the home of the factory.
    fn default() -> Self {
        let mut fitted = [[true; CHANNELS]; BOARDS];
        for channel in [3, 4, 9, 10, 11] {
            fitted[0][channel] = false;
        }
        for channel in [5, 11] {
            fitted[1][channel] = false;
        }
        Self {
            case: Case::Red,
            fitted,
            home: [
                [5, 0, 90, 0, 0, 90, 175, 180, 90, 0, 0, 0],
                [88, 115, 115, 90, 92, 0, 92, 65, 65, 90, 88, 0],
            ],
            clock_skew: [0.0; BOARDS],
        }
    }
}

impl Setup {
    /// Fits servos at these channels, 1 to 24, and at no others.
    pub fn fit(&mut self, channels: &[u8]) {
        self.fitted = [[false; CHANNELS]; BOARDS];
        for channel in channels.iter().map(|channel| usize::from(channel.saturating_sub(1))) {
            if let Some(board) = self.fitted.get_mut(channel / CHANNELS) {
                board[channel % CHANNELS] = true;
            }
        }
    }
}

/// The boards on their line.
#[derive(Debug)]
pub struct Rcb1 {
    boards: Vec<Board>,
    servos: Vec<Servo>,
    decoder: RequestDecoder,
    /// When the last byte came. [s]
    heard: f64,
    /// Times that the id was asked for.
    n_asked: usize,
    answer: Vec<u8>,
}

impl Rcb1 {
    /// The boards as they are when power comes: at home, servos without torque.
    pub fn new(setup: &Setup) -> Self {
        let mut servos = Vec::new();
        let mut boards = Vec::new();
        for index in 0..BOARDS {
            let first = servos.len();
            let home = setup.home[index];
            for channel in (0..CHANNELS).filter(|channel| setup.fitted[index][*channel]) {
                let number = u8::try_from(index * CHANNELS + channel + 1).unwrap_or(u8::MAX);
                let mut servo = Servo::new(number, KRS_784);
                servo.board = index;
                servo.limits.voltage = [4.8, 7.5];
                servo.place(board::shaft_from_degrees(f64::from(home[channel])));
                servos.push(servo);
            }
            let id = u8::try_from(index).unwrap_or(u8::MAX);
            let rate = 1.0 + setup.clock_skew[index];
            let fitted = setup.fitted[index];
            boards.push(
                Board::new(id, setup.case, rate, home.map(Channel::Degrees)).with(first, fitted),
            );
        }
        let decoder = RequestDecoder::default();
        Self { boards, servos, decoder, heard: f64::NEG_INFINITY, n_asked: 0, answer: Vec::new() }
    }

    /// Whether a board is in the chain: it is out while all of its servos are gone.
    fn is_there(&self, board: usize) -> bool {
        let mut servos = self.servos.iter().filter(|servo| servo.board == board).peekable();
        servos.peek().is_none() || servos.any(|servo| !servo.has(Trouble::Gone))
    }

    fn obey(&mut self, request: Request, now: f64, answers: &mut Answers) {
        let (id, order) = match request {
            Request::GetId => return self.tell_ids(now, answers),
            Request::SetId { id } => return self.set_ids(id, now, answers),
            Request::Board { id, order } => (id, order),
        };
        for index in 0..self.boards.len() {
            if self.boards[index].id != id || !self.is_there(index) {
                continue;
            }
            self.boards[index].advance(now, &mut self.servos);
            let answer = self.boards[index].obey(&order, now, &self.servos);
            self.boards[index].drive(&mut self.servos);
            self.answer.clear();
            answer.encode(id, &mut self.answer);
            let busy = if writes_eeprom(&order) { EEPROM_TIME } else { 0.0 };
            answers.send(now + ANSWER_DELAY + busy, &self.answer);
        }
    }

    /// Every board tells its id at the same time.
    fn tell_ids(&mut self, now: f64, answers: &mut Answers) {
        self.answer.clear();
        let there = (0..self.boards.len()).filter(|index| self.is_there(*index));
        let ids: Vec<u8> = there.map(|index| self.boards[index].id).collect();
        let (Some(first), Some(last)) = (ids.first(), ids.last()) else { return };
        // Which of the bits are heard changes from time to time.
        let heard = if self.n_asked.is_multiple_of(2) { first } else { last };
        Answer::Id.encode(*heard, &mut self.answer);
        if self.n_asked % 3 == 2 {
            let other = if heard == first { last } else { first };
            self.answer[1] |= other;
        }
        self.n_asked += 1;
        answers.send(now + ANSWER_DELAY, &self.answer);
    }

    /// Every board takes the id: there may be one on the line only.
    fn set_ids(&mut self, id: u8, now: f64, answers: &mut Answers) {
        let mut heard = false;
        for index in 0..self.boards.len() {
            if self.is_there(index) {
                self.boards[index].id = id;
                heard = true;
            }
        }
        if heard {
            self.answer.clear();
            Answer::Done.encode(id, &mut self.answer);
            answers.send(now + ANSWER_DELAY + EEPROM_TIME, &self.answer);
        }
    }
}

impl Bus for Rcb1 {
    fn line(&self) -> Line {
        Line::eight_n_one(BAUD)
    }

    fn receive(&mut self, byte: u8, now: f64, answers: &mut Answers) {
        if now - self.heard > LONGEST_PAUSE {
            self.decoder.reset();
        }
        self.heard = now;
        // A frame that is wrong is not answered at all.
        if let Some(Ok(request)) = self.decoder.push(byte) {
            self.obey(request, now, answers);
        }
    }

    fn advance(&mut self, now: f64, _answers: &mut Answers) {
        for board in &mut self.boards {
            board.advance(now, &mut self.servos);
        }
    }

    fn servos(&self) -> &[Servo] {
        &self.servos
    }

    fn servos_mut(&mut self) -> &mut [Servo] {
        &mut self.servos
    }

    fn place(&mut self, servo: usize, position: f64) {
        let Some(servo) = self.servos.get_mut(servo) else { return };
        servo.place(position);
        let channel = usize::from(servo.id.saturating_sub(1)) % CHANNELS;
        self.boards[servo.board].place(channel, position);
    }
}

fn writes_eeprom(order: &Order) -> bool {
    matches!(
        order,
        Order::StoreHome
            | Order::WritePosition { .. }
            | Order::SetPositionCount { .. }
            | Order::WriteScenario { .. }
            | Order::SetScenarioLength { .. }
            | Order::SetKey(_)
            | Order::SetTrims(_)
    )
}

#[cfg(test)]
mod tests;
