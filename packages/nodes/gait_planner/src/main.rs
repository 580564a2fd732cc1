//! The gait planner: walks a robot on two legs.
//!
//! | name | type | |
//! |---|---|---|
//! | `walk` | `karakuri_msgs/Walk` | action: a distance, a turn, a velocity or footsteps |
//! | `cmd_vel` | `geometry_msgs/Twist` | in: walk at a velocity while no goal is active |
//! | `joint_states`, `imu/<sensor>` | | in: each sample is one tick |
//! | `joint_trajectory` | `trajectory_msgs/JointTrajectory` | out: the whole body, one point a tick |
//! | `com`, `zmp`, `dcm` | `geometry_msgs/PointStamped` | out: planned, planned, measured |
//! | `support_polygon` | `geometry_msgs/PolygonStamped` | out: convex hull of the standing soles |
//! | `footsteps` | `visualization_msgs/MarkerArray` | out: places of the feet, present and planned |

mod goal;
mod node;
mod parameters;
mod planner;
mod report;
mod setup;
mod shown;
mod walk;

use std::process::ExitCode;

fn main() -> ExitCode {
    karakuri_ros::run("gait_planner", setup::new)
}
