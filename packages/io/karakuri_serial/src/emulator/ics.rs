//! ICS servos, each on the one wire itself.
//!
//! The host hears its own bytes before the answer, and only servos with its baud rate hear it. Assumed: an answer begins 0.1 ms after the request, and a servo that writes its EEPROM hears nothing
//! meanwhile. A servo that is too hot or overloaded goes limp, and moves again with the next position.

use super::{Alarm, Answers, Bus, Line, Mode, Rating, Servo, Trouble};
use crate::codec::ics::{
    Answer, BAUDS, EEPROM_TIME, Eeprom, Flags, MAX_ID, Parameter, Request, RequestDecoder,
    byte_from_current, byte_from_temperature, counts_from_angle, current_from_byte,
    position_from_counts, temperature_from_byte,
};

/// Time from the last byte of a request to the first of its answer. [s]
const ANSWER_DELAY: f64 = 1e-4;
/// Greatest value of a parameter.
const MOST: f64 = 127.0;

/// KRS-2552RHV at 11.1 V: 0.14 s for 60°, 14 kgf·cm. (Current, acceleration and stops are assumed.)
pub(super) const KRS_2552: Rating = Rating {
    no_load_speed: 7.48,
    stall_torque: 1.37,
    stall_current: 3.0,
    voltage: 11.1,
    acceleration: 400.0,
    stops: [-2.4, 2.4],
};

/// Servos on one wire.
#[derive(Debug)]
pub struct Ics {
    servos: Vec<Servo>,
    /// What each servo remembers, in their order.
    memories: Vec<Memory>,
    decoder: RequestDecoder,
    /// Baud rate of the host. [bit/s]
    host_baud: u32,
    answer: Vec<u8>,
}

#[derive(Debug)]
struct Memory {
    eeprom: Eeprom,
    /// Stiffness and speed until power goes, which begin as the EEPROM has them.
    stretch: u8,
    speed: u8,
    /// Until when it writes its EEPROM. [s]
    busy_until: f64,
}

impl Memory {
    fn new(eeprom: Eeprom) -> Self {
        let byte = |field| u8::try_from(eeprom.get(field)).unwrap_or(u8::MAX);
        Self {
            eeprom,
            stretch: byte(Eeprom::STRETCH) / 2,
            speed: byte(Eeprom::SPEED),
            busy_until: f64::NEG_INFINITY,
        }
    }

    fn has(&self, flag: u16) -> bool {
        self.eeprom.get(Eeprom::FLAGS) & flag != 0
    }

    /// Sense of the shaft for rising counts.
    fn sign(&self) -> f64 {
        if self.has(Flags::REVERSE) { -1.0 } else { 1.0 }
    }
}

impl Ics {
    /// Servos with ids, limp and in the middle, that listen with a baud rate [bit/s]. An id above 31 loses its higher bits.
    pub fn new(ids: &[u8], baud: u32) -> Self {
        let servos = ids.iter().map(|id| new_servo(id & MAX_ID)).collect();
        let memories = ids.iter().map(|id| Memory::new(Eeprom::new(id & MAX_ID, baud))).collect();
        let decoder = RequestDecoder::default();
        let mut ics = Self { servos, memories, decoder, host_baud: baud, answer: Vec::new() };
        for index in 0..ids.len() {
            ics.apply_limits(index);
        }
        ics
    }

    /// Whether a servo hears a request to an id at `now` [s].
    fn hears(&self, index: usize, request: &Request, now: f64) -> bool {
        let id = match request {
            Request::GetId | Request::SetId { .. } => None,
            Request::Move { id, .. }
            | Request::Position { id }
            | Request::Read { id, .. }
            | Request::Write { id, .. }
            | Request::ReadEeprom { id }
            | Request::WriteEeprom { id, .. } => Some(*id),
        };
        let servo = &self.servos[index];
        id.is_none_or(|id| id == servo.id)
            && !servo.has(Trouble::Gone)
            && now >= self.memories[index].busy_until
            && self.memories[index].eeprom.baud() == Some(self.line().baud)
    }

    /// Does what a servo is asked for.
    fn obey(&mut self, index: usize, request: &Request, now: f64) -> Answer {
        let (servo, memory) = (&mut self.servos[index], &mut self.memories[index]);
        match *request {
            Request::Move { position, .. } => {
                let answer = Answer::Moved(counts(servo, memory));
                move_to(servo, memory, position);
                answer
            }
            Request::Position { .. } => Answer::Position(counts(servo, memory)),
            Request::Read { parameter, .. } => {
                Answer::Read(parameter, read(servo, memory, parameter))
            }
            Request::Write { parameter, value, .. } => {
                match parameter {
                    Parameter::Stretch => memory.stretch = value,
                    Parameter::Speed => memory.speed = value,
                    Parameter::Current => memory.eeprom.set(Eeprom::CURRENT_LIMIT, value.into()),
                    Parameter::Temperature => {
                        memory.eeprom.set(Eeprom::TEMPERATURE_LIMIT, value.into());
                    }
                }
                self.apply_limits(index);
                Answer::Written(parameter, value)
            }
            Request::ReadEeprom { .. } => Answer::Eeprom(memory.eeprom),
            Request::WriteEeprom { eeprom, .. } => {
                *memory = Memory { busy_until: now + EEPROM_TIME, ..Memory::new(eeprom) };
                self.apply_limits(index);
                Answer::EepromWritten
            }
            Request::GetId => Answer::Id,
            Request::SetId { id } => {
                memory.eeprom.set(Eeprom::ID, id.into());
                self.apply_limits(index);
                Answer::Id
            }
        }
    }

