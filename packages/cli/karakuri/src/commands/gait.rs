//! `karakuri gait`: the compensation method of 1991, and walks of robots planned and simulated.

mod figures;
pub(super) mod files;
mod steady;
mod study;
mod trace;
pub(super) mod walk;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use karakuri_files::read_yaml_tree;
use karakuri_gait::compensation::{OptimizeOptions, SteadyGait, Transient};
use serde_json::{Value, json};

use self::files::{Files, GaitFile, missing, name, read, write};
use super::Outcome;
use crate::interrupt::Interrupt;
use crate::progress;

/// Walking: the compensation method of 1991; walks of robots, planned and simulated
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// The periodic motion of a steady gait
    ///
    /// Found by multiple shooting, in one call, or by the study's own march and search. Passive arms have several; without --start it is
    /// the one that goes on from arms without mass. Exit code 3 if there is none.
    Steady(steady::Args),
    /// The best start or stop, without a survey
    Transient(Transients),
    /// All stable starts or stops of a grid of coefficients
    Survey(Files),
    /// Plans a walk of a robot and checks it
    Plan(walk::Planned),
    /// Walks in the physics simulation
    Walk(walk::Simulate),
    /// Computes the tables and figures of the study of 1991 again
    Study(study::Args),
}

#[derive(Debug, clap::Args)]
struct Transients {
    #[command(flatten)]
    files: Files,
    /// Write the most central motion over time as CSV: angles, rates, joints, ZMP
    #[arg(long, value_name = "FILE.csv")]
    trace: Option<PathBuf>,
    /// Write each body's centre of mass, its velocity and acceleration, and the moments at the joints, as CSV
    #[arg(long, value_name = "FILE.csv")]
    kinematics: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// When a file of the gait cannot be read or is wrong, an option does not fit it, or an output cannot be written.
pub fn run(args: &Args) -> Result<Outcome> {
    match &args.what {
        What::Steady(args) => steady::run(args),
        What::Transient(args) => transient(args),
        What::Survey(files) => survey(files),
        What::Plan(args) => walk::plan(args),
        What::Walk(args) => walk::simulate(args),
        What::Study(args) => study::run(args),
    }
}

/// Summary of a gait file in one line; for `karakuri check`.
pub(super) fn check(path: &Path) -> Result<String> {
    let place = || path.display().to_string();
    let tree = read_yaml_tree(path)?;
    if tree.get("walk").is_some() {
        return walk::check(path);
    }
    let file: GaitFile = tree.to()?;
    if let Some(steady) = &file.steady {
        SteadyGait::new(steady).with_context(place)?;
    }
    if let Some(transient) = &file.transient {
        Transient::new(transient, &file.body).with_context(place)?;
    }
    let kind = if file.steady.is_some() { "a steady gait" } else { "a start or stop" };
    let arms = format!("{:?}", file.arms).to_lowercase();
    Ok(format!("gait {}: {kind} of the study of 1991, {arms} arms", place()))
}

fn transient_of(files: &Files, file: &GaitFile) -> Result<Transient> {
    let spec = file.transient.as_ref().ok_or_else(|| missing(files, "transient"))?;
    Transient::new(spec, &file.body).with_context(|| files.gait.display().to_string())
}

fn transient(args: &Transients) -> Result<Outcome> {
    let files = &args.files;
    let file = read(files)?;
    let transient = transient_of(files, &file)?;
    let widest = transient.maximize_margin(&OptimizeOptions::default());
    let best = transient.minimize_off_center(&OptimizeOptions::default());
    let path = transient.zmp_path(best.coefficients);
    let rows: Vec<Value> = path
        .iter()
        .map(|(t, zmp, margin)| json!({"time_s": t, "zmp_m": zmp, "margin_m": margin}))
        .collect();
    write(files, &json!({"largest_margin": widest, "most_central": best, "samples": rows}))?;
    if let Some(path) = &args.trace {
        trace::transient(&file.body, &transient, best.coefficients, path)?;
    }
    if let Some(path) = &args.kinematics {
        let compensation = transient.compensation(best.coefficients);
        let posture = |time: f64| transient.posture(&compensation, time);
        trace::kinematics(&file.body, transient.duration, &posture, path)?;
    }
    if let Some(folder) = &files.plot {
        let title = name(&files.gait);
        figures::transient(&title, &path).write_svg(&folder.join("transient.svg"))?;
    }
    if best.verdict.is_stable() {
        return Ok(Outcome::Done);
    }
    let margin = best.verdict.margin;
    Ok(Outcome::Failed(format!("no stable motion: the best has its ZMP {margin:.4} m inside")))
}

fn survey(files: &Files) -> Result<Outcome> {
    let file = read(files)?;
    let transient = transient_of(files, &file)?;
    let grid = file.survey.ok_or_else(|| missing(files, "survey"))?;
    if !grid.is_sensible() {
        bail!(
            "{}: `survey` has a step that is not positive, or above 1e9 points",
            files.gait.display()
        );
    }
    let interrupt = Interrupt::watch()?;
    let bar = progress::bar(u64::try_from(grid.n_rows())?, "surveying");
    let stable = transient.survey(&grid, &|| {
        bar.inc(1);
        !interrupt.is_raised()
    });
    bar.finish_and_clear();
    let best = stable.iter().min_by(|a, b| a.verdict.off_center.total_cmp(&b.verdict.off_center));
    let report = json!({
        "grid": grid,
        "points": grid.n_points(),
        "stable": stable.len(),
        "most_central": best,
        "complete": !interrupt.is_raised(),
    });
    write(files, &report)?;
    if let Some(folder) = &files.plot {
        let chosen: Vec<_> = best.map(|p| ("most central", p.coefficients)).into_iter().collect();
        let figure = figures::survey(&name(&files.gait), &grid, &stable, &chosen, None);
        figure.write_svg(&folder.join("survey.svg"))?;
    }
    if interrupt.is_raised() {
        return Ok(Outcome::Failed("interrupted".to_owned()));
    }
    Ok(Outcome::Done)
}
