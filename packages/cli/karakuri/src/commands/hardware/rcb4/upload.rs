//! A motion into the ROM of the board.

use std::path::Path;

use anyhow::{Result, ensure};
use karakuri_serial::codec::rcb4::memory::{MOTION_SIZE, ROM_PAGE, motion_address};
use karakuri_serial::codec::rcb4::{Condition, Request};

use super::Rcb4;
use super::memory::stopped;
use super::motion_file::Motion;
use super::program::encode;
use crate::commands::hardware::motions::Task;
use crate::commands::hardware::wire::Wire;
use crate::progress;

/// Writes the motion of a file into the board; what was done.
pub(in super::super) fn upload(task: &mut Task, file: &Path) -> Result<String> {
    let Task { wire, motion: number, user } = task;
    let motion = Motion::read(file)?;
    let mut board = Rcb4::default();
    board.find_baud(wire)?;
    let before = board.configuration(wire)?;
    let program = encode(&motion, before.frame_time())?;
    let n = motion.moves.len();
    user.confirm(&format!(
        "Motion {number} of the board gets {n} moves, {} bytes, and loses what it has. Go on?",
        program.len()
    ))?;
    // Otherwise the board could run what is half written.
    board.configure(wire, stopped(before))?;
    let result = write(&mut board, wire, *number, &program);
    if result.is_err() {
        wire.go_on();
    }
    board.configure(wire, before)?;
    result?;
    Ok(format!("motion {number} of the board has {n} moves, read back"))
}

/// Writes a program, its first page last: until then the motion is one that returns at once.
fn write(board: &mut Rcb4, wire: &mut Wire, number: u8, program: &[u8]) -> Result<()> {
    let start = start_of(number)?;
    let mut back = Vec::new();
    Request::Return { condition: Condition::default() }.encode(&mut back);
    board.write_rom(wire, start, &back)?;
    let pages = pages(start, program);
    let bar = progress::bar(pages.len() as u64, "writing and reading back");
    for (address, bytes) in pages.into_iter().rev() {
        board.write_rom(wire, address, bytes)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let n = u32::try_from(program.len())?;
    ensure!(
        board.read_rom(wire, start, n)? == program,
        "the board has something else than was written; upload again"
    );
    Ok(())
}

/// Where a motion begins, counted from 1.
pub(super) fn start_of(number: u8) -> Result<u32> {
    let start = motion_address(u32::from(number).wrapping_sub(1));
    start.ok_or_else(|| anyhow::anyhow!("there is no motion {number}; write one from 1 to 120"))
}

/// Pieces of a program that are within a page each, with their addresses.
fn pages(start: u32, program: &[u8]) -> Vec<(u32, &[u8])> {
    const { assert!(MOTION_SIZE.is_multiple_of(ROM_PAGE)) };
    let page = usize::try_from(ROM_PAGE).unwrap_or(usize::MAX);
    (start..).step_by(page).zip(program.chunks(page)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_pages() {
        let program = vec![7; 300];
        let start = start_of(3).unwrap();
        assert_eq!(start, 0x0B80 + 2 * 0x0800);
        let pieces: Vec<_> =
            pages(start, &program).iter().map(|(at, bytes)| (at % ROM_PAGE, bytes.len())).collect();
        assert_eq!(pieces, [(0, 128), (0, 128), (0, 44)]);
        assert!(start_of(0).is_err() && start_of(121).is_err());
    }
}