    /// What the memory says of the servo.
    fn apply_limits(&mut self, index: usize) {
        let (servo, memory) = (&mut self.servos[index], &self.memories[index]);
        let byte = |field| u8::try_from(memory.eeprom.get(field)).unwrap_or(u8::MAX);
        servo.id = byte(Eeprom::ID) & MAX_ID;
        servo.limits.current = current_from_byte(byte(Eeprom::CURRENT_LIMIT));
        servo.limits.temperature = temperature_from_byte(byte(Eeprom::TEMPERATURE_LIMIT));
        servo.speed_limit = servo.rating.no_load_speed * f64::from(memory.speed) / MOST;
        if memory.has(Flags::FREE) {
            servo.torque_on = false;
        }
    }
}

impl Bus for Ics {
    fn line(&self) -> Line {
        let mut bauds = self.memories.iter().filter_map(|memory| memory.eeprom.baud());
        let first = bauds.clone().next().unwrap_or(BAUDS[0]);
        let hears_host = bauds.any(|baud| baud == self.host_baud);
        Line::eight_e_one(if hears_host { self.host_baud } else { first })
    }

    fn attune(&mut self, baud: u32) {
        self.host_baud = baud;
    }

    fn echoes(&self) -> bool {
        true
    }

    fn receive(&mut self, byte: u8, now: f64, answers: &mut Answers) {
        let Some(Ok(request)) = self.decoder.push(byte) else { return };
        self.answer.clear();
        let mut start = now + ANSWER_DELAY;
        // The ids do not change which servos hear this request.
        let hearing = (0..self.servos.len()).filter(|index| self.hears(*index, &request, now));
        for index in hearing.collect::<Vec<_>>() {
            let addressed = self.servos[index].id;
            let answer = self.obey(index, &request, now);
            if answer == Answer::EepromWritten {
                start = now + EEPROM_TIME;
            }
            if self.memories[index].has(Flags::SLAVE) {
                continue;
            }
            let begin = self.answer.len();
            // One that got its id by its own command answers with it, one that got it by its EEPROM does not yet.
            let id = if answer == Answer::Id { self.servos[index].id } else { addressed };
            answer.encode(id, &mut self.answer);
            if begin > 0 {
                // Two that answer at once pull the wire low together.
                let second = self.answer.split_off(begin);
                self.answer.iter_mut().zip(second).for_each(|(first, second)| *first &= second);
            }
        }
        if !self.answer.is_empty() {
            answers.send(start, &self.answer);
        }
    }

    fn advance(&mut self, _now: f64, _answers: &mut Answers) {
        self.servos.iter_mut().for_each(protect);
    }

    fn servos(&self) -> &[Servo] {
        &self.servos
    }

    fn servos_mut(&mut self) -> &mut [Servo] {
        &mut self.servos
    }
}

/// A servo with a number, limp and in the middle.
pub(super) fn new_servo(id: u8) -> Servo {
    let mut servo = Servo::new(id, KRS_2552);
    servo.limits.voltage = [6.0, 13.5];
    servo
}

/// Takes the torque from a servo that is too hot or overloaded.
pub(super) fn protect(servo: &mut Servo) {
    if servo.is_raised(Alarm::Heat) || servo.is_raised(Alarm::Overload) {
        servo.torque_on = false;
    }
}

/// Where a servo says it is.
fn counts(servo: &Servo, memory: &Memory) -> u16 {
    counts_from_angle(memory.sign() * servo.position)
}

/// Goes to a position, turns at its speed, or goes limp at 0.
fn move_to(servo: &mut Servo, memory: &Memory, position: u16) {
    servo.clear_overload();
    servo.torque_on = position != 0 && !memory.has(Flags::FREE);
    if position == 0 {
        return;
    }
    let [least, most] = [Eeprom::MIN_POSITION, Eeprom::MAX_POSITION].map(|f| memory.eeprom.get(f));
    let position = position.max(least).min(most);
    let angle = memory.sign() * position_from_counts(position);
    if memory.has(Flags::ROTATION) {
        servo.mode = Mode::Velocity;
        let share = angle / position_from_counts(crate::codec::ics::MAX_COUNTS);
        servo.goal_velocity = share * servo.rating.no_load_speed;
    } else {
        (servo.mode, servo.goal) = (Mode::Position, angle);
    }
}

fn read(servo: &Servo, memory: &Memory, parameter: Parameter) -> u8 {
    match parameter {
        Parameter::Stretch => memory.stretch,
        Parameter::Speed => memory.speed,
        Parameter::Current => byte_from_current(memory.sign() * servo.current),
        Parameter::Temperature => byte_from_temperature(servo.temperature),
    }
}

#[cfg(test)]
mod tests;
