#![doc = include_str!("../README.md")]

mod cell;
pub mod conformance;
mod mock;
mod robot_io;
mod simulation;
mod tally;

pub use cell::{Cell, CellEvent, CellSettings, Tick};
pub use mock::Mock;
pub use robot_io::{
    ImuReading, JointCommand, JointLayout, RobotIo, RobotIoError, RobotLayout, RobotState,
    SensorLayout,
};
pub use simulation::Simulation;
pub use tally::Tally;
