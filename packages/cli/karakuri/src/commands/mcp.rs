//! `karakuri mcp`: a scene's robot for clients of the Model Context Protocol.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use karakuri_commander::{CommanderVerbs, System};
use karakuri_mcp::{CancellationToken, HttpServer, Server, Settings, Tokens, serve_stdio};
use tokio::signal::unix::{SignalKind, signal};

use super::Outcome;
use super::command::CommanderArgs;

/// Gives a scene's robot to clients of the Model Context Protocol: it rehearses what they ask for, and acts inside an envelope
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(flatten)]
    commander: CommanderArgs,
    /// Listen at this address instead of speaking on stdio; loopback only, port 0 takes any that is free
    #[arg(long, value_name = "IP:PORT")]
    http: Option<String>,
    /// Let in only who has this token, under its name; may be given several times
    #[arg(long, value_name = "NAME=TOKEN", requires = "http")]
    token: Vec<String>,
    /// Speed of acts against the clock; 0: as fast as possible
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    real_time_factor: f64,
    /// For how long a person may think about a question [s]
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    approval: f64,
}

const HELP: &str = "\
Examples:
  chmod 0444 config/envelopes/table.yaml
  karakuri mcp config/scenes/pick_and_place.yaml --envelope config/envelopes/table.yaml
  karakuri mcp config/scenes/pick_and_place.yaml --envelope config/envelopes/table.yaml --http 127.0.0.1:8788

A client starts the first of them itself (docs/howto/mcp.md). The robot is simulated, and its world stands still between acts.";

/// Longest time for which motions brake when the program ends.
const BRAKING: Duration = Duration::from_secs(5);

/// Runs the command.
///
/// # Errors
/// When a file is wrong, the envelope can be written, a token is weak, or the address is taken.
pub fn run(args: &Args) -> Result<Outcome> {
    if !(args.real_time_factor >= 0.0 && args.real_time_factor.is_finite()) {
        bail!("--real-time-factor {}: write a number from 0 on", args.real_time_factor);
    }
    let approval_lifetime = Duration::try_from_secs_f64(args.approval)
        .with_context(|| format!("--approval {}: write a time in seconds", args.approval))?;
    let tokens = tokens(args)?;
    let commander = Arc::new(args.commander.open()?);
    let verbs = CommanderVerbs::new(commander, Arc::new(System), args.real_time_factor);
    let key = System.key().context("the system gives no random numbers")?;
    let stop = CancellationToken::new();
    let server = Server::new(Arc::new(verbs), &Settings { key, approval_lifetime }, stop.clone());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        stop_at_signals(&stop)?;
        let served = serve(args, server.clone(), tokens, stop.clone()).await;
        // Also where a client on stdio has gone: what moves brakes.
        stop.cancel();
        if !server.finished(BRAKING).await {
            tracing::error!("a motion did not brake in {BRAKING:?}");
        }
        served
    })?;
    // A picture that is drawn has nobody to see it.
    runtime.shutdown_background();
    Ok(Outcome::Done)
}

fn tokens(args: &Args) -> Result<Tokens> {
    let mut tokens = Tokens::default();
    for entry in &args.token {
        let Some((name, token)) = entry.split_once('=') else { bail!("--token: write NAME=TOKEN") };
        tokens.add(name, token)?;
    }
    Ok(tokens)
}

fn stop_at_signals(stop: &CancellationToken) -> Result<()> {
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        let mut signals = signal(kind).context("cannot watch for Ctrl-C")?;
        let stop = stop.clone();
        tokio::spawn(async move {
            if signals.recv().await.is_some() {
                stop.cancel();
            }
        });
    }
    Ok(())
}

async fn serve(args: &Args, server: Server, tokens: Tokens, stop: CancellationToken) -> Result<()> {
    let Some(address) = &args.http else { return Ok(serve_stdio(server).await?) };
    let http = HttpServer::bind(address).await?;
    eprintln!("ready: {}", http.url());
    Ok(http.serve(server, tokens, stop).await?)
}
