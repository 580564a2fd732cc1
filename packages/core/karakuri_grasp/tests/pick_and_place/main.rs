//! Pick and place on physics, without ROS: the whole chain in lockstep, and its reactions to trouble.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may stop them")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]
#![expect(clippy::print_stdout, reason = "the course of a run, shown when it fails")]

mod cell;
mod nominal;
mod order;
mod reactions;
mod scissor;
mod shapes;
