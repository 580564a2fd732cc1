//! Boards and servos on a pseudo-terminal, in the place of a machine.
//!
//! A [`Bus`] plays what hangs on one line: it takes bytes and gives answers, in a time that it is handed. Its [`Servo`]s are the
//! electromechanics that all buses share, and a [`Plant`] moves them. [`Fault`]s disturb any of it.

mod device;
pub mod dynamixel;
mod emulation;
mod event;
mod fault;
pub mod feetech;
mod goal_steps;
pub mod ics;
mod in_process;
pub(crate) mod pty;
pub mod rcb1;
pub mod rcb4;
pub mod robotiq;
mod run;
mod servo;
mod side;

pub use crate::line::{Line, Parity};
pub use device::{Answers, Bus};
pub use emulation::{Emulation, PortState};
pub use event::Event;
pub use fault::{Fault, FaultError};
pub use in_process::InProcess;
pub use run::{Entrances, RunError, run};
pub use servo::{
    Alarm, FreeMotion, Limits, Mode, Object, Plant, Rating, Root, Servo, Trouble, move_servos,
};
