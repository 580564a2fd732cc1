//! `karakuri motion`: motions of a robot, checked, converted, performed in the simulation, and shown.

mod check;
mod convert;
mod play;
mod render;
mod source;

use std::path::Path;

use anyhow::Result;

use super::Outcome;

/// Motions of a robot: check, convert, perform in the simulation, show
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Checks a motion, in the physics simulation as well: does the robot fall, what goes wrong first?
    Check(check::Args),
    /// Converts a motion between documents and the files of other programs
    Convert(convert::Args),
    /// Performs a motion in the physics simulation and writes what happens
    Play(play::Args),
    /// Takes pictures of a motion; no display needed
    Render(render::Args),
}

/// Runs the command.
///
/// # Errors
/// When the input is wrong or an output cannot be written.
pub fn run(args: &Args) -> Result<Outcome> {
    match &args.what {
        What::Check(args) => check::run(args),
        What::Convert(args) => convert::run(args),
        What::Play(args) => play::run(args),
        What::Render(args) => render::run(args),
    }
}

/// Summary of a motion document in one line; for `karakuri check`.
pub(super) fn check_file(path: &Path) -> Result<String> {
    let source = source::MotionArgs::of(path).load()?;
    for name in source.document.motions.keys() {
        source.performance_of(name)?;
    }
    let (document, robot) = (&source.document, &source.performer.model.name);
    let (poses, motions) = (document.poses.len(), document.motions.len());
    Ok(format!("motions {}: {poses} poses and {motions} motions of {robot}", path.display()))
}
