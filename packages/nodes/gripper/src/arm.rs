//! The arm, as a client of the controller's action.

use std::time::{Duration, Instant};

use karakuri_control::joint_trajectory::ErrorCode;
use karakuri_control::trajectory::{JointTrajectory, TrajectoryPoint};
use karakuri_grasp::pick_and_place::{ArmFailure, ArmReport, ArmRequest, path_tolerances};
use karakuri_ros::msg::control_msgs::action::FollowJointTrajectory;
use karakuri_ros::msg::control_msgs::msg::JointTolerance;
use karakuri_ros::msg::trajectory_msgs::msg::{
    JointTrajectory as TrajectoryMessage, JointTrajectoryPoint as PointMessage,
};
use karakuri_ros::{
    ActionClient, ClientGoal, ClientGoalState, IntoMessage, Node, RosError, duration_to_message,
};
use karakuri_spatial::Time;

type Follow = FollowJointTrajectory::Action;

/// Wall time in which the controller must answer a goal; one that has not heard the robot yet waits for it for 5 s.
const ANSWER_TIME: Duration = Duration::from_secs(8);

/// Wall time from the node's start in which the controller may still be on its way, as where a tool was changed and both start again:
/// the middleware repeats an announcement that got lost every 3 s, and takes one that has just left for alive for 20 s.
const ARRIVAL_TIME: Duration = Duration::from_secs(25);

/// Client of the arm's controller: its active goal, and the outcome of the last one.
pub(crate) struct Arm {
    started: Instant,
    client: ActionClient<Follow>,
    goal: Option<ClientGoal<Follow>>,
    /// Goal that is to end, as the machine stops the arm.
    stopping: Option<ClientGoal<Follow>>,
    failure: Option<ArmFailure>,
}

impl Arm {
    pub(crate) fn new<S: 'static>(node: &mut Node<S>) -> Result<Self, RosError> {
        Ok(Self {
            started: Instant::now(),
            client: node.action_client("follow_joint_trajectory")?,
            goal: None,
            stopping: None,
            failure: None,
        })
    }

    /// Reason why it takes no trajectory now.
    pub(crate) fn not_ready(&self) -> Option<&'static str> {
        let why = "the controller's follow_joint_trajectory is not there";
        (!self.client.is_ready()).then_some(why)
    }

    /// Whether a controller that is not there may still come by itself.
    pub(crate) fn may_arrive(&self) -> bool {
        self.started.elapsed() < ARRIVAL_TIME
    }

    /// Carries out a request of the machine; a trajectory starts at its own stamp, or at once. A joint that is too far from it
    /// ends it.
    pub(crate) fn request(&mut self, request: &ArmRequest, stamped: bool) {
        match request {
            ArmRequest::Follow(trajectory) => {
                self.failure = None;
                let mut goal = FollowJointTrajectory::Goal {
                    trajectory: trajectory_message(trajectory),
                    path_tolerance: path_tolerance(trajectory),
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
                    self.stopping = Some(goal);
                }
            }
        }
    }

    /// Whether the controller still has to answer a goal, or to end one.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.goal.as_ref().is_some_and(|g| g.state() == ClientGoalState::Sending)
            || self.stopping.as_ref().is_some_and(|g| !g.is_final())
    }

    /// State of the last goal, for the machine.
    pub(crate) fn report(&mut self) -> ArmReport<'_> {
        if let Some(goal) = &self.goal
            && goal.is_final()
        {
            let lost = |why: &str| Some(ArmFailure::Lost(why.to_owned()));
            self.failure = match goal.state() {
                ClientGoalState::Succeeded => None,
                ClientGoalState::Rejected => lost("the controller rejected the trajectory"),
                ClientGoalState::TimedOut => lost("the controller did not answer"),
                ClientGoalState::Canceled => {
                    Some(ArmFailure::Preempted("its trajectory was cancelled".to_owned()))
                }
                ClientGoalState::Aborted => goal.result().map(|result| aborted(&result)),
                _ => lost("the controller went away"),
            };
            self.goal = None;
        }
        ArmReport::of(self.failure.as_ref())
    }

    /// Forgets a failure that was dealt with.
    pub(crate) fn clear(&mut self) {
        self.failure = None;
    }
}

/// Failure by the result of a goal that the controller aborted. What ends a goal from outside has one code, that of an invalid one.
fn aborted(result: &FollowJointTrajectory::Result) -> ArmFailure {
    let why = result.error_string.clone();
    let blocked = [ErrorCode::PathToleranceViolated, ErrorCode::GoalToleranceViolated];
    if blocked.iter().any(|code| *code as i32 == result.error_code) {
        ArmFailure::Blocked(why)
    } else if why.contains("preempted") {
        ArmFailure::Preempted(why)
    } else {
        ArmFailure::Lost(why)
    }
}

fn path_tolerance(trajectory: &JointTrajectory) -> Vec<JointTolerance> {
    let each = path_tolerances(trajectory).into_iter();
    each.map(|tolerance| JointTolerance {
        name: tolerance.name,
        position: tolerance.position,
        ..JointTolerance::default()
    })
    .collect()
}

/// Message of a trajectory.
pub(crate) fn trajectory_message(trajectory: &JointTrajectory) -> TrajectoryMessage {
    let mut message = TrajectoryMessage {
        joint_names: trajectory.joints.clone(),
        points: trajectory.points.iter().map(point_message).collect(),
        ..TrajectoryMessage::default()
    };
    if let Some(start) = trajectory.start {
        message.header.stamp = start.to_message();
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
