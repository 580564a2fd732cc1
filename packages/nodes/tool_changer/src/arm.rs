//! The arm, as a client of the controller's action.

use std::time::Duration;

use karakuri_control::joint_trajectory::JointTolerance as Tolerance;
use karakuri_control::trajectory::JointTrajectory;
use karakuri_grasp::pick_and_place::path_tolerances;
use karakuri_grasp::tool_change::Work;
use karakuri_ros::msg::control_msgs::action::FollowJointTrajectory;
use karakuri_ros::msg::control_msgs::msg::JointTolerance;
use karakuri_ros::{ActionClient, ClientGoal, ClientGoalState, Node, RosError};

use crate::convert::trajectory_message;

type Follow = FollowJointTrajectory::Action;

/// Wall time in which the controller must answer a goal; one that has not heard the robot yet waits for it for 5 s.
const ANSWER_TIME: Duration = Duration::from_secs(8);

/// Client of the arm's controller, and its last goal.
pub(crate) struct Arm {
    client: ActionClient<Follow>,
    goal: Option<ClientGoal<Follow>>,
    /// What the controller said of the last goal.
    said: String,
}

impl Arm {
    pub(crate) fn new<S: 'static>(node: &mut Node<S>) -> Result<Self, RosError> {
        let client = node.action_client("follow_joint_trajectory")?;
        Ok(Self { client, goal: None, said: String::new() })
    }

    /// Whether the controller is there.
    pub(crate) fn is_ready(&self) -> bool {
        self.client.is_ready()
    }

    /// Follows a trajectory from now on; a joint that is too far from it ends it.
    pub(crate) fn follow(&mut self, trajectory: &JointTrajectory) {
        let tolerance = |stated: Tolerance| JointTolerance {
            name: stated.name,
            position: stated.position,
            ..JointTolerance::default()
        };
        let goal = FollowJointTrajectory::Goal {
            trajectory: trajectory_message(trajectory),
            path_tolerance: path_tolerances(trajectory).into_iter().map(tolerance).collect(),
            ..FollowJointTrajectory::Goal::default()
        };
        self.goal = Some(self.client.send(goal, ANSWER_TIME));
    }

    /// Stops the arm, which brakes and holds.
    pub(crate) fn stop(&mut self) {
        if let Some(goal) = self.goal.take() {
            goal.cancel();
        }
    }

    /// What became of the last trajectory.
    pub(crate) fn work(&mut self) -> Work<'_> {
        let Some(goal) = &self.goal else { return Work::Pending };
        match goal.state() {
            ClientGoalState::Sending | ClientGoalState::Executing => Work::Pending,
            ClientGoalState::Succeeded => Work::Done,
            ClientGoalState::Rejected => Work::Lost("the controller rejected the trajectory"),
            ClientGoalState::TimedOut => Work::Lost("the controller did not answer"),
            ClientGoalState::Lost => Work::Lost("the controller went away"),
            _ => {
                let said = goal.result().map(|result| result.error_string.clone());
                self.said = said.unwrap_or_default();
                if self.said.is_empty() {
                    Work::Lost("somebody else cancelled the trajectory")
                } else {
                    Work::Refused(&self.said)
                }
            }
        }
    }
}
