//! Conformance suite of [`RobotIo`]: the simulation, the mock and each driver run it in their tests.
//!
//! The robot must stand still when the suite starts and have at least one driven joint that is free to move by
//! `stroke` from where it stands.

use crate::{JointCommand, RobotIo, RobotIoError, RobotState};

/// Joint that the suite may move, and the accuracy that it demands.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Joint to move.
    pub joint: String,
    /// Length of the motion. [rad or m]
    pub stroke: f64,
    /// Largest error at the end. [rad or m]
    pub tolerance: f64,
    /// Time allowed for a motion. [s]
    pub settle: f64,
}

/// Violation of a rule by an implementation.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{rule}: {found}")]
pub struct Violation {
    /// Rule that was broken.
    pub rule: &'static str,
    /// Behaviour that was found instead.
    pub found: String,
}

fn ensure(
    rule: &'static str,
    holds: bool,
    found: impl FnOnce() -> String,
) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation { rule, found: found() }) }
}

/// Runs the whole suite.
///
/// # Errors
/// The first rule that the device breaks, with what was found instead.
pub fn check(io: &mut dyn RobotIo, trial: &Trial) -> Result<(), Violation> {
    let layout = io.robots()[0].clone();
    let joint = layout.joints.iter().position(|j| j.name == trial.joint).ok_or_else(|| {
        Violation { rule: "the trial's joint exists", found: format!("no joint `{}`", trial.joint) }
    })?;
    let mut state = RobotState::new(&layout);

    ensure("a robot is ready when the suite starts", io.fault(0).is_none(), || {
        format!("{:?}", io.fault(0))
    })?;
    let start_time = io.time();
    stands_still_uncommanded(io, &mut state, trial)?;
    ensure("time advances by one period a call", io.time() > start_time, || {
        format!("time stayed at {} s", io.time())
    })?;
    refuses_bad_commands(io, &mut state)?;
    reaches_a_target(io, &mut state, joint, trial)?;
    ignores_nan(io, &mut state, joint, trial)?;
    holds_where_it_is(io, &mut state, joint, trial)
}

/// Advances for `seconds`, reading every sample.
fn run(io: &mut dyn RobotIo, state: &mut RobotState, seconds: f64) -> Result<(), Violation> {
    let end = io.time() + seconds;
    while io.time() < end {
        io.advance().map_err(|e| Violation { rule: "advance succeeds", found: e.to_string() })?;
        io.read(0, state);
        let finite = state.position.iter().chain(&state.velocity).all(|x| x.is_finite());
        // NaN says that an effort is not measured.
        let finite = finite && state.effort.iter().all(|effort| !effort.is_infinite());
        ensure("samples are finite", finite, || format!("{state:?}"))?;
    }
    Ok(())
}

fn stands_still_uncommanded(
    io: &mut dyn RobotIo,
    state: &mut RobotState,
    trial: &Trial,
) -> Result<(), Violation> {
    io.read(0, state);
    let before = state.position.clone();
    run(io, state, 0.2)?;
    let moved = before.iter().zip(&state.position).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    ensure("an uncommanded robot keeps its place", moved <= trial.stroke.abs(), || {
        format!("a joint moved by {moved}")
    })
}

fn refuses_bad_commands(io: &mut dyn RobotIo, state: &mut RobotState) -> Result<(), Violation> {
    let layout = io.robots()[0].clone();
    let mut short = JointCommand::new(&layout);
    short.position.pop();
    let answer = io.write(0, &short);
    ensure(
        "a command of the wrong length is refused by name",
        matches!(answer, Err(RobotIoError::CommandLength { .. })),
        || format!("{answer:?}"),
    )?;
    let mut infinite = JointCommand::new(&layout);
    infinite.effort[0] = f64::INFINITY;
    let answer = io.write(0, &infinite);
    ensure(
        "an infinite command is refused by name",
        matches!(answer, Err(RobotIoError::CommandNotFinite { .. })),
        || format!("{answer:?}"),
    )?;
    for (field, value) in [(0, 1e300), (1, -1e30), (2, 1e7)] {
        let mut nonsense = JointCommand::new(&layout);
        [&mut nonsense.position, &mut nonsense.velocity, &mut nonsense.effort][field][0] = value;
        let answer = io.write(0, &nonsense);
        ensure(
            "a command beyond anything that a joint does is refused by name",
            matches!(answer, Err(RobotIoError::CommandOutOfRange { .. })),
            || format!("{value:e}: {answer:?}"),
        )?;
    }
    let period = io.period();
    run(io, state, period)
}

fn write(io: &mut dyn RobotIo, command: &JointCommand) -> Result<(), Violation> {
    io.write(0, command)
        .map_err(|e| Violation { rule: "a good command is taken", found: e.to_string() })
}

fn reaches_a_target(
    io: &mut dyn RobotIo,
    state: &mut RobotState,
    joint: usize,
    trial: &Trial,
) -> Result<(), Violation> {
    let goal = state.position[joint] + trial.stroke;
    let mut command = JointCommand::new(&io.robots()[0]);
    command.position[joint] = goal;
    command.velocity[joint] = 0.0;
    write(io, &command)?;
    run(io, state, trial.settle)?;
    let error = (state.position[joint] - goal).abs();
    ensure("a commanded joint reaches its target", error <= trial.tolerance, || {
        format!("`{}` is {error} from {goal} after {} s", trial.joint, trial.settle)
    })
}

fn ignores_nan(
    io: &mut dyn RobotIo,
    state: &mut RobotState,
    joint: usize,
    trial: &Trial,
) -> Result<(), Violation> {
    let before = state.position[joint];
    let nothing = JointCommand::new(&io.robots()[0]);
    write(io, &nothing)?;
    run(io, state, 0.2)?;
    let moved = (state.position[joint] - before).abs();
    ensure("NaN leaves the last target in force", moved <= trial.tolerance, || {
        format!("`{}` moved by {moved}", trial.joint)
    })
}

fn holds_where_it_is(
    io: &mut dyn RobotIo,
    state: &mut RobotState,
    joint: usize,
    trial: &Trial,
) -> Result<(), Violation> {
    let mut command = JointCommand::new(&io.robots()[0]);
    command.position[joint] = state.position[joint] - trial.stroke;
    command.velocity[joint] = 0.0;
    write(io, &command)?;
    let period = io.period();
    run(io, state, period * 5.0)?;
    io.hold(0, false);
    let held = state.position[joint];
    run(io, state, trial.settle)?;
    let moved = (state.position[joint] - held).abs();
    ensure("hold stops the robot near where it was", moved <= 0.5 * trial.stroke.abs(), || {
        format!("`{}` moved by {moved} after hold", trial.joint)
    })
}
