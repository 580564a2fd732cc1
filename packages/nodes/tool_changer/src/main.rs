//! Changes what is on the flange of an arm, at the dock of its tools file.
//!
//! | name | type | |
//! |---|---|---|
//! | `change_tool` | `karakuri_msgs/ChangeTool` | action |
//! | `tool` | `std_msgs/String` | in: what is on the flange |
//! | `joint_states`, `wrench/<sensor>` | | in: where the arm is, and what its wrist carries |
//! | `grip_state` | `karakuri_msgs/GripState` | in: whether the hand holds something |
//! | `follow_joint_trajectory` | `control_msgs/FollowJointTrajectory` | client: the arm |
//! | `sim/set_tool` | `karakuri_msgs/SetTool` | client: the coupling, by the parameter `changer` |

mod arm;
mod changer;
mod convert;
mod node;
mod parameters;
mod state;

use std::process::ExitCode;

fn main() -> ExitCode {
    karakuri_ros::run("tool_changer", node::new)
}
