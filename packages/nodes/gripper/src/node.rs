//! The node: each sample of the robot is one tick of the hand.

use std::sync::Arc;
use std::time::{Duration, Instant};

use karakuri_control::Time as ControlTime;
use karakuri_control::trajectory::{JointTrajectory, TrajectoryPoint};
use karakuri_grasp::gripper_command::GripperCommandRun;
use karakuri_grasp::pick_and_place::{KnownObject, Measurement, PickAndPlace, Sighting};
use karakuri_model::Model;
use karakuri_ros::msg::control_msgs::action::{GripperCommand, ParallelGripperCommand};
use karakuri_ros::msg::geometry_msgs::msg::{PoseStamped, WrenchStamped};
use karakuri_ros::msg::karakuri_msgs::action::PickAndPlace as Pick;
use karakuri_ros::msg::karakuri_msgs::msg::{GripState, ObjectStates};
use karakuri_ros::msg::sensor_msgs::msg::JointState;
use karakuri_ros::msg::std_msgs::msg::Header;
use karakuri_ros::msg::trajectory_msgs::msg::JointTrajectory as TrajectoryMessage;
use karakuri_ros::{
    ActiveGoal, Advance, Awaits, FromMessage, GoalRequest, InputId, JointStateReader, Node, Offer,
    Publisher, SampleGate, Status, Throttle, Time, Transforms, Turn, info, qos, warn,
};
use karakuri_spatial::Force;

use crate::arm::{Arm, trajectory_message};
use crate::command::{CommandGoal, Ending, parallel_command, plain_command};
use crate::parameters::Parameters;
use crate::pick::{self, Frames, code};

/// Ticks between two messages of feedback and grip state.
const TICKS_A_REPORT: u64 = 10;
/// The first tick of a time is reported.
const FIRST_TICK: u64 = TICKS_A_REPORT - 1;
/// Wall time that a goal waits for the transforms of its frames and for a first look at the surroundings.
const PATIENCE: Duration = Duration::from_secs(1);
/// Relative closing rate of the opening that counts as slipping while holding. [m/s]
const SLIP_SPEED: f64 = 0.002;

/// A finger's newest reading.
#[derive(Debug, Clone, Copy)]
struct Reading {
    wrench: Force,
    received: Instant,
}

/// State of the node.
pub(crate) struct GripperNode {
    parameters: Parameters,
    model: Arc<Model>,
    machine: PickAndPlace,
    reader: JointStateReader,
    transforms: Transforms,
    root: String,
    arm: Arm,
    readings: [Option<Reading>; 2],
    /// The last that was seen of the surroundings, and when.
    sighting: Option<(Time, Vec<KnownObject>)>,
    /// Joins samples and force readings; keeps the hand's reference.
    gate: SampleGate<TrajectoryMessage>,
    fingers: [InputId; 2],
    hand_joint: String,
    output: Publisher<TrajectoryMessage>,
    grip_state: Publisher<GripState>,
    /// No objects came while a goal waited for them: the next one does not wait.
    blind: bool,
    /// A goal that is not begun yet, and since when it waits.
    waiting: Option<(GoalRequest<Pick::Action>, Instant)>,
    pick: Option<(ActiveGoal<Pick::Action>, Time)>,
    command: Option<(CommandGoal, GripperCommandRun)>,
    last_opening: f64,
    ticks: u64,
    silent: Throttle,
}

