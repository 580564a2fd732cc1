#![doc = include_str!("../README.md")]

mod act;
mod arm;
mod cell;
mod error;
mod film;
mod object;
mod open;
mod rehearsal;
mod variation;

pub use act::Act;
pub use cell::{Cell, CellError, CellSettings, Faults};
pub use error::RehearsalError;
pub use film::Film;
pub use object::state;
pub use open::{CellFile, OpenError};
pub use rehearsal::{Prediction, RehearsalSettings, observe, random, rehearse, worst};
pub use variation::{Spread, Variation, least_probability};
