//! The session: one thread that owns the document and answers its clients in turn.

mod answers;
mod clients;
mod folder;
mod history;
mod journal;
mod keep;
mod live;
mod motions;
mod patch;
mod project;
mod running;
mod scene;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;

use crate::assets::Assets;
use crate::link::RobotLink;
use crate::preview::{News, Previews};
use crate::server::Outbox;
use crate::wire::{Event, Request, WireError};

use clients::Clients;
use live::Live;
use folder::Folder;
pub use project::OpenError;
use project::Project;
use running::Running;

/// Period at which the session looks at the time: the robot, leases that were asked for, the journal.
const TICK: Duration = Duration::from_millis(50);

/// What a studio is started with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// URDF, motions or scene.
    pub file: PathBuf,
    /// Robot YAML of a URDF; found beside it if not given.
    pub config: Option<PathBuf>,
    /// Folder below which files are opened and saved; the working folder if the file is below it, else the file's.
    pub folder: Option<PathBuf>,
    /// Folder of the page, in place of the one in the program.
    pub page: Option<PathBuf>,
}

/// What the session is told.
#[derive(Debug)]
pub(crate) enum Input {
    /// A client has said `hello`.
    Join {
        /// Number of its `hello`.
        id: u32,
        /// Name that it gave itself.
        name: String,
        /// Where its messages go.
        outbox: Arc<Outbox>,
    },
    /// A client asks for something.
    Request {
        /// The client.
        outbox: Arc<Outbox>,
        /// What it asks for.
        request: Request,
        /// Its place in the queue, free again when the request is answered.
        permit: Option<OwnedSemaphorePermit>,
    },
    /// A client is gone.
    Leave {
        /// The client.
        outbox: Arc<Outbox>,
    },
    /// The simulation has ended by itself.
    Run(crate::wire::RunState),
    /// News of a preview.
    Preview(News),
    /// The studio ends.
    Quit,
}

/// The one owner of the document.
#[derive(Debug)]
pub(crate) struct Session {
    folder: Folder,
    assets: Assets,
    clients: Clients,
    project: Project,
    running: Option<Running>,
    previews: Previews,
    live: Live,
    /// Hashes of the scripts that may run.
    allowed: BTreeSet<String>,
    /// Whether the last request set a parameter: the next one of the same goes on with that change.
    parameter_drag: bool,
    inputs: Sender<Input>,
}

impl Session {
    /// Opens the file that the studio is started with.
    pub(crate) fn open(
        settings: &Settings,
        link: Option<Box<dyn RobotLink>>,
        assets: Assets,
        inputs: Sender<Input>,
    ) -> Result<Self, OpenError> {
        let folder = Folder::around(settings)?;
        let project = Project::open(&settings.file, settings.config.as_deref(), &folder, &assets)?;
        Ok(Self {
            folder,
            assets,
            clients: Clients::default(),
            project,
            running: None,
            previews: Previews::default(),
            live: Live::new(link),
            allowed: BTreeSet::new(),
            parameter_drag: false,
            inputs,
        })
    }

    /// Answers until there is nobody left, or the studio ends.
    pub(crate) fn run(mut self, inputs: &Receiver<Input>) {
        let mut next_tick = Instant::now() + TICK;
        loop {
            match inputs.recv_timeout(next_tick.saturating_duration_since(Instant::now())) {
                Ok(Input::Quit) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(input) => self.take(input),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if Instant::now() >= next_tick {
                next_tick = Instant::now() + TICK;
                self.tick();
            }
        }
        self.stop_robot("the studio ends");
        self.project.journal.sync();
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Join { id, name, outbox } => {
                let client = self.clients.join(name, Arc::clone(&outbox));
                let welcome = to_value(&self.welcome(&client));
                outbox.send(self.reply(id, welcome));
                self.tell(&Event::Lease(self.clients.state()));
            }
            Input::Request { outbox, request, permit } => {
                let Some(client) = self.clients.name_of(&outbox) else { return };
                let answer = self.answer(&client, &request);
                outbox.send(match answer {
                    Ok(value) if value == Value::Null => return,
                    answer => self.reply(request.id, answer),
                });
                drop(permit);
            }
            Input::Leave { outbox } => {
                self.clients.leave(&outbox);
                if self.project.drag.as_ref().is_some_and(|d| !self.clients.has(&d.by)) {
                    self.end_drag();
                }
                self.tell(&Event::Lease(self.clients.state()));
            }
            Input::Run(state) => self.run_news(state),
            Input::Preview(news) => self.preview_news(news),
            Input::Quit => {}
        }
    }

    fn tick(&mut self) {
        self.watch_robot();
        if self.clients.pass_lease() {
            self.end_drag();
            self.tell(&Event::Lease(self.clients.state()));
        }
        if let Some(text) = self.project.journal.tick() {
            self.tell(&Event::Log { level: crate::wire::Level::Warning, text });
        }
    }

    /// Tells all clients.
    pub(crate) fn tell(&self, event: &Event) {
        match serde_json::to_string(event) {
            Ok(text) => self.clients.send(&text),
            Err(error) => tracing::error!("an event has no text: {error}"),
        }
    }

    fn reply(&self, id: u32, answer: Result<Value, WireError>) -> String {
        match answer {
            Ok(result) => {
                let rev = self.project.rev;
                serde_json::json!({ "id": id, "ok": true, "rev": rev, "result": result })
                    .to_string()
            }
            Err(error) => reply_error(Some(id), &error),
        }
    }
}

/// Text of a refused request.
pub(crate) fn reply_error(id: Option<u32>, error: &WireError) -> String {
    serde_json::json!({ "id": id, "error": error }).to_string()
}

/// A result as JSON.
fn to_value(result: &impl serde::Serialize) -> Result<Value, WireError> {
    serde_json::to_value(result)
        .map_err(|e| WireError::new(crate::wire::Code::Failed, e.to_string(), "report this"))
}
