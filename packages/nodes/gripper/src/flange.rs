//! State of the node: the hand on the flange, or what is there and is no hand.

use karakuri_grasp::pick_and_place::Stage;
use karakuri_ros::msg::control_msgs::action::{GripperCommand, ParallelGripperCommand};
use karakuri_ros::msg::karakuri_msgs::action::{MoveTool, PickAndPlace};
use karakuri_ros::{Clock, GoalRequest, Status, warn};

use crate::command::CommandRequest;
use crate::goals;
use crate::hand::Gripper;
use crate::pick::code;
use crate::task::TaskRequest;

/// What is on the flange.
pub(crate) enum Flange {
    Hand(Box<Gripper>),
    NoHand(NoHand),
}

/// A tool that is no hand, or nothing: every goal is refused.
pub(crate) struct NoHand {
    /// Name of the tool.
    pub(crate) tool: String,
    pub(crate) clock: Clock,
}

impl Flange {
    /// Lets the hand act, if there is one.
    pub(crate) fn with_hand(&mut self, act: impl FnOnce(&mut Gripper)) {
        if let Self::Hand(gripper) = self {
            act(gripper);
        }
    }

    pub(crate) fn on_pick(&mut self, request: GoalRequest<PickAndPlace::Action>) {
        self.on_task(TaskRequest::Pick(Box::new(request)));
    }

    pub(crate) fn on_move(&mut self, request: GoalRequest<MoveTool::Action>) {
        self.on_task(TaskRequest::Move(Box::new(request)));
    }

    fn on_task(&mut self, request: TaskRequest) {
        match self {
            Self::Hand(gripper) => goals::on_task(gripper, request),
            Self::NoHand(there) => there.abort(request),
        }
    }

    pub(crate) fn on_plain(&mut self, request: GoalRequest<GripperCommand::Action>) {
        self.on_command(CommandRequest::Plain(Box::new(request)));
    }

    pub(crate) fn on_parallel(&mut self, request: GoalRequest<ParallelGripperCommand::Action>) {
        self.on_command(CommandRequest::Parallel(Box::new(request)));
    }

    fn on_command(&mut self, request: CommandRequest) {
        match self {
            Self::Hand(gripper) => goals::on_command(gripper, request),
            Self::NoHand(there) => request.reject(&there.why()),
        }
    }

    pub(crate) fn diagnose(&mut self) -> Status {
        match self {
            Self::Hand(gripper) => gripper.diagnose(),
            Self::NoHand(there) => Status::ok("no hand").value("tool", &there.tool),
        }
    }
}

impl NoHand {
    fn why(&self) -> String {
        format!("`{}` is on the flange, which is no hand; `change_tool` brings one", self.tool)
    }

    /// Ends a task with the reason, for which a rejection has no place.
    fn abort(&self, request: TaskRequest) {
        let (why, goal) = (self.why(), request.accept());
        warn!("{}: {why}", goal.action());
        goal.abort(code::WRONG_TOOL, why, Stage::Idle.name(), self.clock.now());
    }
}
