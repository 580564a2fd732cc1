//! `karakuri rehearse`: a pick and place in copies of a scene, before anything moves.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use karakuri_control::Command;
use karakuri_files::{Column, TraceWriter, write_atomic};
use karakuri_grasp::pick_and_place::{PickAndPlaceGoal, Statement};
use karakuri_rehearsal::{
    Act, Cell, CellFile, Film, Prediction, RehearsalSettings, Trouble, Variation,
    least_probability, observe, random, rehearse, state, worst,
};
use karakuri_render::Camera;
use karakuri_spatial::Vector3;
use serde_json::{Value, json};

use super::Outcome;
use super::robot::Numbers;
use super::simulate::{table_file, trace};
use crate::input::input_file;
use crate::output::{self, png_file};
use crate::progress;

/// Predicts a pick and place by copies of the scene that differ a little, before anything moves
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The scene, with one robot that has a hand
    #[arg(value_parser = input_file())]
    scene: PathBuf,
    /// The object that is picked
    #[arg(long, value_name = "OBJECT")]
    pick: String,
    /// Where its middle is placed, in the world [m]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true)]
    place: Numbers,
    /// By how much it is turned about the vertical [degrees]
    #[arg(long, value_name = "DEGREES", allow_hyphen_values = true, default_value_t = 0.0)]
    turn: f64,
    /// Mass that the goal states; that of the scene, if not given [kg]
    #[arg(long, value_name = "KG")]
    mass: Option<f64>,
    /// Friction that the goal states; that of the scene, if not given
    #[arg(long, value_name = "MU")]
    friction: Option<f64>,
    /// Largest force of a finger, or of the vacuum; the hand's, if not given [N]
    #[arg(long, value_name = "N", default_value_t = 0.0, hide_default_value = true)]
    max_force: f64,
    /// Copies: the first as stated, four with corners of mass and friction, the others random
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    copies: u16,
    /// Of the random copies; the same seed gives the same bits, on any number of threads
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Time between two samples of the robot, a whole number of the scene's time steps [s]
    #[arg(long, value_name = "S", default_value_t = 0.002)]
    period: f64,
    /// Time in which the scene comes to rest before [s]
    #[arg(long, value_name = "S", default_value_t = 0.5)]
    settle: f64,
    /// Write the predictions here instead of a table to stdout
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
    /// Table of the commands of the copy as stated, a row a sample: those of the nodes in lockstep, to the bit
    #[arg(long, value_name = "FILE.csv", value_parser = table_file)]
    commands: Option<PathBuf>,
    /// Picture of the worst copy: its start, its worst instant and its end
    #[arg(long, value_name = "FILE.png", value_parser = png_file)]
    picture: Option<PathBuf>,
}

const HELP: &str = "\
  karakuri rehearse config/scenes/pick_and_place.yaml --pick cube --place 0.5,0.2,0.875 --picture cube.png

Copies differ by 15 % of the mass, 20 % of the friction, and by 2 mm and 2 degrees between where the object is and where it is seen; \
random ones also by 20 % of the friction in the robot's joints, half to twice the leak of suction lips, and the noise of sensors. \
Exit code 3: the copy as stated fails, or another one does.";

