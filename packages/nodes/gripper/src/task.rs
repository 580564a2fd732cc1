//! `pick_and_place` and `move_tool`: two actions over one machine.

use karakuri_grasp::pick_and_place::{Feedback, PickAndPlaceResult};
use karakuri_hand_goals::{Locate, part};
use karakuri_ros::msg::geometry_msgs::msg::PoseStamped;
use karakuri_ros::msg::karakuri_msgs::action::{MoveTool, PickAndPlace};
use karakuri_ros::{ActiveGoal, GoalRequest};
use karakuri_spatial::Time;

use crate::command::Ending;
use crate::pick;

/// Goal of either action that is not begun yet.
pub(crate) enum TaskRequest {
    Pick(Box<GoalRequest<PickAndPlace::Action>>),
    Move(Box<GoalRequest<MoveTool::Action>>),
}

impl TaskRequest {
    /// Whether all frames of its poses are known.
    pub(crate) fn is_located(&self, frames: &impl Locate) -> bool {
        let knows = |pose: &PoseStamped| frames.knows(&pose.header.frame_id);
        match self {
            Self::Pick(request) => {
                let goal = request.goal();
                (goal.part == part::PLACE || knows(&goal.object_pose))
                    && (goal.part == part::PICK || knows(&goal.place_pose))
            }
            Self::Move(request) => {
                !request.goal().posture.is_empty() || knows(&request.goal().pose)
            }
        }
    }

    pub(crate) fn reject(self, why: &str) {
        match self {
            Self::Pick(request) => request.reject(why),
            Self::Move(request) => request.reject(why),
        }
    }

    pub(crate) fn accept(self) -> TaskGoal {
        match self {
            Self::Pick(request) => TaskGoal::Pick(Box::new(request.accept())),
            Self::Move(request) => TaskGoal::Move(Box::new(request.accept())),
        }
    }
}

/// Goal of either action that is carried out.
pub(crate) enum TaskGoal {
    Pick(Box<ActiveGoal<PickAndPlace::Action>>),
    Move(Box<ActiveGoal<MoveTool::Action>>),
}

impl TaskGoal {
    /// Name of the action.
    pub(crate) fn action(&self) -> &'static str {
        match self {
            Self::Pick(_) => "pick_and_place",
            Self::Move(_) => "move_tool",
        }
    }

    pub(crate) fn is_canceling(&self) -> bool {
        match self {
            Self::Pick(goal) => goal.is_canceling(),
            Self::Move(goal) => goal.is_canceling(),
        }
    }

    pub(crate) fn publish_feedback(&self, feedback: &Feedback, elapsed: f64) {
        match self {
            Self::Pick(goal) => goal.publish_feedback(pick::feedback(feedback, elapsed)),
            Self::Move(goal) => goal.publish_feedback(MoveTool::Feedback {
                state: feedback.stage.name().to_owned(),
                progress: feedback.progress,
                elapsed,
            }),
        }
    }

    /// Ends with a result of the machine.
    pub(crate) fn end(self, ending: Ending, result: &PickAndPlaceResult, now: Time) {
        self.end_with(ending, pick::result(result, now));
    }

    /// Aborts a goal for a reason, in a stage.
    pub(crate) fn abort(self, error_code: u8, message: impl Into<String>, state: &str, now: Time) {
        let result = pick::refusal(error_code, message, now);
        self.end_with(Ending::Aborted, PickAndPlace::Result { state: state.to_owned(), ..result });
    }

    fn end_with(self, ending: Ending, result: PickAndPlace::Result) {
        match self {
            Self::Pick(goal) => match ending {
                Ending::Succeeded => goal.succeed(result),
                Ending::Aborted => goal.abort(result),
                Ending::Canceled => goal.cancel(result),
            },
            Self::Move(goal) => {
                let PickAndPlace::Result {
                    success,
                    error_code,
                    message,
                    state,
                    elapsed,
                    stamp,
                    ..
                } = result;
                let result =
                    MoveTool::Result { success, error_code, message, state, elapsed, stamp };
                match ending {
                    Ending::Succeeded => goal.succeed(result),
                    Ending::Aborted => goal.abort(result),
                    Ending::Canceled => goal.cancel(result),
                }
            }
        }
    }
}
