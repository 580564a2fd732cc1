//! `karakuri hardware play`: a motion out of the memory of boards.

use anyhow::Result;

use super::motions::{Keeper, MotionArgs};
use super::{rcb1, rcb4};
use crate::commands::Outcome;
use crate::interrupt::Interrupt;
use crate::output;

/// Plays a motion out of the memory of RCB-1 boards or an RCB-4
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    #[command(flatten)]
    motion: MotionArgs,
}

const HELP: &str = "\
The robot moves: all servos of the motion go on where they are, then to the first position at the
speed, or in the time, that is written there. It asks before. RCB-1 boards both have to have the
motion, with equal counts and speeds. Ctrl-C stops it where it is; torque stays on.

  karakuri hardware play rcb1 /dev/ttyUSB0 3
  karakuri hardware play rcb4 /dev/ttyUSB0 1";

/// Runs the command.
pub(super) fn run(args: &Args, interrupt: &Interrupt) -> Result<Outcome> {
    let (keeper, mut task) = args.motion.open(interrupt)?;
    let done = match keeper {
        Keeper::Rcb1 => rcb1::play(&mut task)?,
        Keeper::Rcb4 => rcb4::play(&mut task)?,
    };
    output::done(&done);
    Ok(Outcome::Done)
}
