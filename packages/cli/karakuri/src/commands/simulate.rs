//! `karakuri simulate`: runs a scene and writes its results.

mod command;
mod forces;
mod loads;
mod plot;
mod report;
pub(crate) mod soundness;
mod touches;
pub(crate) mod trace;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use karakuri_files::write_json;
use karakuri_physics::solver::{SOLVERS, solver};
use karakuri_physics::{Energy, EnergyMonitor, Integrator, Scene, StepOutcome, World};
use karakuri_simulation::{Tally, load_scene};

use self::command::Command;
use self::forces::Counts;
use self::plot::History;
use self::soundness::{LOOKS, warnings};
use self::touches::{Rows, Touches};
use self::trace::Trace;
use super::Outcome;
use crate::input::input_file;
use crate::interrupt::Interrupt;
use crate::output::{self, svg_file};
use crate::progress;

/// Runs a scene with physics, as fast as it can
///
/// The report goes to stdout, or to the file of --report. Ctrl-C ends the run after the step in progress; trace, plot and
/// report are written all the same. A warning on stderr and in the report tells where the energy grew by itself, steps
/// were not solved, or something turned by more than half a turn in a step.
/// Exit code 3: a quantity became infinite or not a number, or the run was interrupted.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The scene, YAML
    #[arg(value_parser = input_file())]
    scene: PathBuf,
    /// How long to simulate [s]
    #[arg(long, value_name = "S", value_parser = positive)]
    duration: f64,
    /// Time step instead of the scene's [s]
    #[arg(long, value_name = "S", value_parser = positive)]
    dt: Option<f64>,
    /// Contact solver instead of the scene's
    #[arg(long, value_name = "METHOD")]
    solver: Option<String>,
    /// Integrator of what moves freely instead of the scene's
    #[arg(long, value_name = "NAME")]
    integrator: Option<String>,
    /// Targets of the drives over time: CSV with `time` and columns `robot.joint.q`, such as a trace, of which joints without
    /// a drive are left out; between the rows a cubic spline, whose rates are targets, too
    #[arg(long, value_name = "FILE.csv", value_parser = input_file())]
    command: Option<PathBuf>,
    /// Write positions, velocities and efforts over time, sensors, forces of mimic joints, loops, gears and attached
    /// joints, and loop gaps: CSV, or JSON lines if it ends in .jsonl
    #[arg(long, value_name = "FILE", value_parser = table_file)]
    trace: Option<PathBuf>,
    /// Write every contact point over time: place, normal, gap, force and moment; CSV or JSON lines
    #[arg(long, value_name = "FILE", value_parser = table_file)]
    contacts: Option<PathBuf>,
    /// Write the sum of the contacts of every two things over time, moments about the world's origin; CSV or JSON lines
    #[arg(long, value_name = "FILE", value_parser = table_file)]
    pairs: Option<PathBuf>,
    /// Time between two instants of trace, contacts and pairs [s]; every step without it
    #[arg(long, value_name = "S", value_parser = positive)]
    trace_period: Option<f64>,
    /// Draw joints, bodies and energy over time
    #[arg(long, value_name = "FILE.svg", value_parser = svg_file)]
    plot: Option<PathBuf>,
    /// Write the report here instead of to stdout, with the times of the stages of a step
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
    /// Book where the energy goes, by cause: into the report, and the trace; costs time, of long chains most of it
    #[arg(long)]
    energy: bool,
}

/// Reads the name of a table over time: CSV, or JSON lines.
pub(super) fn table_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension() {
        Some(e) if !e.eq_ignore_ascii_case("csv") && !e.eq_ignore_ascii_case("jsonl") => {
            Err("tables over time are CSV or JSON lines; name a file that ends in .csv or .jsonl"
                .to_owned())
        }
        _ => Ok(path),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x <= 1e6 => Ok(x),
        _ => Err("write a number of seconds above 0, at most 1000000".to_owned()),
    }
}

/// Time between two updates of the progress bar.
const PROGRESS_PERIOD: Duration = Duration::from_millis(50);
/// Approximate number of points of a curve in the plot.
const PLOT_POINTS: u64 = 1000;

/// Runs the command.
///
/// # Errors
/// When the scene or an option is wrong, or an output cannot be written. A simulation that breaks off is an
/// [`Outcome::Failed`].
pub fn run(args: &Args) -> Result<Outcome> {
    let mut loaded = load_scene(&args.scene)?;
    override_settings(&mut loaded.scene, args)?;
    let mut world = loaded.world()?;
    for id in world.robot_ids() {
        if let Some(warning) = world.overlap_warning(id) {
            eprintln!("warning: {}: {warning}", args.scene.display());
        }
    }
    let interrupt = Interrupt::watch()?;
    let run = simulate(&mut world, args, &interrupt)?;
    let warnings = warnings(&run.tally, &run.watch, &world);
    for warning in &warnings {
        eprintln!("warning: {}: {warning}", args.scene.display());
    }
    let report = report::of(&mut world, args, &run, warnings);
    match &args.report {
        Some(file) => write_json(file, &report)?,
        None => output::json(&report, None)?,
    }
    if let Some(trace) = run.trace {
        trace.finish()?;
    }
    for touches in run.touches {
        touches.finish()?;
    }
    if let Some(file) = &args.plot {
        run.history.into_plot(args.scene.display().to_string()).write_svg(file)?;
    }
    if let Some(failure) = run.failure {
        return Ok(Outcome::Failed(failure));
    }
    let files = [&args.report, &args.trace, &args.contacts, &args.pairs, &args.plot];
    let files = files.map(|f| f.as_deref());
    output::done(&format!(
        "simulated {:.3} s of {} in {:.2} s ({:.3} times real time){}",
        world.time(),
        args.scene.display(),
        run.wall,
        world.time() / run.wall.max(f64::MIN_POSITIVE),
        output::wrote(&files),
    ));
    Ok(Outcome::Done)
}

