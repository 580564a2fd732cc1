#![doc = include_str!("../README.md")]

pub mod conformance;
pub mod driver;
mod health;
mod load;
mod pacing;
mod robot_io;

pub use health::{Health, HealthLevel};
pub use load::{Load, LoadMeter};
pub use pacing::{Pacer, PacingEvent, PacingSettings, Tick};
pub use robot_io::{
    CupLayout, Fault, GeneratorLayout, ImuReading, JointCommand, JointLayout, RobotIo,
    RobotIoError, RobotLayout, RobotState, SensorLayout,
};
