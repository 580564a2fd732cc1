//! The node: a sample in, a command out.

use std::sync::Arc;
use std::time::Duration;

use karakuri_control::{Command, Controller, FeedforwardController, GroupEvent, State};
use karakuri_model::Model;
use karakuri_ros::msg::control_msgs::action::FollowJointTrajectory;
use karakuri_ros::msg::geometry_msgs::msg::WrenchStamped;
use karakuri_ros::msg::sensor_msgs::msg::JointState;
use karakuri_ros::msg::trajectory_msgs::msg::JointTrajectory;
use karakuri_ros::{
    FromMessage, GoalRequest, JointStateReader, Node, RobotParameters, Status, Throttle, Time,
    WirePublisher, info, qos, warn,
};
use karakuri_spatial::Force;

use crate::convert::control_time;
use crate::forces::ForceTopics;
use crate::group::GroupTopics;
use crate::lockstep::Sources;
use crate::parameters::Parameters;
use crate::timing::Timing;

/// State of the node.
pub(crate) struct ControllerNode {
    robot: RobotParameters,
    parameters: Parameters,
    model: Arc<Model>,
    controller: FeedforwardController,
    groups: Vec<GroupTopics>,
    forces: Vec<ForceTopics>,
    reader: JointStateReader,
    sources: Sources,
    command: Command,
    output: WirePublisher<JointState>,
    message: JointState,
    /// Joints of the message, as indices of the command's arrays.
    commanded: Vec<usize>,
    /// Stamp of the newest sample, and whether it is still to be answered.
    sample: Option<(Time, bool)>,
    next_feedback: Time,
    saturated: Throttle,
    incomplete: Throttle,
    status: karakuri_control::Status,
    timing: Timing,
    /// How often the robot was lost: silent, or elsewhere than commanded.
    n_interruptions: u64,
}

impl ControllerNode {
    pub(crate) fn new(node: &mut Node<Self>) -> Result<Self, Box<dyn std::error::Error>> {
        let robot = RobotParameters::declare(node)?;
        let model = robot.load()?;
        let parameters = Parameters::declare(node, &model)?;
        let settings = parameters.feedforward(model.joints.len());
        let mut controller = FeedforwardController::new(Arc::clone(&model), settings)?;
        let mut groups = Vec::new();
        let mut commanded = Vec::new();
        for (index, group) in model.groups.iter().enumerate() {
            commanded.extend(group.joints.iter().map(|j| j.0));
            let names = group.joints.iter().map(|j| model.joints[j.0].name.clone()).collect();
            groups.push(GroupTopics::new(node, (index, &group.name), names)?);
            if let Some(machine) = controller.machine_mut(index) {
                parameters.apply_to_group(machine.settings_mut());
            }
        }
        let mut forces = Vec::new();
        for link in parameters.wrench_links.get().iter().filter(|link| !link.is_empty()) {
            forces.push(ForceTopics::new(
                node,
                (&mut controller, &model),
                link,
                robot.sample_qos(),
            )?);
        }
        let sources = Sources::new(&parameters.lockstep_sources.get());
        if robot.lockstep.get() {
            // in order with what the answer depends on, and again and again while it waits for that
            node.subscribe("joint_states", robot.sample_qos(), Self::on_joint_states)?;
            node.wall_timer(Duration::from_millis(10), Self::answer);
        } else {
            node.subscribe_directly("joint_states", robot.sample_qos(), Self::on_joint_states)?;
        }
        node.after_events(Self::answer);
        node.on_parameters_changed(Self::on_parameters_changed);
        node.diagnose("control", Self::diagnose);
        let name = commanded.iter().map(|&j| model.joints[j].name.clone()).collect();
        info!(
            "controlling `{}`: {} joints in {} groups",
            model.name,
            commanded.len(),
            groups.len()
        );
        Ok(Self {
            command: Command::new(&model),
            reader: JointStateReader::new(&model),
            output: node.wire_publisher("joint_command", qos::state())?,
            message: JointState { name, ..JointState::default() },
            sample: None,
            next_feedback: Time::ZERO,
            saturated: Throttle::new(Duration::from_secs(2)),
            incomplete: Throttle::new(Duration::from_secs(5)),
            status: karakuri_control::Status::default(),
            timing: Timing::default(),
            n_interruptions: 0,
            robot,
            parameters,
            model,
            controller,
            groups,
            forces,
            sources,
            commanded,
        })
    }

    /// Time of the newest sample; zero before the first.
    fn now(&self) -> Time {
        self.sample.map_or(Time::ZERO, |(stamp, _)| stamp)
    }

    fn on_joint_states(&mut self, message: &JointState) {
        self.timing.arrived();
        match self.reader.read(&self.model, message) {
            Ok(()) => self.sample = Some((Time::from(&message.header.stamp), true)),
            Err(missing) => {
                if self.incomplete.ready() {
                    warn!(
                        "joint_states lack {}; nothing is commanded until they come",
                        missing.join(", ")
                    );
                }
            }
        }
        self.answer();
    }

