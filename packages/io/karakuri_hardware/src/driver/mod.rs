//! Robots whose joints are servos on a bus.
//!
//! ```text
//! hardware file -> HardwareFile -> open() -> ServoRobot: RobotIo -> ServoBus -> Link -> port
//! ```
//!
//! [`ServoRobot`] is the same for all buses: angles and counts, deadlines, a safe start, silence, loss and return, alarms. A
//! [`ServoBus`] knows the protocol only, a file each; [`BUSES`] lists them.

mod bus;
mod deadlines;
mod dynamixel;
mod feetech;
mod hardware_file;
mod ics;
mod joint;
mod link;
mod rcb1;
mod rcb4;
mod robot;
mod robotiq;
mod servo_map;
mod start;

pub use bus::{Alarms, HelloError, Reading, Servo, ServoBus};
pub use hardware_file::{AtExit, HardwareFile, Missing};
pub use link::Link;
pub use robot::ServoRobot;
pub use servo_map::ServoMap;

use karakuri_serial::Line;

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
    /// Opens a robot.
    pub open: Open,
}

/// Opens a robot of a kind of bus.
pub type Open = fn(&HardwareFile, RobotLayout) -> Result<Box<dyn RobotIo>, OpenError>;

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

/// The buses that are known. A new one is a file and a line.
pub const BUSES: [&BusKind; 6] =
    [&feetech::KIND, &dynamixel::KIND, &rcb1::KIND, &rcb4::KIND, &ics::KIND, &robotiq::KIND];

/// Why a robot cannot be opened.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Its port.
    #[error(transparent)]
    Port(#[from] karakuri_serial::port::OpenError),
    /// What is behind the port.
    #[error(transparent)]
    Hello(#[from] HelloError),
    /// Servos do not answer.
    #[error("{0}")]
    Missing(String),
}

/// Opens the robot that a hardware file describes: meets its servos and switches them on where they are. Nothing moves.
///
/// # Errors
/// What keeps it from starting, in a sentence with its remedy.
pub fn open(file: &HardwareFile, layout: RobotLayout) -> Result<Box<dyn RobotIo>, OpenError> {
    (file.bus.open)(file, layout)
}
