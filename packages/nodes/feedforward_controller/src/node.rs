//! The node: goals, references and parameters to the desk, reports of the desk to results, feedback and diagnostics.
//!
//! Samples are answered in [`Cycle`]: on the thread that receives them, which shares no lock with this one; in lockstep here,
//! in order with what the answer depends on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use karakuri_control::realtime::{Desk, Report, split};
use karakuri_control::{ControllerError, FeedforwardController, Status as Update};
use karakuri_model::Model;
use karakuri_ros::msg::control_msgs::action::FollowJointTrajectory;
use karakuri_ros::msg::geometry_msgs::msg::WrenchStamped;
use karakuri_ros::msg::sensor_msgs::msg::JointState;
use karakuri_ros::msg::trajectory_msgs::msg::JointTrajectory;
use karakuri_ros::{
    Audience, Awaits, FromMessage, GoalRequest, JointStateReader, Node, Request, RobotParameters,
    RosError, SampleGate, SolePublisher, Status, Throttle, Time, info, qos, warn,
};
use karakuri_spatial::Force;
use rtrb::{Consumer, RingBuffer};

use crate::backlog::Backlog;
use crate::cycle::{Cycle, NotRead};
use crate::forces::ForceTopics;
use crate::group::{GroupTopics, Queries, Query};
use crate::parameters::Parameters;
use crate::timing::{Stopwatch, Timing};

/// How long a goal waits for joint states to come and for somebody to take commands: at start-up the middleware connects one
/// topic after the other.
const PATIENCE: Duration = Duration::from_secs(5);

/// State of the node.
pub(crate) struct ControllerNode {
    parameters: Parameters,
    model: Arc<Model>,
    desk: Desk,
    groups: Vec<GroupTopics>,
    forces: Vec<ForceTopics>,
    lockstep: Option<Lockstep>,
    audience: Audience<JointState>,
    /// Goals that wait for the robot: of which group, since when.
    early: Vec<(usize, GoalRequest<FollowJointTrajectory::Action>, Instant)>,
    queries: Queries,
    unread: Consumer<NotRead>,
    next_feedback: Time,
    saturated: Throttle,
    incomplete: Throttle,
    implausible: Throttle,
    sole: [SolePublisher; 2],
    /// Somebody else commands, or measures, too.
    rival: Option<String>,
    rivalled: Throttle,
    timing: Arc<Timing>,
    /// How often the robot was lost: silent, or elsewhere than commanded.
    n_interruptions: u64,
}

/// Samples that are answered when all that the answer depends on is there.
struct Lockstep {
    cycle: Cycle,
    /// The answer is the cycle's own.
    gate: SampleGate<()>,
}

impl Lockstep {
    /// A reference came; it may be one that samples wait for.
    fn hear(&mut self, topic: &str, stamp: Time) {
        if let Some(input) = self.gate.find_input(topic) {
            self.gate.hear(input, stamp);
        }
    }
}

