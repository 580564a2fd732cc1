//! A Robotiq two-finger gripper at the end of its wire.
//!
//! One servo turns the fingers, from 0 rad (open) to 0.8 rad (closed), as the finger joint of the maker's URDF does. What is
//! assumed: it answers 4 ms after a request; a second of silence is reported with the next answer and stops nothing; a frame
//! that breaks off is forgotten after 20 ms, far more than the 0.3 ms of the standard, as a host's scheduler tears frames apart.

mod fingers;

use super::{Answers, Bus, Line, Servo, Trouble};
use crate::codec::robotiq::{
    Answer, BAUD, BROADCAST, COMMAND_ADDRESS, Command, Exception, MAX_WORDS, Model, Request,
    RequestDecoder, STATUS_ADDRESS, Words,
};
use fingers::Fingers;

/// From the end of a request to the start of its answer. [s]
const ANSWER_TIME: f64 = 4e-3;
/// Silence after which an unfinished frame is forgotten. [s]
const BREAK: f64 = 0.02;
/// Silence that a gripper reports. [s]
const SILENCE: f64 = 1.0;
/// Words from each of the two addresses on; those after the third are 0. [manual, §4.3]
const N_WORDS: u16 = 8;

/// A gripper, alone on its wire.
#[derive(Debug)]
pub struct Gripper {
    slave: u8,
    fingers: Fingers,
    decoder: RequestDecoder,
    /// What the host has written.
    words: [u16; N_WORDS as usize],
    /// When the last byte came. [s]
    heard: f64,
    /// When the last good request for this gripper came. [s]
    requested: Option<f64>,
    frame: Vec<u8>,
}

impl Gripper {
    /// A gripper that waits for its activation, half open.
    pub fn new(model: Model, slave: u8) -> Self {
        Self {
            slave,
            fingers: Fingers::new(model, slave),
            decoder: RequestDecoder::default(),
            words: [0; N_WORDS as usize],
            heard: f64::NEG_INFINITY,
            requested: None,
            frame: Vec::new(),
        }
    }

    fn answer(&mut self, request: &Request) -> Answer {
        let function = request.function();
        self.follow(request).unwrap_or_else(|exception| Answer::Exception { function, exception })
    }

    fn follow(&mut self, request: &Request) -> Result<Answer, Exception> {
        match request {
            Request::Read { address, count, .. } => self.read(request.function(), *address, *count),
            Request::Write { address, words } => {
                self.write(*address, words)?;
                let count = u16::try_from(words.len()).unwrap_or(u16::MAX);
                Ok(Answer::Written { address: *address, count })
            }
            Request::ReadWrite { read_address, read_count, write_address, words } => {
                // The write comes first. [Modbus 1.1b3, §6.17]
                self.write(*write_address, words)?;
                self.read(request.function(), *read_address, *read_count)
            }
            Request::Other { .. } => Err(Exception::Function),
        }
    }

    fn read(&self, function: u8, address: u16, count: u16) -> Result<Answer, Exception> {
        if count == 0 || usize::from(count) > MAX_WORDS {
            return Err(Exception::Value);
        }
        let mut status = [0; N_WORDS as usize];
        status[..3].copy_from_slice(&self.fingers.status().to_words());
        let (start, all) = if address >= STATUS_ADDRESS {
            (address - STATUS_ADDRESS, &status)
        } else {
            (address.checked_sub(COMMAND_ADDRESS).ok_or(Exception::Address)?, &self.words)
        };
        let start = usize::from(start);
        let words = all.get(start..start + usize::from(count)).ok_or(Exception::Address)?;
        let words = Words::new(words).ok_or(Exception::Value)?;
        Ok(Answer::Words { function, words })
    }

    fn write(&mut self, address: u16, words: &[u16]) -> Result<(), Exception> {
        let start = usize::from(address.checked_sub(COMMAND_ADDRESS).ok_or(Exception::Address)?);
        let place = self.words.get_mut(start..start + words.len()).ok_or(Exception::Address)?;
        place.copy_from_slice(words);
        let [action, position, force, ..] = self.words;
        self.fingers.command(Command::from_words([action, position, force]));
        Ok(())
    }
}

impl Bus for Gripper {
    fn line(&self) -> Line {
        Line::eight_n_one(BAUD)
    }

    fn receive(&mut self, byte: u8, now: f64, answers: &mut Answers) {
        if now - self.heard > BREAK {
            self.decoder.reset();
        }
        self.heard = now;
        let Some(Ok((slave, request))) = self.decoder.push(byte) else { return };
        let is_for_all = slave == BROADCAST;
        if !(is_for_all || slave == self.slave) || self.servos()[0].has(Trouble::Gone) {
            return;
        }
        let was_silent = self.requested.is_some_and(|before| now - before > SILENCE);
        self.requested = Some(now);
        self.fingers.was_silent(was_silent);
        let answer = self.answer(&request);
        if !is_for_all {
            self.frame.clear();
            answer.encode(self.slave, &mut self.frame);
            answers.send(now + ANSWER_TIME, &self.frame);
        }
    }

    fn advance(&mut self, now: f64, _answers: &mut Answers) {
        self.fingers.advance(now);
    }

    fn servos(&self) -> &[Servo] {
        std::slice::from_ref(&self.fingers.servo)
    }

    fn servos_mut(&mut self) -> &mut [Servo] {
        std::slice::from_mut(&mut self.fingers.servo)
    }
}

#[cfg(test)]
mod tests;
