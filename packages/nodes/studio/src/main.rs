//! The motion studio before a robot: what `karakuri studio` is, with the robot's measured pose beside it and motions sent to it.
//!
//! | name | type | |
//! |---|---|---|
//! | `joint_states` | `sensor_msgs/JointState` | in: where the robot is |
//! | `follow_joint_trajectory` | `control_msgs/FollowJointTrajectory` | client: poses and motions |

mod link;
mod node;
mod parameters;

use std::process::ExitCode;

fn main() -> ExitCode {
    karakuri_ros::run("studio", node::new)
}
