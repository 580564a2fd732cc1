#![doc = include_str!("../README.md")]

mod error;
mod evaluate;
mod grammar;
mod outside;
mod plan;
mod process;
mod run;
mod schema;
mod scope;
mod substitute;
mod value;
mod xml;

use std::path::PathBuf;

pub use error::{LaunchError, Place, RunError};
pub use evaluate::{Argument, arguments, evaluate, parse_arguments};
pub use outside::{Environment, Machine, Outside};
pub use plan::{Argument as Word, Output, Plan, Process, Respawn, Step};
pub use run::Runner;

/// Folder of the logs of ROS 2: `ROS_LOG_DIR`, else `ROS_HOME/log`, else `~/.ros/log`.
pub fn log_folder(environment: &Environment) -> Option<PathBuf> {
    let set = |name: &str| environment.get(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    set("ROS_LOG_DIR")
        .or_else(|| Some(set("ROS_HOME")?.join("log")))
        .or_else(|| Some(set("HOME")?.join(".ros/log")))
}
