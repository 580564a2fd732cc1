#![doc = include_str!("../README.md")]

mod control;
mod hand;
mod stabilizer;
mod tool_change;
mod walk;

pub use control::{ControlParameters, tool_link};
pub use hand::HandParameters;
pub use stabilizer::StabilizerParameters;
pub use tool_change::ToolChangeParameters;
pub use walk::WalkParameters;
