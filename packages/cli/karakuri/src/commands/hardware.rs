//! `karakuri hardware`: what a maker does first with servos on a bus.

mod bus;
mod buses;
mod calibrate;
mod dynamixel;
mod feetech;
mod ics;
mod info;
mod jog;
mod motions;
mod play;
mod rcb1;
mod rcb4;
mod robotiq;
mod scan;
mod set_id;
mod upload;
mod watch;
mod wire;

use anyhow::Result;

use super::Outcome;
use crate::interrupt::{Interrupt, Interrupted};

/// Finds, names, moves and watches servos on a bus
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(subcommand)]
    task: Task,
}

const HELP: &str = "\
Only `jog` and `play` move anything, only `set-id` and `upload` write what is kept without power;
they ask before.
Without hardware, try them on `karakuri emulate feetech --pty /tmp/arm`.

  karakuri hardware scan feetech /dev/ttyACM0
  karakuri hardware set-id feetech /dev/ttyACM0 1 6
  karakuri hardware watch feetech /dev/ttyACM0 --ids 1-6

`karakuri hardware TASK --help` says more about each.";

#[derive(Debug, clap::Subcommand)]
enum Task {
    Scan(scan::Args),
    Info(info::Args),
    SetId(set_id::Args),
    Calibrate(calibrate::Args),
    Jog(jog::Args),
    Watch(watch::Args),
    Upload(upload::Args),
    Play(play::Args),
}

/// Runs the command.
///
/// # Errors
/// When a port, a file or a device refuses, in a sentence with its remedy.
pub fn run(args: &Args) -> Result<Outcome> {
    let interrupt = Interrupt::watch()?;
    let outcome = match &args.task {
        Task::Scan(args) => scan::run(args, &interrupt),
        Task::Info(args) => info::run(args, &interrupt),
        Task::SetId(args) => set_id::run(args, &interrupt),
        Task::Calibrate(args) => calibrate::run(args, &interrupt),
        Task::Jog(args) => jog::run(args, &interrupt),
        Task::Watch(args) => watch::run(args, &interrupt),
        Task::Upload(args) => upload::run(args, &interrupt),
        Task::Play(args) => play::run(args, &interrupt),
    };
    match outcome {
        Err(error) if error.is::<Interrupted>() => Ok(Outcome::Failed(error.to_string())),
        outcome => outcome,
    }
}
