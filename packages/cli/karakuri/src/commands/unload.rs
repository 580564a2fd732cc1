//! `karakuri unload`: different objects of a heap, one after the other, onto a tray.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, bail};
use karakuri_files::TraceWriter;
use karakuri_grasp::pick_and_place::Stage;
use karakuri_rehearsal::{
    Act, Attempt, Cell, CellFile, Destination, Ended, Obstacle, Prediction, Tray, Unloading,
    UnloadingSettings, carry_out,
};
use serde_json::{Value, json};

use super::Outcome;
use super::simulate::{table_file, trace};
use crate::input::input_file;
use crate::interrupt::Interrupt;
use crate::output;

/// Takes different objects out of a heap, each rehearsed before, and puts them on a tray
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The scene, with one robot that has a hand
    #[arg(value_parser = input_file())]
    scene: PathBuf,
    /// Fixed body on which the objects are put
    #[arg(long, value_name = "BODY", default_value = "tray")]
    tray: String,
    /// Fixed body on which objects are put aside whose shape is on the tray already, so that others come free; none: nothing is put aside
    #[arg(long, value_name = "BODY")]
    aside: Option<String>,
    /// Objects of different shapes that are to be on the tray
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    count: u16,
    /// Distance of the spots on these bodies [m]
    #[arg(long, value_name = "M", default_value_t = 0.11)]
    pitch: f64,
    /// Copies of each rehearsal: the first as stated, four with corners of mass and friction, the others random
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    copies: u16,
    /// Of the random copies; the same seed gives the same bits
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Objects that are rehearsed at the same time; the answer does not depend on it
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    at_once: u16,
    /// Time in which the heap comes to rest before [s]
    #[arg(long, value_name = "S", default_value_t = 4.0)]
    settle: f64,
    /// Write what was taken and what was not here
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
    /// Table of the scene's state before, with each object in the hand, and after it was put down
    #[arg(long, value_name = "FILE.csv", value_parser = table_file)]
    trace: Option<PathBuf>,
}

const HELP: &str = "\
Objects are tried from the top of the heap down, in copies of the world; the first whose copies all succeed is taken, by the commands of the nominal \
one. Shapes that are on the tray already are left out; where nothing else can be taken one of them is put aside, if --aside says where, and what was about it is tried again.

Exit code 3: fewer objects are on the tray than were asked for.";

/// Runs the command.
///
/// # Errors
/// When the scene is wrong, or an output cannot be written. Fewer objects than were asked for are an [`Outcome::Failed`].
pub fn run(args: &Args) -> Result<Outcome> {
    if !(args.pitch > 0.0 && args.pitch.is_finite()) {
        bail!("--pitch {}: write metres above 0", args.pitch);
    }
    let interrupt = Interrupt::watch()?;
    let begun = Instant::now();
    let scene = CellFile::new(&args.scene);
    // In a heap what boxes take more than the objects in them is what fingers need.
    let cell = CellFile { settle: args.settle, sees_shapes: true, ..scene }.open()?;
    let settling = begun.elapsed().as_secs_f64();
    let settings = UnloadingSettings {
        copies: usize::from(args.copies),
        seed: args.seed,
        at_once: usize::from(args.at_once),
        ..UnloadingSettings::default()
    };
    let tray = |name: &String| Tray::new(&cell, name, args.pitch);
    let aside = args.aside.as_ref().map(tray).transpose()?;
    let unloading = Unloading::new(tray(&args.tray)?, aside, settings);
    let recorder = Recorder::create(args, &cell)?;
    let mut run = Run {
        began: cell.io.world().time(),
        interrupt,
        recorder,
        unloading,
        cell,
        taken: Vec::new(),
        obstacles: Vec::new(),
        clock: Clock { settling, ..Clock::default() },
    };
    let end = run.unload(usize::from(args.count));
    let Run { recorder, .. } = &mut run;
    if let Some(trace) = recorder.trace.take() {
        trace.finish()?;
    }
    let why = end?;
    let report = run.report(args, why.as_deref());
    if let Some(file) = &args.report {
        output::json(&report, Some(file))?;
    }
    output::print(&run.summary())?;
    Ok(why.map_or(Outcome::Done, Outcome::Failed))
}

/// Rows of the trace.
struct Recorder {
    trace: Option<TraceWriter>,
    row: Vec<f64>,
    /// Number of columns: what is tied while an object is held, as by suction, has none.
    n: usize,
}

