//! `karakuri hardware jog`: small steps of one servo from where it is.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use super::bus::{Bus, State};
use super::buses::BusArgs;
use super::wire::Wire;
use crate::commands::Outcome;
use crate::dialogue::Dialogue;
use crate::interrupt::Interrupt;
use crate::output;

/// Moves one servo by small steps from where it is
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    #[command(flatten)]
    bus: BusArgs,
    /// The servo
    servo: u8,
    /// Baud rate; the bus's usual one, if not given [bit/s]
    #[arg(long)]
    baud: Option<u32>,
    /// Length of a step [rad]
    #[arg(long, default_value_t = 0.05, value_parser = step)]
    step: f64,
    /// One step by so much and no dialogue [rad]
    #[arg(long, value_parser = step)]
    by: Option<f64>,
    /// Go on without a question
    #[arg(long)]
    yes: bool,
}

const HELP: &str = "\
It asks before anything happens. Then the goal is set to where the servo is, its torque goes on,
and each step is approached slowly. In the end, and at Ctrl-C, the torque is off: hold what the
servo carries.

  karakuri hardware jog feetech /dev/ttyACM0 1
  karakuri hardware jog dynamixel /dev/ttyUSB0 2 --by -0.1 --yes";

/// Longest step. [rad]
const LONGEST: f64 = 0.35;
/// Speed of a step. [rad/s]
const SPEED: f64 = 0.5;
/// A servo that is farther than this from where it was sent has not followed. [rad]
const FARTHEST_OFF: f64 = 0.1;
/// Time from goal to goal on the path of a step.
const STRIDE: Duration = Duration::from_millis(40);
/// Longest time in which a servo comes to rest after its last goal.
const SETTLING: Duration = Duration::from_millis(1500);

/// The length of a step.
fn step(text: &str) -> Result<f64, String> {
    let angle = text.trim().parse::<f64>().ok().filter(|angle| angle.abs() <= LONGEST);
    angle.ok_or_else(|| format!("write an angle from -{LONGEST} to {LONGEST} rad"))
}

/// Runs the command.
pub(super) fn run(args: &Args, interrupt: &Interrupt) -> Result<Outcome> {
    let servo = args.servo;
    let baud = args.bus.baud(args.baud)?;
    let (mut bus, mut wire) = args.bus.open(baud, interrupt)?;
    let (least, greatest) = bus.servos();
    ensure!(
        (least..=greatest).contains(&servo),
        "{servo} is no servo of {}; write one from {least} to {greatest}",
        args.bus.name()
    );
    let heard = bus.state(&mut wire, servo)?;
    let state = args.bus.expect(&wire, &format!("servo {servo}"), heard)?;
    eprintln!("servo {servo} is {}", place(&state));
    ensure!(
        state.trouble.is_none(),
        "servo {servo} has a trouble, {}; remove its cause first",
        state.trouble.as_deref().unwrap_or_default()
    );
    let (low, high) = state.scale.range;
    ensure!(
        (low..=high).contains(&state.position),
        "servo {servo} is outside of the {low} to {high} counts that it can be sent to; turn it back by hand"
    );
    let mut dialogue = Dialogue::new(interrupt.clone(), args.yes);
    dialogue.confirm(&format!(
        "Its torque goes on where it is, and off in the end.{} Is its path free?",
        bus.besides_torque()
    ))?;
    let mut jog = Jog { bus: bus.as_mut(), servo, goal: state.position };
    let moved = jog.run(&mut wire, args, &mut dialogue);
    wire.go_on();
    let limp = bus.limp(&mut wire, servo);
    limp.context("its torque may be on: cut its power")?;
    output::done(&format!("servo {servo} is without torque"));
    moved?;
    Ok(Outcome::Done)
}

