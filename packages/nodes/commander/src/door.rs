//! The server for clients of the Model Context Protocol, on a thread of its own.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use karakuri_commander::{Commander, CommanderVerbs, System};
use karakuri_mcp::{CancellationToken, HttpServer, Server, Settings, Tokens};
use karakuri_ros::{error, info};

use crate::parameters::Parameters;

/// What the server is made of.
#[derive(Debug)]
pub(crate) struct Terms {
    address: String,
    tokens: Vec<String>,
    approval_time: Duration,
}

impl Terms {
    /// Terms of the parameters; `None` without an address.
    pub(crate) fn of(parameters: &Parameters) -> Option<Self> {
        let address = parameters.http.get();
        let approval_time = Duration::from_secs_f64(parameters.approval_time.get());
        let tokens = parameters.tokens.get();
        (!address.is_empty()).then_some(Self { address, tokens, approval_time })
    }
}

/// An open server; dropping it closes it.
#[derive(Debug)]
pub(crate) struct Door(CancellationToken);

impl Door {
    /// Serves the verbs of a commander.
    ///
    /// # Errors
    /// When the address is taken or other machines could reach it, or a token is weak.
    pub(crate) fn open(
        terms: &Terms,
        commander: Arc<Commander>,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let mut tokens = Tokens::default();
        for entry in &terms.tokens {
            let (name, token) =
                entry.split_once('=').ok_or("parameter `tokens`: write NAME=TOKEN")?;
            tokens.add(name, token)?;
        }
        // Time is the simulation's: the robot's own speed is that of the act.
        let verbs = CommanderVerbs::new(commander, Arc::new(System), 0.0);
        let key = System.key().ok_or("the system gives no random numbers")?;
        let stop = CancellationToken::new();
        let settings = Settings { key, approval_lifetime: terms.approval_time };
        let server = Server::new(Arc::new(verbs), &settings, stop.clone());
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let http = runtime.block_on(HttpServer::bind(&terms.address))?;
        info!("clients of the Model Context Protocol: {}", http.url());
        let closing = stop.clone();
        let serve = move || {
            let served = runtime.block_on(http.serve(server, tokens, closing));
            if let Err(why) = served {
                error!("the server of the Model Context Protocol ended: {why}");
            }
            runtime.shutdown_background();
        };
        thread::Builder::new().name("mcp".to_owned()).spawn(serve)?;
        Ok(Self(stop))
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
