//! `karakuri gait plan` and `karakuri gait walk`: footsteps to motion, and that motion in the physics simulation.

mod boards;
mod cell;
mod figures;
mod ground;
mod mock;
mod motion;
mod picture;
mod plan;
mod tracking;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use clap::Parser;
use karakuri_files::{load_gait, write_json};
use karakuri_gait::planner::{
    Biped, GeneratorKind, Sample, Side, StraightWalk, Velocity, WalkCommand, WalkEngine, WalkState,
};
use karakuri_model::Model;
use serde_json::{Value, json};

use self::boards::Hardware;
use self::cell::{Cell, Conditions, Errand, Push, Run};
use self::ground::Stairs;
use self::plan::{Plan, excesses};
use super::super::Outcome;
use crate::input::input_file;
use crate::interrupt::Interrupt;
use crate::output::{self, png_file};
use crate::progress;

/// Longest walk. [s]
const LONGEST: f64 = 3600.0;
/// Usual time between two commands. [s]
const COMMAND_PERIOD: f64 = 0.005;
/// Options of walks that are not straight.
const NOT_STRAIGHT: [&str; 2] = ["velocity", "turn"];

#[derive(Debug, clap::Args)]
pub(super) struct Walk {
    /// The robot and its gait, YAML, such as `config/gaits/khr1_walk.yaml`
    #[arg(value_parser = input_file())]
    gait: PathBuf,
    /// Walk straight so far, negative is backward, then stand [m]
    #[arg(
        long,
        value_name = "M",
        allow_negative_numbers = true,
        default_value_t = 1.0,
        conflicts_with_all = NOT_STRAIGHT
    )]
    distance: f64,
    /// Over so many steps, if they are not too long for that, before the one that closes the feet
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with_all = NOT_STRAIGHT, value_parser = clap::value_parser!(u32).range(..=10_000))]
    steps: u32,
    /// At most so fast [m/s]
    #[arg(long, value_name = "M/S", default_value_t = 0.0, conflicts_with_all = NOT_STRAIGHT)]
    speed: f64,
    /// Along a line that leads so far to the left; it turns first [degrees]
    #[arg(long, value_name = "DEGREES", allow_negative_numbers = true, default_value_t = 0.0, conflicts_with_all = NOT_STRAIGHT)]
    heading: f64,
    /// Walk at this velocity instead: forward, left [m/s], turn [rad/s]
    #[arg(long, value_name = "X,Y,TURN", allow_hyphen_values = true, value_parser = velocity, requires = "duration")]
    velocity: Option<Velocity>,
    /// Turn on the spot instead, positive is left [degrees]
    #[arg(
        long,
        value_name = "DEGREES",
        allow_negative_numbers = true,
        conflicts_with = "velocity"
    )]
    turn: Option<f64>,
    /// For so long, then stop [s]
    #[arg(long, value_name = "S")]
    duration: Option<f64>,
    /// On a slope that rises so much ahead, negative falls [degrees]
    #[arg(long, value_name = "DEGREES", allow_negative_numbers = true, default_value_t = 0.0)]
    slope: f64,
    /// On a slope that rises so much to the left, negative to the right [degrees]
    #[arg(long, value_name = "DEGREES", allow_negative_numbers = true, default_value_t = 0.0)]
    cross_slope: f64,
    /// The foot of the first step; to the side the foot of that side goes first
    #[arg(long, value_name = "left|right", default_value = "left", value_parser = foot)]
    first_foot: Side,
    /// Climb stairs and descend them again instead: height, depth [m], number; refused where a step is beyond the gait's limits
    #[arg(
        long,
        value_name = "H,D,N",
        value_parser = stairs,
        conflicts_with_all = ["distance", "steps", "speed", "heading", "velocity", "turn", "slope", "cross_slope"]
    )]
    stairs: Option<Stairs>,
    /// How the motion of the centre of mass is found, instead of by what the gait file says
    #[arg(long, value_name = "preview|dcm", value_parser = generator)]
    generator: Option<GeneratorKind>,
    /// A folder for figures, SVG
    #[arg(long, value_name = "FOLDER")]
    plot: Option<PathBuf>,
    /// Write the report here instead of to stdout
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
    /// Write the plan, or what happened, over time as CSV: root link, joints, ZMP
    #[arg(long, value_name = "FILE.csv")]
    trace: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(super) struct Planned {
    #[command(flatten)]
    walk: Walk,
    /// Write the plan as a motion, to edit, check and play it (docs/motion.md)
    #[arg(long, value_name = "FILE.yaml")]
    motion: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
pub(super) struct Simulate {
    #[command(flatten)]
    walk: Walk,
    /// Friction between the robot and the ground [-]
    #[arg(long, default_value_t = 0.8)]
    friction: f64,
    /// Factor of all masses and inertias, unknown to the planner [-]
    #[arg(long, default_value_t = 1.0)]
    mass_factor: f64,
    /// Delay of the commands [s]
    #[arg(long, value_name = "S", default_value_t = 0.0)]
    latency: f64,
    /// Time between two commands; 0.005, or that of a hardware file, if not given [s]
    #[arg(long, value_name = "S")]
    command_period: Option<f64>,
    /// Position commands are whole degrees, without torque, as the KHR-1's servos take them
    #[arg(long)]
    whole_degrees: bool,
    /// Position commands only: what the servos give way under the planned torque is added to the target
    #[arg(long)]
    position_only: bool,
    /// The stabiliser is off
    #[arg(long)]
    open_loop: bool,
    /// Over the emulated boards or servos of a hardware file, as config/hardware/khr1.yaml: through
    /// its driver, in its counts, at its period, with the delays of its bus
    #[arg(
        long,
        value_name = "FILE",
        value_parser = input_file(),
        conflicts_with_all = ["latency", "whole_degrees", "push"]
    )]
    hardware: Option<PathBuf>,
    /// On a mock without a body, in place of the simulation: joints follow, and the way is the plan's
    #[arg(long, conflicts_with_all = ["hardware", "push", "times", "picture", "stairs"])]
    mock: bool,
    /// Turn on the spot after the walk, positive is left [degrees]
    #[arg(
        long,
        value_name = "DEGREES",
        allow_negative_numbers = true,
        conflicts_with_all = ["velocity", "turn", "stairs"]
    )]
    then_turn: Option<f64>,
    /// A push on the root link: at a time [s], an impulse forward and left [N·s]; lasts 10 ms
    #[arg(long, value_name = "S,X,Y", allow_hyphen_values = true, value_parser = push)]
    push: Option<Push>,
    /// Bumps on the floor, so high, 5 cm long, every 30 cm [m]
    #[arg(long, value_name = "M", default_value_t = 0.0)]
    bumps: f64,
    /// Walk so many times, standing in between
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    times: u32,
    /// A picture of the robot along its path, with times and an arrow at a push
    #[arg(long, value_name = "FILE.png", value_parser = png_file)]
    picture: Option<PathBuf>,
    /// Time step of the physics [s]
    #[arg(long, value_name = "S", default_value_t = 0.001)]
    dt: f64,
}

