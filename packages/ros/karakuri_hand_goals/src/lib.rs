#![doc = include_str!("../README.md")]

mod codes;
mod frames;
mod objects;
mod task;
mod tool_move;
mod topic;

pub use codes::{failure_code, failure_of_code, tool_failure_code, tool_failure_of_code};
pub use frames::{Frames, Locate, WorldFrame};
pub use objects::objects;
pub use task::{Asked, asked, part, place_message, statement_message};
pub use tool_move::{move_message, tool_move};
pub use topic::hand_topic;
