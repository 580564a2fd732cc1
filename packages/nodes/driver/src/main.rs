//! A real robot as a ROS 2 node: servos on a bus behind the topics that `sim` has for a simulated one.
//!
//! | topic or service | what |
//! |---|---|
//! | `joint_command` | targets of the servos |
//! | `joint_states` | what the servos measure, once a cycle of the bus; silent while nothing is measured |
//! | `~/resume` | ends a fault that waits for a person |
//! | `~/release` | makes the servos limp, to be moved by hand |
//! | `/diagnostics` | health of the robot, of the bus and of each servo |

mod diagnosis;
mod node;
mod parameters;

use std::process::ExitCode;

fn main() -> ExitCode {
    karakuri_ros::run("driver", node::new)
}
