//! The action, topic and state of one joint group.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use karakuri_control::joint_trajectory::{ErrorCode, FinishedGoal, GoalError, GoalId, GoalStatus};
use karakuri_control::realtime::{Desk, GroupReport, Queried};
use karakuri_control::trajectory::JointSample;
use karakuri_ros::msg::builtin_interfaces::msg::Time as Stamp;
use karakuri_ros::msg::control_msgs::action::FollowJointTrajectory;
use karakuri_ros::msg::control_msgs::msg::JointTrajectoryControllerState;
use karakuri_ros::msg::control_msgs::srv::QueryTrajectoryState;
use karakuri_ros::msg::std_msgs::msg::Header;
use karakuri_ros::msg::trajectory_msgs::msg::JointTrajectory;
use karakuri_ros::{
    ActiveGoal, GoalRequest, Publisher, Request, Throttle, info, time_from_message, warn,
};
use karakuri_spatial::Time;

use crate::convert::{control_time, goal, point_message, trajectory};

type Follow = FollowJointTrajectory::Action;
pub(crate) type Query = QueryTrajectoryState::Service;

/// Wall time that a query waits for an answered sample.
const PATIENCE: Duration = Duration::from_secs(1);

/// Pending queries of the desired state, the oldest first; those that waited too long are `None`: they were refused.
#[derive(Debug, Default)]
pub(crate) struct Queries(VecDeque<(Option<Request<Query>>, Instant)>);

/// Action, topics and goal of one joint group.
pub(crate) struct GroupTopics {
    index: usize,
    /// Topic of its references, relative to the robot's namespace.
    pub(crate) topic: String,
    names: Vec<String>,
    state: Publisher<JointTrajectoryControllerState>,
    goal: Option<(GoalId, ActiveGoal<Follow>)>,
    dropped: Throttle,
    late: Throttle,
}

impl GroupTopics {
    /// Topics of group `index` with joints `names`, whose references come on `topic`.
    pub(crate) fn new(
        index: usize,
        topic: String,
        names: Vec<String>,
        state: Publisher<JointTrajectoryControllerState>,
    ) -> Self {
        let [dropped, late] = [2, 5].map(Duration::from_secs).map(Throttle::new);
        Self { index, topic, names, state, goal: None, dropped, late }
    }

    /// Accepts or rejects a goal of the action.
    pub(crate) fn accept(&mut self, desk: &mut Desk, request: GoalRequest<Follow>) {
        match desk.accept_goal(self.index, &goal(request.goal())) {
            Err(e) => request.reject(e),
            Ok((id, preempted)) => {
                if let Some(finished) = preempted {
                    self.finish(desk, finished);
                }
                self.goal = Some((id, request.accept()));
            }
        }
    }

    /// Passes on a trajectory of the topic. A stream of references that is dropped is reported now and then.
    pub(crate) fn follow(&mut self, desk: &mut Desk, message: &JointTrajectory) {
        let (throttle, reason) = match desk.accept_topic(self.index, &trajectory(message)) {
            Ok(replaced) => {
                if let Some(finished) = replaced {
                    self.finish(desk, finished);
                }
                return;
            }
            // A stream may begin before the robot is heard; diagnostics report that joint states are missing.
            Err(GoalError::NoState) => return,
            // Late references have a throttle of their own, so that they hide no other fault.
            Err(ref e @ GoalError::InThePast { .. }) => (&self.late, e.to_string()),
            Err(ref e) => (&self.dropped, e.to_string()),
        };
        if throttle.ready() {
            warn!("{}: dropped: {reason}", self.topic);
        }
    }

    /// Response to a query of the desired state.
    fn answer(&self, queried: &Queried) -> QueryTrajectoryState::Response {
        if let Err(reason) = queried.found {
            return refusal(&reason);
        }
        let of = |what: fn(&JointSample) -> f64| queried.state.iter().map(what).collect();
        QueryTrajectoryState::Response {
            success: true,
            message: String::new(),
            name: self.names.clone(),
            position: of(|s| s.position),
            velocity: of(|s| s.velocity),
            acceleration: of(|s| s.acceleration),
        }
    }

