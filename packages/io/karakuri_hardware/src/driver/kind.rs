//! Kinds of buses and of the servos on them.

use karakuri_serial::Line;

use super::error::OpenError;
use super::ports::Ports;
use super::setup::HardwareFile;
use crate::{RobotIo, RobotLayout};

/// A kind of bus.
#[derive(Debug)]
pub struct BusKind {
    /// Its name in hardware files.
    pub name: &'static str,
    /// Baud rates, the usual one first. [bit/s]
    pub bauds: &'static [u32],
    /// Least and greatest number of a servo.
    pub ids: (u8, u8),
    /// Usual number of the only or the first servo.
    pub first_id: u8,
    /// How many servos one line can have.
    pub most: usize,
    /// Usual period of a cycle. [s]
    pub period: f64,
    /// Kinds of servos, the usual one first.
    pub models: &'static [ServoModel],
    /// How bytes are sent at a baud rate [bit/s].
    pub line: fn(u32) -> Line,
    /// Bytes and pauses of a cycle.
    pub cost: Cost,
    /// Makes a robot.
    pub make: Make,
}

/// Makes a robot of a kind of bus, whose port is not open yet.
pub type Make = fn(&HardwareFile, RobotLayout, Box<dyn Ports>) -> Box<dyn Machine>;

/// A robot whose port is opened by its first sample, or before.
pub trait Machine: RobotIo {
    /// Opens the port, meets the servos and switches them on where they are.
    ///
    /// # Errors
    /// What keeps it from starting.
    fn start_now(&mut self) -> Result<(), OpenError>;
}

/// A kind of servo: what its counts are unless a hardware file says otherwise.
#[derive(Debug)]
pub struct ServoModel {
    /// Its name in hardware files.
    pub name: &'static str,
    /// Counts in the middle. [counts]
    pub zero: f64,
    /// Counts of a radian or metre. [counts/rad or counts/m]
    pub counts_per_radian: f64,
    /// Least and greatest goal. [counts]
    pub range: (i32, i32),
    /// Whether its torque can be limited.
    pub limits_torque: bool,
}

/// What a cycle takes of the wire.
#[derive(Debug)]
pub struct Cost {
    /// Bytes of a cycle without servos. [byte]
    pub bytes: usize,
    /// Bytes that a servo adds. [byte]
    pub bytes_per_servo: usize,
    /// Pauses of devices in a cycle. [s]
    pub pause: f64,
    /// Pauses that a servo adds. [s]
    pub pause_per_servo: f64,
}

impl BusKind {
    /// Time that the wire needs for a cycle of so many servos at a baud rate [bit/s]. [s]
    pub fn cycle_time(&self, n_servos: usize, baud: u32) -> f64 {
        let bytes = self.cost.bytes + n_servos * self.cost.bytes_per_servo;
        let pause = self.cost.pause + n_servos as f64 * self.cost.pause_per_servo;
        bytes as f64 * (self.line)(baud).byte_time() + pause
    }
}
