//! Joint states and robot description to transforms, interchangeable with `robot_state_publisher`.
//!
//! | topic | type | |
//! |---|---|---|
//! | `joint_states` | `sensor_msgs/JointState` | in |
//! | `tool` | `std_msgs/String` | in: what is on the flange, with the parameter `tools` |
//! | `/tf` | `tf2_msgs/TFMessage` | out: the moving joints of each message, with its stamp |
//! | `/tf_static` | `tf2_msgs/TFMessage` | out, latched: all fixed joints in one message |
//! | `robot_description` | `std_msgs/String` | out, latched |
//!
//! Floating joints are left to a node that knows the pose of the robot.

mod node;
mod rate;
mod robot;

use std::process::ExitCode;

use node::StatePublisher;

fn main() -> ExitCode {
    karakuri_ros::run("state_publisher", StatePublisher::new)
}
