//! The arm, as a client of the controller's action.

use std::time::Duration;

use karakuri_control::trajectory::{JointTrajectory, TrajectoryPoint};
use karakuri_grasp::pick_and_place::ArmRequest;
use karakuri_ros::msg::control_msgs::action::FollowJointTrajectory;
use karakuri_ros::msg::trajectory_msgs::msg::{
    JointTrajectory as TrajectoryMessage, JointTrajectoryPoint as PointMessage,
};
use karakuri_ros::{
    ActionClient, ClientGoal, ClientGoalState, Node, RosError, Time, duration_to_message,
};

use crate::node::GripperNode;

type Follow = FollowJointTrajectory::Action;

/// Wall time in which the controller must answer a goal.
const ANSWER_TIME: Duration = Duration::from_secs(2);

/// The arm's goal under way, and what became of the last one.
pub(crate) struct Arm {
    client: ActionClient<Follow>,
    goal: Option<ClientGoal<Follow>>,
    failure: Option<String>,
}

impl Arm {
    pub(crate) fn new(node: &mut Node<GripperNode>) -> Result<Self, RosError> {
        Ok(Self {
            client: node.action_client("follow_joint_trajectory")?,
            goal: None,
            failure: None,
        })
    }

    /// Whether the controller is there.
    pub(crate) fn is_ready(&self) -> bool {
        self.client.is_ready()
    }

    /// Does what the machine asks; a trajectory starts at its own stamp, or at once.
    pub(crate) fn request(&mut self, request: &ArmRequest, stamped: bool) {
        match request {
            ArmRequest::Follow(trajectory) => {
                self.failure = None;
                let mut goal = FollowJointTrajectory::Goal {
                    trajectory: trajectory_message(trajectory),
                    ..FollowJointTrajectory::Goal::default()
                };
                if !stamped {
                    goal.trajectory.header.stamp = Time::ZERO.to_message();
                }
                self.goal = Some(self.client.send(goal, ANSWER_TIME));
            }
            ArmRequest::Stop => {
                if let Some(goal) = self.goal.take() {
                    goal.cancel();
                }
            }
        }
    }

    /// Whether the controller still has to answer a goal.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.goal.as_ref().is_some_and(|g| g.state() == ClientGoalState::Sending)
    }

    /// Why the last goal failed, if it did.
    pub(crate) fn failure(&mut self) -> Option<&str> {
        if let Some(goal) = &self.goal
            && goal.is_final()
        {
            let result = goal.result().map(|r| r.error_string.clone()).unwrap_or_default();
            self.failure = match goal.state() {
                ClientGoalState::Succeeded => None,
                ClientGoalState::Rejected => {
                    Some("the controller rejected the trajectory".to_owned())
                }
                ClientGoalState::TimedOut => Some("the controller did not answer".to_owned()),
                ClientGoalState::Lost => Some("the controller went away".to_owned()),
                _ if result.is_empty() => Some("the trajectory was cancelled".to_owned()),
                _ => Some(result),
            };
            self.goal = None;
        }
        self.failure.as_deref()
    }

    /// Forgets a failure that was dealt with.
    pub(crate) fn clear(&mut self) {
        self.failure = None;
    }
}

/// A trajectory as a message.
pub(crate) fn trajectory_message(trajectory: &JointTrajectory) -> TrajectoryMessage {
    let mut message = TrajectoryMessage {
        joint_names: trajectory.joints.clone(),
        points: trajectory.points.iter().map(point_message).collect(),
        ..TrajectoryMessage::default()
    };
    if let Some(start) = trajectory.start {
        message.header.stamp = Time::from_nanoseconds(start.0).to_message();
    }
    message
}

fn point_message(point: &TrajectoryPoint) -> PointMessage {
    PointMessage {
        positions: point.positions.clone(),
        velocities: point.velocities.clone(),
        accelerations: point.accelerations.clone(),
        effort: point.efforts.clone(),
        time_from_start: duration_to_message(point.time_from_start),
    }
}
