//! Validation of trajectories, and the errors of those that are refused.

use super::{GroupSettings, JointSettings};
use crate::trajectory::{JointTrajectory, Path, TrajectoryPoint};
use karakuri_spatial::Time;

/// Why a trajectory is not taken.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GoalError {
    /// A controller that has not seen the robot yet.
    #[error("no joint state was received yet; is the robot (or the simulation) running?")]
    NoState,
    /// A full command queue: no joint state has come for what was asked before.
    #[error("too much was asked that no joint state has come for; see why, then send it again")]
    Busy,
    /// No point at all.
    #[error("Empty trajectory received.")]
    Empty,
    /// A joint that the group does not have.
    #[error("joint `{name}` is not in this group; it has: {known}")]
    UnknownJoint {
        /// The name given.
        name: String,
        /// The group's joints.
        known: String,
    },
    /// A joint that is named twice.
    #[error("joint `{name}` is named twice")]
    DuplicateJoint {
        /// The name given.
        name: String,
    },
    /// A joint that is missing while partial goals are not allowed.
    #[error("joint `{name}` is missing; name all joints, or set allow_partial_joints_goal")]
    MissingJoint {
        /// The joint's name.
        name: String,
    },
    /// Times that do not increase.
    #[error("point {point}: time_from_start {time} s is not after the point before ({before} s)")]
    TimeNotIncreasing {
        /// Index of the point.
        point: usize,
        /// Time of the point. [s]
        time: f64,
        /// Time of the point before. [s]
        before: f64,
    },
    /// An array of a wrong length.
    #[error("point {point}: {got} {field} for {want} joints")]
    FieldSize {
        /// Index of the point.
        point: usize,
        /// Name of the array.
        field: &'static str,
        /// Number of entries given.
        got: usize,
        /// Number of joints named.
        want: usize,
    },
    /// A point without positions.
    #[error(
        "point {point}: no positions; give them, or set allow_integration_in_goal_trajectories and give velocities"
    )]
    NoPositions {
        /// Index of the point.
        point: usize,
    },
    /// A number that is NaN or infinite.
    #[error("point {point}, joint `{name}`: {value} among the {field}; numbers must be finite")]
    NotFinite {
        /// Index of the point.
        point: usize,
        /// Name of the joint.
        name: String,
        /// Name of the array.
        field: &'static str,
        /// The value given.
        value: f64,
    },
    /// A position beyond the joint's limits.
    #[error(
        "point {point}, joint `{name}`: position {value} is outside its limits {lower} to {upper}"
    )]
    OutsideLimits {
        /// Index of the point.
        point: usize,
        /// Name of the joint.
        name: String,
        /// Position at the point. [rad or m]
        value: f64,
        /// Lower limit of the joint. [rad or m]
        lower: f64,
        /// Upper limit of the joint. [rad or m]
        upper: f64,
    },
    /// A velocity above the joint's limit.
    #[error(
        "point {point}, joint `{name}`: velocity {value} is above its limit {limit}; go slower"
    )]
    TooFast {
        /// Index of the point.
        point: usize,
        /// Name of the joint.
        name: String,
        /// Velocity at the point. [rad/s or m/s]
        value: f64,
        /// Speed limit of the joint. [rad/s or m/s]
        limit: f64,
    },
    /// A path within the limits at the points, but not between them.
    #[error(
        "joint `{name}`: between points {point} and {}, {time:.3} s from the start, the spline is at {value:.6}, outside its limits {lower} to {upper}; give smaller velocities, or points closer together",
        point + 1
    )]
    LeavesLimits {
        /// Index of the point before.
        point: usize,
        /// Name of the joint.
        name: String,
        /// Time from the start. [s]
        time: f64,
        /// Position at that time. [rad or m]
        value: f64,
        /// Lower limit of the joint. [rad or m]
        lower: f64,
        /// Upper limit of the joint. [rad or m]
        upper: f64,
    },
    /// A trajectory that ends in motion.
    #[error(
        "joint `{name}` ends with velocity {value}; end at rest, or set allow_nonzero_velocity_at_trajectory_end"
    )]
    EndsInMotion {
        /// Name of the joint.
        name: String,
        /// Velocity at the last point. [rad/s or m/s]
        value: f64,
    },
    /// A trajectory that is over already.
    #[error("the trajectory ended {ago:.3} s ago; stamp it later, or 0 to start at once")]
    InThePast {
        /// Time since its end. [s]
        ago: f64,
    },
}

/// Share by which velocities may exceed a limit: files and messages round. [-]
const SPEED_SLACK: f64 = 1e-3;
/// Parts of a segment between two points at which extremes are looked for.
const PARTS: u32 = 32;

/// Distance by which positions may exceed a limit: files and messages round. [rad or m]
const LIMIT_SLACK: f64 = 1e-6;

/// Age up to which a stream's point is followed at once: on a busy machine references come a few samples late. [s]
const LATE: f64 = 0.1;

