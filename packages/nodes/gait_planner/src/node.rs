//! The node: each sample of the robot is one tick of the walk engine.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use karakuri_files::load_gait;
use karakuri_gait::planner::{
    Biped, Clip, Fall, Footstep, Measured, Progress, StabilizerSettings, Velocity, Walk as Run,
    WalkCommand, WalkEngine, WalkFailure,
};
use karakuri_model::Model;
use karakuri_ros::msg::geometry_msgs::msg::{PointStamped, PolygonStamped, Twist, WrenchStamped};
use karakuri_ros::msg::karakuri_msgs::action::Walk;
use karakuri_ros::msg::sensor_msgs::msg::{Imu, JointState};
use karakuri_ros::msg::trajectory_msgs::msg::{JointTrajectory, JointTrajectoryPoint};
use karakuri_ros::msg::visualization_msgs::msg::MarkerArray;
use karakuri_ros::{
    ActiveGoal, Advance, Awaits, FromMessage, GoalRequest, InputId, JointStateReader, Node, Offer,
    Publisher, SampleGate, Status, Throttle, Time, Turn, duration_to_message, info, qos, warn,
};
use karakuri_spatial::{Force, UnitQuaternion, Vector3};

use crate::gains::Gains;
use crate::goal;
use crate::parameters::Parameters;
use crate::report::{self, code};

/// Ticks between two messages of feedback and points.
const TICKS_A_REPORT: u64 = 10;
/// Reports between two of the same footsteps, for who has come late.
const REPORTS_A_REPEAT: u64 = 50;
/// Most footsteps shown ahead.
const MOST_SHOWN: usize = 30;
/// Who leans further does not stand. [rad]
const LEANING: f64 = 0.3;
/// A joint may be far from its target for so long in all: a strike, or a busy machine, and the middleware, which may stall for a
/// third of a second when a participant joins. [s]
const ASTRAY_TIME: f64 = 0.5;
/// Share of the time near its targets that makes up for time far from them: a robot that does not follow is near them in passing. [-]
const FORGIVEN: f64 = 0.25;
/// Age up to which a reading of a foot counts. [s]
const FRESH: f64 = 0.05;

/// The newest reading of the inertial sensor.
#[derive(Debug, Clone, Copy)]
struct Reading {
    orientation: UnitQuaternion,
    angular_velocity: Vector3,
}

/// Where reports go.
#[derive(Debug)]
struct Reports {
    points: [Publisher<PointStamped>; 3],
    support_polygon: Publisher<PolygonStamped>,
    footsteps: Publisher<MarkerArray>,
}

/// State of the node.
pub(crate) struct GaitPlanner {
    parameters: Parameters,
    model: Arc<Model>,
    /// Standing, as at the start.
    fresh: WalkEngine,
    engine: WalkEngine,
    gains: Gains,
    /// Gains of the gait file.
    file_gains: StabilizerSettings,
    reader: JointStateReader,
    /// The inertial sensor, where there is one.
    imu: Option<InputId>,
    reading: Option<Reading>,
    /// Newest readings of the feet's force sensors, left and right, where both feet have one.
    feet: Option<[Option<(Time, Force)>; 2]>,
    /// Joins samples and readings; keeps the reference.
    gate: SampleGate<JointTrajectory>,
    /// Of the gate, left and right; none without an inertial sensor, as nothing then uses them.
    foot_inputs: [Option<InputId>; 2],
    /// The robot stands as the gait begins, and follows the engine.
    engaged: bool,
    walk: Option<(ActiveGoal<Walk::Action>, Run, Vec<Clip>)>,
    /// Velocity of `cmd_vel` in force, and until when.
    velocity: Option<(Velocity, Time)>,
    output: Publisher<JointTrajectory>,
    reports: Reports,
    /// For how long a joint was too far from its target. [s]
    astray: f64,
    ticks: u64,
    /// Steps begun at the last tick.
    begun: u64,
    /// What `footsteps` showed last: steps begun, and the steps ahead.
    shown: (u64, Vec<Footstep>),
    /// It was said that the robot will fall.
    is_lost: bool,
    /// How it fell last.
    last_fall: Option<String>,
    hint: Throttle,
}

