//! The session: one thread that owns the document and answers its clients in turn.

mod answers;
mod boards;
mod clients;
mod curves;
mod folder;
mod history;
pub(crate) mod input;
mod journal;
mod keep;
mod live;
mod motion_keys;
mod motions;
mod patch;
mod previews;
mod project;
mod running;
mod scene;
mod settings;
mod state;
mod teach;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::assets::Assets;
use crate::board::Boards;
use crate::curves::{Asker, Curves};
use crate::link::RobotLink;
use crate::preview::Previews;
use crate::wire::{Event, Level, Operation, WireError};

use clients::Clients;
use folder::Folder;
use input::Input;
use live::Live;
use motion_keys::MotionKeys;
pub use project::OpenError;
use project::Project;
pub(crate) use scene::unnamed_spring;
pub use settings::Settings;
pub(crate) use state::Session;
use state::to_value;

/// Period at which the session looks at the time: the robot, leases that were asked for, the journal.
const TICK: Duration = Duration::from_millis(50);

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
            clients: Clients::default(),
            project,
            running: None,
            previews: Previews::default(),
            curves: Curves::new(assets.clone()),
            keys: MotionKeys::default(),
            live: Live::new(link),
            boards: settings.board.clone().map(Boards::new),
            allowed: BTreeSet::new(),
            parameter_drag: false,
            inputs,
            assets,
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
        self.previews.end();
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
                if let Operation::Clip(clip) = &request.operation {
                    let (id, rev) = (request.id, self.project.rev);
                    return self.clip(clip, Asker { outbox, id, rev, permit });
                }
                let answer = self.answer(&client, &request);
                outbox.send(match answer {
                    Ok(Value::Null) => return,
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
            Input::Scripts => {
                self.tell_scripts();
                // Names of what they plot; a run that has ended by now has none.
                let _ended = self.tell_run();
            }
            Input::Preview(news) => self.preview_news(news),
            Input::Uploaded(result) => self.uploaded(result),
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
            self.tell(&Event::Log { level: Level::Warning, text });
        }
    }

    fn reply(&self, id: u32, answer: Result<Value, WireError>) -> String {
        match answer {
            Ok(result) => {
                let rev = self.project.rev;
                serde_json::json!({ "id": id, "ok": true, "rev": rev, "result": result })
                    .to_string()
            }
            Err(error) => error.reply(Some(id)),
        }
    }
}