impl Recorder {
    fn create(args: &Args, cell: &Cell) -> Result<Self> {
        let columns = trace::columns(cell.io.world());
        let file = args.trace.as_ref().map(|file| TraceWriter::create(file, &columns));
        let mut recorder = Self { trace: file.transpose()?, row: Vec::new(), n: columns.len() };
        recorder.record(cell)?;
        Ok(recorder)
    }

    fn record(&mut self, cell: &Cell) -> Result<()> {
        if let Some(trace) = &mut self.trace {
            trace::sample(cell.io.world(), &mut self.row);
            self.row.truncate(self.n);
            trace.row(&self.row)?;
        }
        Ok(())
    }
}

/// Times of a run.
#[derive(Debug, Clone, Copy, Default)]
struct Clock {
    /// Of the wall, until the heap was at rest. [s]
    settling: f64,
    /// Of the wall, in rehearsals and plans. [s]
    rehearsing: f64,
    /// Of the wall, in acts that were carried out. [s]
    acting: f64,
    /// Of the simulation, in all copies together. [s]
    rehearsed: f64,
    /// Of the simulation, in acts that were carried out. [s]
    acted: f64,
}

/// An object that was taken.
struct Taken {
    object: String,
    destination: Destination,
    result: Option<Ended>,
    prediction: Box<Prediction>,
    is_as_rehearsed: bool,
    /// Time of the simulation at which it was in the hand, and at the end. [s] (2)
    times: [f64; 2],
    /// Objects that were tried before in vain for it.
    tried: usize,
}

struct Run {
    interrupt: Interrupt,
    recorder: Recorder,
    unloading: Unloading,
    cell: Cell,
    taken: Vec<Taken>,
    /// What kept objects in the heap, the last of each, with the number of objects that were on the tray then.
    obstacles: Vec<(String, usize, Obstacle)>,
    clock: Clock,
    /// Time of the simulation at which it began. [s]
    began: f64,
}

impl Run {
    /// Takes objects until there are as many as asked for, and puts others aside where none of these can be taken; why there are not.
    fn unload(&mut self, count: usize) -> Result<Option<String>> {
        while self.unloading.on_tray(&self.cell).len() < count {
            let is_done = self.take_one(Destination::Tray)? || self.take_one(Destination::Aside)?;
            if self.interrupt.is_raised() {
                return Ok(Some("interrupted".to_owned()));
            }
            if !is_done {
                let n = self.unloading.on_tray(&self.cell).len();
                return Ok(Some(format!(
                    "{n} of {count} objects are on the tray; no other one can be taken"
                )));
            }
        }
        Ok(None)
    }

    /// Takes the first object that can go to a destination; whether there was one.
    fn take_one(&mut self, destination: Destination) -> Result<bool> {
        let names = self.unloading.candidates(&self.cell, destination);
        let begun = Instant::now();
        let go_on = || !self.interrupt.is_raised();
        let attempts = self.unloading.try_in_order(&self.cell, &names, destination, go_on)?;
        self.clock.rehearsing += begun.elapsed().as_secs_f64();
        self.clock.rehearsed += attempts.iter().map(|attempt| attempt.simulated).sum::<f64>();
        let tried = attempts.len();
        let mut found = None;
        for Attempt { object, outcome, .. } in attempts {
            match outcome {
                Ok((act, prediction)) => found = Some((object, act, prediction)),
                Err(obstacle) => self.note(object, obstacle)?,
            }
        }
        let Some((object, act, prediction)) = found.filter(|_| !self.interrupt.is_raised()) else {
            return Ok(false);
        };
        self.take(object, destination, &act, prediction, tried - 1)?;
        Ok(true)
    }

    fn note(&mut self, object: String, obstacle: Obstacle) -> Result<()> {
        output::print(&format!("  {object:<10} {:<12} {}\n", obstacle.code, obstacle.why))?;
        self.obstacles.retain(|(known, ..)| *known != object);
        self.obstacles.push((object, self.unloading.on_tray(&self.cell).len(), obstacle));
        Ok(())
    }

