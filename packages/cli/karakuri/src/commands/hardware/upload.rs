//! `karakuri hardware upload`: a motion into the memory of boards.

use std::path::PathBuf;

use anyhow::Result;

use super::motions::{Keeper, MotionArgs};
use super::{rcb1, rcb4};
use crate::commands::Outcome;
use crate::input::input_file;
use crate::interrupt::Interrupt;
use crate::output;

/// Writes a motion into the memory of RCB-1 boards or an RCB-4, and reads it back
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    #[command(flatten)]
    motion: MotionArgs,
    /// The motion: a table, CSV, or YAML; what the board had under its number is lost
    #[arg(value_parser = input_file())]
    file: PathBuf,
}

const HELP: &str = "\
Nothing moves.

RCB-1: both boards get the motion under the same number, at most 100 positions. A table has a
head, then a line a position: NO, NAME, SPEED (0 fastest to 7), and the channels 1 to 24 in whole
degrees from the home that the boards have stored; an empty cell leaves a channel where it is.
Values beyond 130 make it a table of bytes, 0 to 180. In YAML, degrees are bytes:

  positions:
    - {speed: 4, degrees: {1: 25, 7: 155}}

RCB-4: the motion becomes a program of moves, at most 2048 bytes: 47 positions of 17 servos. The
head of a table names its columns: TIME of the move [s], and servos by their ICS numbers, in
degrees from the middle; others, as NO and NAME, are passed over. In place of degrees a servo may
be `hold` or `free`. In YAML:

  positions:
    - {time: 0.5, degrees: {0: 20.5, 2: -20, 4: free}}

  karakuri hardware upload rcb1 /dev/ttyUSB0 3 bow.csv
  karakuri hardware upload rcb4 /dev/ttyUSB0 1 wave.yaml
  karakuri hardware play rcb4 /dev/ttyUSB0 1";

/// Runs the command.
pub(super) fn run(args: &Args, interrupt: &Interrupt) -> Result<Outcome> {
    let (keeper, mut task) = args.motion.open(interrupt)?;
    let done = match keeper {
        Keeper::Rcb1 => rcb1::upload(&mut task, &args.file)?,
        Keeper::Rcb4 => rcb4::upload(&mut task, &args.file)?,
    };
    output::done(&done);
    Ok(Outcome::Done)
}
