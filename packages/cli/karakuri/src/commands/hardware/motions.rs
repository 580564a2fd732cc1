//! Motions in the memory of boards: which boards keep some, and what a task with one of theirs needs.

use anyhow::{Result, bail, ensure};
use karakuri_serial::codec::{rcb1, rcb4};

use super::buses::BusArgs;
use super::wire::Wire;
use crate::dialogue::Dialogue;
use crate::interrupt::Interrupt;

/// Which motion, and where.
#[derive(Debug, clap::Args)]
pub(super) struct MotionArgs {
    #[command(flatten)]
    bus: BusArgs,
    /// Number of the motion: 0 to 39 of RCB-1 boards, 1 to 120 of an RCB-4
    motion: u8,
    /// Go on without a question
    #[arg(long)]
    yes: bool,
}

/// Boards that keep motions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeper {
    /// Two RCB-1 boards of a KHR-1.
    Rcb1,
    /// An RCB-4.
    Rcb4,
}

/// A motion of boards that can be reached, and the user who is asked before it is written or moves anything.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) wire: Wire,
    pub(super) motion: u8,
    pub(super) user: Dialogue,
}

impl MotionArgs {
    /// Opens the port of the boards.
    pub(super) fn open(&self, interrupt: &Interrupt) -> Result<(Keeper, Task)> {
        let name = self.bus.name();
        let (keeper, numbers) = match name {
            "rcb1" => (Keeper::Rcb1, 0..=u32::from(rcb1::MOTIONS) - 1),
            "rcb4" => (Keeper::Rcb4, 1..=rcb4::memory::MOTIONS),
            _ => bail!("{name} keeps no motions that are written here; write `rcb1` or `rcb4`"),
        };
        let motion = self.motion;
        ensure!(
            numbers.contains(&motion.into()),
            "there is no motion {motion}; write one from {} to {}",
            numbers.start(),
            numbers.end()
        );
        let (_, wire) = self.bus.open(self.bus.baud(None)?, interrupt)?;
        let user = Dialogue::new(interrupt.clone(), self.yes);
        Ok((keeper, Task { wire, motion, user }))
    }
}
