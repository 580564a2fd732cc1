//! `karakuri completions`: script with which a shell completes commands and options.

use anyhow::Result;

use super::Outcome;
use crate::output;

/// Prints the completions of commands and options for a shell
#[derive(Debug, clap::Args)]
#[command(
    after_help = "For bash, now and in every new shell:\n  karakuri completions bash > ~/.local/share/bash-completion/completions/karakuri\nFor zsh, into a folder of $fpath:\n  karakuri completions zsh > ~/.zfunc/_karakuri\nFor fish:\n  karakuri completions fish > ~/.config/fish/completions/karakuri.fish"
)]
pub struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

/// Runs the command.
///
/// # Errors
/// When stdout cannot be written.
pub fn run(args: &Args) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::command(), "karakuri", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Done)
}
