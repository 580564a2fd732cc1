//! The gripper: opens, closes, picks and places, and moves the tool.
//!
//! | name | type | |
//! |---|---|---|
//! | `gripper_cmd` | `control_msgs/GripperCommand` | action: opening [m], force [N]; of cups 0 for a vacuum, 1 to let go |
//! | `parallel_gripper_cmd` | `control_msgs/ParallelGripperCommand` | action: the same with a speed |
//! | `pick_and_place` | `karakuri_msgs/PickAndPlace` | action |
//! | `move_tool` | `karakuri_msgs/MoveTool` | action: the tool, with what the hand holds |
//! | `joint_states`, `wrench/<sensor>`, `pressure/<cup>` | | in: each sample is one tick |
//! | `/objects` | `karakuri_msgs/ObjectStates` | in: obstacles of the arm's paths, and the place of the object to pick |
//! | `<hand>/joint_trajectory` | `trajectory_msgs/JointTrajectory` | out: the fingers, or the vacuum as an effort under the generator's name; one point a tick |
//! | `follow_joint_trajectory` | `control_msgs/FollowJointTrajectory` | client: the arm |
//! | `grip_state` | `karakuri_msgs/GripState` | out |
//! | `tool` | `std_msgs/String` | in: what is on the flange, with the parameter `tools`; without a hand goals are refused |

mod arm;
mod command;
mod flange;
mod goals;
mod hand;
mod node;
mod parameters;
mod pick;
mod task;
mod tick;

use std::process::ExitCode;

fn main() -> ExitCode {
    karakuri_ros::run("gripper", node::new)
}
