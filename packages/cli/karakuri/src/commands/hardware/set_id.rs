//! `karakuri hardware set-id`: another id for a device.

use anyhow::{Result, ensure};

use super::buses::BusArgs;
use super::wire::Heard;
use crate::commands::Outcome;
use crate::dialogue::Dialogue;
use crate::interrupt::Interrupt;
use crate::output;

/// Gives a device another id, which it keeps without power
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    #[command(flatten)]
    bus: BusArgs,
    /// Its id now
    old: u8,
    /// Its id from then on; nobody else may have it
    new: u8,
    /// Baud rate; the bus's usual one, if not given [bit/s]
    #[arg(long)]
    baud: Option<u32>,
    /// Go on without a question
    #[arg(long)]
    yes: bool,
}

const HELP: &str = "\
Nothing moves. New servos all have one id: put them on the line one after the other, and give each
its own. The new id has to be free, and is read back in the end.

  karakuri hardware set-id feetech /dev/ttyACM0 1 6
  karakuri hardware set-id ics /dev/ttyUSB0 0 3 --yes";

/// Runs the command.
pub(super) fn run(args: &Args, interrupt: &Interrupt) -> Result<Outcome> {
    let (old, new) = (args.old, args.new);
    let baud = args.bus.baud(args.baud)?;
    let (mut bus, mut wire) = args.bus.open(baud, interrupt)?;
    let device = bus.device();
    ensure!(old != new, "the new id is the old one; write another");
    let heard = bus.find(&mut wire, old)?;
    let model = args.bus.expect(&wire, &format!("{device} {old}"), heard)?;
    let before = bus.before_set_id(&mut wire, old)?;
    let (least, greatest) = bus.ids();
    ensure!(
        (least..=greatest).contains(&new),
        "{new} is no id of a {device}; write one from {least} to {greatest}"
    );
    ensure!(
        bus.find(&mut wire, new)? == Heard::Silence,
        "the id {new} is taken already; write another, or change that one first"
    );
    let question = format!("{device} {old} ({model}) becomes {new}. {before} Go on?");
    Dialogue::new(interrupt.clone(), args.yes).confirm(&question)?;
    bus.set_id(&mut wire, old, new)?;
    ensure!(
        bus.find(&mut wire, old)? == Heard::Silence,
        "{device} {new} answers now, but so does {old}: there were two; put them on the line one after the other"
    );
    output::done(&format!("{device} {old} is {new} now"));
    Ok(Outcome::Done)
}
