#![doc = include_str!("../README.md")]

mod act;
mod arm;
mod cell;
mod error;
mod object;
mod rehearsal;
mod variation;

pub use act::Act;
pub use cell::{Cell, CellError, CellSettings, Faults};
pub use error::RehearsalError;
pub use object::state;
pub use rehearsal::{Prediction, RehearsalSettings, rehearse, replay, worst};
pub use variation::{Spread, Variation, least_probability};
