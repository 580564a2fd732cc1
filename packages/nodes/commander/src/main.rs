//! The commander: takes verbs, rehearses them in copies of a cell that follows the nodes, and has the nodes carry out what was approved.
//!
//! | name | type | |
//! |---|---|---|
//! | `~/look`, `~/status`, `~/log`, `~/stop` | `karakuri_msgs/srv/Ask` | services: verbs that move nothing, or stop what moves |
//! | `~/pick`, `~/place`, `~/move`, `~/set_gripper`, `~/home`, `~/walk_to` | `karakuri_msgs/action/Command` | actions: rehearsals, answered with what will happen and a ticket |
//! | `~/act` | `karakuri_msgs/action/Command` | action: carries out what a ticket is for |
//! | `~/function_call` | `karakuri_msgs/action/Command` | action: the rehearsal of what a call of a language model means, as `move(x, y, high)` in units of a picture |
//! | `~/decide` | `karakuri_msgs/srv/Decide` | service: what a person at the robot says of an act that awaits approval |
//! | `joint_states`, `joint_command`, `/objects` | | in: each sample and its answer are compared with those of the cell; without lockstep the cell is put where they are |
//! | `/diagnostics` | `diagnostic_msgs/DiagnosticArray` | in: whether the controller waits for the hand and the walk |
//! | `grip_state` | `karakuri_msgs/GripState` | in, without lockstep: whether the hand carries something |
//! | `pick_and_place`, `move_tool`, `gripper_cmd`, `walk` | | clients: the hand, the walk |
//! | `feedforward_controller/…`, `gripper/…`, `gait_planner/…`: `list_parameters`, `get_parameters` | | clients: settings of the nodes, which the cell takes |
//! | `sim/set_simulation_state` | `simulation_interfaces/SetSimulationState` | client: time stands still between acts |

mod calls;
mod door;
mod feed;
mod follower;
mod goal;
mod node;
mod nodes;
mod opening;
mod parameters;
mod running;
mod settings;
mod time;
mod twin;

use std::process::ExitCode;

fn main() -> ExitCode {
    karakuri_ros::run("commander", node::new)
}
