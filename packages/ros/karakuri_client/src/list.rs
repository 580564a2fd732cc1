//! `karakuri topics`, `nodes` and `actions`: the present graph, as `ros2 topic list`, `ros2 node list` and `ros2 action list`.

use karakuri_ros::client::{Client, ClientError};

use crate::output::{lines, print};

/// Lists the topics, as `ros2 topic list`
#[derive(Debug, clap::Args)]
pub(crate) struct Topics {
    /// With their types
    #[arg(long, short = 't')]
    show_types: bool,
}

/// Lists the nodes, as `ros2 node list`
#[derive(Debug, clap::Args)]
pub(crate) struct Nodes {}

/// Lists the actions that somebody serves, as `ros2 action list`
#[derive(Debug, clap::Args)]
pub(crate) struct Actions {
    /// With their types
    #[arg(long, short = 't')]
    show_types: bool,
}

/// Runs `karakuri topics`.
pub(crate) fn topics(args: &Topics, client: &mut Client) -> Result<(), ClientError> {
    let topics = client.topics()?;
    let rows = topics.iter().map(|(name, kinds)| row(name, &kinds.join(", "), args.show_types));
    print(&lines("", rows))
}

/// Runs `karakuri nodes`.
pub(crate) fn nodes(_: &Nodes, client: &mut Client) -> Result<(), ClientError> {
    print(&lines("", client.nodes()?))
}

/// Runs `karakuri actions`.
pub(crate) fn actions(args: &Actions, client: &mut Client) -> Result<(), ClientError> {
    let actions = client.actions()?;
    let rows = actions.iter().map(|(name, server)| row(name, &server.kind, args.show_types));
    print(&lines("", rows))
}

fn row(name: &str, kind: &str, with_kind: bool) -> String {
    if with_kind { format!("{name} [{kind}]") } else { name.to_owned() }
}
