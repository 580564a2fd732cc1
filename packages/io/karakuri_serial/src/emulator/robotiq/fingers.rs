//! What a gripper's firmware does with its fingers.

use super::super::{Alarm, Limits, Rating, Servo, Trouble};
use crate::codec::robotiq::{Activation, Command, GripperFault, Model, Object, Release, Status};

/// Angle of the fingers when they meet. [rad]
const CLOSED: f64 = 0.8;
/// How near to its goal a motion is over. [rad]
const ARRIVED: f64 = 0.4 * CLOSED / 230.0;
/// Speed below which fingers stand still, as a share of the slowest. [-]
const STILL: f64 = 0.05;
/// Share of the allowed force from which standing fingers have met something. [-]
const PRESSED: f64 = 0.9;
/// How long they have to stand. [s]
const STALL_TIME: f64 = 0.05;
/// How hot it may be, and how cool it has to be before it moves again. [°C]
const HOT: [f64; 2] = [85.0, 80.0];
/// Byte of the speed at which an activation looks for the ends.
const ACTIVATION_SPEED: u8 = 40;

/// The motion that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Motion {
    None,
    /// First half of an activation.
    FindClosed,
    /// Second half.
    FindOpen,
    /// As commanded.
    Go,
    /// An emergency release.
    Release,
}

/// Fingers, their motor and their firmware.
#[derive(Debug)]
pub(super) struct Fingers {
    pub(super) servo: Servo,
    model: Model,
    command: Command,
    motion: Motion,
    activation: Activation,
    /// One that only a new activation clears.
    lasting: Option<GripperFault>,
    was_silent: bool,
    is_hot: bool,
    object: Object,
    /// Since when the fingers have pressed without moving. [s]
    pressed_since: Option<f64>,
}

impl Fingers {
    pub(super) fn new(model: Model, slave: u8) -> Self {
        // Both fingers together: force times the change of width is torque times the angle.
        let lever = model.stroke / CLOSED;
        let rating = Rating {
            no_load_speed: 1.2 * model.speed[1] / lever,
            stall_torque: model.force[1] * lever,
            stall_current: 1.0,
            voltage: 24.0,
            acceleration: 200.0,
            stops: [0.0, CLOSED],
        };
        let mut servo = Servo::new(slave, rating);
        // The overload of a servo's firmware: a gripper presses for as long as it is asked to.
        servo.limits = Limits {
            temperature: HOT[0],
            voltage: [21.6, 28.0],
            overload: f64::INFINITY,
            ..Limits::default()
        };
        servo.place(0.5 * CLOSED);
        Self {
            servo,
            model,
            command: Command::default(),
            motion: Motion::None,
            activation: Activation::Reset,
            lasting: None,
            was_silent: false,
            is_hot: false,
            object: Object::Moving,
            pressed_since: None,
        }
    }

    /// Does what the host has written.
    pub(super) fn command(&mut self, command: Command) {
        let before = std::mem::replace(&mut self.command, command);
        if !command.is_active {
            (self.activation, self.lasting) = (Activation::Reset, None);
            self.stop();
            self.servo.torque_on = false;
        } else if !before.is_active {
            self.activation = Activation::Activating;
            self.start(Motion::FindClosed);
        } else if command.release != Release::No && self.lasting.is_none() {
            self.lasting = Some(GripperFault::Releasing);
            self.start(Motion::Release);
        } else if self.activation == Activation::Ready
            && self.lasting.is_none()
            && command != before
        {
            if command.goes { self.start(Motion::Go) } else { self.stop() }
        }
    }

    /// Notes whether the request before the last one was long ago.
    pub(super) fn was_silent(&mut self, was_silent: bool) {
        self.was_silent = was_silent;
    }

