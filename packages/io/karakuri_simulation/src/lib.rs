#![doc = include_str!("../README.md")]

mod mock;
mod simulated_world;
mod tally;

pub use mock::Mock;
pub use simulated_world::SimulatedWorld;
pub use tally::Tally;