    pub(crate) fn on_goal(
        &mut self,
        group: usize,
        request: GoalRequest<FollowJointTrajectory::Action>,
    ) {
        if self.sample.is_none() {
            return request.reject("no joint_states have come yet");
        }
        if self.output.n_subscribers() == 0 {
            return request.reject(
                "nobody takes `joint_command` yet; is the robot's driver (or the simulation) running?",
            );
        }
        let now = self.now();
        if let Some(machine) = self.controller.machine_mut(group) {
            self.groups[group].accept(machine, request, now);
        }
    }

    pub(crate) fn on_trajectory(&mut self, group: usize, message: &JointTrajectory) {
        let now = self.now();
        if let Some(machine) = self.controller.machine_mut(group) {
            self.groups[group].follow(machine, message, now);
        }
        if self.robot.lockstep.get() {
            self.sources.heard(&self.groups[group].topic, Time::from(&message.header.stamp));
        }
        self.answer();
    }

    pub(crate) fn on_target_wrench(&mut self, point: usize, message: &WrenchStamped) {
        let now = control_time(self.now());
        if let Some(target) = self.forces[point].target(message) {
            self.controller.set_target_wrench(point, target, now);
        }
        if self.robot.lockstep.get() {
            self.sources.heard(&self.forces[point].topic, Time::from(&message.header.stamp));
        }
        self.answer();
    }

    pub(crate) fn on_wrench(&mut self, point: usize, message: &WrenchStamped) {
        if let Some(wrench) = Force::from_message(&message.wrench) {
            let now = control_time(self.now());
            self.controller.set_measured_wrench(point, wrench, now);
        }
    }

    /// Answers the newest sample, once, when all that it waits for is there.
    fn answer(&mut self) {
        for (group, topics) in self.groups.iter_mut().enumerate() {
            if let Some(machine) = self.controller.machine_mut(group) {
                topics.check_cancel(machine);
            }
        }
        let Some((stamp, true)) = self.sample else { return };
        let patience = Duration::from_secs_f64(self.parameters.lockstep_timeout.get());
        if self.robot.lockstep.get() && !self.sources.complete(stamp, patience) {
            return;
        }
        self.sample = Some((stamp, false));
        let state = State { q: &self.reader.q, v: &self.reader.v };
        let period = self.robot.period.get();
        self.status =
            self.controller.update(&state, control_time(stamp), period, &mut self.command);
        self.publish(stamp);
        self.timing.answered();
        let events: Vec<GroupEvent> = self.controller.events().to_vec();
        for event in events {
            if let Some(machine) = self.controller.machine_mut(event.group) {
                self.groups[event.group].finish(machine, event.finished);
            }
        }
        self.report(stamp);
    }

    fn publish(&mut self, stamp: Time) {
        let Self { message, command, commanded, output, .. } = self;
        message.header.stamp = stamp.to_message();
        for (target, values) in [
            (&mut message.position, &command.position),
            (&mut message.velocity, &command.velocity),
            (&mut message.effort, &command.effort),
        ] {
            target.clear();
            target.extend(commanded.iter().map(|&j| values[j]));
        }
        output.publish(message);
    }

    fn report(&mut self, stamp: Time) {
        let due =
            stamp >= self.next_feedback || stamp < self.next_feedback - Duration::from_secs(10);
        let message = stamp.to_message();
        for (topics, group) in self.groups.iter().zip(self.controller.groups()) {
            topics.publish_state(&group.machine, &message);
            if due {
                topics.publish_feedback(&group.machine, &message);
            }
        }
        if due {
            self.next_feedback =
                stamp.plus_seconds(1.0 / self.parameters.action_monitor_rate.get());
        }
        if self.status.was_stale {
            self.n_interruptions += 1;
            warn!(
                "joint_states did not come for too long; goals were ended, the robot holds where it is"
            );
        }
        if let Some(joint) = self.status.not_following {
            self.n_interruptions += 1;
            warn!(
                "joint `{}` is not where it is commanded: blocked, or the robot was exchanged or moved; it holds where it is",
                self.model.joints[joint.0].name
            );
        }
        if let Some(joint) = self.status.saturated
            && self.saturated.ready()
        {
            let joint = &self.model.joints[joint.0];
            warn!(
                "joint `{}`: feed-forward cut at its limit of {}",
                joint.name, joint.limits.effort
            );
        }
    }

    fn on_parameters_changed(&mut self) {
        if let Err(e) =
            self.controller.set_settings(self.parameters.feedforward(self.model.joints.len()))
        {
            warn!("{e}");
        }
        for group in 0..self.groups.len() {
            if let Some(machine) = self.controller.machine_mut(group) {
                self.parameters.apply_to_group(machine.settings_mut());
            }
        }
    }

    fn diagnose(&mut self) -> Status {
        let status = match self.sample {
            None => Status::warn("waiting for joint_states"),
            Some(_) => Status::ok("controlling"),
        };
        let status = status
            .value("method", &self.controller.settings().method)
            .value("n_interruptions", self.n_interruptions)
            .value("awaits", self.sources.awaited());
        self.timing.report(status)
    }
}
