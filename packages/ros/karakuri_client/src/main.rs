//! Commands `karakuri goal`, `echo`, `param`, `topics`, `nodes` and `actions`, which ask running nodes with the words of `ros2`, and
//! `karakuri do`, which commands a robot by its node `commander`.
//!
//! Exit codes: 0 done; 1 what is asked for is not there, or cannot be; 2 usage; 3 the goal failed, or a node did not answer;
//! 130 Ctrl-C.

mod echo;
mod goal;
mod list;
mod output;
mod param;
mod perform;

use std::{process::ExitCode, time::Duration};

use clap::Parser;
use karakuri_ros::client::{Client, ClientError};

/// Asks running nodes: sends goals, shows topics, reads and sets parameters.
#[derive(Debug, Parser)]
#[command(name = "karakuri", bin_name = "karakuri", version)]
struct Cli {
    /// How long what is asked for may take to appear [s]
    #[arg(long, global = true, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    wait: Duration,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Goal(goal::Args),
    Echo(echo::Args),
    Param(param::Args),
    Topics(list::Topics),
    Nodes(list::Nodes),
    Actions(list::Actions),
    Do(perform::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = Client::join(cli.wait).and_then(|mut client| match &cli.command {
        Command::Goal(args) => goal::run(args, &mut client),
        Command::Echo(args) => echo::run(args, &mut client),
        Command::Param(args) => param::run(args, &mut client),
        Command::Topics(args) => list::topics(args, &mut client),
        Command::Nodes(args) => list::nodes(args, &mut client),
        Command::Actions(args) => list::actions(args, &mut client),
        Command::Do(args) => perform::run(args, &mut client),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(ClientError::Interrupted) => ExitCode::from(130),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(if matches!(error, ClientError::Wrong(_)) { 1 } else { 3 })
        }
    }
}

/// Reads a time from the command line. [s]
fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "write a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(number).map_err(|_| "write a time of 0 s or more".to_owned())
}
