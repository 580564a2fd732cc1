#![doc = include_str!("../README.md")]

mod caller;
mod commander;
mod desk;
mod order;
mod preview;
mod refusals;
mod run;
mod seen;
mod verbs;

pub use caller::{Agreement, Caller, Flow, Instant, Reply};
pub use commander::{Commander, Settings};
pub use verbs::{CommanderVerbs, Outside};
