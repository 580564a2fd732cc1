//! Conversion between messages and the change.

use karakuri_control::trajectory::{JointTrajectory, TrajectoryPoint};
use karakuri_grasp::tool_change::ToolChangeSettings;
use karakuri_ros::duration_to_message;
use karakuri_ros::msg::karakuri_msgs::action::ChangeTool;
use karakuri_ros::msg::karakuri_msgs::msg::GripState;
use karakuri_ros::msg::trajectory_msgs::msg::{
    JointTrajectory as TrajectoryMessage, JointTrajectoryPoint as PointMessage,
};

/// Settings within the limits of a goal.
///
/// # Errors
/// The code of a refusal and its sentence, when a limit is no speed or acceleration.
pub(crate) fn limited(
    usual: ToolChangeSettings,
    goal: &ChangeTool::Goal,
) -> Result<ToolChangeSettings, (u8, String)> {
    let least = |name: &str, usual: f64, limit: f64| match limit {
        0.0 => Ok(usual),
        _ if limit > 0.0 => Ok(usual.min(limit)),
        _ => Err((
            ChangeTool::Result::INVALID_GOAL as u8,
            format!("`{name}` is {limit}; write a positive number, or 0 for the usual one"),
        )),
    };
    Ok(ToolChangeSettings {
        speed: least("max_speed", usual.speed, goal.max_speed)?,
        acceleration: least("max_acceleration", usual.acceleration, goal.max_acceleration)?,
        ..usual
    })
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
