#![doc = include_str!("../README.md")]

mod cell;
pub mod conformance;
#[cfg(any())]
mod mock;
mod robot_io;
#[cfg(any())]
mod simulation;

pub use cell::{Cell, CellEvent, CellSettings, Tick};
#[cfg(any())]
pub use mock::Mock;
pub use robot_io::{
    ImuReading, JointCommand, JointLayout, RobotIo, RobotIoError, RobotLayout, RobotState,
    SensorLayout,
};
#[cfg(any())]
pub use simulation::Simulation;