/// Where a servo is.
fn place(state: &State) -> String {
    let torque = state.is_on.map(|is_on| format!("torque {}", if is_on { "on" } else { "off" }));
    let number = |value: Option<f64>, unit| value.map(|value| format!("{value:.1} {unit}"));
    let parts = [
        Some(format!("at {} counts", state.position)),
        Some(format!("{:.3} rad", state.angle())),
        torque,
        number(state.voltage, "V"),
        number(state.temperature, "°C"),
        number(state.current, "A"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A servo that is jogged.
struct Jog<'a> {
    bus: &'a mut dyn Bus,
    servo: u8,
    /// Where it was sent last. [counts]
    goal: i32,
}

impl Jog<'_> {
    /// Switches the torque on where the servo is, then steps.
    fn run(&mut self, wire: &mut Wire, args: &Args, dialogue: &mut Dialogue) -> Result<()> {
        // It may have been turned while the question stood.
        let heard = self.bus.state(wire, self.servo)?;
        self.goal = args.bus.expect(wire, &format!("servo {}", self.servo), heard)?.position;
        self.bus.engage(wire, self.servo, self.goal)?;
        match args.by {
            Some(angle) => self.go(wire, angle),
            None => self.talk(wire, dialogue, args.step),
        }
    }

    /// Steps as the user says, until he ends it.
    fn talk(&mut self, wire: &mut Wire, dialogue: &mut Dialogue, step: f64) -> Result<()> {
        eprintln!("`+` and `-` go {step} rad, a number goes by so many rad, `q` ends.");
        while let Some(line) = dialogue.line("> ", &mut || wire.check_interrupt())? {
            let angle = match line.trim() {
                "q" => return Ok(()),
                "+" => Ok(step),
                "-" => Ok(-step),
                other => self::step(other),
            };
            match angle {
                Ok(angle) => self.go(wire, angle)?,
                Err(sentence) => eprintln!("{sentence}, `+`, `-` or `q`"),
            }
        }
        Ok(())
    }

    /// Goes by an angle, slowly, and says where that was. [rad]
    fn go(&mut self, wire: &mut Wire, angle: f64) -> Result<()> {
        let Some(state) = self.bus.state(wire, self.servo)?.answer() else {
            bail!("servo {} does not answer any more; check its cable", self.servo);
        };
        self.start_where_it_is(wire, &state)?;
        let scale = state.scale;
        let (start, end) = (self.goal, scale.moved(self.goal, angle));
        let distance = f64::from(end - start) / scale.counts_per_radian;
        let n = (distance.abs() / (SPEED * STRIDE.as_secs_f64())).ceil().max(1.0);
        let mut done = 0.0;
        while done < n {
            done += 1.0;
            self.goal = scale.moved(start, distance * done / n);
            self.bus.send_to(wire, self.servo, self.goal)?;
            wire.wait(STRIDE)?;
        }
        let state = self.settle(wire)?.unwrap_or(state);
        output::print(&format!("servo {} is {}\n", self.servo, place(&state)))
    }

    /// Holds a servo where it is that was let go, turned or stopped since its last step: the next one would be a leap.
    fn start_where_it_is(&mut self, wire: &mut Wire, state: &State) -> Result<()> {
        let off = f64::from(state.position - self.goal).abs() / state.scale.counts_per_radian.abs();
        if state.is_on == Some(false) || off > FARTHEST_OFF {
            eprintln!("servo {} is not where it was sent; it goes on from where it is", self.servo);
            self.goal = state.position;
            self.bus.engage(wire, self.servo, self.goal)?;
        }
        Ok(())
    }

    /// Waits until the servo rests; where it is then.
    fn settle(&mut self, wire: &mut Wire) -> Result<Option<State>> {
        let end = Instant::now() + SETTLING;
        let mut last: Option<State> = None;
        loop {
            wire.wait(3 * STRIDE)?;
            let state = self.bus.state(wire, self.servo)?.answer();
            let rests = matches!((&last, &state), (Some(a), Some(b)) if a.position == b.position);
            if rests || Instant::now() >= end {
                return Ok(state.or(last));
            }
            last = state;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_short() {
        assert_eq!(step(" -0.1 "), Ok(-0.1));
        for wrong in ["1", "nan", "x", ""] {
            assert_eq!(step(wrong), Err("write an angle from -0.35 to 0.35 rad".to_owned()));
        }
    }
}