impl GaitPlanner {
    pub(crate) fn new(node: &mut Node<Self>) -> Result<Self, Box<dyn std::error::Error>> {
        let parameters = Parameters::declare(node)?;
        let gait = parameters.gait.get();
        if gait.is_empty() {
            return Err("parameter `gait` is empty; give the path of a gait file, such as \
                        `-p gait:=config/gaits/khr1_walk.yaml`"
                .into());
        }
        let (robot, settings) = load_gait(Path::new(&gait))?;
        for warning in &robot.warnings {
            warn!("{warning}");
        }
        let model = Arc::new(robot.model);
        let file_gains = settings.stabilizer;
        let named = |e: &dyn std::fmt::Display| format!("{gait}: {e}");
        let biped = Biped::new(Arc::clone(&model), &settings).map_err(|e| named(&e))?;
        let engine = WalkEngine::new(biped, settings).map_err(|e| named(&e))?;
        let generator = engine.generator();
        let gains = Gains::declare(node, &generator.biped, &generator.settings)?;
        let joints = model.groups.first().map_or(&[][..], |g| g.joints.as_slice());
        let reference = JointTrajectory {
            joint_names: joints.iter().map(|id| model.joints[id.0].name.clone()).collect(),
            points: vec![JointTrajectoryPoint::default()],
            ..JointTrajectory::default()
        };
        let mut gate = SampleGate::new(parameters.lockstep.get(), reference);
        let imu = engine.generator().biped.imu.map(|i| format!("imu/{}", model.sensors[i].name));
        if let Some(topic) = &imu {
            node.subscribe(topic, qos::state(), Self::on_imu)?;
        } else {
            warn!("`{}` has no inertial sensor: it walks without stabiliser", model.name);
        }
        let imu = imu.map(|topic| gate.add_input(&topic, Awaits::Always));
        let mut foot_inputs = [None; 2];
        let sensors = engine.generator().biped.legs.each_ref().map(|leg| leg.sensor);
        let feet = sensors.iter().all(Option::is_some).then_some([None; 2]);
        for (i, sensor) in sensors.iter().flatten().enumerate().filter(|_| feet.is_some()) {
            let topic = format!("wrench/{}", model.sensors[sensor.index].name);
            node.subscribe(&topic, qos::state(), move |planner: &mut Self, message: &_| {
                planner.on_wrench(i, message);
            })?;
            // Feet that say nothing are not waited for in real time: a driver may have no such sensors.
            foot_inputs[i] = imu.map(|_| gate.add_input(&topic, Awaits::InLockstep));
        }
        node.subscribe("joint_states", qos::state(), Self::on_joint_states)?;
        node.subscribe("cmd_vel", qos::command(), Self::on_velocity)?;
        node.action_server("walk", Self::on_walk)?;
        node.diagnose("walk", Self::diagnose);
        let mut point = |name: &str| node.publisher(name, qos::state());
        let points = [point("com")?, point("zmp")?, point("dcm")?];
        info!("`{}` walks by {gait}", model.name);
        Ok(Self {
            reader: JointStateReader::new(&model),
            imu,
            fresh: engine.clone(),
            engine,
            gains,
            file_gains,
            reading: None,
            feet,
            gate,
            foot_inputs,
            engaged: false,
            walk: None,
            velocity: None,
            output: node.publisher("joint_trajectory", qos::command())?,
            reports: Reports {
                points,
                support_polygon: node.publisher("support_polygon", qos::state())?,
                footsteps: node.publisher("footsteps", qos::state())?,
            },
            astray: 0.0,
            ticks: 0,
            begun: 0,
            shown: Default::default(),
            is_lost: false,
            last_fall: None,
            hint: Throttle::new(Duration::from_secs(5)),
            parameters,
            model,
        })
    }

    fn on_imu(&mut self, message: &Imu) {
        let orientation = UnitQuaternion::from_message(&message.orientation);
        let angular_velocity = Vector3::from_message(&message.angular_velocity);
        if let (Some(orientation), Some(angular_velocity)) = (orientation, angular_velocity) {
            self.reading = Some(Reading { orientation, angular_velocity });
            if let Some(imu) = self.imu {
                self.gate.hear(imu, Time::from(&message.header.stamp));
            }
        }
        self.go_on();
    }

