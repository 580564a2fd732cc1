//! Dynamixel servos of the X series on one line.
//!
//! Servos of any known model, each with its control table and program: settings with torque off only, modes, profiles by velocity
//! or time, limits, hardware errors and shutdown, watchdog, indirect addresses. Where the maker's manual is silent:
//!
//! * A servo answers to a list after those before it in the list; where one of them is silent, so are those after it.
//! * Goals stay as they are while torque is off, and are followed once it is on: a program that does not set a goal first sees its
//!   robot jump.
//! * After a shutdown, a write that switches torque on is answered with the alert and does nothing, until a reboot.
//! * Servos of different baud rates can be on one line, each deaf to what is sent at another.

mod chain;
mod memory;
mod motion;
mod servo;

#[cfg(test)]
mod tests;

use super::device::{Answers, Bus, Line};
use super::servo::Servo;
use crate::codec::dynamixel::{Decoder, Model};
use chain::Chain;

/// Pause after which a frame that has not ended counts as broken off. [s]
const LONGEST_PAUSE: f64 = 0.02;

/// A servo to emulate.
#[derive(Debug, Clone, Copy)]
pub struct Member {
    /// Number on the bus, up to 252.
    pub id: u8,
    /// Type.
    pub model: &'static Model,
}

/// How servos are set when they are put on the line.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Baud rate; that of the factory is 57600. One that the servos do not have becomes that. [bit/s]
    pub baud: u32,
    /// Whether frames that are not stuffed are refused. The maker's Python library sends some, and relies on servos that count.
    pub is_strict: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { baud: 57_600, is_strict: false }
    }
}

/// Servos of the X series on one line.
#[derive(Debug)]
pub struct Dynamixel {
    decoder: Decoder,
    last_byte: f64,
    chain: Chain,
}

impl Dynamixel {
    /// Servos as they leave the factory, limp in the middle of their turn, but for their ids and the settings.
    pub fn new(members: &[Member], settings: Settings) -> Self {
        let decoder =
            if settings.is_strict { Decoder::default() } else { Decoder::accepting_unstuffed() };
        let chain = Chain::new(members, settings.baud);
        Self { decoder, last_byte: f64::NEG_INFINITY, chain }
    }
}

impl Bus for Dynamixel {
    fn line(&self) -> Line {
        self.chain.line()
    }

    fn attune(&mut self, baud: u32) {
        self.chain.attune(baud);
    }

    fn receive(&mut self, byte: u8, now: f64, answers: &mut Answers) {
        if now - self.last_byte > LONGEST_PAUSE {
            self.decoder.reset();
        }
        self.last_byte = now;
        match self.decoder.push(byte) {
            Some(Ok(frame)) => self.chain.obey(&frame, now, answers),
            Some(Err(_)) => {
                if let Some(id) = self.decoder.take_rejected() {
                    self.chain.report_wrong_crc(id, now, answers);
                }
            }
            None => {}
        }
    }

    fn advance(&mut self, now: f64, _answers: &mut Answers) {
        self.chain.advance(now);
    }

    fn servos(&self) -> &[Servo] {
        &self.chain.servos
    }

    fn servos_mut(&mut self) -> &mut [Servo] {
        &mut self.chain.servos
    }
}
