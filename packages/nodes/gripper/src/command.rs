//! `gripper_cmd` and `parallel_gripper_cmd`: two actions over one command.

use karakuri_grasp::gripper_command::{GripperCommand as Command, GripperReport};
use karakuri_ros::ActiveGoal;
use karakuri_ros::msg::control_msgs::action::{GripperCommand, ParallelGripperCommand};
use karakuri_ros::msg::sensor_msgs::msg::JointState;

/// A goal of either action.
pub(crate) enum CommandGoal {
    Plain(ActiveGoal<GripperCommand::Action>),
    Parallel(ActiveGoal<ParallelGripperCommand::Action>, String),
}

/// Outcome of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Succeeded,
    Aborted,
    Canceled,
}

pub(crate) fn plain_command(goal: &GripperCommand::Goal) -> Command {
    Command {
        opening: goal.command.position,
        max_effort: goal.command.max_effort,
        max_velocity: 0.0,
    }
}

/// Command of a parallel goal: its one position, and its optional speed and force.
pub(crate) fn parallel_command(goal: &ParallelGripperCommand::Goal) -> Result<Command, String> {
    let command = &goal.command;
    let [opening] = command.position.as_slice() else {
        return Err(format!(
            "command has {} positions; send exactly one, the opening in m",
            command.position.len()
        ));
    };
    let optional = |values: &[f64]| values.first().copied().unwrap_or(0.0);
    Ok(Command {
        opening: *opening,
        max_effort: optional(&command.effort),
        max_velocity: optional(&command.velocity),
    })
}

fn plain_result(report: &GripperReport) -> GripperCommand::Result {
    GripperCommand::Result {
        position: report.opening,
        effort: report.effort,
        stalled: report.stalled,
        reached_goal: report.reached_goal,
    }
}

fn joint_state(name: &str, report: &GripperReport) -> JointState {
    JointState {
        name: vec![name.to_owned()],
        position: vec![report.opening],
        effort: vec![report.effort],
        ..JointState::default()
    }
}

impl CommandGoal {
    pub(crate) fn is_canceling(&self) -> bool {
        match self {
            Self::Plain(goal) => goal.is_canceling(),
            Self::Parallel(goal, _) => goal.is_canceling(),
        }
    }

    pub(crate) fn publish_feedback(&self, report: &GripperReport) {
        match self {
            Self::Plain(goal) => goal.publish_feedback(GripperCommand::Feedback {
                position: report.opening,
                effort: report.effort,
                stalled: report.stalled,
                reached_goal: report.reached_goal,
            }),
            Self::Parallel(goal, name) => {
                goal.publish_feedback(ParallelGripperCommand::Feedback {
                    state: joint_state(name, report),
                });
            }
        }
    }

    pub(crate) fn end(self, ending: Ending, report: &GripperReport) {
        match self {
            Self::Plain(goal) => {
                let result = plain_result(report);
                match ending {
                    Ending::Succeeded => goal.succeed(result),
                    Ending::Aborted => goal.abort(result),
                    Ending::Canceled => goal.cancel(result),
                }
            }
            Self::Parallel(goal, name) => {
                let result = ParallelGripperCommand::Result {
                    state: joint_state(&name, report),
                    stalled: report.stalled,
                    reached_goal: report.reached_goal,
                };
                match ending {
                    Ending::Succeeded => goal.succeed(result),
                    Ending::Aborted => goal.abort(result),
                    Ending::Canceled => goal.cancel(result),
                }
            }
        }
    }
}
