//! `karakuri ik`: joint positions that bring links to poses.

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail, ensure};
use karakuri_dynamics::{
    Data, IkMethod, IkOptions, IkOutcome, IkProblem, IkTarget, InverseKinematics,
    forward_kinematics, frame_pose,
};
use karakuri_model::{BodyId, Model};
use karakuri_spatial::{Pose, Vector3};
use serde_json::{Map, Value, json};

use super::Outcome;
use super::dynamics::pose_as_json;
use super::robot::{self, Numbers, RobotArgs};
use crate::output;

/// Finds joint positions that bring links to poses
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(flatten)]
    robot: RobotArgs,
    /// A link to bring somewhere; repeat with one `--pose` each for several
    #[arg(long, required = true)]
    link: Vec<String>,
    /// Where the link should be, in the world: six numbers [m, rad], or three for its position alone
    #[arg(long, required = true, value_name = "X,Y,Z[,R,P,Y]", allow_hyphen_values = true)]
    pose: Vec<Numbers>,
    /// How a step is made
    #[arg(long, default_value = "damped-least-squares")]
    method: Method,
    /// Posture of the robot YAML to start from; otherwise all joints start at 0 or their nearest limit
    #[arg(long)]
    posture: Option<String>,
    /// Position of a joint to start from [rad or m]; repeat for several
    #[arg(long, value_name = "JOINT=VALUE")]
    start: Vec<String>,
    /// A joint that keeps its starting position; repeat for several
    #[arg(long, value_name = "JOINT")]
    lock: Vec<String>,
    /// Position error that counts as reached [m]
    #[arg(long, default_value_t = 1e-6)]
    position_tolerance: f64,
    /// Orientation error that counts as reached [rad]
    #[arg(long, default_value_t = 1e-6)]
    orientation_tolerance: f64,
    /// Steps from one start
    #[arg(long, default_value_t = 100)]
    max_iterations: usize,
    /// Random starts after the given one
    #[arg(long, default_value_t = 20)]
    restarts: usize,
    /// Of the random starts; the same seed gives the same answer
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Where the result goes, JSON; the standard output if not given
    #[arg(long)]
    output: Option<PathBuf>,
}

const HELP: &str = "\
Joint limits hold, mimic joints follow. The result is written also when the target is not reached: then it is the nearest found, \
the message says what is in the way, and the exit code is 3.";

/// Method of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Method {
    /// Adapted damping: the error never grows
    DampedLeastSquares,
    /// Half of the undamped step
    Newton,
}

/// Runs the command.
///
/// # Errors
/// When the robot is wrong, a link or joint is unknown, an option is out of range, or the output cannot be written. A
/// target out of reach is an [`Outcome::Failed`].
pub fn run(args: &Args) -> Result<Outcome> {
    let model = args.robot.load()?;
    let targets = targets(args, &model)?;
    let start = start(args, &model)?;
    let locked: Vec<BodyId> = args
        .lock
        .iter()
        .map(|name| joint(&model, name).context("--lock"))
        .collect::<Result<_>>()?;
    let options = IkOptions {
        method: match args.method {
            Method::DampedLeastSquares => IkMethod::DampedLeastSquares,
            Method::Newton => IkMethod::NEWTON,
        },
        position_tolerance: positive("--position-tolerance", args.position_tolerance)?,
        orientation_tolerance: positive("--orientation-tolerance", args.orientation_tolerance)?,
        max_iterations: args.max_iterations,
        restarts: args.restarts,
        seed: args.seed,
    };
    let problem =
        IkProblem { targets: &targets, start: &start, locked: &locked, ..IkProblem::default() };
    let mut ik = InverseKinematics::new(&model, targets.len());
    let outcome = ik.solve(&model, &problem, &options)?;
    let message = outcome.explain(&model, &targets);
    let report = report(&model, &ik.position, &targets, &outcome, &message);
    output::json(&report, args.output.as_deref())?;
    Ok(if outcome.converged { Outcome::Done } else { Outcome::Failed(message) })
}

fn positive(name: &str, value: f64) -> Result<f64> {
    ensure!(value > 0.0 && value.is_finite(), "{name} {value}: expected a positive number");
    Ok(value)
}

fn targets(args: &Args, model: &Model) -> Result<Vec<IkTarget>> {
    ensure!(
        args.link.len() == args.pose.len(),
        "{} links and {} poses are given; each --link needs one --pose",
        args.link.len(),
        args.pose.len()
    );
    let target = |(name, pose): (&String, &Numbers)| {
        let frame = robot::link(model, name).context("--link")?;
        match pose.0.as_slice() {
            [x, y, z] => Ok(IkTarget::position(frame, Vector3::new(*x, *y, *z))),
            [x, y, z, roll, pitch, yaw] => {
                let pose = Pose::from_xyz_rpy([*x, *y, *z], [*roll, *pitch, *yaw]);
                Ok(IkTarget::pose(frame, pose))
            }
            numbers => bail!(
                "--pose of `{name}`: expected 3 numbers (position) or 6 (position, roll, pitch, yaw), \
                 got {}",
                numbers.len()
            ),
        }
    };
    args.link.iter().zip(&args.pose).map(target).collect()
}

fn joint(model: &Model, name: &str) -> Result<BodyId> {
    let names = model.joints.iter().map(|joint| joint.name.as_str());
    model.joint(name).ok_or_else(|| robot::unknown("moving joint", name, names))
}

fn start(args: &Args, model: &Model) -> Result<Vec<f64>> {
    let mut q = model.neutral_position();
    if let Some(name) = &args.posture {
        let names = model.postures.iter().map(|posture| posture.name.as_str());
        let posture = model.postures.iter().find(|posture| posture.name == *name);
        let posture = posture.ok_or_else(|| robot::unknown("posture", name, names))?;
        for (joint, value) in &posture.positions {
            q[model.joints[joint.0].q_start] = *value;
        }
    }
    for entry in &args.start {
        let Some((name, value)) = entry.split_once('=') else {
            bail!("--start {entry}: expected JOINT=VALUE, as shoulder=0.5")
        };
        let joint = &model.joints[joint(model, name).context("--start")?.0];
        ensure!(joint.kind.nq() == 1, "--start {entry}: the joint has several coordinates");
        let value: f64 =
            value.parse().map_err(|_| anyhow!("--start {entry}: `{value}` is not a number"))?;
        q[joint.q_start] = value;
    }
    Ok(q)
}

fn report(
    model: &Model,
    q: &[f64],
    targets: &[IkTarget],
    outcome: &IkOutcome,
    message: &str,
) -> Value {
    let mut data = Data::new(model);
    forward_kinematics(model, &mut data, q);
    let positions: Map<String, Value> = model
        .joints
        .iter()
        .map(|joint| {
            let value = match &q[joint.q_start..joint.q_start + joint.kind.nq()] {
                [value] => json!(value),
                values => json!(values),
            };
            (joint.name.clone(), value)
        })
        .collect();
    let links: Map<String, Value> = targets
        .iter()
        .map(|target| {
            let pose = frame_pose(model, &data, target.frame);
            (model.frames[target.frame.0].name.clone(), pose_as_json(&pose))
        })
        .collect();
    json!({
        "converged": outcome.converged,
        "message": message,
        "position_error_m": outcome.position_error,
        "orientation_error_rad": outcome.orientation_error,
        "iterations": outcome.iterations,
        "restarts": outcome.restarts,
        "q": positions,
        "links": links,
    })
}
