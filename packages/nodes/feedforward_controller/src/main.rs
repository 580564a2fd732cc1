//! Trajectories to joint commands, with inverse-dynamics feed-forward.
//!
//! | name | type | |
//! |---|---|---|
//! | `joint_states` | `sensor_msgs/JointState` | in: each sample is answered by a command |
//! | `joint_command` | `sensor_msgs/JointState` | out: drive targets and feed-forward efforts |
//! | `follow_joint_trajectory`, `<group>/follow_joint_trajectory` | `control_msgs/FollowJointTrajectory` | action |
//! | `joint_trajectory`, `<group>/joint_trajectory` | `trajectory_msgs/JointTrajectory` | in |
//! | `hand/joint_trajectory` | `trajectory_msgs/JointTrajectory` | in: forces of vacuum generators, as efforts under their names |
//! | `target_wrench/<link>` | `geometry_msgs/WrenchStamped` | in: the wrench that a link is to exert on its surroundings |
//! | `wrench/<sensor>` | `geometry_msgs/WrenchStamped` | in: measured wrench for the feedback, of links with a contact sensor |
//! | `tool` | `std_msgs/String` | in: what is on the flange, with the parameter `tools` |
//! | `~/query_state`, `~/<group>/query_state` | `control_msgs/QueryTrajectoryState` | service: the desired state at an instant |
//! | `controller_state`, `<group>/controller_state` | `control_msgs/JointTrajectoryControllerState` | out |

mod controller;
mod convert;
mod cycle;
mod forces;
mod group;
mod node;
mod parameters;
mod topics;
mod vacuums;

use std::process::ExitCode;

fn main() -> ExitCode {
    karakuri_ros::run("feedforward_controller", node::new)
}
