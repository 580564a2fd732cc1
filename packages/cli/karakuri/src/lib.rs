//! The offline program: the project's algorithms without ROS. Commands that ask running nodes belong to another program.
//!
//! Exit codes: 0 done; 1 the input is wrong, and the message names the place; 2 usage; 3 the run failed, with its report
//! written all the same.

pub mod commands;
mod dialogue;
pub mod error;
mod input;
pub mod interrupt;
pub mod output;
pub mod progress;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser};
use tracing_subscriber::EnvFilter;

use crate::commands::{Command, Outcome, nodes};

const EXAMPLES: &str = "\
Examples:
  karakuri check urdf/arm6/arm6.urdf --config config/arm6.yaml
  karakuri simulate config/scenes/pick_and_place.yaml --duration 2 --trace out.csv
  karakuri dynamics robot.urdf --base fixed --algorithms rnea,crba --input states.json
  karakuri rehearse config/scenes/pick_and_place.yaml --pick cube --place 0.5,0.2,0.875
  karakuri do config/scenes/words.yaml --envelope words.yaml 'pick block' home
  karakuri do pick cube
  karakuri ik robot.urdf --link tool --pose 0.4,0,0.3,0,3.14,0
  karakuri inverse-dynamics config/mechanisms/four_bar.yaml --plot four_bar.svg
  karakuri gait steady config/gaits/h2.yaml --plot out
  karakuri gait walk config/gaits/khr1_walk.yaml --distance 1
  karakuri motion check config/motions/khr1_greet.yaml
  karakuri emulate feetech --pty /tmp/arm --ids 1-6
  karakuri hardware scan feetech /tmp/arm
  karakuri studio urdf/khr1/khr1.urdf
  karakuri launch launch/pick_and_place.launch.xml hardware:=mock
  karakuri goal -f /arm/gripper_cmd control_msgs/action/GripperCommand '{command: {position: 0.03}}'

goal, echo, param, topics, nodes, actions and `do` without a scene ask running nodes;
they alone need ROS 2.
Exit codes: 0 done, 1 the input is wrong, 2 usage, 3 the run failed.
`karakuri <command> --help` says more about each.";

/// Checks robots, runs physics and dynamics, solves inverse kinematics, emulates servo buses and asks real ones, runs launch files: without ROS.
/// Asks running nodes.
#[derive(Debug, Parser)]
#[command(name = "karakuri", version, after_help = EXAMPLES)]
struct Cli {
    /// What is logged to stderr: error, warn, info, debug, trace, or a filter as `karakuri_model=debug`
    #[arg(
        long,
        global = true,
        value_name = "FILTER",
        env = "KARAKURI_LOG",
        default_value = "warn"
    )]
    log: String,
    /// Say nothing on stderr but warnings and errors: no sentence on success, no progress bar
    #[arg(long, short, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

/// Command line of the program; numbers may be negative everywhere, so that each option checks its own range.
fn command() -> clap::Command {
    fn with_negative_numbers(command: clap::Command) -> clap::Command {
        command
            .mut_args(|argument| {
                let takes_value = argument.get_action().takes_values();
                if takes_value { argument.allow_negative_numbers(true) } else { argument }
            })
            .mut_subcommands(with_negative_numbers)
    }
    with_negative_numbers(Cli::command())
}

/// Reads the command line, runs the command and turns its end into the exit code.
pub fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if let Some(words) = nodes::commander_words(&arguments) {
        if let Err(error) = nodes::hand_on("do", words) {
            error::print(error);
        }
        return ExitCode::from(1);
    }
    let cli = match Cli::from_arg_matches(&command().get_matches()) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    output::set_quiet(cli.quiet);
    match start_log(&cli.log).and_then(|()| cli.command.run()) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::InputWrong) => ExitCode::from(1),
        Ok(Outcome::Failed(reason)) => {
            eprintln!("failed: {}", karakuri_model::shorten_numbers(&reason));
            ExitCode::from(3)
        }
        Err(error) => {
            error::print(error);
            ExitCode::from(1)
        }
    }
}

fn start_log(filter: &str) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(filter).map_err(|e| {
        anyhow::anyhow!("--log {filter}: {e}; use error, warn, info, debug or trace")
    })?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .without_time()
        .init();
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_help_is_broken_twice() {
        /// Columns at which clap breaks lines where there is no terminal.
        const WIDTH: usize = 100;
        fn look(command: &clap::Command) {
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines: Vec<&str> = after.lines().collect();
            for pair in lines.windows(2) {
                let goes_on = pair[0].chars().count() > WIDTH && !pair[1].is_empty();
                assert!(!goes_on, "{}: `{}`", command.get_name(), pair[0]);
            }
            command.get_subcommands().for_each(look);
        }
        look(&crate::command());
    }
}
