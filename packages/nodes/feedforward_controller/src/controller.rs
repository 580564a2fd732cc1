//! State of the node: goals, references and parameters to the desk, reports of the desk to results and feedback.

use std::sync::Arc;
use std::time::{Duration, Instant};

use karakuri_control::Status as Update;
use karakuri_control::realtime::{Desk, Report};
use karakuri_model::Model;
use karakuri_ros::msg::control_msgs::action::FollowJointTrajectory;
use karakuri_ros::msg::sensor_msgs::msg::JointState;
use karakuri_ros::{
    Audience, Clock, GoalRequest, IntoMessage, RivalWatch, SampleGate, SolePublisher, Throttle,
    Timing, is_silent, warn,
};
use karakuri_spatial::Time;
use rtrb::Consumer;

use crate::cycle::{Cycle, NotRead};
use crate::forces::ForceTopics;
use crate::group::{GroupTopics, Queries};
use crate::parameters::Parameters;
use crate::vacuums::Vacuums;

/// Time that a goal waits for the first joint states and for a subscriber of commands: at start-up the middleware connects one
/// topic after the other.
const PATIENCE: Duration = Duration::from_secs(5);

/// State of the node.
pub(crate) struct Controller {
    pub(crate) parameters: Parameters,
    pub(crate) model: Arc<Model>,
    pub(crate) desk: Desk,
    pub(crate) groups: Vec<GroupTopics>,
    pub(crate) forces: Vec<ForceTopics>,
    pub(crate) vacuums: Vacuums,
    pub(crate) lockstep: Option<Lockstep>,
    pub(crate) audience: Audience<JointState>,
    pub(crate) clock: Clock,
    /// Count of the samples that were read at the last look, and when it had risen last.
    pub(crate) heard: (u64, Instant),
    /// Goals that wait for the robot: index of the group, the goal, instant of its arrival.
    pub(crate) early: Vec<(usize, GoalRequest<FollowJointTrajectory::Action>, Instant)>,
    pub(crate) queries: Queries,
    pub(crate) unread: Consumer<NotRead>,
    pub(crate) next_feedback: Time,
    pub(crate) saturated: Throttle,
    pub(crate) incomplete: Throttle,
    pub(crate) implausible: Throttle,
    pub(crate) sole: [SolePublisher; 2],
    /// Description of another node that publishes commands or joint states of this robot.
    pub(crate) rival: Option<String>,
    pub(crate) rivals: RivalWatch,
    pub(crate) timing: Arc<Timing>,
    /// Count of the times the robot was lost: silent, or elsewhere than commanded.
    pub(crate) n_interruptions: u64,
}

/// State of lockstep, in which a sample is answered once every input that its answer depends on is there.
pub(crate) struct Lockstep {
    pub(crate) cycle: Cycle,
    /// Gate that joins samples and references; the answer itself is kept by the cycle.
    pub(crate) gate: SampleGate<()>,
}

impl Lockstep {
    /// Notes a message of a reference topic, which may be one that samples wait for.
    pub(crate) fn hear(&mut self, topic: &str, stamp: Time) {
        if let Some(input) = self.gate.find_input(topic) {
            self.gate.hear(input, stamp);
        }
    }
}

impl Controller {
    /// Takes the goals that came, in their order, once the robot is heard and commands have a subscriber.
    pub(crate) fn take_goals(&mut self) {
        if self.early.is_empty() {
            return;
        }
        let is_heard = self.audience.n_subscribers() > 0;
        let is_ready = is_heard && self.desk.newest().is_some();
        let is_due = |since: &Instant| is_ready || since.elapsed() > PATIENCE;
        let due: Vec<_> = self.early.extract_if(.., |(.., since)| is_due(since)).collect();
        for (group, request, _) in due {
            if !is_heard {
                request.reject(
                    "nobody takes `joint_command` yet; is the robot's driver (or the simulation) running?",
                );
                continue;
            }
            // Ends of earlier goals are read first: a goal that has ended is not preempted.
            self.read_reports();
            self.groups[group].accept(&mut self.desk, request);
        }
    }

