//! The simulation that runs while the user looks at it, pushes it and changes it.

mod grab;
mod parameters;
mod playback;
mod recording;
mod runner;
mod simulation;
mod snapshots;

pub(crate) use parameters::list as list_parameters;
pub(crate) use playback::Playback;
pub(crate) use runner::{Answer, Audience, Order, Runner};
pub(crate) use simulation::{SetReport, Start};
