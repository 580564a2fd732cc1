//! `gripper_cmd` and `parallel_gripper_cmd`: two actions over one command.

use karakuri_grasp::EndEffector;
use karakuri_grasp::gripper_command::{CommandUnit, GripperReport, StatedCommand};
use karakuri_ros::msg::control_msgs::action::{GripperCommand, ParallelGripperCommand};
use karakuri_ros::msg::sensor_msgs::msg::JointState;
use karakuri_ros::{ActiveGoal, GoalRequest};

/// Goal of either action that is not begun yet.
pub(crate) enum CommandRequest {
    Plain(Box<GoalRequest<GripperCommand::Action>>),
    Parallel(Box<GoalRequest<ParallelGripperCommand::Action>>),
}

/// A goal of either action, and the quantities that its client speaks of.
pub(crate) enum CommandGoal {
    Plain(ActiveGoal<GripperCommand::Action>, CommandUnit),
    Parallel(ActiveGoal<ParallelGripperCommand::Action>, CommandUnit, String),
}

/// Outcome of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Succeeded,
    Aborted,
    Canceled,
}

impl CommandRequest {
    /// What is commanded; `unit` is that of plain goals, `joint` the one that parallel goals may name.
    pub(crate) fn stated(&self, joint: &str, unit: CommandUnit) -> Result<StatedCommand, String> {
        match self {
            Self::Plain(request) => Ok(plain_command(request.goal(), unit)),
            Self::Parallel(request) => parallel_command(request.goal(), joint),
        }
    }

    pub(crate) fn reject(self, why: &str) {
        match self {
            Self::Plain(request) => request.reject(why),
            Self::Parallel(request) => request.reject(why),
        }
    }

    pub(crate) fn accept(self, unit: CommandUnit, joint: String) -> CommandGoal {
        match self {
            Self::Plain(request) => CommandGoal::Plain(request.accept(), unit),
            Self::Parallel(request) => CommandGoal::Parallel(request.accept(), unit, joint),
        }
    }
}

/// Command of a plain goal, which has no name that would tell what its position is.
fn plain_command(goal: &GripperCommand::Goal, unit: CommandUnit) -> StatedCommand {
    let command = &goal.command;
    let (position, effort) = (command.position, command.max_effort);
    StatedCommand { unit, position, velocity: 0.0, effort }
}

/// Command of a parallel goal: its one position, and its optional speed and force; those of the driven joint where it names that.
fn parallel_command(
    goal: &ParallelGripperCommand::Goal,
    joint: &str,
) -> Result<StatedCommand, String> {
    let command = &goal.command;
    let [position] = command.position.as_slice() else {
        return Err(format!(
            "command has {} positions; send exactly one: the opening in m, or that of `{joint}` with its name",
            command.position.len()
        ));
    };
    let unit = match command.name.as_slice() {
        [] => CommandUnit::Opening,
        [name] if name == joint => CommandUnit::Joint,
        other => {
            return Err(format!(
                "command names `{}`; name `{joint}` for a position of that joint, or none for an opening in m",
                other.join("`, `")
            ));
        }
    };
    let optional = |values: &[f64]| values.first().copied().unwrap_or(0.0);
    let (velocity, effort) = (optional(&command.velocity), optional(&command.effort));
    Ok(StatedCommand { unit, position: *position, velocity, effort })
}

fn joint_state(name: &str, [position, effort]: [f64; 2]) -> JointState {
    JointState {
        name: vec![name.to_owned()],
        position: vec![position],
        effort: vec![effort],
        ..JointState::default()
    }
}

impl CommandGoal {
    pub(crate) fn is_canceling(&self) -> bool {
        match self {
            Self::Plain(goal, _) => goal.is_canceling(),
            Self::Parallel(goal, ..) => goal.is_canceling(),
        }
    }

    pub(crate) fn publish_feedback(&self, hand: Option<&dyn EndEffector>, report: &GripperReport) {
        match self {
            Self::Plain(goal, unit) => {
                let [position, effort] = unit.stated(hand, report);
                goal.publish_feedback(GripperCommand::Feedback {
                    position,
                    effort,
                    stalled: report.stalled,
                    reached_goal: report.reached_goal,
                });
            }
            Self::Parallel(goal, unit, name) => {
                goal.publish_feedback(ParallelGripperCommand::Feedback {
                    state: joint_state(name, unit.stated(hand, report)),
                });
            }
        }
    }

    pub(crate) fn end(
        self,
        ending: Ending,
        hand: Option<&dyn EndEffector>,
        report: &GripperReport,
    ) {
        let (stalled, reached_goal) = (report.stalled, report.reached_goal);
        match self {
            Self::Plain(goal, unit) => {
                let [position, effort] = unit.stated(hand, report);
                let result = GripperCommand::Result { position, effort, stalled, reached_goal };
                match ending {
                    Ending::Succeeded => goal.succeed(result),
                    Ending::Aborted => goal.abort(result),
                    Ending::Canceled => goal.cancel(result),
                }
            }
            Self::Parallel(goal, unit, name) => {
                let state = joint_state(&name, unit.stated(hand, report));
                let result = ParallelGripperCommand::Result { state, stalled, reached_goal };
                match ending {
                    Ending::Succeeded => goal.succeed(result),
                    Ending::Aborted => goal.abort(result),
                    Ending::Canceled => goal.cancel(result),
                }
            }
        }
    }
}