/// Runs the command.
///
/// # Errors
/// When the scene, the robot or the goal is wrong, or an output cannot be written. A predicted failure is an [`Outcome::Failed`].
pub fn run(args: &Args) -> Result<Outcome> {
    let Args { scene, period, settle, .. } = args;
    let cell = CellFile { period: *period, settle: *settle, ..CellFile::new(scene) }.open()?;
    let stated = stated(args, &cell)?;
    let Some(hand) = &cell.hand else { bail!("{}: its robot has no hand", scene.display()) };
    let goal = stated.goal(hand.defaults())?;
    let act = Act::from(goal.clone());
    let copies = usize::from(args.copies);
    let settings = RehearsalSettings { copies, seed: args.seed, ..RehearsalSettings::default() };
    let bar = progress::bar(u64::from(args.copies), "rehearsing");
    let begun = Instant::now();
    let predictions = rehearse(&cell, Some(&args.pick), &act, &settings, |_| bar.inc(1));
    bar.finish_and_clear();
    let predictions = predictions?;
    let wall = begun.elapsed().as_secs_f64();
    let found = Found { args, stated: &stated, predictions: &predictions };
    match &args.report {
        Some(file) => output::json(&found.report(), Some(file))?,
        None => output::print(&found.table())?,
    }
    let Some(worst) = worst(&predictions) else { bail!("no copy was rehearsed") };
    if let Some(file) = &args.picture {
        photograph(&cell, args, &goal, worst, file)?;
    }
    if let Some(file) = &args.commands {
        record(&cell, args, &act, &predictions[0], file)?;
    }
    let files = [&args.report, &args.commands, &args.picture];
    let wrote = output::wrote(&files.map(Option::as_deref));
    output::done(&format!("rehearsed {copies} copies in {wall:.1} s{wrote}"));
    Ok(found.outcome(worst))
}

fn stated(args: &Args, cell: &Cell) -> Result<Statement> {
    let Ok(place) = <[f64; 3]>::try_from(args.place.0.as_slice()) else {
        bail!("--place: write three numbers, X,Y,Z");
    };
    let stated = state(cell, &args.pick, &Vector3::from(place), args.turn.to_radians());
    let stated = stated.map_err(|why| {
        let world = cell.io.world();
        let bodies = world.body_ids().map(|id| world.body(id).description());
        let names: Vec<_> = bodies.filter(|b| !b.fixed).map(|b| b.name.as_str()).collect();
        anyhow!("--pick: {why}; what can move is {}", names.join(", "))
    })?;
    Ok(Statement {
        mass: args.mass.unwrap_or(stated.mass),
        friction: args.friction.unwrap_or(stated.friction),
        max_grip_force: args.max_force,
        ..stated
    })
}

/// What was rehearsed, and what came of it.
struct Found<'a> {
    args: &'a Args,
    stated: &'a Statement,
    predictions: &'a [Prediction],
}

impl Found<'_> {
    /// Distance of a placed object from its place. [mm]
    fn off(&self, prediction: &Prediction) -> Option<f64> {
        let placed = prediction.failure().is_none();
        let middle = |pose: &karakuri_spatial::Pose| pose.translation.xy();
        placed.then(|| 1e3 * (middle(&prediction.end) - middle(&self.stated.place)).norm())
    }

    fn table(&self) -> String {
        let head = "copy   mass  friction  beside [mm]   yaw [deg]   leak  joints  outcome        margin  force [N]  off [mm]  time [s]\n";
        let rows = self.predictions.iter().enumerate().map(|(n, copy)| self.row(n, copy));
        format!("{head}{}{}\n", rows.collect::<String>(), self.sentence())
    }

    fn row(&self, n: usize, copy: &Prediction) -> String {
        let Variation { mass, friction, place: [x, y], yaw, leak, joint_friction, .. } =
            copy.variation;
        let off = self.off(copy).map_or_else(|| "-".to_owned(), |off| format!("{off:.2}"));
        format!(
            "{n:>4}  {mass:5.3}     {friction:5.3}  {:11.2}  {:10.2}  {leak:5.3}   {joint_friction:5.3}  {:13}  {:6.3}  {:9.1}  {off:>8}  {:8.2}\n",
            1e3 * x.hypot(y),
            yaw.to_degrees(),
            name(copy.failure()),
            copy.margin,
            copy.largest_force,
            copy.duration,
        )
    }

    /// What the copies tell of the probability.
    fn sentence(&self) -> String {
        let random = random(self.predictions);
        let failed = random.iter().filter(|copy| copy.failure().is_some()).count();
        if random.is_empty() {
            return "no random copies: they would bound the probability".to_owned();
        }
        if failed > 0 {
            return format!("{failed} of {} random copies fail", random.len());
        }
        format!(
            "all of {} random copies succeed: with a confidence of 95 %, the task does with a probability of {:.2} at least",
            random.len(),
            least_probability(random.len())
        )
    }

    fn report(&self) -> Value {
        let copy = |prediction: &Prediction| {
            let variation = &prediction.variation;
            json!({
                "mass_scale": variation.mass,
                "friction_scale": variation.friction,
                "beside_m": variation.place,
                "yaw_rad": variation.yaw,
                "leak_scale": variation.leak,
                "joint_friction_scale": variation.joint_friction,
                "noise_run": variation.noise.to_string(),
                "outcome": name(prediction.failure()),
                "message": prediction.message(),
                "margin": prediction.margin,
                "worst_at_s": prediction.worst_at,
                "largest_force_n": prediction.largest_force,
                "placed_off_m": self.off(prediction).map(|off| 1e-3 * off),
                "duration_s": prediction.duration,
                "commands": prediction.commands.to_string(),
            })
        };
        json!({
            "scene": self.args.scene,
            "pick": self.args.pick,
            "seed": self.args.seed,
            "copies": self.predictions.iter().map(copy).collect::<Vec<_>>(),
            "summary": self.sentence(),
        })
    }

    fn outcome(&self, worst: &Prediction) -> Outcome {
        let Some(failure) = worst.failure() else { return Outcome::Done };
        let number = self.predictions.iter().position(|copy| copy == worst).unwrap_or(0);
        let message = worst.message();
        Outcome::Failed(format!("copy {number} ends with {}: {message}", failure.name()))
    }
}