/// Checks that a goal asks for no more than its joints can do, at its points and between them.
pub(super) fn check_reach(
    trajectory: &JointTrajectory,
    path: &Path,
    settings: &GroupSettings,
) -> Result<(), GoalError> {
    // At the points the velocities are given; between them the spline may be faster, which `limit_speed` cuts.
    for (point, values) in trajectory.points.iter().enumerate() {
        for (name, &value) in trajectory.joints.iter().zip(&values.velocities) {
            let limit = settings.joints.iter().find(|j| j.name == *name).map(|j| j.max_velocity);
            if let Some(limit) = limit.filter(|limit| value.abs() > limit * (1.0 + SPEED_SLACK)) {
                return Err(GoalError::TooFast { point, name: name.clone(), value, limit });
            }
        }
    }
    // Between two points within the limits a spline of large velocities swings out of them.
    let left = path.find_between(PARTS, |j, position| {
        let joint = &settings.joints[j];
        position < joint.lower - LIMIT_SLACK || position > joint.upper + LIMIT_SLACK
    });
    let Some((point, j, time, value)) = left else { return Ok(()) };
    let JointSettings { ref name, lower, upper, .. } = settings.joints[j];
    Err(GoalError::LeavesLimits { point, name: name.clone(), time, value, lower, upper })
}

/// A trajectory that was checked.
#[derive(Debug)]
pub(super) struct Checked {
    /// Column of each joint of the group.
    pub(super) order: Vec<Option<usize>>,
    /// Start time; `None` starts at once.
    pub(super) start: Option<Time>,
}

/// Checks a trajectory that came at `now`.
pub(super) fn check(
    trajectory: &JointTrajectory,
    settings: &GroupSettings,
    now: Time,
    from_topic: bool,
) -> Result<Checked, GoalError> {
    let last = trajectory.points.last().ok_or(GoalError::Empty)?;
    // Names before numbers: a column of the wrong joint has no meaning to check.
    let order = columns(trajectory, settings)?;
    let mut before = None;
    for (i, point) in trajectory.points.iter().enumerate() {
        let time = point.time_from_start;
        // Negated as a whole, so that NaN is refused.
        if !(time >= 0.0 && before.is_none_or(|b| time > b)) {
            let before = before.unwrap_or(0.0);
            return Err(GoalError::TimeNotIncreasing { point: i, time, before });
        }
        before = Some(time);
        check_point(i, point, trajectory, settings)?;
    }
    // A single point on the topic is a sample of a stream: its velocity is where the next one goes on.
    let is_stream = from_topic && trajectory.points.len() == 1;
    if !settings.allow_nonzero_velocity_at_trajectory_end && !is_stream {
        // Planners that compute the last velocity leave round-off.
        let moving = last.velocities.iter().position(|v| v.abs() > 1e-9);
        if let Some(c) = moving {
            let (name, value) = (trajectory.joints[c].clone(), last.velocities[c]);
            return Err(GoalError::EndsInMotion { name, value });
        }
    }
    let ended = |start: Time| now.seconds_since(start.plus_seconds(last.time_from_start));
    match trajectory.start.map(ended) {
        // Followed at once, not refused: the next point of the stream is on its way.
        Some(ago) if ago > 0.0 && is_stream && ago <= LATE => Ok(Checked { order, start: None }),
        Some(ago) if ago > 0.0 => Err(GoalError::InThePast { ago }),
        _ => Ok(Checked { order, start: trajectory.start }),
    }
}

fn columns(t: &JointTrajectory, settings: &GroupSettings) -> Result<Vec<Option<usize>>, GoalError> {
    for (c, name) in t.joints.iter().enumerate() {
        if !settings.joints.iter().any(|j| j.name == *name) {
            let known: Vec<_> = settings.joints.iter().map(|j| j.name.as_str()).collect();
            return Err(GoalError::UnknownJoint { name: name.clone(), known: known.join(", ") });
        }
        if t.joints[..c].contains(name) {
            return Err(GoalError::DuplicateJoint { name: name.clone() });
        }
    }
    let order: Vec<_> =
        settings.joints.iter().map(|j| t.joints.iter().position(|n| *n == j.name)).collect();
    let missing = order.iter().position(Option::is_none);
    match missing {
        // Without a name nothing would move: that is a mistake even where parts are allowed.
        Some(j) if !settings.allow_partial_joints_goal || t.joints.is_empty() => {
            Err(GoalError::MissingJoint { name: settings.joints[j].name.clone() })
        }
        _ => Ok(order),
    }
}

fn check_point(
    i: usize,
    point: &TrajectoryPoint,
    trajectory: &JointTrajectory,
    settings: &GroupSettings,
) -> Result<(), GoalError> {
    let want = trajectory.joints.len();
    let fields = [
        ("positions", &point.positions),
        ("velocities", &point.velocities),
        ("accelerations", &point.accelerations),
        ("efforts", &point.efforts),
    ];
    for (field, values) in fields {
        // An empty array says nothing; any other has a number for each joint named.
        if !values.is_empty() && values.len() != want {
            return Err(GoalError::FieldSize { point: i, field, got: values.len(), want });
        }
        if let Some(c) = values.iter().position(|v| !v.is_finite()) {
            let name = trajectory.joints[c].clone();
            return Err(GoalError::NotFinite { point: i, name, field, value: values[c] });
        }
    }
    // Positions are then the integral of the velocities, or of the accelerations.
    let integrable = settings.allow_integration_in_goal_trajectories
        && !(point.velocities.is_empty() && point.accelerations.is_empty());
    if point.positions.is_empty() && !integrable {
        return Err(GoalError::NoPositions { point: i });
    }
    for (name, &value) in trajectory.joints.iter().zip(&point.positions) {
        // `columns` has refused unknown names.
        let Some(joint) = settings.joints.iter().find(|j| j.name == *name) else { continue };
        let (lower, upper) = (joint.lower, joint.upper);
        if value < lower - LIMIT_SLACK || value > upper + LIMIT_SLACK {
            let name = name.clone();
            return Err(GoalError::OutsideLimits { point: i, name, value, lower, upper });
        }
    }
    Ok(())
}
