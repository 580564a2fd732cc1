//! `karakuri hardware scan`: who is on a line, at all baud rates.

use std::time::Duration;

use anyhow::{Result, ensure};

use super::buses::BusArgs;
use super::wire::Heard;
use crate::commands::Outcome;
use crate::commands::ids::Ids;
use crate::interrupt::{Interrupt, Interrupted};
use crate::{output, progress};

/// Looks for devices at all ids and baud rates of a bus
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    #[command(flatten)]
    bus: BusArgs,
    /// This baud rate alone [bit/s]
    #[arg(long)]
    baud: Option<u32>,
    /// These ids alone
    #[arg(long, value_name = "N[-M],...")]
    ids: Option<Ids>,
    /// How long an answer may take, besides its time on the wire [ms]
    #[arg(long, value_name = "MS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    patience: u64,
}

const HELP: &str = "\
Nothing moves and nothing is written. What was found is printed at once, one line a device; Ctrl-C
ends the scan. Two servos of one id answer together, which is no frame: that is said, too.

  karakuri hardware scan feetech /dev/ttyACM0
  karakuri hardware scan dynamixel /dev/serial/by-id/usb-FTDI_USB-if00 --baud 57600 --ids 1-20";

/// Runs the command.
pub(super) fn run(args: &Args, interrupt: &Interrupt) -> Result<Outcome> {
    let bauds = match args.baud {
        Some(_) => vec![args.bus.baud(args.baud)?],
        None => args.bus.bauds().to_vec(),
    };
    let (mut bus, mut wire) = args.bus.open(bauds[0], interrupt)?;
    let (least, greatest) = bus.ids();
    let ids = match &args.ids {
        Some(ids) => ids.up_to(greatest, &format!("id of a {}", bus.device()))?,
        None => (least..=greatest).collect(),
    };
    (wire.tries, wire.patience) = (1, Duration::from_millis(args.patience));
    let bar = progress::bar((bauds.len() * ids.len()) as u64, "ids");
    let mut n_found = 0;
    let mut n_noise = 0;
    // Where the other commands do not look by themselves.
    let mut unusual = Vec::new();
    for baud in &bauds {
        args.bus.set_baud(&mut wire, *baud)?;
        for id in &ids {
            let heard = match bus.find(&mut wire, *id) {
                Ok(heard) => heard,
                Err(error) if error.is::<Interrupted>() => {
                    bar.finish_and_clear();
                    return Ok(Outcome::Failed(format!("interrupted; {n_found} found until then")));
                }
                Err(error) => return Err(error),
            };
            bar.inc(1);
            let device = bus.device();
            let line = match heard {
                Heard::Silence => continue,
                Heard::Answer(what) => {
                    n_found += 1;
                    if *baud != args.bus.bauds()[0] && unusual.last() != Some(baud) {
                        unusual.push(*baud);
                    }
                    format!("{device} {id} at {baud} baud: {what}\n")
                }
                Heard::Noise => {
                    n_noise += 1;
                    format!(
                        "{device} {id} at {baud} baud: answers, but not in whole frames; two of one id, or a bad cable\n"
                    )
                }
            };
            bar.suspend(|| output::print(&line))?;
        }
    }
    bar.finish_and_clear();
    ensure!(
        n_found + n_noise > 0,
        "nothing answers on {} at {}; check power, cable, and whether it is a {} bus",
        wire.path().display(),
        bauds.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ") + " baud",
        args.bus.name()
    );
    let options: Vec<_> = unusual.iter().map(|baud| format!("`--baud {baud}`")).collect();
    let hint = if options.is_empty() {
        String::new()
    } else {
        format!("; other commands find these with {}", options.join(" or "))
    };
    output::done(&format!("{n_found} found{hint}"));
    Ok(Outcome::Done)
}
