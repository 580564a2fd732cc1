//! Conversion between messages and the types of the controller.

use karakuri_control::joint_trajectory::{Goal, JointTolerance};
use karakuri_control::trajectory::{JointSample, JointTrajectory, TrajectoryPoint};
use karakuri_ros::duration_from_message;
use karakuri_ros::msg::control_msgs::action::FollowJointTrajectory;
use karakuri_ros::msg::control_msgs::msg::JointTolerance as ToleranceMessage;
use karakuri_ros::msg::trajectory_msgs::msg::{
    JointTrajectory as TrajectoryMessage, JointTrajectoryPoint as PointMessage,
};
use karakuri_ros::time_from_message;
use karakuri_spatial::Time;

pub(crate) fn control_time(time: Time) -> Time {
    time
}

pub(crate) fn trajectory(message: &TrajectoryMessage) -> JointTrajectory {
    let start = time_from_message(&message.header.stamp);
    JointTrajectory {
        start: (start != Time::ZERO).then(|| control_time(start)),
        joints: message.joint_names.clone(),
        points: message.points.iter().map(point).collect(),
    }
}

fn point(message: &PointMessage) -> TrajectoryPoint {
    TrajectoryPoint {
        time_from_start: duration_from_message(&message.time_from_start),
        positions: message.positions.clone(),
        velocities: message.velocities.clone(),
        accelerations: message.accelerations.clone(),
        efforts: message.effort.clone(),
    }
}

pub(crate) fn goal(message: &FollowJointTrajectory::Goal) -> Goal {
    let tolerances = |messages: &[ToleranceMessage]| messages.iter().map(tolerance).collect();
    Goal {
        trajectory: trajectory(&message.trajectory),
        path_tolerance: tolerances(&message.path_tolerance),
        goal_tolerance: tolerances(&message.goal_tolerance),
        goal_time_tolerance: duration_from_message(&message.goal_time_tolerance),
    }
}

fn tolerance(message: &ToleranceMessage) -> JointTolerance {
    JointTolerance {
        name: message.name.clone(),
        position: message.position,
        velocity: message.velocity,
        acceleration: message.acceleration,
    }
}

/// Point message of a group's samples.
pub(crate) fn point_message(samples: &[JointSample]) -> PointMessage {
    PointMessage {
        positions: samples.iter().map(|s| s.position).collect(),
        velocities: samples.iter().map(|s| s.velocity).collect(),
        accelerations: samples.iter().map(|s| s.acceleration).collect(),
        effort: samples.iter().map(|s| s.effort).collect(),
        ..PointMessage::default()
    }
}
