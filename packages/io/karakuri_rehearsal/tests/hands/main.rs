//! Hands of all kinds that pick and place in the simulation.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may stop them")]
#![expect(clippy::print_stdout, reason = "the counts of a survey")]

mod acts;
mod cell;
mod clones;
mod grasps;
mod hulls;
mod moves;
mod object;
mod parts;
mod predictions;
mod random;
mod rehearsals;
mod suction;
mod three_fingers;
mod underactuated;
