#![doc = include_str!("../README.md")]

mod act;
mod arm;
mod cell;
mod ended;
mod error;
mod film;
mod gait;
mod hand;
mod measured;
mod object;
mod open;
mod rehearsal;
mod tool_changer;
mod tuning;
mod unloading;
mod variation;

pub use act::Act;
pub use cell::{Cell, CellError, CellSettings, Faults};
pub use ended::{Ended, Trouble, WalkEnd, WalkTrouble};
pub use error::RehearsalError;
pub use film::Film;
pub use gait::Gait;
pub use hand::Hand;
pub use object::{state, state_as_it_lies};
pub use open::{CellFile, OpenError};
pub use rehearsal::{Prediction, RehearsalSettings, observe, random, rehearse, worst};
pub use tool_changer::ToolChanger;
pub use tuning::{HandTuning, Tuning, WalkTuning};
pub use unloading::{
    Attempt, Carried, Destination, Obstacle, Tray, Unloading, UnloadingSettings, carry_out,
};
pub use variation::{Spread, Variation, least_probability};
