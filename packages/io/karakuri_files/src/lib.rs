#![doc = include_str!("../README.md")]

mod resolve;
mod robot;

pub use resolve::FileAssets;
pub use robot::{LoadError, load_robot, read_text};
