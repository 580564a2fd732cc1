//! `karakuri launch`: runs a launch file where `ros2 launch` is not installed.

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use karakuri_files::read_text;
use karakuri_launch::{Argument, Environment, LaunchError, Machine};

use super::Outcome;
use crate::error::AtLine;
use crate::input::input_file;
use crate::output;

/// Runs a ROS 2 XML launch file; Ctrl-C stops every process in order
///
/// It reads a subset of what `ros2 launch` reads, and starts the same processes with the same command lines.
/// Ctrl-C sends SIGINT to all; a second one SIGTERM, a third SIGKILL. Nothing is left behind.
/// Exit code 3: a process died, could not start, or did not stop by itself.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The launch file
    #[arg(value_parser = input_file())]
    file: PathBuf,
    /// Launch arguments, as `hardware:=mock`
    #[arg(value_name = "NAME:=VALUE")]
    arguments: Vec<String>,
    /// List the arguments of the file and its includes, with their defaults and choices, and start nothing
    #[arg(long = "show-args", short = 's')]
    only_list: bool,
    /// Show what would be started, and start nothing
    #[arg(long, visible_aliases = ["print"])]
    dry_run: bool,
    /// With --dry-run or --show-args: as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// When the launch file or an argument is wrong, there is no folder for logs, or signals or logs cannot be set up. A
/// process that fails is an [`Outcome::Failed`].
pub fn run(args: &Args) -> Result<Outcome> {
    if args.only_list {
        return show_arguments(args);
    }
    let runner = karakuri_launch::Runner::new()?;
    let arguments = karakuri_launch::parse_arguments(&args.arguments).map_err(|e| anyhow!(e))?;
    let environment: Environment = std::env::vars().collect();
    let plan = karakuri_launch::evaluate(&args.file, &arguments, &environment, &Machine)
        .map_err(|e| with_source(&e))?;
    if args.dry_run {
        if args.json {
            output::json(&plan, None)?;
        } else {
            output::print(&plan.to_string())?;
        }
        return Ok(Outcome::Done);
    }
    let logs = karakuri_launch::log_folder(&environment)
        .context("nowhere to put logs: set ROS_LOG_DIR or HOME")?;
    let failures = runner.run(&plan, &environment, &logs)?;
    if failures.is_empty() { Ok(Outcome::Done) } else { Ok(Outcome::Failed(failures.join("; "))) }
}

fn show_arguments(args: &Args) -> Result<Outcome> {
    let environment: Environment = std::env::vars().collect();
    let arguments = karakuri_launch::arguments(&args.file, &environment, &Machine)
        .map_err(|e| with_source(&e))?;
    if args.json {
        output::json(&arguments, None)?;
        return Ok(Outcome::Done);
    }
    let mut text = String::from("Arguments (as name:=value):\n");
    if arguments.is_empty() {
        text.push_str("  none\n");
    }
    text.extend(arguments.iter().map(described));
    output::print(&text)?;
    Ok(Outcome::Done)
}

fn described(argument: &Argument) -> String {
    let Argument { name, default, description, choices, .. } = argument;
    let default = default.as_ref().map_or("must be given".into(), |d| format!("default `{d}`"));
    let description = description.as_deref().unwrap_or("no description");
    let choices = match choices.as_slice() {
        [] => String::new(),
        choices => format!("  one of {}", choices.join(", ")),
    };
    format!("  {name}  {default}{choices}\n      {description}\n")
}

/// Error with the line of the file that causes it, where it can be shown.
pub(super) fn with_source(error: &LaunchError) -> anyhow::Error {
    let LaunchError { place, problem, remedy, .. } = error;
    // A place without a line may be a device without an end.
    let text = if place.line > 0 { read_text(&place.file).ok() } else { None };
    match text {
        Some(text) => AtLine::new(&place.file, &text, place.line, problem, remedy.clone()).into(),
        None => match remedy {
            Some(remedy) => anyhow!("{error}; {remedy}"),
            None => anyhow!("{error}"),
        },
    }
}
