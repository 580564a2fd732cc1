//! `karakuri moveit`: the files with which `MoveIt` plans for a robot and moves it.

mod pairs;
mod srdf;

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use karakuri_files::write_atomic;
use karakuri_model::{BodyId, JointGroup, Model};

use super::Outcome;
use super::robot::RobotArgs;
use crate::{output, progress};

/// Writes the SRDF of a robot, with controllers, joint limits and kinematics, to plan for it
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(flatten)]
    robot: RobotArgs,
    /// Folder for the files; it is made
    #[arg(long, default_value = "moveit")]
    output: PathBuf,
    /// Namespace of the robot's nodes, as the launch files give it
    #[arg(long, default_value = "arm")]
    namespace: String,
    /// Postures in which pairs of links are looked at for collisions
    #[arg(long, default_value_t = 50_000)]
    samples: u32,
    /// Acceleration of joints for time parameterisation [rad/s² or m/s²]
    #[arg(long, default_value_t = 5.0)]
    acceleration: f64,
}

const HELP: &str = "\
Writes ROBOT.srdf, moveit_controllers.yaml, joint_limits.yaml and kinematics.yaml. Groups, postures and hand are those of the robot YAML; \
the arm is its first group. Pairs of links that are neighbours, that overlap in the default posture, or that never touch in any sampled one, \
are not checked by MoveIt; joints of closed loops keep the values of a posture meanwhile. The hand is moved by `parallel_gripper_cmd`.";

/// Runs the command.
///
/// # Errors
/// When the robot is wrong or has no group of joints, an option is out of range, or a file cannot be written.
pub fn run(args: &Args) -> Result<Outcome> {
    let model = args.robot.load()?;
    ensure!(
        !model.groups.is_empty(),
        "robot `{}` has no driven joint; give its robot YAML with --config",
        model.name
    );
    ensure!(
        args.acceleration > 0.0 && args.acceleration.is_finite(),
        "--acceleration {}: expected a positive number",
        args.acceleration
    );
    let bar = progress::bar(u64::from(args.samples), "postures");
    let pairs = pairs::disabled(&model, args.samples, || bar.inc(1));
    bar.finish_and_clear();
    let files = [
        (format!("{}.srdf", model.name), srdf::text(&model, &pairs)),
        ("moveit_controllers.yaml".to_owned(), controllers(&model, &args.namespace)),
        ("joint_limits.yaml".to_owned(), joint_limits(&model, args.acceleration)),
        ("kinematics.yaml".to_owned(), kinematics(&model)),
    ];
    std::fs::create_dir_all(&args.output)
        .with_context(|| format!("cannot make {}", args.output.display()))?;
    for (name, text) in &files {
        write_atomic(&args.output.join(name), text.as_bytes())?;
    }
    let counted = pairs.len();
    output::done(&format!(
        "{}: {} groups, {counted} pairs of links that are not checked ({} postures); wrote {} files to {}",
        model.name,
        model.groups.len(),
        args.samples,
        files.len(),
        args.output.display()
    ));
    Ok(Outcome::Done)
}

/// Group that is moved by trajectories: the first; the hand of a gripper is moved by commands.
fn arm(model: &Model) -> Option<&JointGroup> {
    model.groups.iter().find(|group| !is_hand(model, group))
}

/// Whether a group holds the end effector's joints.
fn is_hand(model: &Model, group: &JointGroup) -> bool {
    let hand = model.end_effector.as_ref();
    hand.is_some_and(|hand| group.joints.iter().any(|joint| hand.joints.contains(joint)))
}

fn joint_name(model: &Model, joint: BodyId) -> &str {
    &model.joints[joint.0].name
}

/// Controllers as `moveit_simple_controller_manager` reads them: each action is named by its controller and `action_ns`.
fn controllers(model: &Model, namespace: &str) -> String {
    let namespace = namespace.trim_matches('/');
    let below = |name: &str| match namespace {
        "" => format!("/{name}"),
        _ => format!("/{namespace}/{name}"),
    };
    let mut names = Vec::new();
    let mut entries = String::new();
    for (i, group) in model.groups.iter().enumerate() {
        // The first group has the actions of the robot itself, the others those below their name.
        let (action, kind) = match (is_hand(model, group), i) {
            (true, _) => ("parallel_gripper_cmd".to_owned(), "ParallelGripperCommand"),
            (false, 0) => ("follow_joint_trajectory".to_owned(), "FollowJointTrajectory"),
            (false, _) => {
                (format!("{}/follow_joint_trajectory", group.name), "FollowJointTrajectory")
            }
        };
        let name = below(&action);
        let joints: Vec<&str> = group.joints.iter().map(|&id| joint_name(model, id)).collect();
        let _infallible = write!(
            entries,
            "  {name}:\n    type: {kind}\n    # the name above is the action's\n    action_ns: \"\"\n    default: true\n    joints: [{}]\n",
            joints.join(", ")
        );
        names.push(name);
    }
    format!(
        "# Written by `karakuri moveit` for robot `{}`. Start `gripper` with allow_stalling: an object between the fingers is a success.\n\
         moveit_controller_manager: moveit_simple_controller_manager/MoveItSimpleControllerManager\n\
         moveit_simple_controller_manager:\n  controller_names: [{}]\n{entries}",
        model.name,
        names.join(", ")
    )
}

/// Limits of speed and acceleration; those of position are the URDF's.
fn joint_limits(model: &Model, acceleration: f64) -> String {
    let mut text = format!(
        "# Written by `karakuri moveit` for robot `{}`. [rad/s, rad/s² or m/s, m/s²]\n\
         default_velocity_scaling_factor: 1.0\ndefault_acceleration_scaling_factor: 1.0\njoint_limits:\n",
        model.name
    );
    for joint in model.groups.iter().flat_map(|group| &group.joints) {
        let limits = &model.joints[joint.0].limits;
        let has_speed = limits.velocity.is_finite();
        let speed = if has_speed { limits.velocity } else { 0.0 };
        let _infallible = write!(
            text,
            "  {}:\n    has_velocity_limits: {has_speed}\n    max_velocity: {speed:?}\n    \
             has_acceleration_limits: true\n    max_acceleration: {acceleration:?}\n",
            joint_name(model, *joint)
        );
    }
    text
}

/// Solvers of inverse kinematics for groups that are chains.
fn kinematics(model: &Model) -> String {
    let mut text = format!("# Written by `karakuri moveit` for robot `{}`.\n", model.name);
    for group in model.groups.iter().filter(|group| srdf::chain(model, group).is_some()) {
        let _infallible = write!(
            text,
            "{}:\n  kinematics_solver: kdl_kinematics_plugin/KDLKinematicsPlugin\n  \
             kinematics_solver_search_resolution: 0.005\n  kinematics_solver_timeout: 0.05\n",
            group.name
        );
    }
    text
}