    fn on_wrench(&mut self, foot: usize, message: &WrenchStamped) {
        if let (Some(feet), Some(wrench)) = (&mut self.feet, Force::from_message(&message.wrench)) {
            let stamp = Time::from(&message.header.stamp);
            feet[foot] = Some((stamp, wrench));
            if let Some(input) = self.foot_inputs[foot] {
                self.gate.hear(input, stamp);
            }
        }
        self.go_on();
    }

    fn on_joint_states(&mut self, message: &JointState) {
        if self.reader.read(&self.model, message).is_err() {
            return;
        }
        let stamp = Time::from(&message.header.stamp);
        if let Offer::Repeated(reference) = self.gate.offer(stamp, &self.reader.q) {
            if let Some(reference) = reference {
                self.output.publish(reference);
            }
            return;
        }
        self.go_on();
    }

    /// What the feet feel, if both said so of late. About the soles' sensors. [N·m; N]
    fn feet_at(&self, stamp: Time) -> Option<[Force; 2]> {
        let fresh =
            |(felt, wrench): (Time, Force)| (stamp.seconds_since(felt) <= FRESH).then_some(wrench);
        let [left, right] = self.feet?;
        Some([left.and_then(fresh)?, right.and_then(fresh)?])
    }

    /// Ticks the newest sample when the readings of its sensors are there.
    fn go_on(&mut self) {
        self.gate.set_lockstep(self.parameters.lockstep.get());
        if let Some(turn) = self.gate.take(Instant::now(), Duration::MAX) {
            self.tick(turn);
        }
    }

    fn now(&self) -> Time {
        self.gate.newest().unwrap_or(Time::ZERO)
    }

    fn tick(&mut self, Turn { stamp, advance }: Turn) {
        let timeout = self.parameters.state_timeout.get();
        match advance {
            Advance::Backward => self.start_anew("the clock jumped back"),
            Advance::Forward(gap) if gap > timeout && self.engaged => {
                self.start_anew("joint states were missing for too long");
            }
            Advance::First | Advance::Forward(_) => {}
        }
        if !self.engaged && !self.engage() {
            return;
        }
        if let Some(why) = self.find_not_following() {
            return self.let_go(&why);
        }
        let period = self.parameters.period.get();
        self.follow_velocity(stamp);
        self.engine.stabilizer_mut().settings = self.gains.get(&self.file_gains);
        let feet = self.feet_at(stamp);
        let measured = self.reading.filter(|_| self.imu.is_some()).map(|reading| Measured {
            q: &self.reader.q,
            v: &self.reader.v,
            orientation: reading.orientation,
            angular_velocity: reading.angular_velocity,
            feet,
        });
        self.engine.advance(period, measured.as_ref());
        self.write_reference(stamp, period);
        if let Some(reference) = self.gate.send(false) {
            self.output.publish(reference);
        }
        self.warn_of_fall();
        if self.has_fallen_by_itself() {
            return;
        }
        self.look_after_walk(stamp, period);
        self.ticks += 1;
        if self.ticks.is_multiple_of(TICKS_A_REPORT) {
            self.report(stamp);
        }
    }

    /// Why the robot does not walk although the engine does: a joint that is too far from its target for too long. Who falls is
    /// judged by the fall.
    fn find_not_following(&mut self) -> Option<String> {
        let is_walking = self.walk.is_some() || self.velocity.is_some();
        let joints = self.model.groups.first().map_or(&[][..], |g| g.joints.as_slice());
        let targets = &self.engine.targets().position;
        let off = joints.iter().map(|id| {
            let joint = &self.model.joints[id.0];
            (joint, self.reader.q[joint.q_start] - targets[joint.q_start])
        });
        let (joint, off) = off.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        let limit = self.parameters.following_tolerance.get();
        if limit <= 0.0 || !is_walking || self.engine.lost().is_some() {
            self.astray = 0.0;
            return None;
        }
        let period = self.parameters.period.get();
        let step = if off.abs() > limit { period } else { -FORGIVEN * period };
        self.astray = (self.astray + step).max(0.0);
        (self.astray > ASTRAY_TIME).then(|| {
            format!(
                "joint `{}` is {off:.2} from where the walk has it, and has been for {ASTRAY_TIME} s: the robot does not \
                 follow; is the controller running, and the robot free to move?",
                joint.name
            )
        })
    }

    /// Gives up a walk that the robot does not carry out.
    fn let_go(&mut self, why: &str) {
        if self.walk.is_none() {
            warn!("cmd_vel: {why}");
        }
        self.start_anew(why);
    }