    /// Passes inputs on to the desk, and its reports to clients and topics.
    pub(crate) fn attend(&mut self) {
        self.take_goals();
        for topics in &mut self.groups {
            topics.check_cancel(&mut self.desk);
        }
        self.end_if_lost();
        self.desk.watch(self.report_period());
        self.queries.answer(&mut self.desk, &self.groups);
        self.answer();
        self.read_reports();
        match self.unread.pop() {
            Ok(NotRead::Missing(missing)) if self.incomplete.ready() => {
                let missing = missing.join(", ");
                warn!("joint_states lack {missing}; nothing is commanded until they come");
            }
            Ok(NotRead::Implausible(implausible)) if self.implausible.ready() => {
                warn!("{}", implausible.describe(&self.model));
            }
            _ => {}
        }
    }

    /// Aborts goals of a robot that has fallen silent: the bus is gone, say. Without samples no update can end them.
    fn end_if_lost(&mut self) {
        let n_samples = self.timing.n_arrived();
        if n_samples != self.heard.0 {
            self.heard = (n_samples, Instant::now());
        }
        let timeout = self.parameters.control.state_timeout();
        let has_gap = self.heard.1.elapsed().as_secs_f64() > timeout;
        // 0 is never.
        if timeout <= 0.0
            || !has_gap
            || !is_silent(self.heard.1, self.lockstep.is_some(), &self.clock)
        {
            return;
        }
        for topics in &mut self.groups {
            if let Some(finished) = self.desk.lose_state(topics.index()) {
                topics.finish(&self.desk, finished);
            }
        }
    }

    /// Period at which the node needs a report of the control; 0 for every cycle, infinite for none. [s]
    fn report_period(&self) -> f64 {
        if self.groups.iter().any(GroupTopics::is_observed) {
            0.0
        } else if self.groups.iter().any(GroupTopics::has_goal) {
            1.0 / self.parameters.own.action_monitor_rate.get()
        } else {
            f64::INFINITY
        }
    }

    /// Answers the newest sample in lockstep, once, when every input that it waits for is there.
    fn answer(&mut self) {
        let Some(Lockstep { cycle, gate }) = &mut self.lockstep else { return };
        let patience = Duration::from_secs_f64(self.parameters.own.lockstep_timeout.get());
        if let Some(turn) = gate.take(Instant::now(), patience) {
            cycle.answer(turn.stamp);
        }
    }

    pub(crate) fn read_reports(&mut self) {
        while let Some(report) = self.desk.next_report() {
            self.pass_on(&report);
            self.desk.give_back(report);
        }
    }

    fn pass_on(&mut self, report: &Report) {
        for event in &report.ended {
            self.groups[event.group].finish(&self.desk, event.finished);
        }
        let stamp = report.stamp;
        let due =
            stamp >= self.next_feedback || stamp < self.next_feedback - Duration::from_secs(10);
        let message = stamp.to_message();
        for (topics, group) in self.groups.iter().zip(&report.groups) {
            topics.publish_state(group, &message);
            if due {
                topics.publish_feedback(group, &message);
            }
        }
        if due {
            let rate = self.parameters.own.action_monitor_rate.get();
            self.next_feedback = stamp.plus_seconds(1.0 / rate);
        }
        self.tell(&report.status);
    }

    /// Warns of what a user should know of a cycle.
    fn tell(&mut self, status: &Update) {
        if status.was_stale {
            self.n_interruptions += 1;
            warn!(
                "joint_states did not come for too long; goals were ended, the robot holds where it is"
            );
        }
        if let Some(joint) = status.not_following {
            self.n_interruptions += 1;
            warn!(
                "joint `{}` is not where it is commanded: blocked, or the robot was exchanged or moved; it holds where it is",
                self.model.joints[joint.0].name
            );
        }
        if let Some(joint) = status.saturated
            && self.saturated.ready()
        {
            let joint = &self.model.joints[joint.0];
            warn!(
                "joint `{}`: feed-forward cut at its limit of {}",
                joint.name, joint.limits.effort
            );
        }
    }
}
