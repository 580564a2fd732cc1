//! State of a hand.

use std::sync::Arc;
use std::time::{Duration, Instant};

use karakuri_grasp::EndEffector;
use karakuri_grasp::finger_sense::FingerSense;
use karakuri_grasp::hand::OpeningHand;
use karakuri_grasp::hand_command::HandCommandRun;
use karakuri_grasp::pick_and_place::{Defaults, KnownObject, PickAndPlace};
use karakuri_hand_goals::Frames;
use karakuri_model::{BodyId, Model};
use karakuri_ros::msg::karakuri_msgs::msg::GripState;
use karakuri_ros::msg::trajectory_msgs::msg::JointTrajectory as TrajectoryMessage;
use karakuri_ros::{
    Clock, InputId, JointStateReader, Publisher, SampleGate, Status, Throttle, Transforms,
    is_silent, warn,
};
use karakuri_spatial::{Force, Time};

use crate::arm::Arm;
use crate::command::{CommandGoal, CommandRequest, Ending};
use crate::parameters::Parameters;
use crate::pick::code;
use crate::task::{TaskGoal, TaskRequest};

/// Wall time until targets surely reach a new subscriber: the middleware stops a publishing thread for a third of a second for each
/// participant that joins.
const DISCOVERY: Duration = Duration::from_secs(3);
/// Wall time in which a controller that has just subscribed to the hand's references hears one, and waits for them in lockstep from then on.
const FIRST_REFERENCE: Duration = Duration::from_millis(500);
const LOST: &str = "joint states did not come for too long; see in the driver's diagnostics why, then send the goal again";

/// Newest reading of a sensor of the hand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading<T> {
    pub(crate) value: T,
    pub(crate) received: Instant,
}

/// Newest readings of sensors of one kind; `None` of one that was not heard yet.
pub(crate) type Readings<T> = Vec<Option<Reading<T>>>;

/// State of a hand on the flange.
pub(crate) struct Gripper {
    pub(crate) parameters: Parameters,
    pub(crate) model: Arc<Model>,
    pub(crate) machine: PickAndPlace,
    pub(crate) reader: JointStateReader,
    pub(crate) transforms: Transforms,
    pub(crate) root: String,
    pub(crate) arm: Arm,
    /// Readings of the hand's force sensors.
    pub(crate) wrenches: Readings<Force>,
    /// Vacuums in the hand's cups. [Pa]
    pub(crate) vacuums: Readings<f64>,
    /// When joint states came last.
    pub(crate) heard: Instant,
    pub(crate) clock: Clock,
    /// Last sighting of the surroundings, and its stamp.
    pub(crate) sighting: Option<(Time, Vec<KnownObject>)>,
    /// Joins samples and force readings; keeps the hand's reference.
    pub(crate) gate: SampleGate<TrajectoryMessage>,
    /// Inputs of the force sensors, and of the cups.
    pub(crate) inputs: [Vec<InputId>; 2],
    /// Driven joint of the hand; none of cups.
    pub(crate) hand_joint: Option<BodyId>,
    pub(crate) output: Publisher<TrajectoryMessage>,
    pub(crate) grip_state: Publisher<GripState>,
    /// Whether a goal waited in vain for objects: the next one does not wait.
    pub(crate) blind: bool,
    /// Goal that is not begun yet, and the instant since which it waits.
    pub(crate) waiting: Option<(TaskRequest, Instant)>,
    /// Command that is not begun yet, and the instant since which it waits.
    pub(crate) waiting_command: Option<(CommandRequest, Instant)>,
    /// Goal of the machine that is carried out, and when it began.
    pub(crate) task: Option<(TaskGoal, Time)>,
    pub(crate) command: Option<(CommandGoal, HandCommandRun)>,
    /// Whether the hand has moved by a command or a task.
    pub(crate) has_moved: bool,
    /// Since when the hand's references have a subscriber.
    pub(crate) subscribed: Option<Instant>,
    pub(crate) ticks: u64,
    pub(crate) silent: Throttle,
}

impl Gripper {
    /// Whether the answer is withheld: in lockstep time stands still until the arm has answered.
    pub(crate) fn is_withheld(&self) -> bool {
        self.parameters.robot.lockstep.get() && self.arm.is_unanswered()
    }

