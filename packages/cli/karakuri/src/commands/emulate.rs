//! `karakuri emulate`: boards and servos on a pseudo-terminal.

mod body;
mod buses;
mod of_file;
mod robot;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use karakuri_serial::emulator::{Entrances, Event, Fault, run as emulate};

use self::body::BodyArgs;
use self::buses::BusArgs;
pub(super) use self::of_file::bus_of;
use self::robot::RobotArgs;
use super::Outcome;
use crate::interrupt::Interrupt;
use crate::output;

/// Plays boards and servos on a pseudo-terminal, for programs that drive the real ones
#[derive(Debug, clap::Args)]
#[command(
    after_help = HELP,
    subcommand_value_name = "BUS",
    subcommand_help_heading = "Buses",
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true
)]
pub struct Args {
    #[command(flatten)]
    robot: Option<RobotArgs>,
    #[command(flatten)]
    port: Option<PortArgs>,
    #[command(subcommand)]
    bus: Option<BusArgs>,
}

const HELP: &str = "\
LINK stands for the serial port: give it to a driver, or to another program, in place of /dev/ttyUSB0.

Bytes take as long as on the wire, servos move, heat and overload; a wrong baud rate is not heard. What happens to the port, \
the servos and the faults is printed, a line each. Ctrl-C ends it and removes LINK.

  karakuri emulate feetech --pty /tmp/arm --ids 1-6
  karakuri emulate rcb1 --pty /tmp/khr1 --fault board-missing=1
  karakuri emulate dynamixel --pty /tmp/one --servo 1=XL330-M288 --baud 1000000

With a hardware file the servos are those of a robot, on the bus that it names. With a scene they \
turn the joints of the robot in it: it stands, walks, grips and falls, and the servos feel it. Until \
they are on, it is held in the scene's posture.

  karakuri emulate --robot config/hardware/so101.yaml --pty /tmp/arm

  karakuri emulate rcb1 --pty /tmp/khr1 --hardware config/hardware/khr1.yaml \\
    --scene config/scenes/walk.yaml

`karakuri emulate BUS --help` names the bus's options and all faults.";

/// What all buses have.
#[derive(Debug, clap::Args)]
pub(super) struct Common {
    #[command(flatten)]
    port: PortArgs,
    #[command(flatten)]
    body: BodyArgs,
}

/// Where the devices can be reached, and what is wrong with them.
#[derive(Debug, clap::Args)]
pub(super) struct PortArgs {
    /// Link to the pseudo-terminal, made here; one of an earlier run is replaced
    #[arg(long, value_name = "LINK")]
    pty: PathBuf,
    /// A fault that is on from the start; repeat for several
    #[arg(long = "fault", value_name = "NAME[=VALUE]")]
    faults: Vec<Fault>,
    /// Socket of the side channel, made here: a request a line, answered by a line of JSON with the true angles
    #[arg(long, value_name = "SOCKET")]
    side: Option<PathBuf>,
}

/// Names of the faults and requests of the side channel, below the options of each bus.
pub(super) fn common_help() -> String {
    const SIDE: &str = "
Requests of the side channel, each answered by the state after it: the truth about each servo, the
largest step between two goals that it accepted with its torque on, and how late the emulated time
is:
  \"state\"
  {\"fault\": \"drop=0.1\"}                  {\"clear\": \"drop\"}
  {\"turn\": {\"id\": 1, \"position_rad\": 0.3}}   turns a shaft by hand
  {\"stops\": {\"id\": 1, \"least_rad\": -1, \"greatest_rad\": 1}}
  {\"watch\": {\"period_s\": 0.02}}          the state again and again; 0 ends it
";
    let faults = Fault::NAMES.map(|(name, value)| format!("  {name:<17} {value}\n")).concat();
    format!("Faults, and what their values are:\n{faults}{SIDE}")
}

/// Runs the command.
///
/// # Errors
/// When an option does not fit the bus, a file is wrong, or the pseudo-terminal cannot be made.
pub fn run(args: &Args) -> Result<Outcome> {
    let (port, mut emulation) = match (&args.bus, &args.robot, &args.port) {
        (Some(bus), _, _) => {
            let Common { port, body } = bus.common();
            let body = body.load(bus.name())?;
            let devices = bus.build(body.as_ref().map(|body| &body.file))?;
            (port, body::emulation(body, devices)?)
        }
        (None, Some(robot), Some(port)) => (port, robot.emulation()?),
        (None, ..) => bail!("nothing is named; write a bus, or `--robot FILE --pty LINK`"),
    };
    let entrances = Entrances { link: port.pty.clone(), side: port.side.clone() };
    for fault in &port.faults {
        emulation.switch_on(*fault);
    }
    let interrupt = Interrupt::watch()?;
    let is_over = || interrupt.is_raised();
    emulate(&mut emulation, &entrances, &is_over, &mut say).context("the emulation ended")?;
    Ok(Outcome::Done)
}

/// Prints an event, so that who reads along sees it at once.
fn say(event: &Event) {
    // A reader that has gone away ends nothing.
    let _unread = output::print(&format!("{event}\n"));
}
