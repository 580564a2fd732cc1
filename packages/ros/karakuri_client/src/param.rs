//! `karakuri param`: parameters of running nodes, as `ros2 param`.

use karakuri_ros::client::{Client, ClientError, ParameterText};
use serde_yaml::{Mapping, Value};

use crate::output::{line, lines, print, yaml};

/// Reads and sets parameters of running nodes, as `ros2 param`
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  karakuri param list /arm/sim
  karakuri param get /arm/sim real_time_factor
  karakuri param set /arm/sim real_time_factor 0.5
  karakuri param dump /arm/sim > sim.yaml")]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Show the value of a parameter
    Get {
        /// The node, as /arm/sim
        node: String,
        /// The parameter
        name: String,
        /// The value alone
        #[arg(long)]
        hide_type: bool,
    },
    /// Set a parameter
    Set {
        /// The node, as /arm/sim
        node: String,
        /// The parameter
        name: String,
        /// The value, as YAML: 3, 0.5, true, text, [1, 2]
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// List the parameters of a node, or of all
    List {
        /// The node; all, without one
        node: Option<String>,
    },
    /// Write all parameters of a node as a parameter file
    Dump {
        /// The node, as /arm/sim
        node: String,
    },
}

/// Runs the command.
pub(crate) fn run(args: &Args, client: &mut Client) -> Result<(), ClientError> {
    match &args.what {
        What::Get { node, name, hide_type } => {
            for (_, ParameterText { kind, value }) in
                client.get_parameters(node, std::slice::from_ref(name))?
            {
                let value = if *hide_type {
                    line(&value)
                } else {
                    format!("{kind} {} {}", are(kind), line(&value))
                };
                print(&format!("{value}\n"))?;
            }
            Ok(())
        }
        What::Set { node, name, value } => {
            // text that is not YAML, as `a: b: c`, is a string
            let value = serde_yaml::from_str(value).unwrap_or_else(|_| Value::from(value.as_str()));
            client.set_parameter(node, name, &value)?;
            print("Set parameter successful\n")
        }
        What::List { node: Some(node) } => {
            let names = client.parameters(node)?;
            print(&lines("  ", names))
        }
        What::List { node: None } => {
            for node in client.nodes()? {
                match client.parameters(&node) {
                    Ok(names) => {
                        let names = lines("  ", names);
                        print(&format!("{node}:\n{names}"))?;
                    }
                    // a node without services for its parameters
                    Err(ClientError::Failed(reason)) => eprintln!("{node}: {reason}"),
                    Err(other) => return Err(other),
                }
            }
            Ok(())
        }
        What::Dump { node } => {
            let mut parameters = Mapping::new();
            for (name, text) in client.get_parameters(node, &[])? {
                insert(&mut parameters, &name, text.value);
            }
            let parameters = Mapping::from_iter([("ros__parameters".into(), parameters.into())]);
            let node = if node.starts_with('/') { node.clone() } else { format!("/{node}") };
            print(&yaml(&Mapping::from_iter([(node.into(), parameters.into())]).into()))
        }
    }
}

/// Verb before values of a kind: `is:` for one, `are:` for several.
fn are(kind: &str) -> &'static str {
    if kind.ends_with('s') { "are:" } else { "is:" }
}

/// Inserts a value below its name, whose dots are levels; where a level is a value itself, the rest of the name stays in one
/// piece.
fn insert(parameters: &mut Mapping, name: &str, value: Value) {
    if let Some((level, rest)) = name.split_once('.') {
        let below = parameters.entry(level.into()).or_insert_with(|| Mapping::new().into());
        if let Value::Mapping(below) = below {
            return insert(below, rest, value);
        }
    }
    parameters.insert(name.into(), value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_levels() {
        let mut parameters = Mapping::new();
        for (name, value) in [("a.b", 1), ("a.c.d", 2), ("e", 3), ("e.f", 4)] {
            insert(&mut parameters, name, value.into());
        }
        assert_eq!(yaml(&parameters.into()), "a:\n  b: 1\n  c:\n    d: 2\ne: 3\ne.f: 4\n");
    }
}
