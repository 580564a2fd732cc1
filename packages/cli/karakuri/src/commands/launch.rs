//! `karakuri launch`: runs a launch file where `ros2 launch` is not installed.

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::Outcome;

/// Runs a ROS 2 XML launch file; Ctrl-C stops every process in order
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The launch file
    file: PathBuf,
    /// Launch arguments, as `hardware:=mock`
    #[arg(value_name = "NAME:=VALUE")]
    arguments: Vec<String>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome> {
    bail!(
        "{}: the runner of launch files is not in yet ({:?})",
        args.file.display(),
        args.arguments
    )
}