    /// Ends motions that are over and notices what is in the way, at `now` [s].
    pub(super) fn advance(&mut self, now: f64) {
        self.notice_faults();
        let is_still = self.servo.velocity.abs() < STILL * self.rate(0);
        let is_there = is_still && (self.servo.goal - self.servo.position).abs() < ARRIVED;
        let is_pressing = is_still && self.servo.load().abs() > PRESSED * self.servo.torque_limit;
        if !is_pressing {
            self.pressed_since = None;
        }
        let is_stopped = is_pressing && now - *self.pressed_since.get_or_insert(now) >= STALL_TIME;
        match self.motion {
            Motion::FindClosed if is_there || is_stopped => self.start(Motion::FindOpen),
            Motion::FindOpen if is_there || is_stopped => {
                self.activation = Activation::Ready;
                self.object = Object::Arrived;
                self.stop();
                if self.command.goes {
                    self.start(Motion::Go);
                }
            }
            Motion::Release if is_there || is_stopped => {
                self.lasting = Some(GripperFault::Released);
                self.stop();
            }
            Motion::Go => {
                self.object = match (is_there, is_stopped) {
                    (true, _) => Object::Arrived,
                    (false, false) => Object::Moving,
                    (false, true) if self.servo.load() > 0.0 => Object::StoppedClosing,
                    (false, true) => Object::StoppedOpening,
                };
            }
            _ => {}
        }
    }

    pub(super) fn status(&self) -> Status {
        let count = |angle: f64| self.model.position(self.model.stroke * (1.0 - angle / CLOSED));
        Status {
            is_active: self.command.is_active,
            goes: self.command.goes,
            activation: self.activation,
            object: self.object,
            fault: self.fault(),
            goal: self.command.position,
            position: count(self.servo.position),
            current: tens_of_ma(self.servo.current),
        }
    }

    /// The gravest of its faults. [manual, §4.4]
    fn fault(&self) -> GripperFault {
        if let Some(fault) = self.lasting {
            fault
        } else if self.is_hot {
            GripperFault::Hot
        } else if self.command.goes && self.activation == Activation::Reset {
            GripperFault::NotActive
        } else if self.command.goes && self.activation == Activation::Activating {
            GripperFault::Delayed
        } else if self.was_silent {
            GripperFault::Silence
        } else {
            GripperFault::None
        }
    }

    fn notice_faults(&mut self) {
        let servo = &self.servo;
        self.is_hot = servo.temperature > if self.is_hot { HOT[1] } else { HOT[0] };
        let lasting = if servo.is_raised(Alarm::Voltage) {
            GripperFault::Voltage
        } else if servo.is_raised(Alarm::Sensor) {
            GripperFault::Internal
        } else if servo.is_raised(Alarm::Overload) || servo.is_raised(Alarm::Current) {
            GripperFault::Current
        } else if servo.has(Trouble::TorqueLost) && self.activation == Activation::Activating {
            GripperFault::Activation
        } else {
            if self.is_hot {
                self.stop();
            }
            return;
        };
        self.lasting = Some(lasting);
        self.stop();
    }

    /// Speed of the fingers by its byte. [rad/s]
    fn rate(&self, byte: u8) -> f64 {
        self.model.speed(byte) * CLOSED / self.model.stroke
    }

    fn start(&mut self, motion: Motion) {
        let command = self.command;
        let (goal, speed, force) = match motion {
            Motion::None => return,
            Motion::FindClosed => (CLOSED, ACTIVATION_SPEED, 0),
            Motion::FindOpen => (0.0, ACTIVATION_SPEED, 0),
            Motion::Release if command.release == Release::Opening => (0.0, 0, 0),
            Motion::Release => (CLOSED, 0, 0),
            Motion::Go => {
                let width = self.model.width(command.position);
                (CLOSED * (1.0 - width / self.model.stroke), command.speed, command.force)
            }
        };
        self.motion = motion;
        self.servo.goal = goal;
        self.servo.speed_limit = self.rate(speed);
        self.servo.torque_limit = self.model.force(force) / self.model.force[1];
        self.servo.torque_on = true;
        self.pressed_since = None;
        if motion == Motion::Go {
            self.object = Object::Moving;
        }
    }

    /// Stays where it is.
    fn stop(&mut self) {
        if self.motion != Motion::None {
            self.motion = Motion::None;
            self.servo.goal = self.servo.position;
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte")]
fn tens_of_ma(current: f64) -> u8 {
    (current.abs() * 100.0).round().clamp(0.0, 255.0) as u8
}
