//! Goals, their tolerances and how they end.

use super::{GroupSettings, Tolerance};
use crate::trajectory::JointTrajectory;

/// A goal of the action `follow_joint_trajectory`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Goal {
    /// Trajectory to follow.
    pub trajectory: JointTrajectory,
    /// Tolerances along the path that override the defaults.
    pub path_tolerance: Vec<JointTolerance>,
    /// Tolerances at the end that override the defaults.
    pub goal_tolerance: Vec<JointTolerance>,
    /// Time to be in tolerance after the end: 0 keeps the default, −1 erases it, above 0 sets it. [s]
    pub goal_time_tolerance: f64,
}

/// A goal's own tolerance for one joint: 0 keeps the default, −1 erases it, above 0 sets.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JointTolerance {
    /// Name of the joint.
    pub name: String,
    /// Largest position error. [rad or m]
    pub position: f64,
    /// Largest velocity error. [rad/s or m/s]
    pub velocity: f64,
    /// Largest acceleration error. [rad/s² or m/s²]
    pub acceleration: f64,
}

/// Identifier of a goal of one machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GoalId(pub u64);

/// `error_code` of the action's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum ErrorCode {
    /// Done, or cancelled.
    Successful = 0,
    /// Preempted, replaced, deactivated, or the clock jumped.
    InvalidGoal = -1,
    /// An error along the path.
    PathToleranceViolated = -4,
    /// An error at the end.
    GoalToleranceViolated = -5,
}

/// Status the action ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoalStatus {
    /// The goal was reached.
    Succeeded,
    /// The client cancelled.
    Canceled,
    /// The machine gave up.
    Aborted,
}

/// Quantity that missed its tolerance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Position of a joint. [rad or m]
    Position,
    /// Velocity of a joint. [rad/s or m/s]
    Velocity,
    /// Acceleration of a joint. [rad/s² or m/s²]
    Acceleration,
}

/// One error that is larger than its limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shortfall {
    /// Index of the joint in the group.
    pub joint: usize,
    /// Quantity of the error.
    pub quantity: Quantity,
    /// Desired minus measured, in the quantity's unit.
    pub error: f64,
    /// Tolerance that it exceeds, in the quantity's unit.
    pub limit: f64,
    /// Time since the start of the trajectory (along the path) or since its end (at the goal). [s]
    pub time: f64,
}

/// The end of a goal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// The joints were in tolerance after the last point.
    Reached,
    /// An error along the path.
    PathTolerance(Shortfall),
    /// A joint was not in tolerance when the goal time was over.
    GoalTolerance(Shortfall),
    /// A new goal came.
    Preempted,
    /// A trajectory came on the topic.
    Replaced,
    /// Cancelled by the client.
    Canceled {
        /// The tolerance not met after the last point.
        lacking: Option<Shortfall>,
    },
    /// The controller was deactivated.
    Deactivated,
    /// The clock jumped back (a reset).
    ClockJumpedBack,
    /// A joint is not where it is commanded: blocked, or the robot was exchanged or moved by others.
    NotFollowing(Shortfall),
    /// Nothing was measured for too long.
    StateLost,
}

impl Outcome {
    /// Status that the action ends with.
    pub fn status(self) -> GoalStatus {
        match self {
            Self::Reached => GoalStatus::Succeeded,
            Self::Canceled { .. } => GoalStatus::Canceled,
            _ => GoalStatus::Aborted,
        }
    }

    /// `error_code` for the action's result.
    pub fn error_code(self) -> ErrorCode {
        match self {
            Self::Reached | Self::Canceled { .. } => ErrorCode::Successful,
            Self::PathTolerance(_) | Self::NotFollowing(_) => ErrorCode::PathToleranceViolated,
            Self::GoalTolerance(_) => ErrorCode::GoalToleranceViolated,
            Self::Preempted
            | Self::Replaced
            | Self::Deactivated
            | Self::ClockJumpedBack
            // The action has no code for what ends a goal from outside; joint_trajectory_controller sends this one, too.
            | Self::StateLost => ErrorCode::InvalidGoal,
        }
    }

