//! `trajectory_msgs/JointTrajectory` as YAML or JSON, and the motions of PAL's `play_motion2`.

use karakuri_model::yaml;
use serde::{Deserialize, Serialize};

use super::cells::{Cell, error};
use super::csv::joint;
use super::exchange::{Export, FormatOptions, notes};
use super::samples::{Row, Samples};
use crate::file::FileError;
use crate::motion::Ease;
use crate::performance::{MotionState, Performance};

#[derive(Debug, Serialize, Deserialize)]
struct Trajectory {
    joint_names: Vec<String>,
    points: Vec<Point>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Point {
    positions: Vec<f64>,
    #[serde(default)]
    velocities: Vec<f64>,
    #[serde(default)]
    accelerations: Vec<f64>,
    time_from_start: Time,
}

/// Seconds, or a message's seconds and nanoseconds.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Time {
    Message { sec: f64, nanosec: f64 },
    Seconds(f64),
}

pub(super) fn read(
    file: &str,
    text: &str,
    options: &FormatOptions<'_>,
) -> Result<Samples, FileError> {
    let root = yaml::read_tree(file, text)?;
    // A message of the topic, a goal of the action, or the trajectory itself.
    let node = root.get("trajectory").unwrap_or(&root);
    let Trajectory { joint_names, points } = node.to()?;
    let at = [node.place.line, node.place.column];
    let find = |name: &String| joint(file, Cell { text: name, at }, options);
    let joints = joint_names.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    let mut samples = Samples::new(joints, Ease::Linear);
    // As controllers do it: lines between points of positions alone, cubics where there are velocities.
    if points.iter().any(|point| !point.velocities.is_empty()) {
        samples.ease = Ease::Natural;
        samples.note(
            0,
            "velocities and accelerations are those of a spline through the positions".to_owned(),
        );
    }
    let lines = node.get("points").map(|points| match &points.value {
        yaml::Value::List(items) => items.iter().map(|item| item.place.line).collect(),
        _ => Vec::new(),
    });
    let lines = lines.unwrap_or_default();
    for (i, point) in points.iter().enumerate() {
        let line = lines.get(i).copied().unwrap_or(at[0]);
        if point.positions.len() != joint_names.len() {
            let (n, m) = (point.positions.len(), joint_names.len());
            let message = format!("points[{i}] has {n} positions for {m} joints; write as many");
            return Err(error(file, [line, 1], &message));
        }
        let t = match point.time_from_start {
            Time::Message { sec, nanosec } => sec + 1e-9 * nanosec,
            Time::Seconds(seconds) => seconds,
        };
        if !t.is_finite() || point.positions.iter().any(|q| !q.is_finite()) {
            let message = format!("points[{i}] has a number that is not finite; write finite ones");
            return Err(error(file, [line, 1], &message));
        }
        let values = point.positions.iter().copied().map(Some).collect();
        samples.rows.push(Row { line, t, values, root: None, note: String::new() });
    }
    Ok(samples)
}

pub(super) fn write(performance: &mut Performance) -> Export {
    let performer = std::sync::Arc::clone(performance.performer());
    let (model, joints) = (&performer.model, performance.joints().collect::<Vec<_>>());
    let mut points = Vec::new();
    let mut state = MotionState::default();
    for t in performance.times() {
        performance.sample(t, &mut state);
        let of =
            |values: &[f64]| joints.iter().map(|id| values[model.joints[id.0].v_start]).collect();
        // Rounded before it is split: of 1.9999999999 s, split first, the nanoseconds would round to a whole second.
        let nanoseconds = (t * 1e9).round();
        let sec = (nanoseconds / 1e9).floor();
        points.push(Point {
            positions: joints.iter().map(|id| state.q[model.joints[id.0].q_start]).collect(),
            velocities: of(&state.v),
            accelerations: of(&state.vdot),
            time_from_start: Time::Message { sec, nanosec: nanoseconds - sec * 1e9 },
        });
    }
    let joint_names = joints.iter().map(|id| model.joints[id.0].name.clone()).collect();
    // Velocities and accelerations are the curves' own, so that a controller's quintic follows the eases between the points.
    let trajectory = Trajectory { joint_names, points };
    let text = serde_json::to_string_pretty(&whole_numbers(&trajectory)).unwrap_or_default();
    let said = "the root link's path and the supporting feet are not in the file";
    Export { text: text + "\n", notes: notes([said.to_owned()]) }
}

/// The trajectory with whole seconds and nanoseconds, as messages have them.
fn whole_numbers(trajectory: &Trajectory) -> serde_json::Value {
    let mut value = serde_json::to_value(trajectory).unwrap_or_default();
    let points = value.get_mut("points").and_then(serde_json::Value::as_array_mut);
    for point in points.into_iter().flatten() {
        for part in ["sec", "nanosec"] {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "below 1e9"
            )]
            if let Some(number) = point.pointer_mut(&format!("/time_from_start/{part}")) {
                *number = number.as_f64().map_or(0, |x| x as u32).into();
            }
        }
    }
    value
}

/// PAL's file of a motion, its positions flattened row by row.
pub(super) fn write_play_motion2(name: &str, performance: &mut Performance) -> Export {
    let performer = std::sync::Arc::clone(performance.performer());
    let (model, joints) = (&performer.model, performance.joints().collect::<Vec<_>>());
    let (mut positions, mut times) = (Vec::new(), Vec::new());
    let mut state = MotionState::default();
    // Its player makes a trajectory of positions alone: the ends of scenes would lose their eases.
    for t in performance.times() {
        performance.sample(t, &mut state);
        positions.extend(joints.iter().map(|id| decimal(state.q[model.joints[id.0].q_start])));
        times.push(decimal(t));
    }
    let names: Vec<String> = joints.iter().map(|id| model.joints[id.0].name.clone()).collect();
    let key: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let title = serde_json::to_string(name).unwrap_or_default();
    let text = format!(
        "/play_motion2:\n  ros__parameters:\n    motions:\n      {key}:\n        joints: [{}]\n        positions: [{}]\n        times_from_start: [{}]\n        meta:\n          name: {title}\n          usage: demo\n          description: {title}\n",
        names.join(", "),
        positions.join(", "),
        times.join(", "),
    );
    Export { text, notes: notes(super::csv::sampled(performance)) }
}

/// A number with a point, which ROS takes for a floating one.
fn decimal(value: f64) -> String {
    format!("{value:?}")
}