    /// Lets go of a robot that fell with no goal under way.
    fn has_fallen_by_itself(&mut self) -> bool {
        let fall = Fall::of(&self.engine, self.engine.time()).filter(|_| self.walk.is_none());
        let Some(fall) = fall else { return false };
        let told = fall.describe(&self.model);
        warn!("{told}");
        self.last_fall = Some(told);
        self.start_anew("fell");
        true
    }

    /// Says once that no step can save the robot.
    fn warn_of_fall(&mut self) {
        let lost = self.engine.lost();
        if let Some(lost) = lost.filter(|_| !self.is_lost) {
            warn!("no step can save the robot, by the pendulum: {}", lost.describe(&self.model));
        }
        self.is_lost = lost.is_some();
    }

    /// Takes the robot over where it stands as the gait begins.
    fn engage(&mut self) -> bool {
        let (joint, off) = self.engine.furthest_joint(&self.reader.q);
        let name = &self.model.joints[joint.0].name;
        let wanted = self.engine.generator().settings.lean;
        let leans = self.reading.map_or(0.0, |reading| {
            let (roll, pitch, _) = reading.orientation.euler_angles();
            roll.hypot(pitch - wanted)
        });
        if leans > LEANING {
            if self.hint.ready() {
                info!("waiting: the robot leans {leans:.2} rad; set it up first");
            }
        } else if off.abs() <= self.parameters.start_tolerance.get() {
            self.engaged = true;
            info!("standing; `walk` and `cmd_vel` are heard");
        } else if self.hint.ready() {
            info!(
                "waiting: joint `{name}` is {off:.2} from the standing posture; move the robot there first"
            );
        }
        self.engaged
    }

    /// Lets go of the robot; the controller holds it where it is.
    fn start_anew(&mut self, why: &str) {
        self.end_walk(code::ROBOT_LOST, why);
        self.engine = self.fresh.clone();
        self.velocity = None;
        self.engaged = false;
        self.gate.withdraw();
        self.astray = 0.0;
        (self.ticks, self.is_lost) = (0, false);
    }

    fn end_walk(&mut self, error_code: u8, why: &str) {
        if let Some((goal, run, clips)) = self.walk.take() {
            warn!("walk: {why}");
            let ending = (error_code, why.to_owned());
            goal.abort(report::result((&run, &self.engine), ending, &clips, self.now()));
        }
    }

    fn write_reference(&mut self, stamp: Time, period: f64) {
        let targets = self.engine.targets();
        let reference = self.gate.answer();
        reference.header.stamp = stamp.to_message();
        let Some(point) = reference.points.first_mut() else { return };
        point.time_from_start = duration_to_message(period);
        let joints = self.model.groups.first().map_or(&[][..], |g| g.joints.as_slice());
        let joints = || joints.iter().map(|id| &self.model.joints[id.0]);
        point.positions.clear();
        point.positions.extend(joints().map(|j| targets.position[j.q_start]));
        for (values, of) in
            [(&mut point.velocities, &targets.velocity), (&mut point.effort, &targets.effort)]
        {
            values.clear();
            values.extend(joints().map(|j| of[j.v_start]));
        }
    }

    fn look_after_walk(&mut self, stamp: Time, period: f64) {
        let Some((goal, mut run, mut clips)) = self.walk.take() else { return };
        for clip in self.engine.take_clips() {
            info!("walk: {clip}");
            clips.push(clip);
        }
        if goal.is_canceling() {
            run.stop(&mut self.engine);
        }
        let progress = run.tick(&mut self.engine, period);
        if progress == Progress::Walking {
            // Each step is told when it begins.
            let has_begun =
                core::mem::replace(&mut self.begun, self.engine.steps()) != self.engine.steps();
            if has_begun || self.ticks.is_multiple_of(TICKS_A_REPORT) {
                goal.publish_feedback(report::feedback(&run, &self.engine));
            }
            self.walk = Some((goal, run, clips));
            return;
        }
        let ending = report::ending(progress, &self.model);
        let message = ending.1.clone();
        let mut result = report::result((&run, &self.engine), ending, &clips, stamp);
        for excess in self.engine.take_excesses() {
            let text = excess.describe(&self.engine.generator().biped.model);
            warn!("walk: {text}");
            result.clipped.push(text);
        }
        match progress {
            Progress::Failed(failure) => {
                warn!("walk: {message}");
                goal.abort(result);
                if let WalkFailure::Fell(_) = failure {
                    self.last_fall = Some(message);
                    self.start_anew("fell");
                }
            }
            Progress::Stopped if goal.is_canceling() => goal.cancel(result),
            Progress::Stopped => goal.abort(result),
            Progress::Done | Progress::Walking => goal.succeed(result),
        }
    }

