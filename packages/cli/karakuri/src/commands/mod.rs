//! One file a command: an `Args` struct and `run(args)`. A new command is that file, its `mod` and
//! its line in the registry.

use anyhow::Result;

pub mod check;
mod command;
pub mod completions;
pub mod dynamics;
pub mod emulate;
pub mod gait;
pub mod hardware;
mod ids;
pub mod ik;
pub mod inverse_dynamics;
pub mod launch;
pub mod mcp;
pub mod motion;
pub mod moveit;
pub mod nodes;
pub mod perform;
pub mod plot;
pub mod rehearse;
pub mod render;
mod robot;
pub mod simulate;
pub mod studio;
pub mod sweep;
pub mod unload;

use nodes::{actions, echo, goal, list, param, topics};

/// Outcome of a command that could read its input.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The command succeeded: exit code 0.
    Done,
    /// The input is wrong and the command has printed every problem: exit code 1.
    InputWrong,
    /// The run failed, for this reason; its outputs are written all the same: exit code 3.
    Failed(String),
}

/// Makes the subcommands of the listed modules; the help comes from each module's `Args`.
macro_rules! registry {
    ($($name:ident($module:ident)),* $(,)?) => {
        /// The subcommands.
        #[derive(Debug, clap::Subcommand)]
        pub enum Command {
            $(#[expect(missing_docs, reason = "the help comes from its `Args`")]
            $name($module::Args),)*
        }

        impl Command {
            /// Runs the subcommand.
            ///
            /// # Errors
            /// When the input is wrong or an output cannot be written.
            pub fn run(&self) -> Result<Outcome> {
                match self {
                    $(Self::$name(args) => $module::run(args),)*
                }
            }
        }
    };
}

registry! {
    Check(check),
    Completions(completions),
    Do(perform),
    Dynamics(dynamics),
    Emulate(emulate),
    Gait(gait),
    Hardware(hardware),
    Ik(ik),
    InverseDynamics(inverse_dynamics),
    Launch(launch),
    Mcp(mcp),
    Motion(motion),
    Moveit(moveit),
    Plot(plot),
    Rehearse(rehearse),
    Render(render),
    Simulate(simulate),
    Studio(studio),
    Sweep(sweep),
    Unload(unload),
    Goal(goal),
    Echo(echo),
    Param(param),
    Topics(topics),
    Nodes(list),
    Actions(actions),
}