fn triple(text: &str) -> Result<[f64; 3], String> {
    let numbers: Vec<f64> = text.split(',').filter_map(|x| x.trim().parse().ok()).collect();
    match numbers[..] {
        [a, b, c] if numbers.iter().all(|x| x.is_finite()) => Ok([a, b, c]),
        _ => Err("write three numbers with commas between".to_owned()),
    }
}

fn velocity(text: &str) -> Result<Velocity, String> {
    triple(text).map(|[forward, left, turn]| Velocity { forward, left, turn })
}

fn push(text: &str) -> Result<Push, String> {
    triple(text).map(|[time, forward, left]| Push { time, impulse: [forward, left] })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 50")]
fn stairs(text: &str) -> Result<Stairs, String> {
    let [height, depth, count] = triple(text)?;
    if (0.0..=1.0).contains(&height)
        && (0.01..=2.0).contains(&depth)
        && (1.0..=50.0).contains(&count)
    {
        return Ok(Stairs { height, depth, count: count as u32 });
    }
    Err("write a height from 0 to 1 m, a depth from 0.01 to 2 m, a number from 1 to 50".to_owned())
}

fn foot(text: &str) -> Result<Side, String> {
    match text {
        "left" => Ok(Side::Left),
        "right" => Ok(Side::Right),
        _ => Err("write left or right".to_owned()),
    }
}

fn generator(text: &str) -> Result<GeneratorKind, String> {
    match text {
        "preview" => Ok(GeneratorKind::Preview),
        "dcm" => Ok(GeneratorKind::Dcm),
        _ => Err("write preview or dcm".to_owned()),
    }
}

/// Summary of a walking gait in one line; for `karakuri check`.
pub(super) fn check(gait: &std::path::Path) -> Result<String> {
    let place = || gait.display().to_string();
    let (robot, settings) = load_gait(gait)?;
    let (model, n_warnings) = (Arc::new(robot.model), robot.warnings.len());
    let biped = Biped::new(Arc::clone(&model), &settings).with_context(place)?;
    WalkEngine::new(biped, settings).with_context(place)?;
    let (name, nv) = (&model.name, model.nv);
    Ok(format!(
        "gait {}: {name}, {nv} degrees of freedom, {n_warnings} warnings about the robot",
        place()
    ))
}

/// Robot of a gait and its walk engine.
fn engine(args: &Walk) -> Result<(Arc<Model>, WalkEngine)> {
    let gait = &args.gait;
    let place = || gait.display().to_string();
    let (robot, mut settings) = load_gait(gait)?;
    for (slope, more) in settings.slope.iter_mut().zip(args.tilt()) {
        *slope += more;
    }
    settings.generator = args.generator.unwrap_or(settings.generator);
    let model = Arc::new(robot.model);
    let biped = Biped::new(model.clone(), &settings).with_context(place)?;
    let mut engine = WalkEngine::new(biped, settings).with_context(place)?;
    engine.begin_with(args.first_foot);
    Ok((model, engine))
}

impl Walk {
    fn check(&self) -> Result<()> {
        if !(-1000.0..=1000.0).contains(&self.distance) {
            bail!("--distance {}: write at most 1000 m", self.distance);
        }
        for (option, degrees) in [("slope", self.slope), ("cross-slope", self.cross_slope)] {
            if !(-25.0..=25.0).contains(&degrees) {
                bail!("--{option} {degrees}: write from -25 to 25 degrees");
            }
        }
        if !(0.0..=100.0).contains(&self.speed) {
            bail!("--speed {}: write from 0 (the robot's own) to 100 m/s", self.speed);
        }
        for (option, degrees) in [("heading", self.heading), ("turn", self.turn.unwrap_or(0.0))] {
            if !(-3600.0..=3600.0).contains(&degrees) {
                bail!("--{option} {degrees}: write from -3600 to 3600 degrees");
            }
        }
        if let Some(duration) = self.duration
            && !(0.0..=LONGEST).contains(&duration)
        {
            bail!("--duration {duration}: write from 0 to {LONGEST} s");
        }
        Ok(())
    }

    /// Roll and pitch of the floor. [rad] (2)
    fn tilt(&self) -> [f64; 2] {
        [self.cross_slope.to_radians(), -self.slope.to_radians()]
    }

    fn command(&self, engine: &WalkEngine) -> WalkCommand {
        if let Some(stairs) = self.stairs {
            return WalkCommand::Footsteps(stairs.footsteps(engine, self.first_foot));
        }
        match (self.turn, self.velocity) {
            (Some(degrees), _) => WalkCommand::Turn(degrees.to_radians()),
            (None, Some(velocity)) => WalkCommand::Velocity(velocity),
            (None, None) => WalkCommand::Straight(StraightWalk {
                distance: self.distance,
                steps: self.steps,
                speed: self.speed,
                heading: self.heading.to_radians(),
            }),
        }
    }

    fn write(&self, report: &Value) -> Result<()> {
        match &self.report {
            Some(file) => Ok(write_json(file, report)?),
            None => output::json(report, None),
        }
    }
}

impl Plan {
    /// Plan with the reason why it cannot be walked; steps that are cut miss the treads of stairs.
    fn of(engine: &mut WalkEngine, model: &Model, args: &Walk) -> Self {
        let clips = engine.take_clips().iter().map(ToString::to_string).collect();
        let excesses = excesses(engine, model);
        let missed = args.stairs.and_then(|stairs| stairs.beyond(engine, args.first_foot));
        let failure = missed
            .map(|cut| format!("the stairs are beyond `limits` of the gait: {cut}"))
            .or_else(|| engine.failure().map(|failure| failure.to_string()))
            .or_else(|| (!excesses.is_empty()).then(|| excesses.join("; ")));
        Self { failure, clips, excesses }
    }
}

/// Advances the plan to the end of the command: its samples, and the time. [s]
fn plan_on(engine: &mut WalkEngine, args: &Walk, interrupt: &Interrupt) -> (Vec<Sample>, f64) {
    let period = engine.generator().settings.period;
    let mut samples: Vec<Sample> = vec![engine.sample().clone()];
    let mut time = 0.0;
    while time < LONGEST && !interrupt.is_raised() {
        engine.advance(period, None);
        time += period;
        if args.duration.is_some_and(|d| time >= d && time < d + period) {
            engine.command(WalkCommand::Stop);
        }
        samples.push(engine.sample().clone());
        let is_over = args.duration.is_none_or(|d| time > d + 1.0);
        if is_over && time > 0.2 && engine.state() == WalkState::Standing {
            break;
        }
    }
    (samples, time)
}

/// Plans a walk without simulating it.
pub(super) fn plan(planned: &Planned) -> Result<Outcome> {
    let args = &planned.walk;
    args.check()?;
    let (model, mut engine) = engine(args)?;
    let interrupt = Interrupt::watch()?;
    engine.command(args.command(&engine));
    let start = std::time::Instant::now();
    let (samples, time) = plan_on(&mut engine, args, &interrupt);
    let wall = start.elapsed().as_secs_f64();
    let Plan { failure, clips, excesses } = Plan::of(&mut engine, &model, args);
    let margin = samples.iter().map(|s| s.margin).fold(f64::INFINITY, f64::min);
    let worst = samples.iter().map(|s| error(s.zmp, s.zmp_reference)).fold(0.0, f64::max);
    let report = json!({
        "time_s": time,
        "steps": engine.steps(),
        "least_margin_m": margin,
        "largest_zmp_error_m": worst,
        "largest_yaw_moment_nm": samples.iter().map(|s| s.yaw_moment.abs()).fold(0.0, f64::max),
        "clipped": clips,
        "beyond_limits": excesses,
        "failure": failure,
        "planned_faster_than_real_time": time / wall,
    });
    args.write(&report)?;
    let period = engine.generator().settings.period;
    if let Some(folder) = &args.plot {
        figures::plan(&args.gait, &samples, period).write_svg(&folder.join("plan.svg"))?;
    }
    if let Some(file) = &args.trace {
        cell::trace(&model, &samples, period, file)?;
    }
    if let Some(file) = &planned.motion {
        motion::write(&args.gait, &model, &samples, period, file)?;
    }
    Ok(failure.map_or(Outcome::Done, Outcome::Failed))
}

fn error(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// A walk in the physics simulation, as the command line says it.
#[derive(Debug, clap::Parser)]
#[command(name = "walk", no_binary_name = true)]
struct Line {
    #[command(flatten)]
    walk: Simulate,
}

/// First sentence of an error about options, without the hints for a command line.
fn in_a_sentence(error: &clap::Error) -> anyhow::Error {
    let text = error.to_string();
    let sentence = text.lines().next().unwrap_or_default();
    anyhow!("{}", sentence.strip_prefix("error: ").unwrap_or(sentence))
}

/// Walks by the options of `karakuri gait walk`; the report, and the reason of a fall.
pub(in super::super) fn walk_by(
    options: &[String],
    interrupt: &Interrupt,
) -> Result<(Value, Option<String>)> {
    let Line { walk } = Line::try_parse_from(options).map_err(|e| in_a_sentence(&e))?;
    walk.walk.check()?;
    let (_, run) = walk.run(interrupt, &|_| {})?;
    Ok((run.report(), run.failure))
}

impl Simulate {
    fn errand(&self, command: WalkCommand) -> Errand {
        let then_turn = self.then_turn.map(f64::to_radians);
        let walk = match (self.walk.turn, self.walk.velocity) {
            (Some(turn), _) => Some(turn.to_radians()),
            // At a velocity it turns for as long as it takes to stop.
            (None, Some(_)) => None,
            (None, None) => Some(self.walk.heading.to_radians()),
        };
        let heading = walk.map(|walk| f64::from(self.times) * (walk + then_turn.unwrap_or(0.0)));
        let duration = self.walk.duration;
        Errand { command, then_turn, heading, duration, times: self.times }
    }

    fn run(&self, interrupt: &Interrupt, on_progress: &dyn Fn(f64)) -> Result<(Cell, Run)> {
        let (model, engine) = engine(&self.walk)?;
        let conditions = Conditions {
            friction: self.friction,
            mass_factor: self.mass_factor,
            latency: self.latency,
            command_period: self.command_period.unwrap_or(COMMAND_PERIOD),
            whole_degrees: self.whole_degrees,
            position_only: self.position_only || self.whole_degrees || self.hardware.is_some(),
            open_loop: self.open_loop,
            push: self.push,
            bumps: self.bumps,
            stairs: self.walk.stairs,
            slope: self.walk.tilt(),
            dt: self.dt,
        };
        conditions.check()?;
        let command = self.walk.command(&engine);
        let plan = self.walk.stairs.map(|_| {
            let mut engine = engine.clone();
            engine.command(command.clone());
            plan_on(&mut engine, &self.walk, interrupt);
            Plan::of(&mut engine, &model, &self.walk)
        });
        let hardware = self.hardware.as_deref();
        let hardware = hardware.map(|path| Hardware { path, period: self.command_period });
        let mut cell = Cell::new(&model, engine, conditions, hardware)?;
        if let Some(plan) = plan.filter(|plan| plan.failure.is_some()) {
            return Ok((cell, Run::refused(plan)));
        }
        let errand = self.errand(command);
        if self.mock {
            let run = mock::walk(&mut cell, &errand, interrupt)?;
            return Ok((cell, run));
        }
        let run = cell.walk(&errand, interrupt, on_progress);
        Ok((cell, run))
    }
}

/// Walks in the physics simulation.
pub(super) fn simulate(args: &Simulate) -> Result<Outcome> {
    args.walk.check()?;
    let interrupt = Interrupt::watch()?;
    let expected = args.walk.duration.unwrap_or(args.walk.distance.abs() * 10.0) + 3.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "milliseconds")]
    let milliseconds = |seconds: f64| (1e3 * seconds) as u64;
    let bar = progress::bar(milliseconds(expected * f64::from(args.times)), "walking [ms]");
    let (cell, run) = args.run(&interrupt, &|time| bar.set_position(milliseconds(time)))?;
    bar.finish_and_clear();
    args.walk.write(&run.report())?;
    if let Some(file) = &args.walk.trace {
        cell::record_trace(&run.history, cell.model(), cell.postures(), file)?;
    }
    if let Some(folder) = &args.walk.plot {
        figures::walk(&args.walk.gait, &run).write_svg(&folder.join("walk.svg"))?;
    }
    if let Some(file) = &args.picture {
        let walk = picture::Walk {
            model: cell.model(),
            scene: cell.scene(),
            postures: cell.postures(),
            times: run.history.iter().map(|moment| moment.time).collect(),
            push: args.push,
        };
        picture::write(file, &walk)?;
    }
    Ok(run.failure.map_or(Outcome::Done, Outcome::Failed))
}