    fn report(&mut self, stamp: Time) {
        let (frame, stamp) = (self.parameters.frame.get(), stamp.to_message());
        let points = report::points(&self.engine, &frame, &stamp);
        for (publisher, point) in self.reports.points.iter().zip(points) {
            publisher.publish(&point);
        }
        let polygon = report::support_polygon(&self.engine, &frame, &stamp);
        self.reports.support_polygon.publish(&polygon);
        let shown = (self.engine.steps(), self.engine.footsteps(MOST_SHOWN));
        if shown != self.shown || self.ticks.is_multiple_of(TICKS_A_REPORT * REPORTS_A_REPEAT) {
            let markers = report::footprints(&self.engine, &shown.1, &frame, &stamp);
            self.reports.footsteps.publish(&markers);
            self.shown = shown;
        }
    }

    fn on_walk(&mut self, request: GoalRequest<Walk::Action>) {
        if !self.engaged {
            return request.reject(
                "the robot does not stand as the gait begins, or its joint states or inertial readings have not come yet",
            );
        }
        if self.walk.is_some() {
            return request.reject("a walk is under way; cancel it first");
        }
        if self.output.n_subscribers() == 0 {
            return request.reject(
                "nobody takes `joint_trajectory` yet; is the controller (feedforward_controller) running?",
            );
        }
        self.velocity = None;
        let active = request.accept();
        match goal::goal(active.goal()) {
            Ok(goal) => {
                let run = Run::start(&mut self.engine, goal);
                self.walk = Some((active, run, Vec::new()));
            }
            Err(message) => {
                warn!("walk: {message}");
                active.abort(report::refusal(message, self.now()));
            }
        }
    }

    fn on_velocity(&mut self, message: &Twist) {
        if !self.engaged || self.walk.is_some() {
            if self.hint.ready() {
                warn!(
                    "cmd_vel is not heard: the robot does not stand ready, or a walk is under way"
                );
            }
            return;
        }
        match goal::velocity(message) {
            Ok(velocity) => {
                if self.velocity.map(|(v, _)| v) != Some(velocity) {
                    self.engine.command(WalkCommand::Velocity(velocity));
                }
                let timeout = self.parameters.velocity_timeout.get();
                self.velocity = Some((velocity, self.now().plus_seconds(timeout)));
            }
            Err(why) => warn!("cmd_vel: {why}"),
        }
    }

    /// Stops when `cmd_vel` has fallen silent.
    fn follow_velocity(&mut self, now: Time) {
        if self.velocity.take_if(|(_, until)| now > *until).is_some() {
            self.engine.command(WalkCommand::Stop);
        }
    }

    fn diagnose(&mut self) -> Status {
        if !self.engaged {
            let status = Status::warn("the robot does not stand as the gait begins");
            return match &self.last_fall {
                Some(fall) => status.value("last_fall", fall),
                None => status,
            };
        }
        let lean = self.engine.correction().lean;
        let status = match self.engine.lost() {
            Some(lost) => Status::warn(format!("lost: {}", lost.describe(&self.model))),
            None => Status::ok(if self.walk.is_some() { "walking" } else { "standing" }),
        };
        let status = status
            .value("steps", self.engine.steps())
            .value("lean", format!("{:.3} rad left, {:.3} rad forward", -lean[0], lean[1]));
        let Some(capture) = self.engine.correction().capture else { return status };
        status
            .value("capture", report::takes(capture.takes))
            .value("capture_margin_m", format!("{:.4}", capture.margin))
    }
}

impl Drop for GaitPlanner {
    /// Whoever waits for a walk hears why it does not go on.
    fn drop(&mut self) {
        self.end_walk(
            code::ROBOT_LOST,
            "the planner was stopped before the walk ended; the controller holds the robot where it is",
        );
    }
}
