//! A tick of the hand, and what is published of it.

use karakuri_grasp::pick_and_place::{Failure, Measurement, Output, Sighting};
use karakuri_ros::msg::karakuri_msgs::msg::GripState;
use karakuri_ros::msg::std_msgs::msg::Header;
use karakuri_ros::{Advance, IntoMessage, JointStateReader, Turn, warn};
use karakuri_spatial::{Force, Time};

use crate::arm::trajectory_message;
use crate::command::Ending;
use crate::hand::{Gripper, Reading};

/// Ticks between two messages of feedback and grip state.
const TICKS_A_REPORT: u32 = 10;
/// Initial count of ticks, such that the first tick is reported.
pub(crate) const FIRST_TICK: u64 = TICKS_A_REPORT as u64 - 1;

/// Longest time without samples after which the hand goes on at its speed, as if they had come. [s]
const LONGEST_GAP: f64 = 0.05;

pub(crate) fn tick(gripper: &mut Gripper, turn: Turn) {
    let Turn { stamp, advance } = turn;
    if advance == Advance::Backward {
        gripper.ticks = FIRST_TICK;
    }
    let canceled = gripper.task.as_ref().is_some_and(|(goal, _)| goal.is_canceling());
    if canceled {
        gripper.machine.cancel();
    }
    if gripper.command.as_ref().is_some_and(|(goal, _)| goal.is_canceling()) {
        gripper.machine.stay();
        gripper.end_command(Ending::Canceled);
    }
    let wrench = |r: &Option<Reading<Force>>| r.map_or_else(Force::default, |r| r.value);
    let wrenches: Vec<_> = gripper.wrenches.iter().map(wrench).collect();
    let vacuum = |r: &Option<Reading<f64>>| r.map_or(f64::NAN, |r| r.value);
    let vacuums: Vec<_> = gripper.vacuums.iter().map(vacuum).collect();
    let arm = gripper.arm.report();
    let time = stamp;
    let sighting =
        gripper.sighting.as_ref().map(|(stamp, objects)| Sighting { time: *stamp, objects });
    let JointStateReader { q, v, effort, .. } = &gripper.reader;
    let (wrenches, vacuums) = (&wrenches[..], &vacuums[..]);
    let measured = Measurement { time, q, v, effort, wrenches, vacuums, arm, sighting };
    let period = gripper.parameters.robot.period.get();
    let elapsed = turn.elapsed(period, LONGEST_GAP);
    let output = gripper.machine.tick(&measured, elapsed).clone();
    if let Some(request) = &output.arm {
        gripper.arm.request(request, gripper.parameters.robot.lockstep.get());
    }
    *gripper.gate.answer() = trajectory_message(&gripper.machine.hand_trajectory(time, period));
    gripper.ticks += 1;
    check_command(gripper, elapsed);
    report(gripper, stamp, &output);
}

/// Checks the active gripper command, `elapsed` after the last time. [s]
fn check_command(gripper: &mut Gripper, elapsed: f64) {
    let Some((goal, mut run)) = gripper.command.take() else { return };
    let waited = if gripper.is_heard() { elapsed } else { 0.0 };
    let (report, ended) = run.check(&mut gripper.machine, waited);
    gripper.has_moved |= run.has_progressed();
    if !ended {
        if gripper.ticks.is_multiple_of(u64::from(TICKS_A_REPORT)) {
            goal.publish_feedback(gripper.fingers(), &report);
        }
        gripper.command = Some((goal, run));
        return;
    }
    let ending = if run.succeeded(&report) { Ending::Succeeded } else { Ending::Aborted };
    goal.end(ending, gripper.fingers(), &report);
}

fn report(gripper: &mut Gripper, stamp: Time, output: &Output) {
    if let Some(result) = &output.result
        && let Some((goal, _)) = gripper.task.take()
    {
        let ending = match result.failure {
            None => {
                gripper.has_moved = true;
                Ending::Succeeded
            }
            Some(Failure::Canceled) if goal.is_canceling() => Ending::Canceled,
            Some(_) => {
                warn!("{}: {}", goal.action(), result.message);
                Ending::Aborted
            }
        };
        goal.end(ending, result, stamp);
    }
    if !gripper.ticks.is_multiple_of(u64::from(TICKS_A_REPORT)) {
        return;
    }
    if let Some((goal, begun)) = &gripper.task {
        goal.publish_feedback(&output.feedback, stamp.seconds_since(*begun));
    }
    publish_grip_state(gripper, stamp);
}

fn publish_grip_state(gripper: &mut Gripper, stamp: Time) {
    let period = gripper.parameters.robot.period.get() * f64::from(TICKS_A_REPORT);
    let trend = gripper.machine.trend(period);
    let hand = gripper.machine.opening_hand();
    let state = hand.map(|hand| *hand.grip().state()).unwrap_or_default();
    let channels = gripper.machine.channels();
    gripper.grip_state.publish(&GripState {
        header: Header { stamp: stamp.to_message(), frame_id: gripper.root.clone() },
        width: gripper.machine.feedback().opening,
        speed: trend.speed,
        force_left: state.forces[0].max(0.0),
        force_right: state.forces[1].max(0.0),
        target_force: trend.target_force,
        sensor_age: gripper.sensor_age(),
        contact_left: state.touching[0],
        contact_right: state.touching[1],
        holding: trend.holding,
        slipping: trend.slipping,
        kind: gripper.machine.kind().to_owned(),
        channels: channels.iter().map(|channel| channel.name.clone()).collect(),
        units: channels.iter().map(|channel| channel.unit.to_owned()).collect(),
        values: channels.iter().map(|channel| channel.value).collect(),
        margin: gripper.machine.margin(),
    });
}