    /// Reason why no goal can be taken now.
    pub(crate) fn not_ready(&self) -> Option<&'static str> {
        if self.gate.newest().is_none() {
            return Some("no joint_states have come yet");
        }
        if self.is_lost() {
            return Some("joint_states do not come any more; see in the driver's diagnostics why");
        }
        let lockstep = self.parameters.robot.lockstep.get();
        // A goal takes time to plan. Time would go on in lockstep, and the arm begin in the middle of its path.
        let is_awaited = self.subscribed.is_some_and(|since| since.elapsed() > FIRST_REFERENCE);
        if lockstep && !is_awaited {
            return Some(
                "in lockstep the controller does not wait for the hand yet; is it running?",
            );
        }
        let hand = self.machine.opening_hand();
        if let Some(FingerSense::Drive(drive)) = hand.map(OpeningHand::sense) {
            return (!drive.is_known()).then_some("the hand's joint was not measured yet");
        }
        let timeout = Duration::from_secs_f64(self.parameters.sensor_timeout.get());
        // In lockstep each sample has waited for its readings, whatever wall time that took.
        let is_stale = |received: Option<Instant>| {
            received.is_none_or(|at| !lockstep && at.elapsed() > timeout)
        };
        let silent = match (hand, self.received().any(is_stale)) {
            (_, false) => return None,
            (Some(_), true) => "the finger sensors are silent",
            (None, true) => "the wrist's force sensor or the pressure of a cup is silent",
        };
        Some(silent)
    }

    /// When each sensor of the hand was heard last.
    fn received(&self) -> impl Iterator<Item = Option<Instant>> {
        let wrenches = self.wrenches.iter().map(|r| r.map(|r| r.received));
        wrenches.chain(self.vacuums.iter().map(|r| r.map(|r| r.received)))
    }

    /// Geometry of the hand's fingers, if it has any.
    pub(crate) fn fingers(&self) -> Option<&dyn EndEffector> {
        self.machine.opening_hand().map(OpeningHand::fingers)
    }

    pub(crate) fn now(&self) -> Time {
        self.gate.newest().unwrap_or(Time::ZERO)
    }

    pub(crate) fn frames(&self) -> Frames<'_> {
        Frames { transforms: &self.transforms, model: &self.model, root: &self.root }
    }

    /// Values for what a goal leaves open.
    pub(crate) fn defaults(&self) -> Defaults {
        self.parameters.hand.unstated().of(&self.machine)
    }

    /// Whether a hand that does not move is stalled, rather than not reached by its targets yet.
    pub(crate) fn is_heard(&self) -> bool {
        // In lockstep each target is waited for.
        let is_certain = self.has_moved || self.parameters.robot.lockstep.get();
        self.subscribed.is_some_and(|since| is_certain || since.elapsed() > DISCOVERY)
    }

    /// Looks whether the hand's references have a subscriber.
    pub(crate) fn look_for_subscriber(&mut self) {
        let is_there = self.output.n_subscribers() > 0;
        self.subscribed = is_there.then(|| self.subscribed.unwrap_or_else(Instant::now));
    }

    /// Ends the active gripper command.
    pub(crate) fn end_command(&mut self, ending: Ending) {
        if let Some((goal, mut run)) = self.command.take() {
            let (report, _) = run.check(&mut self.machine, 0.0);
            goal.end(ending, self.fingers(), &report);
        }
    }

    /// Source of the forces that results and `grip_state` tell.
    pub(crate) fn force_source(&self) -> &'static str {
        let start = self.hand_joint.map(|joint| self.model.joints[joint.0].v_start);
        let effort = start.and_then(|start| self.reader.effort.get(start));
        match self.machine.opening_hand().map(OpeningHand::sense) {
            None => "vacuum",
            Some(FingerSense::Sensors(_)) => "finger sensors",
            Some(FingerSense::Drive(_)) if effort.is_some_and(|effort| effort.is_finite()) => {
                "effort of the drive"
            }
            Some(FingerSense::Drive(_)) => "target of the drive",
        }
    }

    fn is_lost(&self) -> bool {
        is_silent(self.heard, self.parameters.robot.lockstep.get(), &self.clock)
    }

    /// Aborts what is under way when the robot has been silent for too long: no sample will tell its end.
    pub(crate) fn end_if_lost(&mut self) {
        if !self.is_lost() {
            return;
        }
        if self.command.is_some() {
            warn!("gripper command aborted: {LOST}");
            // What it gripped stays gripped; a hand on its way does not go on when the robot is back.
            let hand = self.machine.opening_hand();
            if hand.is_some_and(|hand| !hand.grip().state().gripped) {
                self.machine.stay();
            }
            self.end_command(Ending::Aborted);
        }
        if let Some((goal, _)) = self.task.take() {
            warn!("{}: {LOST}", goal.action());
            let stage = self.machine.feedback().stage;
            self.machine.cancel();
            goal.abort(code::ROBOT_LOST, LOST, stage.name(), self.now());
        }
    }

    /// State of the hand, for people.
    pub(crate) fn diagnose(&self) -> Status {
        let status = match self.not_ready().or_else(|| self.arm.not_ready()) {
            Some(why) => Status::warn(why),
            None if self.machine.is_busy() => Status::ok("picking and placing"),
            None => Status::ok("ready"),
        };
        let status = status.value("force_by", self.force_source());
        let channels = self.machine.channels().iter();
        channels.fold(status, |status, channel| {
            let unit = channel.unit.to_lowercase();
            status.value(&format!("{}_{unit}", channel.name), channel.value)
        })
    }

    /// Age of the oldest of the sensors' newest readings. [s]
    pub(crate) fn sensor_age(&self) -> f64 {
        self.received().flatten().map(|at| at.elapsed().as_secs_f64()).fold(0.0, f64::max)
    }
}

impl Drop for Gripper {
    /// Aborts the active pick and place, or move, with its reason, so that its client does not wait in vain.
    fn drop(&mut self) {
        if let Some((goal, _)) = self.task.take() {
            let why =
                "the gripper was stopped before the object was placed; what it holds stays held";
            goal.abort(code::ROBOT_LOST, why, self.machine.feedback().stage.name(), self.now());
        }
    }
}

/// Surroundings as last seen; a sighting later than `now`, from before a reset of time, does not count.
pub(crate) fn seen(
    sighting: Option<&(Time, Vec<KnownObject>)>,
    now: Time,
) -> Option<&[KnownObject]> {
    sighting.filter(|(stamp, _)| *stamp <= now).map(|(_, objects)| objects.as_slice())
}
