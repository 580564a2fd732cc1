//! `karakuri hardware upload`: a motion into the memory of the boards.

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use karakuri_serial::codec::rcb1::{Order, Pose};

use super::board_memory::{count, open, places, read};
use super::buses::BusArgs;
use super::dialogue::Dialogue;
use super::motion_file::{BOARDS, Motion};
use super::rcb1::Rcb1;
use super::wire::Wire;
use crate::commands::Outcome;
use crate::input::input_file;
use crate::interrupt::Interrupt;
use crate::{output, progress};

/// Writes a motion into the memory of both RCB-1 boards, and reads it back
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    #[command(flatten)]
    bus: BusArgs,
    /// Number of the motion in the boards, 0 to 39; what it was is lost
    motion: u8,
    /// The motion: a table, CSV, or YAML
    #[arg(value_parser = input_file())]
    file: PathBuf,
    /// Go on without a question
    #[arg(long)]
    yes: bool,
}

const HELP: &str = "\
Nothing moves. Both boards get the motion under the same number, at most 100 positions.

A table has a head, then a line a position: NO, NAME, SPEED (0 fastest to 7), and the channels 1
to 24 in whole degrees from the home that the boards have stored; an empty cell leaves a channel
where it is. Values beyond 130 make it a table of bytes, 0 to 180. In YAML, degrees are bytes:

  positions:
    - {speed: 4, degrees: {1: 25, 7: 155}}

  karakuri hardware upload rcb1 /dev/ttyUSB0 3 bow.csv
  karakuri hardware play rcb1 /dev/ttyUSB0 3";

/// Runs the command.
pub(super) fn run(args: &Args, interrupt: &Interrupt) -> Result<Outcome> {
    let (mut boards, mut wire) = open(&args.bus, args.motion, interrupt)?;
    let home = places(&mut boards, &mut wire, Order::Home)?;
    let motion = Motion::read(&args.file, &home)?;
    let n = motion.positions.len();
    let before = count(&mut boards, &mut wire, 0, args.motion)?;
    let number = args.motion;
    Dialogue::new(interrupt.clone(), args.yes).confirm(&format!(
        "Motion {number} of both boards gets {n} positions and loses the {before} that it has. Go on?"
    ))?;
    let bar = progress::bar((BOARDS * n) as u64, "writing and reading back");
    for board in 0..BOARDS {
        let id = u8::from(board == 1);
        // Without positions, a motion that breaks off half written cannot be played.
        let clear = Order::SetPositionCount { motion: number, count: 0 };
        boards.expect(&mut wire, id, clear)?;
        for (position, poses) in (0_u8..).zip(&motion.positions) {
            write(&mut boards, &mut wire, id, [number, position], poses[board])?;
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let all = u8::try_from(n).unwrap_or(u8::MAX);
    for id in 0..2 {
        boards.expect(&mut wire, id, Order::SetPositionCount { motion: number, count: all })?;
        let there = count(&mut boards, &mut wire, id, number)?;
        ensure!(there == all, "board {id} says {there} positions, not {all}; upload again");
    }
    output::done(&format!("motion {number} of both boards has {n} positions, read back"));
    Ok(Outcome::Done)
}

/// Writes a position and reads it back, again where a board has taken something else.
fn write(boards: &mut Rcb1, wire: &mut Wire, id: u8, place: [u8; 2], pose: Pose) -> Result<()> {
    const TRIES: usize = 3;
    let [motion, position] = place;
    for _ in 0..TRIES {
        boards.expect(wire, id, Order::WritePosition { motion, position, pose })?;
        if read(boards, wire, id, place)? == pose {
            return Ok(());
        }
    }
    bail!(
        "board {id} does not keep position {position} of motion {motion}; the motion has no positions now: check the supply, then upload again"
    )
}
