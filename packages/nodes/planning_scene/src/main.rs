//! Objects that are seen, and the one that the hand holds, for the planning scene of `MoveIt`.
//!
//! | name | type | |
//! |---|---|---|
//! | `/objects` | `karakuri_msgs/ObjectStates` | in |
//! | `grip_state` | `karakuri_msgs/GripState` | in: whether the hand holds something |
//! | `tool` | `std_msgs/String` | in: what is on the flange, with the parameter `tools` |
//! | `/tf`, `/tf_static` | `tf2_msgs/TFMessage` | in: the tool, and the robot in the world |
//! | `/apply_planning_scene` | `moveit_msgs/ApplyPlanningScene` | client: objects that come and go, or are attached to the tool |
//! | `/collision_object` | `moveit_msgs/CollisionObject` | out: objects that moved |

mod convert;
mod node;
mod parameters;

use std::process::ExitCode;

fn main() -> ExitCode {
    karakuri_ros::run("planning_scene", node::new)
}
