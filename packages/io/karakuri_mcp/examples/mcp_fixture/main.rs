//! Fixtures of the public conformance suite of the Model Context Protocol, behind the transport of this crate.
//!
//! `mcp_fixture --http 127.0.0.1:0`; then standard error has the line `ready: URL`. The suite: `conformance server --url URL
//! --requirements 2026-07-28`. With `--jobs` they are those of its scenarios on tasks, behind the server of verbs.

mod content;
mod fixture;
mod jobs;
mod lists;
mod rounds;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Parser;
use karakuri_mcp::{CancellationToken, HttpServer, Server, Settings, Tokens};

#[derive(Parser)]
struct Arguments {
    /// Listens at IP:PORT.
    #[arg(long, value_name = "IP:PORT")]
    http: String,
    /// Serves jobs that become tasks.
    #[arg(long)]
    jobs: bool,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().with_writer(io::stderr).with_ansi(false).init();
    let arguments = Arguments::parse();
    let mut key = [0; 32];
    getrandom::fill(&mut key).context("the system gives no random numbers")?;
    let stop = CancellationToken::new();
    let until_signal = stop.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            until_signal.cancel();
        }
    });
    let http = HttpServer::bind(&arguments.http).await?;
    eprintln!("ready: {}", http.url());
    if arguments.jobs {
        let settings = Settings { key, approval_lifetime: Duration::from_secs(60) };
        let server = Server::new(Arc::new(jobs::Jobs), &settings, stop.clone());
        return Ok(http.serve(server, Tokens::default(), stop).await?);
    }
    Ok(http.serve_handler(fixture::Fixture::new(&key), Tokens::default(), stop).await?)
}
