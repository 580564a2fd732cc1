#![doc = include_str!("../README.md")]

pub mod codec;
pub mod emulator;
mod line;
pub mod port;

pub use line::{Line, Parity};
