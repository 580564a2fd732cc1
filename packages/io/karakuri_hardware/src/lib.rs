#![doc = include_str!("../README.md")]

pub mod conformance;
mod pacing;
mod robot_io;

pub use pacing::{Pacer, PacingEvent, PacingSettings, Tick};
pub use robot_io::{
    Fault, ImuReading, JointCommand, JointLayout, RobotIo, RobotIoError, RobotLayout, RobotState,
    SensorLayout,
};
