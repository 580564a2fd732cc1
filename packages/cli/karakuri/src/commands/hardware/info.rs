//! `karakuri hardware info`: all that a device says of itself.

use std::fmt::Write as _;

use anyhow::{Result, ensure};

use super::bus::Row;
use super::buses::BusArgs;
use crate::commands::Outcome;
use crate::interrupt::Interrupt;
use crate::output;

/// Prints every register of a device with its value and unit
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    #[command(flatten)]
    bus: BusArgs,
    /// Its id; that of a board for rcb1, and 0 for rcb4
    id: u8,
    /// Baud rate; the bus's usual one, if not given [bit/s]
    #[arg(long)]
    baud: Option<u32>,
}

const HELP: &str = "\
Nothing moves and nothing is written. Values are those of the device, and the same in units of the
SI; angles are from the middle.

  karakuri hardware info feetech /dev/ttyACM0 1
  karakuri hardware info rcb1 /dev/ttyUSB0 0";

/// Runs the command.
pub(super) fn run(args: &Args, interrupt: &Interrupt) -> Result<Outcome> {
    let baud = args.bus.baud(args.baud)?;
    let (mut bus, mut wire) = args.bus.open(baud, interrupt)?;
    let what = format!("{} {}", bus.device(), args.id);
    let heard = bus.find(&mut wire, args.id)?;
    let model = args.bus.expect(&wire, &what, heard)?;
    let rows = bus.registers(&mut wire, args.id)?;
    ensure!(!rows.is_empty(), "{what} answers, but says nothing of itself; check the cable");
    output::print(&format!("{what} at {baud} baud: {model}\n{}", table(&rows)))?;
    Ok(Outcome::Done)
}

/// Names, counts, values and units in columns.
fn table(rows: &[Row]) -> String {
    let name = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for row in rows {
        let value = row.value.map(|value| format!("{value:.4} {}", row.unit)).unwrap_or_default();
        let line = format!("{:name$}  {:>11}  {value}", row.name, row.counts);
        // A String takes everything.
        let _infallible = writeln!(text, "{}", line.trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_columns() {
        let rows = [Row::plain("id", 1), Row::of("present_voltage", 120, 12.0, "V")];
        assert_eq!(
            table(&rows),
            "id                         1\npresent_voltage          120  12.0000 V\n"
        );
    }
}
