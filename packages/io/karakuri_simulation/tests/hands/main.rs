//! Hands of all kinds that pick and place in the simulation.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may stop them")]
#![expect(clippy::print_stdout, reason = "the counts of a survey")]

mod cell;
mod object;
mod random;
mod suction;
mod three_fingers;
