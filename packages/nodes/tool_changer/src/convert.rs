//! Conversion between messages and the change.

use karakuri_control::trajectory::{JointTrajectory, TrajectoryPoint};
use karakuri_grasp::tool_change::ToolChangeFailure as Failure;
use karakuri_ros::duration_to_message;
use karakuri_ros::msg::karakuri_msgs::msg::GripState;
use karakuri_ros::msg::trajectory_msgs::msg::{
    JointTrajectory as TrajectoryMessage, JointTrajectoryPoint as PointMessage,
};

/// Error codes of the action's result (`karakuri_msgs/action/ChangeTool`).
pub(crate) mod code {
    pub(crate) const NONE: u8 = 0;
    pub(crate) const ROBOT_LOST: u8 = 5;
    pub(crate) const OBJECT_HELD: u8 = 7;
}

pub(crate) fn failure_code(failure: Option<Failure>) -> u8 {
    match failure {
        None => code::NONE,
        Some(Failure::UnknownTool) => 1,
        Some(Failure::ToolLost) => 2,
        Some(Failure::Unreachable) => 3,
        Some(Failure::Refused) => 4,
        Some(Failure::RobotLost) => code::ROBOT_LOST,
        Some(Failure::Canceled) => 6,
    }
}

/// Whether a hand of any kind holds something.
pub(crate) fn holds(state: &GripState) -> bool {
    // The margin is a number while pick and place carries something.
    state.holding || state.margin.is_finite()
}

/// Trajectory that starts when it comes.
pub(crate) fn trajectory_message(trajectory: &JointTrajectory) -> TrajectoryMessage {
    TrajectoryMessage {
        joint_names: trajectory.joints.clone(),
        points: trajectory.points.iter().map(point_message).collect(),
        ..TrajectoryMessage::default()
    }
}

fn point_message(point: &TrajectoryPoint) -> PointMessage {
    PointMessage {
        positions: point.positions.clone(),
        velocities: point.velocities.clone(),
        accelerations: point.accelerations.clone(),
        effort: point.efforts.clone(),
        time_from_start: duration_to_message(point.time_from_start),
    }
}
