//! Feetech servos on one wire.
//!
//! Answers keep the delay that each servo is set to, and come one after the other at a sync read. Servos of one id answer at once,
//! and nothing of it can be read. Servos of different baud rates can be on one line, each deaf to what is sent at another.

mod device;

use super::{Answers, Bus, Line, Rating, Servo, Trouble};
use crate::codec::feetech::{BAUDS, BROADCAST, Model, Request, RequestDecoder};
use device::Device;

/// Silence after which an unfinished frame is forgotten. Longer than a host's scheduler tears a frame apart. [s]
const BREAK: f64 = 0.02;

/// Any number of servos on one line.
#[derive(Debug)]
pub struct Feetech {
    wire: Wire,
    decoder: RequestDecoder,
    /// When the last byte came. [s]
    heard: f64,
    /// When time went on last. [s]
    advanced: Option<f64>,
}

/// The servos, each with its registers.
#[derive(Debug)]
struct Wire {
    devices: Vec<Device>,
    servos: Vec<Servo>,
    /// How those listen that hear the host now.
    line: Line,
    /// What is on the wire, and what one servo adds to it.
    reply: Vec<u8>,
    one: Vec<u8>,
}

impl Default for Feetech {
    fn default() -> Self {
        Self::new()
    }
}

impl Feetech {
    /// A line without servos.
    pub fn new() -> Self {
        let line = Line::eight_n_one(BAUDS[0]);
        let wire = Wire {
            devices: Vec::new(),
            servos: Vec::new(),
            line,
            reply: Vec::new(),
            one: Vec::new(),
        };
        Self { wire, decoder: RequestDecoder::default(), heard: f64::NEG_INFINITY, advanced: None }
    }

    /// Plug in a servo as it leaves the factory, apart from its id. Two may have the same.
    pub fn add(&mut self, model: &'static Model, id: u8) {
        let mut servo = Servo::new(id, rating(model));
        self.wire.devices.push(Device::new(model, &mut servo));
        self.wire.servos.push(servo);
    }
}

/// What a type can do, by the maker's data sheet; an STS3215 turns at 46 rpm where that was measured.
fn rating(model: &Model) -> Rating {
    let half = 0.5 * f64::from(model.range_deg).to_radians();
    if model.has_sync_read {
        Rating { no_load_speed: 4.82, stall_torque: 2.94, stall_current: 2.7, ..Rating::SMALL }
    } else {
        Rating {
            no_load_speed: 10.5,
            stall_torque: 0.226,
            stall_current: 0.9,
            voltage: 6.0,
            stops: [-half, half],
            ..Rating::SMALL
        }
    }
}

impl Bus for Feetech {
    fn line(&self) -> Line {
        self.wire.line
    }

    fn attune(&mut self, baud: u32) {
        self.wire.attune(baud);
    }

    fn receive(&mut self, byte: u8, now: f64, answers: &mut Answers) {
        if now - self.heard > BREAK {
            self.decoder.reset();
        }
        self.heard = now;
        if let Some(Ok(request)) = self.decoder.push(byte) {
            self.wire.obey(&request, now, answers);
        }
    }

    fn advance(&mut self, now: f64, _: &mut Answers) {
        let dt = now - self.advanced.replace(now).unwrap_or(now);
        for (device, servo) in self.wire.devices.iter_mut().zip(&mut self.wire.servos) {
            device.advance(servo, dt);
        }
    }

    fn servos(&self) -> &[Servo] {
        &self.wire.servos
    }

    fn servos_mut(&mut self) -> &mut [Servo] {
        &mut self.wire.servos
    }
}

impl Wire {
    /// Does what is asked by a frame whose last bit came at `now` [s].
    fn obey(&mut self, request: &Request<'_>, now: f64, answers: &mut Answers) {
        match *request {
            Request::SyncRead { address, size, ids } => {
                let mut start = now;
                for id in ids {
                    start = self.answer_in_turn(*id, address, size, start, answers);
                }
            }
            Request::SyncWrite { address, size, entries } => {
                for entry in entries.chunks_exact(usize::from(size) + 1) {
                    let write = Request::Write { id: entry[0], address, data: &entry[1..] };
                    self.ask(entry[0], &write, |_| true);
                }
            }
            Request::Ping { id } => {
                let delay = self.ask(id, request, |_| true);
                self.send(now + delay, answers);
            }
            Request::Read { id, .. }
            | Request::Write { id, .. }
            | Request::RegWrite { id, .. }
            | Request::Action { id }
            | Request::FactoryReset { id } => {
                let delay = self.ask(id, request, |_| true);
                if id != BROADCAST {
                    self.send(now + delay, answers);
                }
            }
        }
        self.follow();
    }

    /// One servo's part of a sync read from `start` on [s]; gives when the next one's begins. One that does not answer leaves a gap.
    fn answer_in_turn(
        &mut self,
        id: u8,
        address: u8,
        size: u8,
        start: f64,
        answers: &mut Answers,
    ) -> f64 {
        let read = Request::Read { id, address, size };
        let delay = self.ask(id, &read, |device| device.model().has_sync_read);
        self.send(start + delay, answers);
        let n_bytes = f64::from(size) + 6.0;
        start + delay + n_bytes * self.line.byte_time()
    }

    /// Lets the servos of an id do something, and collects in `reply` what they say at once. Gives the longest of their delays. [s]
    fn ask(&mut self, id: u8, request: &Request<'_>, may_answer: impl Fn(&Device) -> bool) -> f64 {
        self.reply.clear();
        let mut longest: f64 = 0.0;
        for (device, servo) in self.devices.iter_mut().zip(&mut self.servos) {
            let is_meant = id == servo.id || id == BROADCAST;
            let hears = device.baud() == self.line.baud && !servo.has(Trouble::Gone);
            if !is_meant || !hears || !may_answer(device) {
                continue;
            }
            longest = longest.max(device.answer_delay());
            self.one.clear();
            device.obey(servo, request, &mut self.one);
            overlay(&mut self.reply, &self.one);
        }
        longest
    }

    fn send(&self, not_before: f64, answers: &mut Answers) {
        if !self.reply.is_empty() {
            answers.send(not_before, &self.reply);
        }
    }

    /// Listens with `baud` [Bd], if a servo does.
    fn attune(&mut self, baud: u32) {
        if self.devices.iter().any(|device| device.baud() == baud) {
            self.line = Line::eight_n_one(baud);
        }
    }

    /// Listens on as before, or with the first servo if none has that baud rate any more.
    fn follow(&mut self) {
        if let Some(first) = self.devices.first().map(Device::baud) {
            let before = self.line.baud;
            self.attune(first);
            self.attune(before);
        }
    }
}

/// Puts another frame on the wire over the one that is there.
///
/// A low level wins on the wire, and two servos never start at the same bit: the second is a byte late.
fn overlay(reply: &mut Vec<u8>, one: &[u8]) {
    if reply.is_empty() {
        reply.extend_from_slice(one);
        return;
    }
    if one.is_empty() {
        return;
    }
    reply.resize(reply.len().max(one.len() + 1), 0xFF);
    for (byte, other) in reply[1..].iter_mut().zip(one) {
        *byte &= other;
    }
}

#[cfg(test)]
mod tests;
