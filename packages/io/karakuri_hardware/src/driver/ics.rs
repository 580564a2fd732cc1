//! ICS servos on one wire.
//!
//! A move is answered by where the servo is, so that one exchange a servo is a cycle; a servo without torque is sent to 0, which leaves
//! it so. Then one servo is asked for its temperature or current. There is no checksum: what answers is checked by its id and length
//! alone.

use std::time::Instant;

use karakuri_serial::Line;
use karakuri_serial::codec::ics::{
    Answer, AnswerDecoder, CENTRE, Eeprom, Flags, MAX_COUNTS, MIN_COUNTS, Parameter, Request,
    current_from_byte, temperature_from_byte,
};
use karakuri_serial::port::{PortError, Settings};

use super::bus::{Alarms, HelloError, Servo, ServoBus};
use super::kind::{BusKind, Cost};
use super::link::Link;
use super::rcb4::ICS_SERVO;
use super::robot::ServoRobot;
use super::setup::HardwareFile;

/// ICS servos in hardware files.
pub(super) const KIND: BusKind = BusKind {
    name: "ics",
    bauds: &[1_250_000, 115_200, 625_000],
    ids: (0, 31),
    first_id: 1,
    most: 32,
    period: 0.010,
    models: &[ICS_SERVO],
    line: Line::eight_e_one,
    cost: Cost { bytes: 5, bytes_per_servo: 6, pause: 1e-4, pause_per_servo: 1e-4 },
    make: |file, layout, ports| Box::new(ServoRobot::new(file, Ics::new(file), layout, ports)),
};

/// Times that a servo is asked before it counts as missing.
const TRIES: usize = 3;
/// Position that takes the torque away.
const FREE: u16 = 0;

/// Servos on one wire.
#[derive(Debug)]
pub(super) struct Ics {
    baud: u32,
    decoder: AnswerDecoder,
    /// The servo that is asked for more next, and for what.
    turn: usize,
    parameter: Parameter,
}

impl Ics {
    pub(super) fn new(file: &HardwareFile) -> Self {
        Self {
            baud: file.baud,
            decoder: AnswerDecoder::default(),
            turn: 0,
            parameter: Parameter::Temperature,
        }
    }

    fn ask(&mut self, link: &mut Link, request: &Request) -> Result<Option<Answer>, PortError> {
        link.retry(TRIES, 140, |link, by| self.ask_once(link, request, by))
    }

    fn ask_once(
        &mut self,
        link: &mut Link,
        request: &Request,
        by: Instant,
    ) -> Result<Option<Answer>, PortError> {
        self.decoder.expect(request);
        link.exchange(by, |out| request.encode(out), |byte| self.decoder.push(byte)?.ok())
    }

    /// Asks one servo for its temperature or current.
    fn ask_for_more(
        &mut self,
        link: &mut Link,
        servos: &mut [Servo],
        by: Instant,
    ) -> Result<(), PortError> {
        self.turn += 1;
        if self.turn >= servos.len() {
            self.turn = 0;
            self.parameter = match self.parameter {
                Parameter::Temperature => Parameter::Current,
                _ => Parameter::Temperature,
            };
        }
        let Some(servo) = servos.get_mut(self.turn).filter(|servo| servo.reading.answered) else {
            return Ok(());
        };
        let request = Request::Read { id: servo.id, parameter: self.parameter };
        match self.ask_once(link, &request, by)? {
            Some(Answer::Read(Parameter::Temperature, byte)) => {
                let temperature = temperature_from_byte(byte);
                servo.reading.temperature = Some(temperature);
                let heat = servo.heat_limit.is_some_and(|limit| temperature >= limit);
                servo.reading.alarms = Alarms { heat, ..Alarms::default() };
            }
            Some(Answer::Read(Parameter::Current, byte)) => {
                servo.reading.current = Some(current_from_byte(byte));
            }
            _ => {}
        }
        Ok(())
    }
}

fn position(goal: i32) -> u16 {
    let goal = goal.clamp(MIN_COUNTS.into(), MAX_COUNTS.into());
    u16::try_from(goal).unwrap_or(CENTRE)
}

fn take_position(answer: Option<Answer>, servo: &mut Servo) -> bool {
    let Some(Answer::Moved(counts) | Answer::Position(counts)) = answer else { return false };
    servo.reading.answered = true;
    servo.reading.position = counts.into();
    true
}

impl ServoBus for Ics {
    fn port_settings(&self) -> Settings {
        Settings { line: Line::eight_e_one(self.baud), raises_dtr: true }
    }

    fn hello(&mut self, link: &mut Link, servos: &mut [Servo]) -> Result<(), HelloError> {
        for servo in servos {
            if let Some(Answer::Eeprom(eeprom)) =
                self.ask(link, &Request::ReadEeprom { id: servo.id })?
            {
                let flags = eeprom.get(Eeprom::FLAGS);
                if flags & Flags::ROTATION != 0 {
                    let found = "is set to turn without end".to_owned();
                    return Err(servo.unfit(found, "take the flag `rotation` out of its EEPROM"));
                }
                let limit = u8::try_from(eeprom.get(Eeprom::TEMPERATURE_LIMIT)).unwrap_or_default();
                servo.heat_limit = Some(temperature_from_byte(limit));
                self.look(link, servo)?;
            }
        }
        Ok(())
    }

    fn look(&mut self, link: &mut Link, servo: &mut Servo) -> Result<bool, PortError> {
        // ICS 3.6; older servos say where they are only when they are sent somewhere.
        let answer = self.ask(link, &Request::Position { id: servo.id })?;
        if take_position(answer, servo) {
            return Ok(true);
        }
        let answer = self.ask(link, &Request::Move { id: servo.id, position: FREE })?;
        Ok(take_position(answer, servo))
    }

    fn engage(&mut self, link: &mut Link, servo: &Servo) -> Result<bool, PortError> {
        let request = Request::Move { id: servo.id, position: position(servo.goal) };
        Ok(self.ask(link, &request)?.is_some())
    }

    fn limp(&mut self, link: &mut Link, servo: &Servo) -> Result<(), PortError> {
        self.ask(link, &Request::Move { id: servo.id, position: FREE }).map(drop)
    }

    fn exchange(
        &mut self,
        link: &mut Link,
        servos: &mut [Servo],
        by: Instant,
    ) -> Result<(), PortError> {
        let n = servos.len();
        for (done, servo) in servos.iter_mut().enumerate().filter(|(_, servo)| servo.is_present) {
            let goal = if servo.is_engaged { position(servo.goal) } else { FREE };
            // The servo that is asked for more takes a share, too.
            let by = link.share(by, n + 1 - done);
            let answer =
                self.ask_once(link, &Request::Move { id: servo.id, position: goal }, by)?;
            take_position(answer, servo);
        }
        self.ask_for_more(link, servos, by)
    }
}
