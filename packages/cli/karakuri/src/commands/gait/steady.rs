//! `karakuri gait steady`: the periodic motion, by multiple shooting or by the study's own march and search.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use karakuri_gait::compensation::{
    BodyData, Equation, GaitMotion, MotionSample, PeriodicOptions, Search, SearchOptions, State,
    SteadyGait, find_main_family, find_periodic, joint_moments, march, state,
};
use serde_json::{Map, Value, json};

use super::files::{Files, GaitFile, missing, name, read, write};
use super::{figures, trace};
use crate::commands::Outcome;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    files: Files,
    /// How the motion is found
    #[arg(long, value_enum, default_value_t = Method::Shooting)]
    method: Method,
    /// Look from here: theta, phi [rad], theta', phi' [rad/s] at the start of the step; for passive arms also the left and right arm [rad]
    /// and their rates [rad/s]. With `--method march` any number of them, instead of the file's `starts`
    #[arg(long, value_name = "N,N,...", allow_hyphen_values = true, value_parser = start)]
    start: Vec<State>,
    /// Write the motion over time as CSV: angles, rates, joints, ZMP
    #[arg(long, value_name = "FILE.csv")]
    trace: Option<PathBuf>,
    /// Write each body's centre of mass, its velocity and acceleration, and the moments at the joints, as CSV
    #[arg(long, value_name = "FILE.csv")]
    kinematics: Option<PathBuf>,
    /// Add this to the prescribed ZMP: forward, left [m]
    #[arg(long, value_name = "X,Y", allow_hyphen_values = true, value_parser = shift, default_value = "0,0")]
    zmp_shift: Shift,
    /// Shift the waist and keep the ankles: forward, up [m]
    #[arg(long, value_name = "X,Z", allow_hyphen_values = true, value_parser = shift, default_value = "0,0")]
    waist_shift: Shift,
}

/// Two lengths of a shift. [m] (2)
#[derive(Debug, Clone, Copy)]
struct Shift([f64; 2]);

/// Reads a shift of less than a metre.
fn shift(text: &str) -> Result<Shift, String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|x| x.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[a, b]) if a.abs() < 1.0 && b.abs() < 1.0 => Ok(Shift([a, b])),
        _ => Err("write two numbers below 1 m with a comma between".to_owned()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Method {
    /// Multiple shooting: from any start, exact
    Shooting,
    /// The study's: Runge-Kutta, then Adams, at 1/30 s, from each of the starts; gradient method far from the motion, Newton's nearby
    March,
}

/// Motion that was found, with facts for the report.
struct Found {
    motion: GaitMotion,
    facts: Map<String, Value>,
}

/// Reads a start of the step.
fn start(text: &str) -> Result<State, String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|x| x.trim().parse()).collect();
    start_of(numbers.as_deref().unwrap_or_default())
}

/// State of the start that four or eight numbers give.
pub(super) fn start_of(numbers: &[f64]) -> Result<State, String> {
    let start = match *numbers {
        [theta, phi, theta_rate, phi_rate] => {
            state([theta, phi], [theta_rate, phi_rate], [[0.0; 2]; 2])
        }
        [theta, phi, theta_rate, phi_rate, left, right, left_rate, right_rate] => {
            let shoulders = [[left, right], [left_rate, right_rate]];
            state([theta, phi], [theta_rate, phi_rate], shoulders)
        }
        _ => return Err("write four or eight numbers with commas between".to_owned()),
    };
    let is_finite = start.iter().all(|x| x.is_finite());
    is_finite.then_some(start).ok_or_else(|| "write finite numbers".to_owned())
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let files = &args.files;
    let file = read(files)?;
    let spec = file.steady.as_ref().ok_or_else(|| missing(files, "steady"))?;
    let place = || files.gait.display().to_string();
    let mut gait = SteadyGait::new(spec).with_context(place)?.with_zmp_shift(args.zmp_shift.0);
    if args.waist_shift.0.iter().any(|x| x.abs() > 0.0) {
        let lengths = &file.body.lengths;
        gait = gait.with_waist_shift(args.waist_shift.0, lengths).with_context(place)?;
    }
    let equation = Equation { body: &file.body, gait: &gait, arms: file.arms };
    let found = match args.method {
        Method::Shooting => shoot(args, &equation)?,
        Method::March => search(args, &file, &equation)?,
    };
    match found {
        Ok(found) => finish(args, &file, found),
        Err((message, mut facts)) => {
            facts.insert("converged".to_owned(), json!(false));
            facts.insert("message".to_owned(), json!(message));
            write(files, &Value::Object(facts))?;
            Ok(Outcome::Failed(message))
        }
    }
}

/// Motion, or the reason why there is none, with facts for the report.
type Finding = Result<Found, (String, Map<String, Value>)>;

