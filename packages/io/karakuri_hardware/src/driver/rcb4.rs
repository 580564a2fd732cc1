//! The RCB-4 board with its ICS servos.
//!
//! A servo's number is its ICS number: twice its id, and 1 more on the second port. The board is found at any of its baud rates and set
//! to that of the hardware file. A cycle is one command that moves all servos within a frame, and copies of their records. The board tells
//! of no temperature, current or fault.

use std::time::{Duration, Instant};

use karakuri_serial::Line;
use karakuri_serial::codec::ics::{CENTRE, COUNTS_PER_RADIAN, MAX_COUNTS, MIN_COUNTS};
use karakuri_serial::codec::rcb4::memory::{
    CONFIGURATION, Configuration, ICS_TABLE, RECORD_SIZE, UNASSIGNED, record, record_of,
};
use karakuri_serial::codec::rcb4::{
    Answer, AnswerDecoder, BAUDS, Data, Goal, Place, Request, SERVOS, ServoSet, Source,
};
use karakuri_serial::port::{PortError, Settings};

use super::bus::{HelloError, Servo, ServoBus};
use super::kind::{BusKind, Cost, ServoModel};
use super::link::Link;
use super::robot::ServoRobot;
use super::setup::HardwareFile;

/// RCB-4 boards in hardware files.
pub(super) const KIND: BusKind = BusKind {
    name: "rcb4",
    bauds: &[1_250_000, 625_000, 115_200],
    ids: (0, 34),
    first_id: 1,
    most: SERVOS,
    period: 0.015,
    models: &[ICS_SERVO],
    line: Line::eight_e_one,
    // A move of all servos with its answer, and a record of 20 bytes each.
    cost: Cost { bytes: 14, bytes_per_servo: 24, pause: 0.001, pause_per_servo: 0.0 },
    make: |file, layout, ports| Box::new(ServoRobot::new(file, Rcb4::new(file), layout, ports)),
};

/// An ICS servo: 8000 counts over 270°.
pub(super) const ICS_SERVO: ServoModel = ServoModel {
    name: "ics",
    zero: CENTRE as f64,
    counts_per_radian: COUNTS_PER_RADIAN,
    range: (MIN_COUNTS as i32, MAX_COUNTS as i32),
    limits_torque: false,
};

/// Times that the board is asked before it counts as missing.
const TRIES: usize = 3;
/// Records that are read with one copy, from the first position to the last: 122 bytes.
const RECORDS_A_COPY: u16 = 7;
/// Longest time until servos that the board talks to have reported where they are: a few frames. [s]
const FIRST_REPORT: Duration = Duration::from_millis(100);

/// The board.
#[derive(Debug)]
pub(super) struct Rcb4 {
    baud: u32,
    decoder: AnswerDecoder,
    /// ICS numbers of the servos, rising.
    numbers: Vec<u8>,
    goals: [Goal; SERVOS],
}

impl Rcb4 {
    pub(super) fn new(file: &HardwareFile) -> Self {
        let mut numbers: Vec<u8> = file.servos.iter().map(|servo| servo.id).collect();
        numbers.sort_unstable();
        let goals = [Goal::Free; SERVOS];
        Self { baud: file.baud, decoder: AnswerDecoder::default(), numbers, goals }
    }

