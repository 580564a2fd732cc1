//! The commander: takes verbs, rehearses them in copies of a cell that follows the nodes, and has the nodes carry out what was approved.
//!
//! | name | type | |
//! |---|---|---|
//! | `~/look`, `~/status`, `~/log`, `~/stop` | `karakuri_msgs/srv/Ask` | services: verbs that move nothing, or stop what moves |
//! | `~/pick`, `~/place`, `~/move`, `~/set_gripper`, `~/home` | `karakuri_msgs/action/Command` | actions: rehearsals, answered with what will happen and a ticket |
//! | `~/act` | `karakuri_msgs/action/Command` | action: carries out what a ticket is for |
//! | `~/function_call` | `karakuri_msgs/action/Command` | action: the rehearsal of what a call of a language model means, as `move(x, y, high)` in units of a picture |
//! | `~/decide` | `karakuri_msgs/srv/Decide` | service: what a person at the robot says of an act that awaits approval |
//! | `joint_states`, `joint_command`, `/objects` | | in: each sample and its answer are compared with those of the cell |
//! | `/diagnostics` | `diagnostic_msgs/DiagnosticArray` | in: whether the controller waits for the hand |
//! | `pick_and_place`, `move_tool`, `gripper_cmd` | | clients: the hand |
//! | `sim/set_simulation_state` | `simulation_interfaces/SetSimulationState` | client: time stands still between acts |

mod calls;
mod door;
mod feed;
mod goal;
mod node;
mod opening;
mod parameters;
mod time;
mod twin;

use std::process::ExitCode;

fn main() -> ExitCode {
    karakuri_ros::run("commander", node::new)
}
