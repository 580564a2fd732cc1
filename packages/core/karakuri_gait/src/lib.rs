#![doc = include_str!("../README.md")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

pub mod compensation;
pub mod geometry;
pub mod planner;
pub mod zmp;
