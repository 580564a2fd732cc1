//! What no step may do, whatever it is given: panic, leave a number that is none, or say that it solved what it did not.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may stop them")]

mod batch;
mod fuzz;
mod hard;
mod honest;
mod refused;
mod restore;
#[path = "../worlds/mod.rs"]
mod worlds;
