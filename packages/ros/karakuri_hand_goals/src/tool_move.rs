//! Moves of the tool.

use karakuri_grasp::pick_and_place::{PickAndPlaceSettings, ToolAim, ToolMove};
use karakuri_ros::msg::geometry_msgs::msg::PoseStamped;
use karakuri_ros::msg::karakuri_msgs::action::MoveTool;

use crate::frames::{Locate, read, written};

/// Move that a goal asks for; what it leaves open is that of the settings.
///
/// # Errors
/// When its pose is none, or in a frame that is not known.
pub fn tool_move(
    goal: &MoveTool::Goal,
    frames: &impl Locate,
    settings: &PickAndPlaceSettings,
) -> Result<ToolMove, String> {
    let aim = if goal.posture.is_empty() {
        ToolAim::Pose(read("pose", &goal.pose, frames)?)
    } else {
        ToolAim::Posture(goal.posture.clone())
    };
    let or = |stated: f64, usual: f64| if stated == 0.0 { usual } else { stated };
    Ok(ToolMove {
        aim,
        speed: or(goal.speed, settings.speed),
        acceleration: or(goal.acceleration, settings.acceleration),
        along: Some(goal.along.clone()).filter(|along| !along.is_empty()),
    })
}

/// Goal of a move.
pub fn move_message(goal: &ToolMove) -> MoveTool::Goal {
    let ToolMove { aim, speed, acceleration, along } = goal;
    let (posture, pose) = match aim {
        ToolAim::Pose(pose) => (String::new(), written(pose)),
        ToolAim::Posture(name) => (name.clone(), PoseStamped::default()),
    };
    let along = along.clone().unwrap_or_default();
    MoveTool::Goal { posture, pose, speed: *speed, acceleration: *acceleration, along }
}