    fn ask(&mut self, link: &mut Link, request: &Request) -> Result<Option<Answer>, PortError> {
        link.retry(TRIES, 280, |link, by| self.ask_once(link, request, by))
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

    fn read(
        &mut self,
        link: &mut Link,
        address: u16,
        count: u8,
    ) -> Result<Option<Data>, PortError> {
        let request = Request::Move { to: Place::Host, from: Source::Ram { address, count } };
        Ok(self.ask(link, &request)?.and_then(|answer| match answer {
            Answer::Data(data) => Some(data),
            _ => None,
        }))
    }

    fn write_word(&mut self, link: &mut Link, address: u16, word: u16) -> Result<bool, PortError> {
        let Ok(data) = Data::new(&word.to_le_bytes()) else { return Ok(false) };
        let to = Place::Ram { address };
        let answer = self.ask(link, &Request::Move { to, from: Source::Literal(data) })?;
        Ok(matches!(answer, Some(Answer::Done { .. })))
    }

    /// Finds the board at one of its baud rates.
    fn find(&mut self, link: &mut Link) -> Result<bool, PortError> {
        let others = BAUDS.into_iter().rev().filter(|baud| *baud != self.baud);
        for baud in std::iter::once(self.baud).chain(others).collect::<Vec<_>>() {
            link.set_baud(baud)?;
            if self.ask(link, &Request::Acknowledge)?.is_some() {
                return Ok(true);
            }
        }
        link.set_baud(self.baud)?;
        Ok(false)
    }

    /// Stops the board's own program, lets it talk to servos, and changes to the baud rate of the file.
    fn configure(&mut self, link: &mut Link) -> Result<bool, HelloError> {
        let Some(data) = self.read(link, CONFIGURATION, 2)? else { return Ok(false) };
        let word = u16::from_le_bytes([data.bytes()[0], data.bytes()[1]]);
        let word = word & !(Configuration::RUN | Configuration::VECTORS) | Configuration::ICS;
        let Some(configuration) = Configuration(word).with_baud(self.baud) else {
            return Ok(false);
        };
        if !self.write_word(link, CONFIGURATION, configuration.0)? {
            return Ok(false);
        }
        link.set_baud(self.baud)?;
        Ok(self.ask(link, &Request::Acknowledge)?.is_some())
    }

    /// Lets the board talk to a servo, without torque unless it has some.
    fn assign(&mut self, link: &mut Link, servo: &Servo) -> Result<(), PortError> {
        let entry = ICS_TABLE + 2 * u16::from(servo.id);
        let Some(data) = self.read(link, entry, 2)? else { return Ok(()) };
        let address = u16::from_le_bytes([data.bytes()[0], data.bytes()[1]]);
        if address == UNASSIGNED {
            // The record of a board without a project says "to the middle".
            let record = record_of(servo.id.into());
            self.write_word(link, record + record::REFERENCE, Goal::Free.word())?;
            self.write_word(link, entry, record)?;
        }
        Ok(())
    }

    /// Reads the records of servos until `by`.
    fn read_places(
        &mut self,
        link: &mut Link,
        servos: &mut [Servo],
        by: Instant,
    ) -> Result<(), PortError> {
        let mut next = 0;
        while let Some(first) = self.numbers.get(next).copied() {
            let end = u16::from(first) + RECORDS_A_COPY;
            let after = self.numbers.partition_point(|number| u16::from(*number) < end);
            let last = self.numbers[after - 1];
            next = after;
            let address = record_of(first.into()) + record::PRESENT;
            let count = u16::from(last - first) * RECORD_SIZE + 2;
            let count = u8::try_from(count).unwrap_or(u8::MAX);
            let request = Request::Move { to: Place::Host, from: Source::Ram { address, count } };
            let Some(Answer::Data(data)) = self.ask_once(link, &request, by)? else { continue };
            for servo in servos.iter_mut().filter(|servo| (first..=last).contains(&servo.id)) {
                let at = usize::from(servo.id - first) * usize::from(RECORD_SIZE);
                let place = u16::from_le_bytes([data.bytes()[at], data.bytes()[at + 1]]);
                // 0 is a servo that has reported nothing.
                if place != 0 {
                    servo.reading.answered = true;
                    servo.reading.position = place.into();
                }
            }
        }
        Ok(())
    }

    fn move_one(&mut self, link: &mut Link, id: u8, goal: Goal) -> Result<bool, PortError> {
        let answer = self.ask(link, &Request::MoveServo { servo: id, frames: 1, goal })?;
        Ok(matches!(answer, Some(Answer::Done { .. })))
    }
}

fn goal(counts: i32) -> Goal {
    let counts = counts.clamp(MIN_COUNTS.into(), MAX_COUNTS.into());
    Goal::Position(u16::try_from(counts).unwrap_or(CENTRE))
}

impl ServoBus for Rcb4 {
    fn port_settings(&self) -> Settings {
        Settings { line: Line::eight_e_one(self.baud), raises_dtr: true }
    }

    fn hello(&mut self, link: &mut Link, servos: &mut [Servo]) -> Result<(), HelloError> {
        if !self.find(link)? {
            return Ok(());
        }
        if !self.configure(link)? {
            return Err(HelloError::Unfit {
                device: "the RCB-4".to_owned(),
                found: format!("does not take its configuration for {} baud", self.baud),
                remedy: "switch it off and on, or write another `baud`".to_owned(),
            });
        }
        for servo in &*servos {
            self.assign(link, servo)?;
        }
        let end = link.now() + FIRST_REPORT;
        while link.now() < end && servos.iter().any(|servo| !servo.reading.answered) {
            let by = link.deadline(1024);
            self.read_places(link, servos, by)?;
        }
        Ok(())
    }

    fn knock(&mut self, link: &mut Link, _servo: &mut Servo) -> Result<bool, PortError> {
        // After a power cut it listens with another baud rate than before.
        self.find(link)
    }

    fn look(&mut self, link: &mut Link, servo: &mut Servo) -> Result<bool, PortError> {
        let address = record_of(servo.id.into()) + record::PRESENT;
        let Some(data) = self.read(link, address, 2)? else { return Ok(false) };
        let place = u16::from_le_bytes([data.bytes()[0], data.bytes()[1]]);
        servo.reading.position = place.into();
        servo.reading.answered = place != 0;
        Ok(place != 0)
    }

    fn engage(&mut self, link: &mut Link, servo: &Servo) -> Result<bool, PortError> {
        // A servo moves only after one hold.
        Ok(self.move_one(link, servo.id, Goal::Hold)?
            && self.move_one(link, servo.id, goal(servo.goal))?)
    }

    fn limp(&mut self, link: &mut Link, servo: &Servo) -> Result<(), PortError> {
        self.move_one(link, servo.id, Goal::Free).map(drop)
    }

    fn limp_all(&mut self, link: &mut Link, servos: &[Servo]) -> Result<(), PortError> {
        let set: ServoSet = servos.iter().map(|servo| usize::from(servo.id)).collect();
        let goals = [Goal::Free; SERVOS];
        self.ask(link, &Request::MoveServos { servos: set, frames: 1, goals }).map(drop)
    }

    fn exchange(
        &mut self,
        link: &mut Link,
        servos: &mut [Servo],
        by: Instant,
    ) -> Result<(), PortError> {
        let mut set = ServoSet::default();
        for servo in servos.iter().filter(|servo| servo.is_engaged) {
            set.insert(servo.id.into());
            self.goals[usize::from(servo.id)] = goal(servo.goal);
        }
        if set.n_servos() > 0 {
            let request = Request::MoveServos { servos: set, frames: 1, goals: self.goals };
            self.ask_once(link, &request, by)?;
        }
        self.read_places(link, servos, by)
    }
}
