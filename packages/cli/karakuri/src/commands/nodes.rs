//! `karakuri goal`, `echo`, `param`, `topics`, `nodes`, `actions`, and `karakuri do` without a scene: handed on to `karakuri_client`, which
//! speaks ROS 2. This program knows no ROS, so it runs where there is none.

use std::{ffi::OsString, os::unix::process::CommandExt, path::PathBuf, process::Command};

use anyhow::{Context, Result, bail};
use karakuri_commands::Verb;

use super::Outcome;

const CLIENT: &str = "karakuri_client";

/// Commands that are handed on, with all their arguments; `--help`, too.
macro_rules! handed_on {
    ($($module:ident: $name:literal, $about:literal);* $(;)?) => {$(
        #[doc = $about]
        pub mod $module {
            use super::{OsString, Outcome, Result};

            #[doc = $about]
            #[derive(Debug, clap::Args)]
            #[command(disable_help_flag = true)]
            pub struct Args {
                /// See `--help` of the command
                #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
                arguments: Vec<OsString>,
            }

            /// Runs the command.
            ///
            /// # Errors
            /// When the program that speaks ROS 2 is not installed, no ROS 2 is set up, or the program cannot be run.
            pub fn run(args: &Args) -> Result<Outcome> {
                super::hand_on($name, &args.arguments)
            }
        }
    )*};
}

handed_on! {
    goal: "goal", "Sends a goal to an action server of a running node, as `ros2 action send_goal`";
    echo: "echo", "Shows the messages of a topic, as `ros2 topic echo`";
    param: "param", "Reads and sets parameters of running nodes, as `ros2 param`";
    topics: "topics", "Lists the topics of running nodes, as `ros2 topic list`";
    list: "nodes", "Lists the running nodes, as `ros2 node list`";
    actions: "actions", "Lists the actions of running nodes, as `ros2 action list`";
}

/// Words of `karakuri do` that are a command to a running node, as `pick cube`, quoted or not: one begins with a verb, and no envelope is given,
/// as it is with a scene.
pub(crate) fn commander_words(arguments: &[OsString]) -> Option<&[OsString]> {
    let (name, words) = arguments.split_first()?;
    let mut texts = words.iter().filter_map(|word| word.to_str());
    let has_envelope = texts.clone().any(|word| word.starts_with("--envelope"));
    let has_verb = texts.any(|word| {
        let first = word.split_whitespace().next();
        Verb::ALL.iter().any(|verb| Some(verb.name()) == first)
    });
    (name == "do" && has_verb && !has_envelope).then_some(words)
}

/// Replaces this process by the other program; returns only on failure.
pub(crate) fn hand_on(command: &str, arguments: &[OsString]) -> Result<Outcome> {
    let own = std::env::current_exe().context("cannot find this program's folder")?;
    let folder = own.parent().map(PathBuf::from).unwrap_or_default();
    // beside this program, or at the place of nodes in an installed ROS package
    let candidates = [folder.join(CLIENT), folder.join("../lib/karakuri").join(CLIENT)];
    let Some(client) = candidates.iter().find(|file| file.is_file()) else {
        bail!(
            "`karakuri {command}` needs ROS 2: the program {CLIENT}, which speaks it, is not in {}; `./dev build` or `colcon build` makes it",
            folder.display()
        );
    };
    if std::env::var_os("AMENT_PREFIX_PATH").is_none_or(|path| path.is_empty()) {
        bail!(
            "`karakuri {command}` needs ROS 2, and none is set up here: run it inside `./dev shell`, or source install/setup.bash first"
        );
    }
    let error = Command::new(client).arg(command).args(arguments).exec();
    Err(error).with_context(|| format!("cannot run {}", client.display()))
}
