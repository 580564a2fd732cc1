//! A made-up robot at a table, as a server of the Model Context Protocol: the example of the crate, and the partner of its tests.
//!
//! `mcp_table` speaks on stdio, `mcp_table --http 127.0.0.1:0` over HTTP; then standard error has the line `ready: URL`.

mod robot;
mod table;
mod tools;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Parser;
use karakuri_mcp::{CancellationToken, HttpServer, Server, Settings, Tokens, serve_stdio};

/// How long motions may take to brake when the program ends.
const BRAKING: Duration = Duration::from_secs(5);

#[derive(Parser)]
struct Arguments {
    /// Listens at IP:PORT instead of speaking on stdio.
    #[arg(long, value_name = "IP:PORT")]
    http: Option<String>,
    /// Lets in only who has this token; may be given several times.
    #[arg(long, value_name = "NAME=TOKEN")]
    token: Vec<String>,
    /// How long a motion takes. [s]
    #[arg(long, value_name = "S", default_value_t = 2.0)]
    motion_s: f64,
    /// For how long a person may think about a question. [s]
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    approval_s: f64,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().with_writer(io::stderr).with_ansi(false).init();
    let arguments = Arguments::parse();
    let mut key = [0; 32];
    getrandom::fill(&mut key).context("the system gives no random numbers")?;
    let lifetime = Duration::try_from_secs_f64(arguments.approval_s).context("--approval-s")?;
    let motion = Duration::try_from_secs_f64(arguments.motion_s).context("--motion-s")?;
    let settings = Settings { key, approval_lifetime: lifetime };
    let stop = CancellationToken::new();
    let server = Server::new(Arc::new(table::Table::new(motion)), &settings, stop.clone());
    let until_signal = stop.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            until_signal.cancel();
        }
    });
    let result = serve(&arguments, server.clone(), stop).await;
    if !server.finished(BRAKING).await {
        tracing::error!("a motion did not brake in {BRAKING:?}");
    }
    result
}

async fn serve(
    arguments: &Arguments,
    server: Server,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let Some(address) = &arguments.http else { return Ok(serve_stdio(server).await?) };
    let mut tokens = Tokens::default();
    for entry in &arguments.token {
        let Some((name, token)) = entry.split_once('=') else { bail!("--token: write NAME=TOKEN") };
        tokens.add(name, token)?;
    }
    let http = HttpServer::bind(address).await?;
    eprintln!("ready: {}", http.url());
    Ok(http.serve(server, tokens, stop).await?)
}
