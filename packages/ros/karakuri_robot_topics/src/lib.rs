#![doc = include_str!("../README.md")]

mod commander;
mod joint_topics;

pub use commander::report;
pub use joint_topics::{JointTopics, ODOM, transform};
