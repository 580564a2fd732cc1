//! `karakuri echo`: shows the messages of a topic, as `ros2 topic echo`.

use std::time::Duration;

use karakuri_ros::client::{Client, ClientError};
use serde_yaml::Value;

use crate::output::{line, print, yaml};

/// Shows the messages of a topic as YAML, as `ros2 topic echo`; Ctrl-C ends it
///
/// Exit code 1: there is no such topic or field; 3: nothing came within --timeout.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  karakuri echo --once /arm/joint_states
  karakuri echo /arm/grip_state --field force_left")]
pub(crate) struct Args {
    /// The topic; `karakuri topics` lists them
    topic: String,
    /// Its type, as `sensor_msgs/msg/JointState`; needed only where nobody publishes it yet
    #[arg(value_name = "TYPE")]
    kind: Option<String>,
    /// End after the first message
    #[arg(long)]
    once: bool,
    /// Show this field alone, as `header.stamp` or `position[0]`
    #[arg(long, value_name = "FIELD")]
    field: Option<String>,
    /// End with exit code 3 when no message comes for so long [s]
    #[arg(long, value_name = "SECONDS", value_parser = crate::seconds)]
    timeout: Option<Duration>,
}

/// Runs the command.
pub(crate) fn run(args: &Args, client: &mut Client) -> Result<(), ClientError> {
    let show = |message: Value| {
        let text = match &args.field {
            None => yaml(&message),
            Some(path) => match field(&message, path).map_err(ClientError::Wrong)? {
                value @ (Value::Mapping(_) | Value::Sequence(_)) => yaml(value),
                value => line(value) + "\n",
            },
        };
        print(&format!("{text}---\n"))?;
        Ok(!args.once)
    };
    match client.echo(&args.topic, args.kind.as_deref(), args.timeout, show) {
        // Ctrl-C is the ordinary end of an echo
        Err(ClientError::Interrupted) if !args.once => Ok(()),
        done => done,
    }
}

/// Part of a message at a path of names and indices.
fn field<'m>(message: &'m Value, path: &str) -> Result<&'m Value, String> {
    let mut value = message;
    let mut done = String::new();
    for part in path.replace('[', ".[").split('.').filter(|part| !part.is_empty()) {
        let at = if done.is_empty() { "the message".to_owned() } else { format!("`{done}`") };
        value = if let Some(index) = part.strip_prefix('[') {
            let index = index.trim_end_matches(']');
            let elements = value.as_sequence().ok_or_else(|| format!("{at} is no list"))?;
            let found = index.parse().ok().and_then(|index: usize| elements.get(index));
            found.ok_or_else(|| {
                format!("{at} has {} elements, counted from 0; `[{index}]` is none", elements.len())
            })?
        } else {
            let fields = value.as_mapping().ok_or_else(|| format!("{at} has no fields"))?;
            let names = || fields.keys().filter_map(Value::as_str).collect::<Vec<_>>().join(", ");
            fields
                .get(part)
                .ok_or_else(|| format!("{at} has no field `{part}`; its fields are {}", names()))?
        };
        if !part.starts_with('[') && !done.is_empty() {
            done.push('.');
        }
        done.push_str(part);
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_or_the_error_says_what_there_is() {
        let message =
            serde_yaml::from_str("{header: {stamp: {sec: 3}}, position: [0.5, 1.5]}").unwrap();
        assert_eq!(field(&message, "header.stamp.sec"), Ok(&Value::from(3)));
        assert_eq!(field(&message, "position[1]"), Ok(&Value::from(1.5)));
        for (path, expected) in [
            ("positions", "the message has no field `positions`; its fields are header, position"),
            ("header.stamp.nsec", "`header.stamp` has no field `nsec`; its fields are sec"),
            ("position[2]", "`position` has 2 elements, counted from 0; `[2]` is none"),
            ("position.x", "`position` has no fields"),
            ("header[0]", "`header` is no list"),
        ] {
            assert_eq!(field(&message, path).unwrap_err(), expected);
        }
    }
}