fn name(failure: Option<Trouble>) -> &'static str {
    failure.map_or("placed", Trouble::name)
}

fn photograph(
    cell: &Cell,
    args: &Args,
    goal: &PickAndPlaceGoal,
    prediction: &Prediction,
    file: &Path,
) -> Result<()> {
    let middle = 0.5 * (goal.pick.position + goal.place.position);
    let distance = 1.2 + (goal.pick.position - goal.place.position).norm();
    let camera = Camera::orbiting(middle, distance, 0.6, 0.35, 0.5);
    let film = Film {
        variation: prediction.variation,
        instants: [0.0, prediction.worst_at, prediction.duration],
        limit: RehearsalSettings::default().limit,
        camera,
    };
    let png = film.take(cell, Some(&args.pick), &goal.clone().into())?.to_png()?;
    write_atomic(file, &png).with_context(|| format!("cannot write {}", file.display()))
}

/// Writes the commands of a copy, of the joints that the controller commands.
fn record(cell: &Cell, args: &Args, act: &Act, prediction: &Prediction, file: &Path) -> Result<()> {
    let model = cell.model();
    let commanded: Vec<_> = model.groups.iter().flat_map(|group| &group.joints).collect();
    let mut columns = vec![Column::new("time", "s")];
    for joint in commanded.iter().map(|id| &model.joints[id.0]) {
        let (position, rate, effort) = trace::units(&joint.kind);
        for (quantity, unit) in [("position", position), ("velocity", rate), ("effort", effort)] {
            columns.push(Column::new(format!("{}.{quantity}", joint.name), unit));
        }
    }
    let mut trace = TraceWriter::create(file, &columns)?;
    let mut written = Ok(());
    let (variation, limit) = (&prediction.variation, RehearsalSettings::default().limit);
    observe(cell, Some(&args.pick), act, variation, limit, |_, cell| {
        if written.is_ok() {
            let Command { position, velocity, effort, .. } = cell.command();
            let targets =
                commanded.iter().flat_map(|id| [position, velocity, effort].map(|t| t[id.0]));
            let row: Vec<_> = [cell.now().seconds()].into_iter().chain(targets).collect();
            written = trace.row(&row);
        }
    })?;
    written?;
    Ok(trace.finish()?)
}