    /// Carries out what was rehearsed.
    fn take(
        &mut self,
        object: String,
        destination: Destination,
        act: &Act,
        prediction: Box<Prediction>,
        tried: usize,
    ) -> Result<()> {
        let (begun, from) = (Instant::now(), self.cell.now());
        let Self { interrupt, recorder, cell, .. } = self;
        let (mut held, mut recorded) = (None, Ok(()));
        let carried = carry_out(cell, act, &prediction, |cell| {
            let is_carrying = cell.stage() == Stage::Move.name();
            if held.is_none() && is_carrying && recorded.is_ok() {
                held = Some(cell.io.world().time());
                recorded = recorder.record(cell);
            }
            !interrupt.is_raised()
        })?;
        recorded?;
        self.clock.acting += begun.elapsed().as_secs_f64();
        self.clock.acted += self.cell.now().seconds_since(from);
        self.recorder.record(&self.cell)?;
        let end = self.cell.io.world().time();
        let said = match &carried.result {
            Some(ended) if ended.trouble().is_none() => match destination {
                Destination::Tray => "taken",
                Destination::Aside => "put aside",
            },
            Some(ended) => ended.message(),
            None => "stopped",
        };
        output::print(&format!("{object:<12} {said}, {:.2} s\n", prediction.duration))?;
        self.obstacles.retain(|(known, ..)| *known != object);
        self.taken.push(Taken {
            object,
            destination,
            result: carried.result,
            is_as_rehearsed: carried.is_as_rehearsed,
            prediction,
            times: [held.unwrap_or(end), end],
            tried,
        });
        Ok(())
    }

    /// Simulated over wall time: of what was carried out alone, and with rehearsals and plans. [-] (2)
    fn ratios(&self) -> [f64; 2] {
        let Clock { rehearsing, acting, acted, .. } = self.clock;
        [acted / acting.max(1e-9), acted / (acting + rehearsing).max(1e-9)]
    }

    fn summary(&self) -> String {
        let Clock { rehearsed, acted, rehearsing, acting, .. } = self.clock;
        let [alone, all] = self.ratios();
        let aside = self.taken.iter().filter(|taken| taken.destination == Destination::Aside);
        format!(
            "{} objects on the tray, {} put aside; {acted:.1} s carried out in {acting:.1} s ({alone:.2} × real time), {:.1} s with {rehearsed:.1} s of rehearsals \
             ({all:.2} × real time)\n",
            self.unloading.on_tray(&self.cell).len(),
            aside.count(),
            acting + rehearsing,
        )
    }

    fn report(&self, args: &Args, why: Option<&str>) -> Value {
        let [alone, all] = self.ratios();
        let Clock { settling, rehearsing, acting, rehearsed, acted } = self.clock;
        let objects = self.cell.objects().into_iter().map(|object| {
            let quaternion = object.pose.quaternion();
            let [x, y, z, w] = <[f64; 4]>::from(quaternion.coords);
            let place: [f64; 3] = object.pose.translation.into();
            json!({"name": object.name, "xyz_m": place, "quaternion_xyzw": [x, y, z, w], "size_m": <[f64; 3]>::from(object.size)})
        });
        let went_to = |destination| {
            let there = self.taken.iter().filter(|taken| taken.destination == destination);
            there.map(taken).collect::<Vec<_>>()
        };
        let left = self.obstacles.iter().map(|(object, after, obstacle)| {
            json!({"object": object, "code": obstacle.code, "why": obstacle.why, "when_on_tray": after})
        });
        json!({
            "scene": args.scene,
            "count": args.count,
            "copies": args.copies,
            "failure": why,
            "taken": went_to(Destination::Tray),
            "put_aside": went_to(Destination::Aside),
            "on_tray": self.unloading.on_tray(&self.cell),
            "left": left.collect::<Vec<_>>(),
            "objects": objects.collect::<Vec<_>>(),
            "began_at_s": self.began,
            "ended_at_s": self.cell.io.world().time(),
            "settling_wall_s": settling,
            "rehearsing_wall_s": rehearsing,
            "acting_wall_s": acting,
            "rehearsed_s": rehearsed,
            "acted_s": acted,
            "real_time_factor": alone,
            "real_time_factor_with_rehearsals": all,
        })
    }
}

fn taken(taken: &Taken) -> Value {
    let Taken { object, result, prediction, is_as_rehearsed, times: [held, end], tried, .. } =
        taken;
    let ended = result.as_ref();
    let hand = ended.and_then(Ended::hand);
    json!({
        "object": object,
        "outcome": ended.map_or("CANCELED", |ended| ended.trouble().map_or("DONE", |trouble| trouble.name())),
        "message": ended.map(Ended::message),
        "duration_s": prediction.duration,
        "grip_force_n": hand.map(|result| result.forces),
        "width_m": hand.map(|result| result.width),
        "retries": hand.map(|result| result.retries),
        "margin": prediction.margin,
        "largest_force_n": prediction.largest_force,
        "moved": prediction.moved,
        "as_rehearsed": is_as_rehearsed,
        "tried_before": tried,
        "held_at_s": held,
        "ended_at_s": end,
    })
}
