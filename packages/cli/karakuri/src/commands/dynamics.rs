//! `karakuri dynamics`: rigid-body algorithms at given states, JSON in and out.

mod results;
mod states;

use std::path::PathBuf;

use anyhow::{Context, Result};
use karakuri_dynamics::Data;
use karakuri_spatial::Vector3;

use super::Outcome;
use super::robot::{self, Numbers, RobotArgs};
use crate::output;

pub(super) use results::pose as pose_as_json;

/// Computes kinematics and dynamics of a robot at given states
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(flatten)]
    robot: RobotArgs,
    /// What to compute, separated by commas
    #[arg(long, value_delimiter = ',', required = true)]
    algorithms: Vec<Algorithm>,
    /// States, JSON; `-` is the standard input
    #[arg(long)]
    input: PathBuf,
    /// Where the results go, JSON; the standard output if not given
    #[arg(long)]
    output: Option<PathBuf>,
    /// Links to give poses and Jacobians of, separated by commas; all if not given
    #[arg(long, value_delimiter = ',')]
    links: Vec<String>,
    /// Gravitational acceleration in world axes [m/s²]
    #[arg(long, value_name = "X,Y,Z", default_value = "0,0,-9.81", allow_hyphen_values = true)]
    gravity: Numbers,
}

const HELP: &str = "\
Input: {\"samples\": [{\"base\": {\"position\": [x,y,z], \"quaternion_xyzw\": [..], \"linear_velocity\": [..], \
\"angular_velocity\": [..], \"linear_acceleration\": [..], \"angular_acceleration\": [..], \"force\": [..], \
\"torque\": [..]}, \"q\": {\"joint\": value}, \"v\": {..}, \"a\": {..}, \"tau\": {..}}]}; SI units, world axes, a missing \
value is 0.

Mimic joints that are not given follow their leaders. `rnea` and `nodal` take a and give efforts; `aba` takes tau (and base force \
and torque) and gives accelerations. Rigid bodies only: armature, damping and friction of joints are not part of the results.";

/// Algorithm to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Algorithm {
    /// Poses of links
    Fk,
    /// Efforts for the accelerations `a`
    Rnea,
    /// Accelerations for the efforts `tau`
    Aba,
    /// Mass matrix
    Crba,
    /// Jacobians of links: linear rows first, world axes, at the link's origin
    Jacobian,
    /// Centre of mass and momentum
    Centroidal,
    /// Efforts for the accelerations `a` by the parallel scheme, from three neighbouring positions
    Nodal,
}

/// Runs the command.
///
/// # Errors
/// When the robot or the samples are wrong, a link is unknown, the forward dynamics of a sample meet a singular
/// inertia, or the output cannot be written.
pub fn run(args: &Args) -> Result<Outcome> {
    let model = args.robot.load()?;
    let links = robot::links(&model, &args.links)?;
    let text = robot::read_input(&args.input)?;
    let samples = states::read(&args.input, &text, &model)?;
    let mut data = Data::new(&model);
    let [x, y, z] = args.gravity.fixed().context("--gravity")?;
    data.gravity = Vector3::new(x, y, z);
    let mut results = Vec::with_capacity(samples.len());
    for (i, state) in samples.iter().enumerate() {
        let result = results::compute(&model, &mut data, state, &args.algorithms, &links);
        results.push(result.with_context(|| format!("samples[{i}]"))?);
    }
    let report = serde_json::json!({ "model": results::summary(&model), "samples": results });
    output::json(&report, args.output.as_deref())?;
    Ok(Outcome::Done)
}