fn shoot(args: &Args, equation: &Equation<'_>) -> Result<Finding> {
    let options = PeriodicOptions::default();
    let found = match args.start.as_slice() {
        [] => find_main_family(equation, &options),
        [start] => find_periodic(equation, start, &options),
        _ => bail!(
            "`--start` is given {} times; once is enough, or add `--method march`",
            args.start.len()
        ),
    };
    Ok(match found {
        Ok(periodic) => {
            let facts = facts([
                ("found_from", json!(periodic.route)),
                ("iterations", json!(periodic.iterations)),
                ("residual", json!(periodic.residual)),
            ]);
            Ok(Found { motion: periodic.motion, facts })
        }
        Err(error) => Err((error.to_string(), Map::new())),
    })
}

fn facts<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Searches as the study did, from one start after the other; the motion is the first that converges.
fn search(args: &Args, file: &GaitFile, equation: &Equation<'_>) -> Result<Finding> {
    let mut starts = args.start.clone();
    if starts.is_empty() {
        for (i, numbers) in file.starts.iter().enumerate() {
            let place = || format!("{}: `starts[{i}]`", args.files.gait.display());
            starts.push(start_of(numbers).map_err(anyhow::Error::msg).with_context(place)?);
        }
    }
    if starts.is_empty() {
        bail!(
            "{}: the march has nothing to start from; give `--start`, or `starts` as config/gaits/h9.yaml has them",
            args.files.gait.display()
        );
    }
    let options = SearchOptions::default();
    let searches: Vec<_> =
        starts.iter().map(|start| Search::from_start(equation, start, &options)).collect();
    let rows: Vec<Value> =
        starts.iter().zip(&searches).map(|(start, s)| searched(start, s)).collect();
    let facts_of = |more: &[(&str, Value)]| {
        let mut all = facts([("method", json!("march")), ("starts", json!(rows))]);
        all.extend(more.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        all
    };
    let best = searches.iter().flatten().find(|search| search.converged);
    let motion = best.and_then(|best| {
        let march = march(equation, &best.start).ok()?;
        GaitMotion::new(equation, &march.states, 1).map(|motion| (motion, best))
    });
    let Some((motion, best)) = motion else {
        let message = format!(
            "none of {} starts leads to a periodic motion; start nearer to it",
            starts.len()
        );
        return Ok(Err((message, facts_of(&[]))));
    };
    let more = [("iterations", json!(best.iterations)), ("residual", json!(best.error))];
    Ok(Ok(Found { motion, facts: facts_of(&more) }))
}

/// Outcome of the search from one start, for the report.
fn searched(
    start: &State,
    search: &Result<Search, karakuri_gait::compensation::MarchError>,
) -> Value {
    match search {
        Ok(s) => json!({
            "from": start.as_slice(),
            "converged": s.converged,
            "iterations": s.iterations,
            "local_iterations": s.local_iterations,
            "error": s.error,
            "start": s.start.as_slice(),
        }),
        Err(error) => {
            json!({"from": start.as_slice(), "converged": false, "message": error.to_string()})
        }
    }
}

/// Writes report, trace and figures of the motion.
fn finish(args: &Args, file: &GaitFile, found: Found) -> Result<Outcome> {
    let (files, body, motion) = (&args.files, &file.body, &found.motion);
    let samples = motion.samples(body);
    let rows: Vec<Value> = samples.iter().map(|s| sample_json(body, s)).collect();
    let mut report = facts([
        ("converged", json!(true)),
        ("arms", json!(file.arms)),
        ("mass_kg", json!(body.mass())),
    ]);
    report.extend(found.facts);
    report.insert("samples".to_owned(), json!(rows));
    write(files, &Value::Object(report))?;
    if let Some(path) = &args.trace {
        trace::steady(body, motion, path)?;
    }
    if let Some(path) = &args.kinematics {
        trace::kinematics(body, SteadyGait::DURATION, &|time| motion.posture(time), path)?;
    }
    if let Some(folder) = &files.plot {
        let title = format!("{}, arms {:?}", name(&files.gait), file.arms).to_lowercase();
        figures::steady(&title, &samples).write_svg(&folder.join("steady.svg"))?;
        let strip: Vec<_> = samples.iter().step_by(3).map(|s| s.posture).collect();
        figures::strip(&title, body, &strip).write_svg(&folder.join("strip.svg"))?;
    }
    Ok(Outcome::Done)
}

fn sample_json(body: &BodyData, s: &MotionSample) -> Value {
    let p = &s.posture;
    let moments: Map<String, Value> =
        joint_moments(body, p).iter().map(|m| (m.joint.to_owned(), json!(m.moment))).collect();
    json!({
        "time_s": s.time,
        "theta_rad": p.sway.value,
        "phi_rad": p.pitch.value,
        "theta_rad_s": p.sway.rate,
        "phi_rad_s": p.pitch.rate,
        "arm_left_right_rad": p.arm.map(|a| a.value),
        "zmp_m": s.reaction.zmp(),
        "zmp_prescribed_m": s.zmp,
        "floor_force_n": s.reaction.force,
        "friction_needed": s.reaction.friction(),
        "joint_moments_xy_nm": moments,
    })
}