impl ControllerNode {
    pub(crate) fn new(node: &mut Node<Self>) -> Result<Self, Box<dyn std::error::Error>> {
        let robot = RobotParameters::declare(node)?;
        let model = robot.load()?;
        if model.groups.is_empty() {
            return Err(ControllerError::NoGroups { robot: model.name.clone() }.into());
        }
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
            forces.push(ForceTopics::new(node, (&mut controller, &model), link, &robot)?);
        }
        info!(
            "controlling `{}`: {} joints in {} groups",
            model.name,
            commanded.len(),
            groups.len()
        );
        let (updater, desk) = split(controller);
        let (unread, told) = RingBuffer::new(1);
        let timing = Arc::<Timing>::default();
        let output = node.wire_publisher("joint_command", qos::state())?;
        let audience = output.audience();
        let name = commanded.iter().map(|&j| model.joints[j].name.clone()).collect();
        let cycle = Cycle {
            model: Arc::clone(&model),
            updater,
            reader: JointStateReader::new(&model),
            output,
            message: JointState { name, ..JointState::default() },
            commanded,
            period: robot.period.clone(),
            stopwatch: Stopwatch::new(Arc::clone(&timing)),
            unread,
            waker: node.waker(),
        };
        let sources = parameters.control.lockstep_sources.get();
        let lockstep = Self::follow_samples(node, &robot, cycle, &sources)?;
        node.after_events(Self::attend);
        node.wall_timer(Duration::from_secs(1), Self::look_for_rivals);
        node.on_parameters_changed(Self::on_parameters_changed);
        node.diagnose("control", Self::diagnose);
        Ok(Self {
            parameters,
            model,
            desk,
            groups,
            forces,
            lockstep,
            audience,
            early: Vec::new(),
            queries: Queries::default(),
            unread: told,
            next_feedback: Time::ZERO,
            saturated: Throttle::new(Duration::from_secs(2)),
            incomplete: Throttle::new(Duration::from_secs(5)),
            implausible: Throttle::new(Duration::from_secs(5)),
            sole: ["joint_states", "joint_command"].map(|topic| node.sole_publisher(topic)),
            rival: None,
            rivalled: Throttle::new(Duration::from_secs(30)),
            timing,
            n_interruptions: 0,
        })
    }

    /// Has samples answered: where they are received, or, when it gives the state of lockstep, here.
    fn follow_samples(
        node: &mut Node<Self>,
        robot: &RobotParameters,
        mut cycle: Cycle,
        sources: &[String],
    ) -> Result<Option<Lockstep>, RosError> {
        if robot.lockstep.get() {
            // in order with what the answer depends on, and again and again while it waits for that
            node.subscribe("joint_states", robot.sample_qos(), Self::on_joint_states)?;
            node.wall_timer(Duration::from_millis(10), Self::attend);
            let mut gate = SampleGate::new(true, ());
            for topic in sources.iter().filter(|topic| !topic.is_empty()) {
                gate.add_input(topic, Awaits::OnceHeard);
            }
            return Ok(Some(Lockstep { cycle, gate }));
        }
        let mut backlog = Backlog::default();
        node.subscribe_directly("joint_states", robot.sample_qos(), move |sample| {
            if let Some(stamp) = cycle.read(sample)
                && !backlog.is_outdated(Instant::now(), stamp)
            {
                cycle.answer(stamp);
            }
        })?;
        node.wall_timer(Duration::from_millis(50), Self::attend);
        Ok(None)
    }

    fn on_joint_states(&mut self, message: &JointState) {
        if let Some(Lockstep { cycle, gate }) = &mut self.lockstep
            && let Some(stamp) = cycle.read(message)
        {
            // The controller answers equal samples equally, and what was ordered since as well.
            gate.renew(stamp);
        }
        self.attend();
    }

    pub(crate) fn on_goal(
        &mut self,
        group: usize,
        request: GoalRequest<FollowJointTrajectory::Action>,
    ) {
        self.early.push((group, request, Instant::now()));
        self.take_goals();
    }

    /// Takes the goals that came, in their order, once the robot is heard and there is somebody to take commands.
    fn take_goals(&mut self) {
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
            // what has ended is not preempted
            self.read_reports();
            self.groups[group].accept(&mut self.desk, request);
        }
    }

    pub(crate) fn on_query(&mut self, group: usize, request: Request<Query>) {
        self.queries.ask(&mut self.desk, group, request);
    }

    pub(crate) fn on_trajectory(&mut self, group: usize, message: &JointTrajectory) {
        // what has ended is not replaced
        self.read_reports();
        let topics = &mut self.groups[group];
        topics.follow(&mut self.desk, message);
        if let Some(lockstep) = &mut self.lockstep {
            lockstep.hear(&topics.topic, Time::from(&message.header.stamp));
        }
        self.attend();
    }

    pub(crate) fn on_target_wrench(&mut self, point: usize, message: &WrenchStamped) {
        let topics = &mut self.forces[point];
        if let Some(target) = topics.target(message) {
            self.desk.set_target_wrench(point, target);
        }
        if let Some(lockstep) = &mut self.lockstep {
            lockstep.hear(&topics.topic, Time::from(&message.header.stamp));
        }
        self.attend();
    }

    pub(crate) fn on_wrench(&mut self, point: usize, message: &WrenchStamped) {
        if let Some(wrench) = Force::from_message(&message.wrench) {
            self.desk.set_measured_wrench(point, wrench);
        }
    }

    /// Passes on what came in, and what came of it.
    fn attend(&mut self) {
        self.take_goals();
        for topics in &mut self.groups {
            topics.check_cancel(&mut self.desk);
        }
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

    /// Two that command one robot, or measure it, undo what the other does.
    fn look_for_rivals(&mut self) {
        self.rival = self.sole.iter().find_map(SolePublisher::rivals);
        if let Some(rival) = &self.rival
            && self.rivalled.ready()
        {
            warn!("{rival}");
        }
    }

    /// How often the node has to know how the control goes. [s]
    fn report_period(&self) -> f64 {
        if self.groups.iter().any(GroupTopics::is_observed) {
            0.0
        } else if self.groups.iter().any(GroupTopics::has_goal) {
            1.0 / self.parameters.control.action_monitor_rate.get()
        } else {
            f64::INFINITY
        }
    }

    /// In lockstep: answers the newest sample, once, when all that it waits for is there.
    fn answer(&mut self) {
        let Some(Lockstep { cycle, gate }) = &mut self.lockstep else { return };
        let patience = Duration::from_secs_f64(self.parameters.control.lockstep_timeout.get());
        if let Some(turn) = gate.take(Instant::now(), patience) {
            cycle.answer(turn.stamp);
        }
    }

    fn read_reports(&mut self) {
        while let Some(report) = self.desk.next_report() {
            self.pass_on(&report);
            self.desk.give_back(report);
        }
    }

    fn pass_on(&mut self, report: &Report) {
        for event in &report.ended {
            self.groups[event.group].finish(&self.desk, event.finished);
        }
        let stamp = Time::from_nanoseconds(report.stamp.0);
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
            let rate = self.parameters.control.action_monitor_rate.get();
            self.next_feedback = stamp.plus_seconds(1.0 / rate);
        }
        self.tell(&report.status);
    }

    /// What a user should know of.
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

    fn on_parameters_changed(&mut self) {
        if let Err(e) = self.desk.set_settings(self.parameters.feedforward(self.model.joints.len()))
        {
            warn!("{e}");
        }
        for group in 0..self.groups.len() {
            self.desk.set_group(group, |settings| self.parameters.apply_to_group(settings));
        }
    }

    fn diagnose(&mut self) -> Status {
        let status = match self.desk.newest() {
            None => Status::warn("waiting for joint_states"),
            Some(_) => match &self.rival {
                Some(rival) => Status::warn(rival),
                None => Status::ok("controlling"),
            },
        };
        let gate = self.lockstep.as_ref().map(|lockstep| &lockstep.gate);
        let awaited = gate.map(|gate| gate.awaited().collect::<Vec<_>>().join(", "));
        let status = status
            .value("method", &self.desk.settings().method)
            .value("n_interruptions", self.n_interruptions)
            .value("awaits", awaited.unwrap_or_default());
        self.timing.report(status)
    }
}
