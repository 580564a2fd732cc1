//! A motion into the memory of both boards.

use std::path::Path;

use anyhow::{Result, bail, ensure};
use karakuri_serial::codec::rcb1::{Order, Pose};

use super::Rcb1;
use super::memory::{count, places, read};
use super::motion_file::{BOARDS, Motion};
use crate::commands::hardware::motions::Task;
use crate::commands::hardware::wire::Wire;
use crate::progress;

/// Writes the motion of a file into both boards; what was done.
pub(in super::super) fn upload(task: &mut Task, file: &Path) -> Result<String> {
    let Task { wire, motion: number, user } = task;
    let (mut boards, number) = (Rcb1::default(), *number);
    let home = places(&mut boards, wire, Order::Home)?;
    let motion = Motion::read(file, &home)?;
    let n = motion.positions.len();
    let before = count(&mut boards, wire, 0, number)?;
    user.confirm(&format!(
        "Motion {number} of both boards gets {n} positions and loses the {before} that it has. Go on?"
    ))?;
    let bar = progress::bar((BOARDS * n) as u64, "writing and reading back");
    for board in 0..BOARDS {
        let id = u8::from(board == 1);
        // Without positions, a motion that breaks off half written cannot be played.
        let clear = Order::SetPositionCount { motion: number, count: 0 };
        boards.expect(wire, id, clear)?;
        for (position, poses) in (0_u8..).zip(&motion.positions) {
            write(&mut boards, wire, id, [number, position], poses[board])?;
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let all = u8::try_from(n).unwrap_or(u8::MAX);
    for id in 0..2 {
        boards.expect(wire, id, Order::SetPositionCount { motion: number, count: all })?;
        let there = count(&mut boards, wire, id, number)?;
        ensure!(there == all, "board {id} says {there} positions, not {all}; upload again");
    }
    Ok(format!("motion {number} of both boards has {n} positions, read back"))
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
