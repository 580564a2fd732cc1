#![doc = include_str!("../README.md")]

pub mod codec;
pub mod emulator;
pub mod port;
