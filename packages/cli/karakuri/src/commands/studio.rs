//! `karakuri studio`: the motion studio in the browser.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use karakuri_studio::{Board, Listening, Settings, Studio, Token};

use super::Outcome;
use crate::input::input_file;
use crate::interrupt::Interrupt;
use crate::output;

/// Opens the motion studio: poses, motions and scenes of a robot, in the browser
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Robot (URDF), motions (YAML) or scene (YAML)
    #[arg(value_parser = input_file())]
    file: PathBuf,
    /// Robot YAML of a URDF; without it NAME.yaml beside the URDF or in config/ of a folder above
    #[arg(long, value_parser = input_file())]
    config: Option<PathBuf>,
    /// Folder whose files may be opened and saved; the working folder if the file is in it, else the file's
    #[arg(long)]
    folder: Option<PathBuf>,
    /// Port; 0 takes any that is free
    #[arg(long, default_value_t = karakuri_studio::DEFAULT_PORT)]
    port: u16,
    /// Address to listen at, in place of this machine alone; needs --token-file
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<IpAddr>,
    /// File with the secret of the address, at least 32 characters; a random one if not given
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Folder with the files of the page, in place of those in the program
    #[arg(long, value_name = "FOLDER")]
    page: Option<PathBuf>,
    /// Serial port of the RCB-1 boards of a KHR-1: motions may be uploaded to them
    #[arg(long, value_name = "PORT")]
    board: Option<PathBuf>,
}

const HELP: &str = "\
The address that it prints has a secret: whoever has it may edit, save and simulate. Ctrl-C ends \
the studio; what is not saved is offered at the next start.

  karakuri studio urdf/khr1/khr1.urdf
  karakuri studio config/scenes/pick_and_place.yaml --port 0
  karakuri studio config/motions/khr1_greet.yaml --board /dev/ttyUSB0

From another machine, tunnel the port: ssh -L 8787:127.0.0.1:8787 HOST. With --listen the traffic \
is not encrypted.

docs/studio-wire.md describes the protocol for other programs.";

/// Time after which the command looks for Ctrl-C again.
const LOOK: Duration = Duration::from_millis(100);

/// Runs the command.
///
/// # Errors
/// When the file cannot be opened, the token is weak, or the port is taken.
pub fn run(args: &Args) -> Result<Outcome> {
    let elsewhere = args.listen.filter(|address| !address.is_loopback());
    if elsewhere.is_some() && args.token_file.is_none() {
        bail!(
            "--listen {} lets others in; name a secret that you give to them with --token-file",
            args.listen.map(|a| a.to_string()).unwrap_or_default()
        );
    }
    let token = match &args.token_file {
        Some(file) => Token::read(file)?,
        None => Token::random()?,
    };
    let settings = Settings {
        file: args.file.clone(),
        config: args.config.clone(),
        folder: args.folder.clone(),
        page: args.page.clone(),
        board: args.board.clone().map(Board::at),
    };
    let interrupt = Interrupt::watch()?;
    let studio =
        Studio::start(&settings, None, Listening { address: args.listen, port: args.port }, token)?;
    if elsewhere.is_some() {
        tracing::warn!(
            "the traffic is not encrypted: use it in a network that you trust, or behind a TLS proxy"
        );
    }
    if studio.lacks_page() {
        tracing::warn!(
            "this build has no page; build it with `./dev build`, or name its folder with --page"
        );
    }
    // A reader that has gone away ends nothing.
    let _unread = output::print(&format!("{}\n", studio.address()));
    while !interrupt.is_raised() {
        studio.wait(LOOK);
    }
    Ok(Outcome::Done)
}
