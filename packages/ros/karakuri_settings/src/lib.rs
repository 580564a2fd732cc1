#![doc = include_str!("../README.md")]

mod control;
mod hand;
mod stabilizer;
mod walk;

pub use control::{ControlParameters, tool_link};
pub use hand::HandParameters;
pub use stabilizer::StabilizerParameters;
pub use walk::WalkParameters;
