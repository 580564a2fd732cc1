#![doc = include_str!("../README.md")]

mod band;
mod caller;
mod commander;
mod desk;
mod grasps;
mod order;
mod preview;
mod refusals;
mod robot;
mod run;
mod seen;
mod system;
mod verbs;
mod walk;

pub use caller::{Agreement, Caller, Flow, Instant, News, Question, Reply};
pub use commander::{Commander, Settings};
pub use order::{Order, verbs};
pub use refusals::of_error;
pub use robot::{OnStop, Robot};
pub use system::{System, SystemError, open_log, read_envelope};
pub use verbs::{CommanderVerbs, Outside};
