//! The action, topic and state of one joint group.

use std::time::Duration;

use karakuri_control::joint_trajectory::{
    FinishedGoal, GoalId, GoalStatus, JointTrajectoryMachine,
};
use karakuri_ros::msg::builtin_interfaces::msg::Time as Stamp;
use karakuri_ros::msg::control_msgs::action::FollowJointTrajectory;
use karakuri_ros::msg::control_msgs::msg::JointTrajectoryControllerState;
use karakuri_ros::msg::std_msgs::msg::Header;
use karakuri_ros::msg::trajectory_msgs::msg::JointTrajectory;
use karakuri_ros::{
    ActiveGoal, GoalRequest, Node, Publisher, RosError, Throttle, Time, info, qos, warn,
};

use crate::convert::{control_time, goal, point_message, trajectory};
use crate::node::ControllerNode;

type Follow = FollowJointTrajectory::Action;

/// What a group has at the ROS side.
pub(crate) struct GroupTopics {
    /// Topic of its references, relative to the robot's namespace.
    pub(crate) topic: String,
    names: Vec<String>,
    state: Publisher<JointTrajectoryControllerState>,
    goal: Option<(GoalId, ActiveGoal<Follow>)>,
    dropped: Throttle,
}

impl GroupTopics {
    /// Group `index`; the first has the plain names.
    pub(crate) fn new(
        node: &mut Node<ControllerNode>,
        (index, name): (usize, &str),
        names: Vec<String>,
    ) -> Result<Self, RosError> {
        let prefix = if index == 0 { String::new() } else { format!("{name}/") };
        let topic = format!("{prefix}joint_trajectory");
        node.subscribe(&topic, qos::command(), move |s: &mut ControllerNode, m| {
            s.on_trajectory(index, m);
        })?;
        let action = format!("{prefix}follow_joint_trajectory");
        node.action_server::<Follow>(&action, move |s: &mut ControllerNode, r| {
            s.on_goal(index, r);
        })?;
        let state = node.publisher(&format!("{prefix}controller_state"), qos::state())?;
        Ok(Self { topic, names, state, goal: None, dropped: Throttle::new(Duration::from_secs(2)) })
    }

    /// A goal came; `now` is the time of the newest sample.
    pub(crate) fn accept(
        &mut self,
        machine: &mut JointTrajectoryMachine,
        request: GoalRequest<Follow>,
        now: Time,
    ) {
        match machine.accept_goal(&goal(request.goal()), control_time(now)) {
            Err(e) => request.reject(e),
            Ok((id, preempted)) => {
                if let Some(finished) = preempted {
                    self.finish(machine, finished);
                }
                self.goal = Some((id, request.accept()));
            }
        }
    }

    /// A trajectory came on the topic. A stream of references that is dropped is told of now and then.
    pub(crate) fn follow(
        &self,
        machine: &mut JointTrajectoryMachine,
        message: &JointTrajectory,
        now: Time,
    ) {
        if let Err(e) = machine.accept_topic(&trajectory(message), control_time(now))
            && self.dropped.ready()
        {
            warn!("{}: dropped: {e}", self.topic);
        }
    }

    /// Passes a client's cancel on.
    pub(crate) fn check_cancel(&mut self, machine: &mut JointTrajectoryMachine) {
        let canceling =
            self.goal.as_ref().filter(|(_, goal)| goal.is_canceling()).map(|(id, _)| *id);
        if let Some(finished) = canceling.and_then(|id| machine.cancel(id)) {
            self.finish(machine, finished);
        }
    }

    /// Ends the action of a goal that the machine ended.
    pub(crate) fn finish(&mut self, machine: &JointTrajectoryMachine, finished: FinishedGoal) {
        let Some((_, active)) = self.goal.take_if(|(id, _)| *id == finished.id) else { return };
        let result = FollowJointTrajectory::Result {
            error_code: finished.outcome.error_code() as i32,
            error_string: finished.outcome.describe(machine.settings()),
        };
        match finished.outcome.status() {
            GoalStatus::Succeeded => active.succeed(result),
            GoalStatus::Canceled => active.cancel(result),
            GoalStatus::Aborted => {
                info!("goal aborted: {}", result.error_string);
                active.abort(result);
            }
        }
    }

    /// Feedback of the goal under way.
    pub(crate) fn publish_feedback(&self, machine: &JointTrajectoryMachine, stamp: &Stamp) {
        let Some((_, active)) = &self.goal else { return };
        active.publish_feedback(FollowJointTrajectory::Feedback {
            header: Header { stamp: stamp.clone(), ..Header::default() },
            joint_names: self.names.clone(),
            desired: point_message(machine.desired()),
            actual: point_message(machine.actual()),
            error: point_message(machine.error()),
            ..FollowJointTrajectory::Feedback::default()
        });
    }

    /// The state of this cycle.
    pub(crate) fn publish_state(&self, machine: &JointTrajectoryMachine, stamp: &Stamp) {
        if self.state.n_subscribers() == 0 {
            return;
        }
        self.state.publish(&JointTrajectoryControllerState {
            header: Header { stamp: stamp.clone(), ..Header::default() },
            joint_names: self.names.clone(),
            reference: point_message(machine.desired()),
            feedback: point_message(machine.actual()),
            error: point_message(machine.error()),
            output: point_message(machine.command()),
            speed_scaling_factor: 1.0,
            ..JointTrajectoryControllerState::default()
        });
    }
}
