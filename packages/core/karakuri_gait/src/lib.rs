#![doc = include_str!("../README.md")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

// the walkers of the tests in `tests/` name this crate
#[cfg(test)]
extern crate self as karakuri_gait;

pub mod compensation;
pub mod geometry;
pub mod planner;
#[cfg(test)]
#[path = "../tests/robots/mod.rs"]
mod robots;
pub mod zmp;