impl GripperNode {
    pub(crate) fn new(node: &mut Node<Self>) -> Result<Self, Box<dyn std::error::Error>> {
        let parameters = Parameters::declare(node)?;
        let model = parameters.robot.load()?;
        let machine =
            PickAndPlace::new(Arc::clone(&model), parameters.pick_and_place(), parameters.grip())?;
        let samples = parameters.robot.sample_qos();
        let mut gate =
            SampleGate::new(parameters.robot.lockstep.get(), TrajectoryMessage::default());
        let topics =
            machine.sensors().indices().map(|i| format!("wrench/{}", model.sensors[i].name));
        for (finger, topic) in topics.iter().enumerate() {
            node.subscribe(topic, samples.clone(), move |s: &mut Self, m| s.on_wrench(finger, m))?;
        }
        let fingers = topics.each_ref().map(|topic| gate.add_input(topic, Awaits::Always));
        let hand = machine.hand().joint();
        let group =
            model.groups.iter().position(|g| g.joints.contains(&hand)).ok_or_else(|| {
                format!(
                    "the hand's joint `{}` is in no group; add it to `groups` of the robot YAML",
                    model.joints[hand.0].name
                )
            })?;
        let topic = match group {
            0 => "joint_trajectory".to_owned(),
            _ => format!("{}/joint_trajectory", model.groups[group].name),
        };
        node.subscribe("joint_states", samples, Self::on_joint_states)?;
        node.subscribe("/objects", qos::state(), Self::on_objects)?;
        node.action_server("pick_and_place", Self::on_pick)?;
        node.action_server("gripper_cmd", Self::on_command)?;
        node.action_server("parallel_gripper_cmd", Self::on_parallel_command)?;
        node.after_events(Self::go_on);
        node.wall_timer(Duration::from_millis(10), Self::go_on);
        node.diagnose("hand", Self::diagnose);
        let kind = model.end_effector.as_ref().map_or("?", |e| e.kind.as_str());
        info!("hand of `{}`: {kind}", model.name);
        Ok(Self {
            reader: JointStateReader::new(&model),
            transforms: node.transforms()?,
            root: parameters.robot.frame_of(&model.frames[0].name),
            arm: Arm::new(node)?,
            readings: [None; 2],
            sighting: None,
            gate,
            fingers,
            hand_joint: model.joints[hand.0].name.clone(),
            output: node.publisher(&topic, qos::command())?,
            grip_state: node.publisher("grip_state", qos::state())?,
            blind: false,
            waiting: None,
            pick: None,
            command: None,
            last_opening: 0.0,
            ticks: FIRST_TICK,
            silent: Throttle::new(Duration::from_secs(5)),
            parameters,
            model,
            machine,
        })
    }

    fn on_wrench(&mut self, finger: usize, message: &WrenchStamped) {
        if let Some(wrench) = Force::from_message(&message.wrench) {
            self.gate.hear(self.fingers[finger], Time::from(&message.header.stamp));
            self.readings[finger] = Some(Reading { wrench, received: Instant::now() });
        }
    }

    fn on_objects(&mut self, message: &ObjectStates) {
        let objects = pick::objects(message, self.frames());
        self.blind = false;
        self.sighting = Some((Time::from(&message.header.stamp), objects));
    }

    fn on_joint_states(&mut self, message: &JointState) {
        if self.reader.read(&self.model, message).is_ok() {
            let stamp = Time::from(&message.header.stamp);
            let is_withheld = self.is_withheld();
            if let Offer::Repeated(reference) = self.gate.offer(stamp, &self.reader.q) {
                if let Some(reference) = reference.filter(|_| !is_withheld) {
                    self.output.publish(reference);
                }
                return;
            }
        }
        self.go_on();
    }

    /// In lockstep time stands still until the arm has answered.
    fn is_withheld(&self) -> bool {
        self.parameters.robot.lockstep.get() && self.arm.is_unanswered()
    }

