//! A Robotiq 2F gripper: one joint, whose counts are those of the gripper's position, 0 open to 255 shut.
//!
//! A cycle reads the status and writes a command only when it changes: some grippers stall under a stream of equal writes. An activation
//! opens and shuts the fingers once, by the gripper's own doing; it is done when the gripper is not active, and after its faults.

use std::time::{Duration, Instant};

use karakuri_serial::Line;
use karakuri_serial::codec::robotiq::{
    Activation, Answer, AnswerDecoder, BAUD, COMMAND_ADDRESS, Command, GripperFault, ReadFunction,
    Request, STATUS_ADDRESS, Status, Words,
};
use karakuri_serial::port::{PortError, Settings};

use super::bus::{Alarms, HelloError, Reading, Servo, ServoBus};
use super::kind::{BusKind, Cost, ServoModel};
use super::link::Link;
use super::robot::ServoRobot;

/// Robotiq grippers in hardware files.
pub(super) const KIND: BusKind = BusKind {
    name: "robotiq",
    bauds: &[BAUD],
    ids: (1, 247),
    first_id: 9,
    most: 1,
    period: 0.040,
    // Joints of the makers' URDFs: open at 0, shut at 0.8 rad and 0.7 rad, where the gripper says 230.
    models: &[
        ServoModel {
            name: "2f85",
            zero: 0.0,
            counts_per_radian: 230.0 / 0.8,
            range: (0, 255),
            limits_torque: false,
        },
        ServoModel {
            name: "2f140",
            zero: 0.0,
            counts_per_radian: 230.0 / 0.7,
            range: (0, 255),
            limits_torque: false,
        },
    ],
    line: Line::eight_n_one,
    cost: Cost { bytes: 42, bytes_per_servo: 0, pause: 0.010, pause_per_servo: 0.0 },
    make: |file, layout, ports| Box::new(ServoRobot::new(file, Robotiq::new(), layout, ports)),
};

/// Times that the gripper is asked before it counts as missing.
const TRIES: usize = 3;
/// Longest activation. [s]
const LONGEST_ACTIVATION: Duration = Duration::from_secs(8);
/// Speed and force of motions, as shares of 255: as fast as it can, at 40 % of its force.
const SPEED: u8 = 255;
const FORCE: u8 = 100;
/// Words of status and command.
const N_WORDS: u16 = 3;

/// A gripper.
#[derive(Debug)]
pub(super) struct Robotiq {
    decoder: AnswerDecoder,
    /// What it was sent last; none if that is not known.
    sent: Option<Command>,
}

impl Robotiq {
    pub(super) fn new() -> Self {
        Self { decoder: AnswerDecoder::default(), sent: None }
    }

    fn ask(
        &mut self,
        link: &mut Link,
        slave: u8,
        request: &Request,
    ) -> Result<Option<Answer>, PortError> {
        link.retry(TRIES, 64, |link, by| self.ask_once(link, slave, request, by))
    }

    fn ask_once(
        &mut self,
        link: &mut Link,
        slave: u8,
        request: &Request,
        by: Instant,
    ) -> Result<Option<Answer>, PortError> {
        self.decoder.reset();
        let take = |byte| {
            let (from, answer) = self.decoder.push(byte)?.ok()?;
            (from == slave && answer.is_of(request)).then_some(answer)
        };
        link.exchange(by, |out| request.encode(slave, out), take)
    }

    fn status(&mut self, link: &mut Link, slave: u8) -> Result<Option<Status>, PortError> {
        let answer = self.ask(link, slave, &STATUS)?;
        Ok(answer.and_then(|answer| status_of(&answer)))
    }

    fn command(&mut self, link: &mut Link, slave: u8, command: Command) -> Result<bool, PortError> {
        let Some(request) = write_of(command) else { return Ok(false) };
        self.sent = None;
        let is_written = matches!(self.ask(link, slave, &request)?, Some(Answer::Written { .. }));
        if is_written {
            self.sent = Some(command);
        }
        Ok(is_written)
    }

