//! `karakuri hardware watch`: how servos are, once a second.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::bus::State;
use super::buses::BusArgs;
use super::wire::Heard;
use crate::commands::Outcome;
use crate::commands::ids::Ids;
use crate::interrupt::{Interrupt, Interrupted};
use crate::{output, progress};

/// Prints place, speed, load, current, voltage and temperature of servos once a second
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    #[command(flatten)]
    bus: BusArgs,
    /// Servos; those that answer, if not given
    #[arg(long, value_name = "N[-M],...")]
    ids: Option<Ids>,
    /// Baud rate; the bus's usual one, if not given [bit/s]
    #[arg(long)]
    baud: Option<u32>,
    /// End after so many tables
    #[arg(long, value_name = "N")]
    count: Option<u64>,
}

const HELP: &str = "\
Nothing moves and nothing is written: turn the joints by hand and read where they are. Ctrl-C ends
it. Angles are from the middle of a servo. A servo that falls silent stays in the table and says
so.

  karakuri hardware watch feetech /dev/ttyACM0 --ids 1-6
  karakuri hardware watch rcb1 /dev/ttyUSB0 --count 1";

/// Time from table to table.
const PERIOD: Duration = Duration::from_secs(1);
/// What begins a table on a terminal: its top left corner, and what is below cleared.
const CLEAR: &str = "\x1b[H\x1b[J";

/// Runs the command.
pub(super) fn run(args: &Args, interrupt: &Interrupt) -> Result<Outcome> {
    let baud = args.bus.baud(args.baud)?;
    let (mut bus, mut wire) = args.bus.open(baud, interrupt)?;
    let (least, greatest) = bus.servos();
    let ids = if let Some(ids) = &args.ids {
        ids.up_to(greatest, "id of a servo")?
    } else {
        // Ids above these are rare, and `--ids` names them.
        const USUAL: u8 = 34;
        wire.tries = 1;
        let mut found = Vec::new();
        let searched = least..=greatest.min(USUAL);
        let bar = progress::bar(searched.len() as u64, "ids");
        for id in searched {
            if bus.state(&mut wire, id)? != Heard::Silence {
                found.push(id);
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        found
    };
    if ids.is_empty() {
        let (name, device) = (args.bus.name(), wire.path().display());
        bail!(
            "no servo answers on {device} at {baud} baud; look for them by `karakuri hardware scan {name} {device}`{}",
            args.bus.servos_known()
        );
    }
    wire.tries = 2;
    let clear = if std::io::stdout().is_terminal() { CLEAR } else { "" };
    let mut n = 0;
    loop {
        let begin = Instant::now();
        let mut rows = Vec::new();
        for id in &ids {
            match bus.state(&mut wire, *id) {
                Ok(heard) => rows.push((*id, heard)),
                Err(error) if error.is::<Interrupted>() => return Ok(Outcome::Done),
                Err(error) => return Err(error),
            }
        }
        output::print(&format!("{clear}{}", table(&rows)))?;
        n += 1;
        let rest = PERIOD.saturating_sub(begin.elapsed());
        if args.count.is_some_and(|count| n >= count) || wire.wait(rest).is_err() {
            return Ok(Outcome::Done);
        }
    }
}

/// A line for each servo below the names of the columns.
fn table(rows: &[(u8, Heard<State>)]) -> String {
    let names = format!(
        "{:>5} {:>8} {:>8} {:>9} {:>7} {:>8} {:>7} {:>5}  {:<6} trouble\n",
        "servo", "counts", "rad", "rad/s", "load %", "A", "V", "°C", "torque"
    );
    let lines = rows.iter().map(|(id, heard)| match heard {
        Heard::Answer(state) => line(*id, state),
        Heard::Silence => format!("{id:>5} does not answer\n"),
        Heard::Noise => format!("{id:>5} answers, but not in whole frames\n"),
    });
    std::iter::once(names).chain(lines).collect()
}

fn line(id: u8, state: &State) -> String {
    let number = |value: Option<f64>, digits: usize| {
        value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
    };
    let torque = match state.is_on {
        Some(true) => "on",
        Some(false) => "off",
        None => "-",
    };
    let line = format!(
        "{id:>5} {:>8} {:>8.3} {:>9} {:>7} {:>8} {:>7} {:>5}  {torque:<6} {}",
        state.position,
        state.angle(),
        number(state.velocity, 3),
        number(state.load.map(|load| 100.0 * load), 1),
        number(state.current, 3),
        number(state.voltage, 1),
        number(state.temperature, 0),
        state.trouble.as_deref().unwrap_or("")
    );
    format!("{}\n", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::super::bus::Scale;
    use super::*;

    #[test]
    fn columns_stand_below_their_names() {
        let state = State {
            voltage: Some(12.1),
            is_on: Some(true),
            trouble: Some("heat".to_owned()),
            ..State::at(2700, Scale::of("feetech", "sts3215"))
        };
        let text = table(&[(3, Heard::Answer(state)), (4, Heard::Silence)]);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines[1],
            "    3     2700    1.000         -       -        -    12.1     -  on     heat"
        );
        assert_eq!(lines[0].find("counts"), Some(8));
        assert_eq!(lines[2], "    4 does not answer");
    }
}
