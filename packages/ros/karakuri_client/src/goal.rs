//! `karakuri goal`: sends a goal to an action server, as `ros2 action send_goal`.

use karakuri_ros::client::{Client, ClientError, GoalEnd, GoalEvent};
use serde_yaml::Value;

use crate::output::{indented, print};

/// Sends a goal to an action server and waits for its end, as `ros2 action send_goal`
///
/// Ctrl-C cancels the goal and waits for its end. Exit code 0: it succeeded; 1: there is no such server, or the goal has
/// other fields; 3: it was rejected, aborted or canceled; 130: canceled by Ctrl-C.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  karakuri goal -f /arm/gripper_cmd control_msgs/action/GripperCommand '{command: {position: 0.03, max_effort: 8.0}}'
  karakuri goal /arm/gripper_cmd '{command: {position: 0.03}}'")]
pub(crate) struct Args {
    /// The action's name; `karakuri actions` lists them
    action: String,
    /// The type of the goal, as `control_msgs/action/GripperCommand`; it may be left out: the server tells it
    #[arg(value_name = "[TYPE]")]
    kind_or_goal: String,
    /// The goal as YAML or JSON; what is left out keeps its default
    #[arg(value_name = "GOAL")]
    goal: Option<String>,
    /// Show what the server tells on the way
    #[arg(long, short)]
    feedback: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args, client: &mut Client) -> Result<(), ClientError> {
    let (kind, text) = match &args.goal {
        Some(goal) => (Some(args.kind_or_goal.as_str()), goal),
        None => (None, &args.kind_or_goal),
    };
    let value: Value = serde_yaml::from_str(text)
        .map_err(|e| ClientError::Wrong(format!("the goal is no YAML: {e}")))?;
    print("Waiting for an action server to become available...\n")?;
    let (kind, definition) = client.action_server(&args.action, kind)?;
    let goal = definition.json(&value).map_err(ClientError::Wrong)?;
    print(&format!("Sending goal:\n{}\n", indented(&value)))?;
    let mut sent = client.send_goal(&args.action, &kind, goal)?;
    print(&format!("Goal accepted with ID: {}\n\n", sent.id()))?;
    let mut end = None;
    client.follow(&mut sent, |event| match event {
        GoalEvent::Feedback(value) if args.feedback => {
            print(&format!("Feedback:\n{}\n", indented(&value)))
        }
        GoalEvent::Canceling => print("Canceling goal...\n"),
        GoalEvent::Ended(how, result) => {
            end = Some(how);
            let result = if result.is_null() {
                "    (it did not arrive)\n".to_owned()
            } else {
                indented(&result)
            };
            print(&format!("Result:\n{result}\n"))
        }
        _ => Ok(()),
    })?;
    let (name, failed) = match end {
        Some(GoalEnd::Succeeded) => ("SUCCEEDED", false),
        Some(GoalEnd::Canceled) => ("CANCELED", true),
        _ => ("ABORTED", true),
    };
    print(&format!("Goal finished with status: {name}\n"))?;
    if client.is_interrupted() {
        return Err(ClientError::Interrupted);
    }
    if failed {
        Err(ClientError::Failed(format!("the goal was {}", name.to_lowercase())))
    } else {
        Ok(())
    }
}