    /// Passes a client's request to cancel on to the desk.
    pub(crate) fn check_cancel(&mut self, desk: &mut Desk) {
        let canceling =
            self.goal.as_ref().filter(|(_, goal)| goal.is_canceling()).map(|(id, _)| *id);
        if let Some(finished) = canceling.and_then(|id| desk.cancel(self.index, id)) {
            self.finish(desk, finished);
        }
    }

    /// Index of the group.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Whether the action has an active goal.
    pub(crate) fn has_goal(&self) -> bool {
        self.goal.is_some()
    }

    /// Whether the state topic has subscribers, which see every cycle.
    pub(crate) fn is_observed(&self) -> bool {
        self.state.n_subscribers() > 0
    }

    /// Ends the action of a goal that has finished.
    pub(crate) fn finish(&mut self, desk: &Desk, finished: FinishedGoal) {
        let Some((_, active)) = self.goal.take_if(|(id, _)| *id == finished.id) else { return };
        let settings = desk.group_settings(self.index);
        let result = FollowJointTrajectory::Result {
            error_code: finished.outcome.error_code() as i32,
            error_string: settings.map(|s| finished.outcome.describe(s)).unwrap_or_default(),
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

    /// Publishes feedback of the active goal.
    pub(crate) fn publish_feedback(&self, group: &GroupReport, stamp: &Stamp) {
        let Some((_, active)) = &self.goal else { return };
        active.publish_feedback(FollowJointTrajectory::Feedback {
            header: Header { stamp: stamp.clone(), ..Header::default() },
            joint_names: self.names.clone(),
            desired: point_message(&group.desired),
            actual: point_message(&group.actual),
            error: point_message(&group.error),
            ..FollowJointTrajectory::Feedback::default()
        });
    }

    /// Publishes the state of this cycle.
    pub(crate) fn publish_state(&self, group: &GroupReport, stamp: &Stamp) {
        if !self.is_observed() {
            return;
        }
        self.state.publish(&JointTrajectoryControllerState {
            header: Header { stamp: stamp.clone(), ..Header::default() },
            joint_names: self.names.clone(),
            reference: point_message(&group.desired),
            feedback: point_message(&group.actual),
            error: point_message(&group.error),
            output: point_message(&group.command),
            speed_scaling_factor: 1.0,
            ..JointTrajectoryControllerState::default()
        });
    }
}

impl Drop for GroupTopics {
    /// Aborts the active goal with its reason, so that its client does not wait in vain.
    fn drop(&mut self) {
        if let Some((_, active)) = self.goal.take() {
            active.abort(FollowJointTrajectory::Result {
                error_code: ErrorCode::InvalidGoal as i32,
                error_string: "the controller was stopped before the goal was reached; send it again when it is back".to_owned(),
            });
        }
    }
}

impl Queries {
    /// Asks for the desired state of a group at the instant of the request; zero is that of the newest sample.
    pub(crate) fn ask(&mut self, desk: &mut Desk, group: usize, request: Request<Query>) {
        let at = time_from_message(&request.message().time);
        let at = if at == Time::ZERO { desk.newest() } else { Some(control_time(at)) };
        match desk.query(group, at.unwrap_or_default()) {
            Ok(()) => self.0.push_back((Some(request), Instant::now())),
            Err(reason) => request.respond(refusal(&reason)),
        }
    }

    /// Sends the answers of the desk to their clients.
    pub(crate) fn answer(&mut self, desk: &mut Desk, groups: &[GroupTopics]) {
        while let Some(queried) = desk.next_queried() {
            if let Some((Some(request), _)) = self.0.pop_front() {
                request.respond(groups[queried.group].answer(&queried));
            }
        }
        for (request, since) in &mut self.0 {
            if let Some(request) = request.take_if(|_| since.elapsed() > PATIENCE) {
                request.respond(refusal(&"joint_states do not come; is the robot running?"));
            }
        }
    }
}

fn refusal(reason: &impl ToString) -> QueryTrajectoryState::Response {
    QueryTrajectoryState::Response {
        message: reason.to_string(),
        ..QueryTrajectoryState::Response::default()
    }
}
