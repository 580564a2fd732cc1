//! State of the node.

use std::sync::Arc;

use karakuri_gait::planner::{Clip, Footstep, StabilizerSettings, Velocity, Walk as Run, Walker};
use karakuri_model::Model;
use karakuri_ros::msg::karakuri_msgs::action::Walk;
use karakuri_ros::msg::trajectory_msgs::msg::JointTrajectory;
use karakuri_ros::{
    ActiveGoal, InputId, IntoMessage, JointStateReader, Publisher, SampleGate, Throttle,
    duration_to_message,
};
use karakuri_settings::StabilizerParameters;
use karakuri_spatial::{Force, Time, UnitQuaternion, Vector3};

use crate::parameters::Parameters;
use crate::report::Reports;

/// Ticks between two messages of feedback and points.
pub(crate) const TICKS_A_REPORT: u64 = 10;

/// The newest reading of the inertial sensor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    pub(crate) orientation: UnitQuaternion,
    pub(crate) angular_velocity: Vector3,
}

/// State of the node.
pub(crate) struct GaitPlanner {
    pub(crate) parameters: Parameters,
    pub(crate) model: Arc<Model>,
    pub(crate) walker: Walker,
    pub(crate) gains: StabilizerParameters,
    /// Gains of the gait file.
    pub(crate) file_gains: StabilizerSettings,
    pub(crate) reader: JointStateReader,
    /// Input of the inertial sensor, where there is one.
    pub(crate) imu: Option<InputId>,
    pub(crate) reading: Option<Reading>,
    /// Newest readings of the feet's force sensors, left and right, where both feet have one.
    pub(crate) feet: Option<[Option<(Time, Force)>; 2]>,
    /// Joins samples and readings; keeps the reference.
    pub(crate) gate: SampleGate<JointTrajectory>,
    /// Inputs of the feet, left and right; none without an inertial sensor, as nothing then uses them.
    pub(crate) foot_inputs: [Option<InputId>; 2],
    pub(crate) walk: Option<(ActiveGoal<Walk::Action>, Run, Vec<Clip>)>,
    /// Velocity of `cmd_vel` in force, and the instant at which it expires.
    pub(crate) velocity: Option<(Velocity, Time)>,
    pub(crate) output: Publisher<JointTrajectory>,
    pub(crate) reports: Reports,
    pub(crate) ticks: u64,
    /// Count of steps begun at the last tick.
    pub(crate) begun: u64,
    /// Content of the last `footsteps`: count of steps begun, and the steps ahead.
    pub(crate) shown: (u64, Vec<Footstep>),
    /// Whether the warning that the robot will fall was given.
    pub(crate) is_lost: bool,
    /// Description of the last fall.
    pub(crate) last_fall: Option<String>,
    pub(crate) hint: Throttle,
}

impl GaitPlanner {
    /// Fills in the reference of the tick.
    pub(crate) fn write_reference(&mut self, stamp: Time, period: f64) {
        let reference = self.gate.answer();
        reference.header.stamp = stamp.to_message();
        let Some(point) = reference.points.first_mut() else { return };
        point.time_from_start = duration_to_message(period);
        self.walker.write_targets(&mut point.positions, &mut point.velocities, &mut point.effort);
    }
}