    /// Why no goal can be taken now.
    fn not_ready(&self) -> Option<&'static str> {
        if self.gate.newest().is_none() {
            return Some("no joint_states have come yet");
        }
        let timeout = Duration::from_secs_f64(self.parameters.sensor_timeout.get());
        let fresh = |r: &Option<Reading>| r.is_some_and(|r| r.received.elapsed() < timeout);
        if !self.readings.iter().all(fresh) {
            return Some("the finger sensors are silent");
        }
        None
    }

    fn now(&self) -> Time {
        self.gate.newest().unwrap_or(Time::ZERO)
    }

    fn on_pick(&mut self, request: GoalRequest<Pick::Action>) {
        if let Some(why) = self.not_ready() {
            return request.reject(why);
        }
        if self.machine.is_busy() || self.waiting.is_some() {
            return request.reject("a pick and place is under way; cancel it first");
        }
        if !self.arm.is_ready() {
            return request.reject("the controller's follow_joint_trajectory is not there");
        }
        self.waiting = Some((request, Instant::now()));
        self.begin();
    }

    /// Begins the goal that waits, when its frames and the surroundings are known or have been waited for long enough.
    fn begin(&mut self) {
        let (transforms, root) = (&self.transforms, self.root.as_str());
        let frames = Frames { transforms, model: &self.model, root };
        let connected = |request: &GoalRequest<Pick::Action>| {
            let goal = request.goal();
            let frame = |pose: &PoseStamped| pick::knows(&pose.header.frame_id, frames);
            frame(&goal.object_pose) && frame(&goal.place_pose)
        };
        let seen = self.blind || seen(self.sighting.as_ref(), self.now()).is_some();
        let due = self
            .waiting
            .take_if(|(request, since)| since.elapsed() > PATIENCE || (seen && connected(request)));
        let Some((request, _)) = due else { return };
        self.blind = !seen;
        let now = self.now();
        let active = request.accept();
        self.end_command(Ending::Canceled);
        match self.start(active.goal(), now) {
            Ok(()) => self.pick = Some((active, now)),
            Err((error_code, message)) => {
                warn!("pick_and_place: {message}");
                active.abort(pick::refusal(error_code, message, now));
            }
        }
    }

    fn frames(&self) -> Frames<'_> {
        Frames { transforms: &self.transforms, model: &self.model, root: &self.root }
    }

    fn start(&mut self, goal: &Pick::Goal, now: Time) -> Result<(), (u8, String)> {
        let invalid = |message: String| (code::INVALID_GOAL, message);
        let settings = self.parameters.pick_and_place();
        let (tolerance, scale) = pick::options(goal, settings.width_tolerance).map_err(invalid)?;
        let mut settings = settings.at_speed(scale);
        settings.width_tolerance = tolerance;
        let defaults = pick::Defaults {
            grip_force: self.parameters.grip_force.get(),
            force_max: self.machine.hand().force_max(),
            friction: self.parameters.friction.get(),
            approach_height: self.parameters.approach_height.get(),
        };
        let goal = pick::goal(goal, defaults, self.frames()).map_err(invalid)?;
        *self.machine.settings_mut() = settings;
        self.arm.clear();
        let objects = seen(self.sighting.as_ref(), now).unwrap_or(&[]);
        let time = ControlTime(now.nanoseconds());
        let started = self.machine.start(goal, time, &self.reader.q, objects);
        started.map_err(|e| (pick::plan_code(&e), e.to_string()))
    }

    fn on_command(&mut self, request: GoalRequest<GripperCommand::Action>) {
        let command = plain_command(request.goal());
        match self.start_command(command) {
            Ok(run) => self.command = Some((CommandGoal::Plain(request.accept()), run)),
            Err(why) => request.reject(why),
        }
    }

    fn on_parallel_command(&mut self, request: GoalRequest<ParallelGripperCommand::Action>) {
        match parallel_command(request.goal()).and_then(|command| self.start_command(command)) {
            Ok(run) => {
                let joint = self.hand_joint.clone();
                self.command = Some((CommandGoal::Parallel(request.accept(), joint), run));
            }
            Err(why) => request.reject(why),
        }
    }

    fn start_command(
        &mut self,
        command: karakuri_grasp::gripper_command::GripperCommand,
    ) -> Result<GripperCommandRun, String> {
        if let Some(why) = self.not_ready() {
            return Err(why.to_owned());
        }
        if self.machine.is_busy() {
            return Err("pick_and_place is using the hand; cancel it first".to_owned());
        }
        let settings = self.parameters.command();
        let (hand, grip) = self.machine.hand_and_grip();
        let run =
            GripperCommandRun::start(command, settings, hand, grip).map_err(|e| e.to_string())?;
        self.end_command(Ending::Canceled);
        Ok(run)
    }

    fn end_command(&mut self, ending: Ending) {
        if let Some((goal, mut run)) = self.command.take() {
            let (hand, grip) = self.machine.hand_and_grip();
            let (report, _) = run.check(hand, grip, 0.0);
            goal.end(ending, &report);
        }
    }

    /// Ticks the newest sample when its force readings are there, and sends what may be sent.
    fn go_on(&mut self) {
        self.begin();
        if let Some(turn) = self.gate.take(Instant::now(), Duration::MAX) {
            self.tick(turn);
        } else if self.gate.newest().is_some()
            && self.gate.unheard().next().is_some()
            && self.silent.ready()
        {
            info!("waiting for the finger sensors");
        }
        let is_withheld = self.is_withheld();
        if let Some(reference) = self.gate.send(is_withheld) {
            self.output.publish(reference);
        }
    }

    fn tick(&mut self, Turn { stamp, advance }: Turn) {
        if advance == Advance::Backward {
            self.ticks = FIRST_TICK;
        }
        let canceled = self.pick.as_ref().is_some_and(|(goal, _)| goal.is_canceling());
        if canceled {
            self.machine.cancel();
        }
        if self.command.as_ref().is_some_and(|(goal, _)| goal.is_canceling()) {
            let (_, grip) = self.machine.hand_and_grip();
            grip.set_task(karakuri_grasp::grip_force::GripTask::Stay);
            self.end_command(Ending::Canceled);
        }
        let wrenches = self.readings.map(|r| r.map_or_else(Force::default, |r| r.wrench));
        let arm = self.arm.report();
        let time = ControlTime(stamp.nanoseconds());
        let sighting = self
            .sighting
            .as_ref()
            .map(|(stamp, objects)| Sighting { time: ControlTime(stamp.nanoseconds()), objects });
        let JointStateReader { q, v, effort, .. } = &self.reader;
        let measured = Measurement { time, q, v, effort, wrenches: &wrenches, arm, sighting };
        let period = self.parameters.robot.period.get();
        let output = self.machine.tick(&measured, period).clone();
        if let Some(request) = &output.arm {
            let tolerance = self.machine.settings().path_tolerance;
            self.arm.request(request, self.parameters.robot.lockstep.get(), tolerance);
        }
        let point = TrajectoryPoint {
            time_from_start: period,
            positions: vec![output.hand.position],
            velocities: vec![output.hand.velocity],
            accelerations: Vec::new(),
            efforts: vec![output.hand.effort],
        };
        let reference = JointTrajectory {
            start: Some(time),
            joints: vec![self.hand_joint.clone()],
            points: vec![point],
        };
        *self.gate.answer() = trajectory_message(&reference);
        self.ticks += 1;
        self.check_command(period);
        self.report(stamp, &output);
    }

    fn check_command(&mut self, period: f64) {
        let Some((goal, mut run)) = self.command.take() else { return };
        let (hand, grip) = self.machine.hand_and_grip();
        let (report, ended) = run.check(hand, grip, period);
        if !ended {
            if self.ticks.is_multiple_of(TICKS_A_REPORT) {
                goal.publish_feedback(&report);
            }
            self.command = Some((goal, run));
            return;
        }
        let ending = if run.succeeded(&report) { Ending::Succeeded } else { Ending::Aborted };
        goal.end(ending, &report);
    }

    fn report(&mut self, stamp: Time, output: &karakuri_grasp::pick_and_place::Output) {
        if let Some(result) = &output.result
            && let Some((goal, _)) = self.pick.take()
        {
            let message = pick::result(result, stamp);
            match result.failure {
                None => goal.succeed(message),
                Some(karakuri_grasp::pick_and_place::Failure::Canceled) if goal.is_canceling() => {
                    goal.cancel(message);
                }
                Some(_) => {
                    warn!("pick_and_place: {}", result.message);
                    goal.abort(message);
                }
            }
        }
        if !self.ticks.is_multiple_of(TICKS_A_REPORT) {
            return;
        }
        if let Some((goal, begun)) = &self.pick {
            goal.publish_feedback(pick::feedback(&output.feedback, stamp.seconds_since(*begun)));
        }
        self.publish_grip_state(stamp, output.feedback.holding);
    }

    fn publish_grip_state(&mut self, stamp: Time, holding: bool) {
        let (_, grip) = self.machine.hand_and_grip();
        let (state, task) = (*grip.state(), grip.task());
        let period = self.parameters.robot.period.get()
            * f64::from(u32::try_from(TICKS_A_REPORT).unwrap_or(1));
        let speed = (state.opening - self.last_opening) / period;
        self.last_opening = state.opening;
        let age = self
            .readings
            .iter()
            .flatten()
            .map(|r| r.received.elapsed().as_secs_f64())
            .fold(0.0, f64::max);
        let target_force = match task {
            karakuri_grasp::grip_force::GripTask::Close { force, .. } => force,
            _ => 0.0,
        };
        self.grip_state.publish(&GripState {
            header: Header { stamp: stamp.to_message(), frame_id: self.root.clone() },
            width: state.opening,
            speed,
            force_left: state.forces[0].max(0.0),
            force_right: state.forces[1].max(0.0),
            target_force,
            sensor_age: age,
            contact_left: state.touching[0],
            contact_right: state.touching[1],
            holding: holding || (state.gripped && target_force > 0.0),
            slipping: holding && speed < -SLIP_SPEED,
        });
    }

    fn diagnose(&mut self) -> Status {
        let status = match self.not_ready() {
            Some(why) => Status::warn(why),
            None if self.machine.is_busy() => Status::ok("picking and placing"),
            None => Status::ok("ready"),
        };
        let (_, grip) = self.machine.hand_and_grip();
        status.value("opening_m", grip.state().opening)
    }
}

impl Drop for GripperNode {
    /// Whoever waits for an object hears why it will not come.
    fn drop(&mut self) {
        if let Some((goal, _)) = self.pick.take() {
            let why =
                "the gripper was stopped before the object was placed; what it holds stays held";
            let mut result = pick::refusal(code::ROBOT_LOST, why, self.now());
            self.machine.feedback().stage.name().clone_into(&mut result.state);
            goal.abort(result);
        }
    }
}

/// The surroundings as last seen; what was seen in a time that a reset has undone is not there any more.
fn seen(sighting: Option<&(Time, Vec<KnownObject>)>, now: Time) -> Option<&[KnownObject]> {
    sighting.filter(|(stamp, _)| *stamp <= now).map(|(_, objects)| objects.as_slice())
}