    /// `error_string` for the action's result.
    pub fn describe(self, settings: &GroupSettings) -> String {
        match self {
            Self::Reached => "Goal successfully reached!".to_owned(),
            Self::PathTolerance(s) => {
                format!("{}, {:.3} s after the start", s.describe(settings), s.time)
            }
            Self::GoalTolerance(s) => {
                format!("{}, {:.3} s after the last point", s.describe(settings), s.time)
            }
            Self::Preempted => "Current goal preempted by new incoming action.".to_owned(),
            Self::Replaced => {
                "Current goal preempted by a trajectory on the topic `joint_trajectory`.".to_owned()
            }
            Self::Canceled { lacking: Some(s) } => format!(
                "cancelled while waiting: {}, {:.3} s after the last point",
                s.describe(settings),
                s.time
            ),
            Self::Canceled { lacking: None } => String::new(),
            Self::Deactivated => "Current goal cancelled during deactivate transition.".to_owned(),
            Self::ClockJumpedBack => {
                "the clock jumped back; the goal's time is gone: send it again".to_owned()
            }
            Self::NotFollowing(s) => format!(
                "{}, {:.3} s after the start: the joint does not follow; see what blocks it, then send the goal again",
                s.describe(settings),
                s.time
            ),
            Self::StateLost => {
                "joint states did not come for too long; see in the diagnostics of driver or simulation why, then send the goal again"
                    .to_owned()
            }
        }
    }
}

impl Shortfall {
    /// Sentence with the joint, the error and the limit.
    pub fn describe(&self, settings: &GroupSettings) -> String {
        let name = settings.joints.get(self.joint).map_or("?", |j| j.name.as_str());
        let quantity = match self.quantity {
            Quantity::Position => "position",
            Quantity::Velocity => "velocity",
            Quantity::Acceleration => "acceleration",
        };
        let Self { error, limit, .. } = self;
        format!("joint `{name}`: {quantity} error {error:.6} is above its tolerance {limit:.6}")
    }
}

/// A goal that ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FinishedGoal {
    /// Identifier of the goal.
    pub id: GoalId,
    /// Outcome of the goal.
    pub outcome: Outcome,
}

/// Tolerances of a goal.
#[derive(Debug, Clone, Default)]
pub(super) struct Limits {
    pub(super) path_tolerance: Vec<Tolerance>,
    pub(super) goal_tolerance: Vec<Tolerance>,
    pub(super) goal_time: f64,
}

impl Limits {
    pub(super) fn new(goal: &Goal, settings: &GroupSettings) -> Self {
        let defaults = |pick: fn(&super::JointSettings) -> Tolerance| {
            settings.joints.iter().map(pick).collect::<Vec<_>>()
        };
        let mut path_tolerance = defaults(|j| j.path_tolerance);
        let mut goal_tolerance = defaults(|j| j.goal_tolerance);
        for tolerance in &mut goal_tolerance {
            // As joint_trajectory_controller has it: one speed for all joints that have arrived.
            tolerance.velocity = settings.stopped_velocity_tolerance;
        }
        // One bad value or unknown joint and the goal falls back to all defaults.
        let both = overridden(&path_tolerance, &goal.path_tolerance, settings)
            .zip(overridden(&goal_tolerance, &goal.goal_tolerance, settings))
            .zip(override_value(settings.goal_time, goal.goal_time_tolerance));
        let mut goal_time = settings.goal_time;
        if let Some(((path, end), time)) = both {
            (path_tolerance, goal_tolerance, goal_time) = (path, end, time);
        }
        Self { path_tolerance, goal_tolerance, goal_time }
    }
}

fn override_value(default: f64, value: f64) -> Option<f64> {
    if value == 0.0 {
        // The rule of FollowJointTrajectory.action: 0 takes the default, −1 lifts the tolerance, other negative numbers are
        // errors.
        Some(default)
    } else if value > 0.0 {
        Some(value)
    } else if (value + 1.0).abs() < 1e-9 {
        Some(0.0)
    } else {
        None
    }
}

fn overridden(
    defaults: &[Tolerance],
    given: &[JointTolerance],
    settings: &GroupSettings,
) -> Option<Vec<Tolerance>> {
    let mut out = defaults.to_vec();
    for tolerance in given {
        // A name that the group lacks makes all of the list void, as in joint_trajectory_controller.
        let j = settings.joints.iter().position(|j| j.name == tolerance.name)?;
        out[j] = Tolerance {
            position: override_value(out[j].position, tolerance.position)?,
            velocity: override_value(out[j].velocity, tolerance.velocity)?,
            acceleration: override_value(out[j].acceleration, tolerance.acceleration)?,
        };
    }
    Some(out)
}
