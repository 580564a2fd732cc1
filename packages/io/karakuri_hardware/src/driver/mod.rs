//! Robots whose joints are servos on a bus.
//!
//! ```text
//! hardware file -> HardwareFile -> open() or await_robot() -> ServoRobot: RobotIo -> ServoBus -> Link -> port
//! ```
//!
//! [`ServoRobot`] is the same for all buses: angles and counts, deadlines, a safe start, silence, loss and return, alarms. A
//! [`ServoBus`] knows the protocol only, a file each; [`BUSES`] lists them.

mod bus;
mod deadlines;
mod dynamixel;
mod error;
mod feetech;
mod find;
mod hardware_file;
mod ics;
mod joint;
mod kind;
mod link;
mod ports;
mod rcb1;
mod rcb4;
mod registry;
mod robot;
mod robotiq;
mod servo_map;
mod setup;
mod start;

pub use bus::{Alarms, HelloError, Reading, Servo, ServoBus};
pub use error::OpenError;
pub use find::{FindError, find};
pub use kind::{BusKind, Cost, Machine, Make, ServoModel};
pub use link::Link;
pub use ports::{Ports, SerialPorts};
pub use registry::BUSES;
pub use robot::ServoRobot;
pub use servo_map::ServoMap;
pub use setup::{AtExit, HardwareFile, Missing, ServoSetup};

use crate::{RobotIo, RobotLayout};

/// Opens the robot that a hardware file describes: meets its servos and switches them on where they are. Nothing moves.
///
/// # Errors
/// What keeps it from starting, in a sentence with its remedy.
pub fn open(file: &HardwareFile, layout: RobotLayout) -> Result<Box<dyn RobotIo>, OpenError> {
    open_on(file, layout, Box::new(SerialPorts))
}

/// Opens the robot that a hardware file describes on ports of one's own, such as an
/// [emulation in this process](karakuri_serial::emulator::InProcess).
///
/// # Errors
/// What keeps it from starting, in a sentence with its remedy.
pub fn open_on(
    file: &HardwareFile,
    layout: RobotLayout,
    ports: Box<dyn Ports>,
) -> Result<Box<dyn RobotIo>, OpenError> {
    let mut robot = (file.bus.make)(file, layout, ports);
    robot.start_now()?;
    Ok(robot)
}

/// Robot that a hardware file describes, met as soon as it is there: looked for once a second, with the first sample at the earliest.
/// Until then it is not present, and its fault says why.
pub fn await_robot(file: &HardwareFile, layout: RobotLayout) -> Box<dyn RobotIo> {
    (file.bus.make)(file, layout, Box::new(SerialPorts))
}
