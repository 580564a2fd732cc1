//! State of the node.

use std::sync::Arc;
use std::time::{Duration, Instant};

use karakuri_grasp::grip_monitor::GripMonitor;
use karakuri_grasp::gripper_command::GripperCommandRun;
use karakuri_grasp::pick_and_place::{KnownObject, PickAndPlace};
use karakuri_model::Model;
use karakuri_ros::msg::karakuri_msgs::action::PickAndPlace as Pick;
use karakuri_ros::msg::karakuri_msgs::msg::GripState;
use karakuri_ros::msg::trajectory_msgs::msg::JointTrajectory as TrajectoryMessage;
use karakuri_ros::{
    ActiveGoal, GoalRequest, InputId, JointStateReader, Publisher, SampleGate, Throttle, Transforms,
};
use karakuri_spatial::{Force, Time};

use crate::arm::Arm;
use crate::command::{CommandGoal, Ending};
use crate::parameters::Parameters;
use crate::pick::{self, Frames, code};

/// A finger's newest reading.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) wrench: Force,
    pub(crate) received: Instant,
}

/// State of the node.
pub(crate) struct Gripper {
    pub(crate) parameters: Parameters,
    pub(crate) model: Arc<Model>,
    pub(crate) machine: PickAndPlace,
    pub(crate) reader: JointStateReader,
    pub(crate) transforms: Transforms,
    pub(crate) root: String,
    pub(crate) arm: Arm,
    pub(crate) readings: [Option<Reading>; 2],
    /// Last sighting of the surroundings, and its stamp.
    pub(crate) sighting: Option<(Time, Vec<KnownObject>)>,
    /// Joins samples and force readings; keeps the hand's reference.
    pub(crate) gate: SampleGate<TrajectoryMessage>,
    pub(crate) fingers: [InputId; 2],
    pub(crate) hand_joint: String,
    pub(crate) output: Publisher<TrajectoryMessage>,
    pub(crate) grip_state: Publisher<GripState>,
    /// Whether a goal waited in vain for objects: the next one does not wait.
    pub(crate) blind: bool,
    /// Goal that is not begun yet, and the instant since which it waits.
    pub(crate) waiting: Option<(GoalRequest<Pick::Action>, Instant)>,
    pub(crate) pick: Option<(ActiveGoal<Pick::Action>, Time)>,
    pub(crate) command: Option<(CommandGoal, GripperCommandRun)>,
    pub(crate) monitor: GripMonitor,
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
        let timeout = Duration::from_secs_f64(self.parameters.sensor_timeout.get());
        let fresh = |r: &Option<Reading>| r.is_some_and(|r| r.received.elapsed() < timeout);
        if !self.readings.iter().all(fresh) {
            return Some("the finger sensors are silent");
        }
        None
    }

    pub(crate) fn now(&self) -> Time {
        self.gate.newest().unwrap_or(Time::ZERO)
    }

    pub(crate) fn frames(&self) -> Frames<'_> {
        Frames { transforms: &self.transforms, model: &self.model, root: &self.root }
    }

    /// Ends the active gripper command.
    pub(crate) fn end_command(&mut self, ending: Ending) {
        if let Some((goal, mut run)) = self.command.take() {
            let (hand, grip) = self.machine.hand_and_grip();
            let (report, _) = run.check(hand, grip, 0.0);
            goal.end(ending, &report);
        }
    }

    /// Age of the oldest of the fingers' newest readings. [s]
    pub(crate) fn sensor_age(&self) -> f64 {
        let readings = self.readings.iter().flatten();
        readings.map(|r| r.received.elapsed().as_secs_f64()).fold(0.0, f64::max)
    }
}

impl Drop for Gripper {
    /// Aborts the active pick and place with its reason, so that its client does not wait in vain.
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

/// Surroundings as last seen; a sighting later than `now`, from before a reset of time, does not count.
pub(crate) fn seen(
    sighting: Option<&(Time, Vec<KnownObject>)>,
    now: Time,
) -> Option<&[KnownObject]> {
    sighting.filter(|(stamp, _)| *stamp <= now).map(|(_, objects)| objects.as_slice())
}