    /// Activates the gripper and waits until it has found its ends.
    fn activate(&mut self, link: &mut Link, slave: u8) -> Result<bool, PortError> {
        let active = Command { is_active: true, ..Command::default() };
        if !self.command(link, slave, Command::default())? || !self.command(link, slave, active)? {
            return Ok(false);
        }
        let end = link.now() + LONGEST_ACTIVATION;
        while link.now() < end {
            let status = self.status(link, slave)?;
            if status.is_some_and(|status| status.activation == Activation::Ready) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Asks for the status.
const STATUS: Request =
    Request::Read { function: ReadFunction::Input, address: STATUS_ADDRESS, count: N_WORDS };

fn write_of(command: Command) -> Option<Request> {
    let words = Words::new(&command.to_words())?;
    Some(Request::Write { address: COMMAND_ADDRESS, words })
}

fn status_of(answer: &Answer) -> Option<Status> {
    let Answer::Words { words, .. } = answer else { return None };
    let [a, b, c] = **words else { return None };
    Some(Status::from_words([a, b, c]))
}

/// The command that sends the fingers to a goal.
fn go_to(goal: i32) -> Command {
    Command {
        is_active: true,
        goes: true,
        position: u8::try_from(goal.clamp(0, 255)).unwrap_or(u8::MAX),
        speed: SPEED,
        force: FORCE,
        ..Command::default()
    }
}

/// Whether only a new activation clears a fault.
fn is_lasting(fault: GripperFault) -> bool {
    !matches!(
        fault,
        GripperFault::None
            | GripperFault::Delayed
            | GripperFault::NotActive
            | GripperFault::Hot
            | GripperFault::Silence
    )
}

fn take_status(status: Status, reading: &mut Reading) {
    let fault = status.fault;
    *reading = Reading {
        answered: true,
        position: status.position.into(),
        current: Some(status.current_a()),
        is_on: Some(status.is_active && status.activation == Activation::Ready),
        alarms: Alarms {
            voltage: fault == GripperFault::Voltage,
            heat: fault == GripperFault::Hot,
            overload: is_lasting(fault) && fault != GripperFault::Voltage,
            ..Alarms::default()
        },
        errors: u32::from(status.to_words()[1] >> 8),
        ..Reading::default()
    };
}

impl ServoBus for Robotiq {
    fn port_settings(&self) -> Settings {
        Settings { line: Line::eight_n_one(BAUD), raises_dtr: true }
    }

    fn hello(&mut self, link: &mut Link, servos: &mut [Servo]) -> Result<(), HelloError> {
        self.sent = None;
        for servo in servos {
            let Some(status) = self.status(link, servo.id)? else { continue };
            let is_ready = status.is_active && status.activation == Activation::Ready;
            if (!is_ready || is_lasting(status.fault)) && !self.activate(link, servo.id)? {
                let found = "does not end its activation".to_owned();
                let remedy = "take away what is in the fingers' path and check the 24 V supply";
                return Err(servo.unfit(found, remedy));
            }
            self.look(link, servo)?;
        }
        Ok(())
    }

    fn look(&mut self, link: &mut Link, servo: &mut Servo) -> Result<bool, PortError> {
        let Some(status) = self.status(link, servo.id)? else { return Ok(false) };
        take_status(status, &mut servo.reading);
        Ok(true)
    }

    fn recover(&mut self, link: &mut Link, servo: &Servo) -> Result<(), PortError> {
        self.activate(link, servo.id).map(drop)
    }

    fn engage(&mut self, link: &mut Link, servo: &Servo) -> Result<bool, PortError> {
        self.command(link, servo.id, go_to(servo.goal))
    }

    fn limp(&mut self, link: &mut Link, servo: &Servo) -> Result<(), PortError> {
        self.command(link, servo.id, Command::default()).map(drop)
    }

    fn exchange(
        &mut self,
        link: &mut Link,
        servos: &mut [Servo],
        by: Instant,
    ) -> Result<(), PortError> {
        for servo in servos {
            let command = go_to(servo.goal);
            if servo.is_engaged
                && self.sent != Some(command)
                && let Some(request) = write_of(command)
            {
                let answer = self.ask_once(link, servo.id, &request, by)?;
                // What was not acknowledged is sent again.
                self.sent = answer.map(|_| command);
            }
            let answer = self.ask_once(link, servo.id, &STATUS, by)?;
            if let Some(status) = answer.as_ref().and_then(status_of) {
                take_status(status, &mut servo.reading);
            }
        }
        Ok(())
    }
}