fn override_settings(scene: &mut Scene, args: &Args) -> Result<()> {
    if let Some(dt) = args.dt {
        if !(1e-6..=0.1).contains(&dt) {
            bail!("--dt {dt}: the time step is from 0.000001 to 0.1 s");
        }
        scene.settings.dt = dt;
    }
    scene.settings.energy_ledger = args.energy;
    if let Some(name) = &args.solver {
        let known: Vec<&str> = SOLVERS.iter().map(|s| s.name).collect();
        let found = solver(name).ok_or_else(|| {
            anyhow!("--solver {name}: there is no such solver; use one of {}", known.join(", "))
        })?;
        scene.settings.solver.method = found.name;
    }
    if let Some(name) = &args.integrator {
        let known = Integrator::ALL.map(Integrator::name).join(", ");
        scene.settings.integrator = Integrator::find(name).ok_or_else(|| {
            anyhow!("--integrator {name}: there is no such integrator; use one of {known}")
        })?;
    }
    Ok(())
}

/// Results of a run.
struct Run {
    /// Counts of the steps; their stages are timed when a report is asked for.
    tally: Tally,
    trace: Option<Trace>,
    touches: Vec<Touches>,
    history: History,
    contacts: Counts,
    initial: Energy,
    watch: EnergyMonitor,
    /// Wall time of the steps alone. [s]
    wall: f64,
    /// Reason why it ended before its time.
    failure: Option<String>,
}

fn simulate(world: &mut World, args: &Args, interrupt: &Interrupt) -> Result<Run> {
    let dt = world.settings().dt;
    let steps = count(args.duration / dt);
    let trace_every = args.trace_period.map_or(1, |period| count(period / dt));
    let plot_every = steps.div_ceil(PLOT_POINTS).max(1);
    let mut run = Run {
        tally: Tally::default(),
        contacts: Counts::default(),
        initial: world.energy(),
        watch: EnergyMonitor::new(world),
        trace: args.trace.as_ref().map(|file| Trace::create(file, world)).transpose()?,
        touches: touches(args)?,
        history: History::new(world),
        wall: 0.0,
        failure: None,
    };
    let look_every = steps.div_ceil(LOOKS).max(1);
    let command = args.command.as_ref().map(|file| Command::read(file, world)).transpose()?;
    world.record_reactions(args.trace.is_some());
    let bar = progress::bar(steps, "simulating");
    let mut shown = Instant::now();
    for step in 0..=steps {
        if step % trace_every == 0 {
            if let Some(trace) = &mut run.trace {
                trace.row(world)?;
            }
            // There are no contact forces before the first step.
            for touches in run.touches.iter_mut().filter(|_| step > 0) {
                touches.write(world)?;
            }
        }
        if args.plot.is_some() && step % plot_every == 0 {
            run.history.sample(world);
        }
        if step % look_every == 0 || step == steps {
            run.watch.look(world);
        }
        if step == steps {
            break;
        }
        if interrupt.is_raised() {
            run.failure = Some(format!("interrupted at {:.3} s", world.time()));
            break;
        }
        if let Some(command) = &command {
            command.give(world);
        }
        if step + 1 == steps {
            // The report shows the reactions of the last step.
            world.record_reactions(true);
        }
        let start = Instant::now();
        if start - shown >= PROGRESS_PERIOD {
            shown = start;
            bar.set_position(step);
        }
        let outcome = if args.report.is_some() {
            run.tally.step(world)
        } else {
            let outcome = world.step();
            run.tally.add(&outcome, &world.statistics());
            outcome
        };
        run.wall += start.elapsed().as_secs_f64();
        if let StepOutcome::NonFinite(_) = outcome {
            run.failure = Some(format!("at {:.6} s: {}", world.time(), world.non_finite_report()));
            break;
        }
        run.contacts.count(world.statistics().n_contacts);
    }
    bar.finish_and_clear();
    Ok(run)
}

/// Files of contacts that the options ask for.
fn touches(args: &Args) -> Result<Vec<Touches>> {
    let files = [(&args.contacts, Rows::Points), (&args.pairs, Rows::Pairs)];
    let asked = files.into_iter().filter_map(|(file, rows)| Some((file.as_ref()?, rows)));
    asked.map(|(file, rows)| Ok(Touches::create(file, rows)?)).collect()
}

/// Number of steps of `dt` in a duration: the nearest whole number of at least 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded, positive, and saturating beyond what anyone waits for"
)]
pub(super) fn count(ratio: f64) -> u64 {
    (ratio.round() as u64).max(1)
}
