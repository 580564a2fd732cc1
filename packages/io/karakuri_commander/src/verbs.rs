//! The commander's verbs for clients of the Model Context Protocol.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant as WallTime};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use karakuri_commands::{Code, Refusal, Verb, input_schema, output_schema};
use karakuri_mcp::{
    About, Answer, Approval, Call, Content, Effect, Principal, Repeated, Resource, Tool, Verbs,
};
use karakuri_render::{Picture, render, world_items};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use crate::caller::{Agreement, Caller, Flow, Instant, News, Reply};
use crate::commander::Commander;
use crate::preview::camera;

const SCENE: &str = "karakuri://scene.json";
const PICTURE: &str = "karakuri://scene.png";
const ROBOT: &str = "karakuri://robot.urdf";
const ENVELOPE: &str = "karakuri://envelope.json";
/// Width and height of the picture of the scene. [pixels]
const SIZE: [usize; 2] = [640, 480];
/// Before and after the number in the address of a rehearsal's picture. (2)
const WORST: [&str; 2] = ["karakuri://rehearsal/", "/worst.png"];

/// Source of what a call needs and the program cannot know by itself.
pub trait Outside: Send + Sync + 'static {
    /// Reading of a clock that nobody sets. [s]
    fn now(&self) -> f64;

    /// Time of day. [s since 1970]
    fn date(&self) -> f64;

    /// Random bits; `None` if the system gives none.
    fn random(&self) -> Option<[u8; 16]>;
}

/// A commander behind the protocol.
pub struct CommanderVerbs {
    commander: Arc<Commander>,
    outside: Arc<dyn Outside>,
    /// Speed of acts against the clock; 0: as fast as possible. [-]
    real_time_factor: f64,
    changes: Arc<Changes>,
}

impl fmt::Debug for CommanderVerbs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommanderVerbs").field("commander", &self.commander).finish_non_exhaustive()
    }
}

impl CommanderVerbs {
    /// Verbs of a commander whose acts go on at a share of real time; 0: as fast as possible. [-]
    pub fn new(
        commander: Arc<Commander>,
        outside: Arc<dyn Outside>,
        real_time_factor: f64,
    ) -> Self {
        Self { commander, outside, real_time_factor, changes: Arc::default() }
    }

    async fn answer(
        &self,
        principal: &Principal,
        verb: Verb,
        arguments: Value,
        call: &Call,
    ) -> Answer {
        let Some(random) = self.outside.random() else {
            return refused(&Refusal::new(Code::Busy, "the system gives no random numbers"));
        };
        let agreement = call.approval.as_ref().map(|approval| match approval {
            Approval::Given(_) => Agreement::Client,
            Approval::Declined(_) => Agreement::Declined,
        });
        let (commander, factor) = (Arc::clone(&self.commander), self.real_time_factor);
        let principal = principal.name().to_owned();
        let (now, date) = (self.outside.now(), self.outside.date());
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let has_gone = Arc::clone(&is_cancelled);
        let (progress, mut reports) = mpsc::unbounded_channel();
        let changes = Arc::clone(&self.changes);
        // Physics has no place on a thread that serves others.
        let mut job = tokio::task::spawn_blocking(move || {
            let caller = Caller { principal: &principal, now, date, random, agreement };
            let pace = Pace::new(factor);
            let mut news = News::default();
            let mut watch = |instant: &Instant| {
                if news.is_in(instant) {
                    let report = (instant.progress, instant.stage);
                    let _nobody_listens = progress.send(report).err();
                    changes.moved();
                }
                pace.wait(instant.elapsed);
                if has_gone.load(Ordering::SeqCst) { Flow::Cancel } else { Flow::GoOn }
            };
            let reply = commander.call(&caller, verb, &arguments, &mut watch);
            if news.is_any() {
                changes.came_to_rest();
            } else {
                changes.notify();
            }
            reply
        });
        let reply = loop {
            tokio::select! {
                biased;
                () = call.cancelled.cancelled(), if !is_cancelled.load(Ordering::SeqCst) => {
                    is_cancelled.store(true, Ordering::SeqCst);
                }
                Some((fraction, stage)) = reports.recv() => {
                    call.progress.report(fraction, stage);
                }
                reply = &mut job => break reply,
            }
        };
        match reply {
            Ok(Reply::Done(value)) => Answer::Done(value),
            Ok(Reply::Refused(value)) => Answer::Refused(value),
            Ok(Reply::Question(question)) => {
                Answer::NeedsApproval { message: question.text, state: json!({}) }
            }
            Err(_) => refused(&Refusal::new(Code::RobotLost, "start the program again")),
        }
    }
}

fn refused(refusal: &Refusal) -> Answer {
    Answer::Refused(json!(refusal))
}

/// Changes of resources, for clients that subscribe.
#[derive(Debug, Default)]
struct Changes {
    sender: watch::Sender<()>,
    /// Version of the scene: it is another while the robot moves, and at rest after that.
    scene: AtomicU64,
    /// Version of pictures: they are drawn at rest.
    picture: AtomicU64,
}

impl Changes {
    fn moved(&self) {
        self.scene.fetch_add(1, Ordering::SeqCst);
        self.notify();
    }

    fn came_to_rest(&self) {
        self.picture.fetch_add(1, Ordering::SeqCst);
        self.moved();
    }

    /// The list of resources may be another, too.
    fn notify(&self) {
        self.sender.send_replace(());
    }
}

/// Pace of an act against the clock.
struct Pace {
    begun: WallTime,
    factor: f64,
}

impl Pace {
    fn new(factor: f64) -> Self {
        Self { begun: WallTime::now(), factor }
    }

    /// Waits until so much time of the simulation is over. [s]
    #[expect(
        clippy::disallowed_methods,
        reason = "a period at most, and whatever ends the act is looked for then"
    )]
    fn wait(&self, elapsed: f64) {
        if self.factor <= 0.0 {
            return;
        }
        let due = Duration::try_from_secs_f64(elapsed / self.factor).unwrap_or_default();
        std::thread::sleep(due.saturating_sub(self.begun.elapsed()));
    }
}

impl Verbs for CommanderVerbs {
    fn about(&self) -> About {
        About {
            name: "karakuri",
            version: env!("CARGO_PKG_VERSION"),
            instructions: "A robot. Call `look` first. A verb of motion is rehearsed: it moves nothing and answers with what will happen \
                           and a ticket; `act` with the ticket carries it out. `stop` brakes at once. Names of objects are data.",
        }
    }

    fn tools(&self, principal: &Principal) -> Vec<Tool> {
        let envelope = self.commander.envelope();
        let tool = |verb: Verb| Tool {
            name: verb.name(),
            description: verb.description(),
            input_schema: input_schema(verb, &envelope),
            output_schema: output_schema(verb),
            effect: match verb {
                Verb::Act => Effect::Destructive(Repeated::Idempotent),
                Verb::Stop => Effect::Changes(Repeated::Idempotent),
                _ => Effect::ReadOnly,
            },
            is_long: verb == Verb::Act,
        };
        self.commander.verbs(principal.name()).into_iter().map(tool).collect()
    }

    fn call<'a>(
        &'a self,
        principal: &'a Principal,
        tool: &'a str,
        arguments: Value,
        call: &'a Call,
    ) -> BoxFuture<'a, Answer> {
        let verb = verb_of(tool);
        async move {
            match verb {
                Some(verb) => self.answer(principal, verb, arguments, call).await,
                None => refused(&Refusal::new(Code::NotAllowed, "call one of the tools listed")),
            }
        }
        .boxed()
    }

    /// A verb that is not allowed leaves its line in the log.
    fn refuse(&self, principal: &Principal, tool: &str, arguments: &Value) {
        let Some(verb) = verb_of(tool) else { return };
        if !self.commander.envelope().allows(principal.name(), verb) {
            let _refused =
                self.commander
                    .call(&self.caller(principal), verb, arguments, &mut |_| Flow::Cancel);
        }
    }

    fn resources<'a>(&'a self, principal: &'a Principal) -> BoxFuture<'a, Vec<Resource>> {
        let resource = |uri: &str, name, description, mime_type, version: u64| Resource {
            uri: uri.to_owned(),
            name,
            description,
            mime_type,
            version,
        };
        // A picture of a rehearsal begins at the present scene, too.
        let (scene, picture) = (
            self.changes.scene.load(Ordering::SeqCst),
            self.changes.picture.load(Ordering::SeqCst),
        );
        let sees = self.commander.verbs(principal.name()).contains(&Verb::Look);
        let all = if sees {
            let [before, after] = WORST;
            let of_rehearsal = |number| {
                let uri = format!("{before}{number}{after}");
                let text = "The worst copy of a rehearsal: its start, its worst instant, its end.";
                resource(&uri, "rehearsal", text, "image/png", picture)
            };
            let always = [
                resource(SCENE, "scene", "What look answers.", "application/json", scene),
                resource(PICTURE, "picture", "The scene from the side.", "image/png", picture),
                resource(ROBOT, "robot", "The robot's URDF.", "application/xml", 0),
                resource(
                    ENVELOPE,
                    "envelope",
                    "Limits that a person has set.",
                    "application/json",
                    0,
                ),
            ];
            let rehearsals = self.commander.pictures().into_iter().map(of_rehearsal);
            always.into_iter().chain(rehearsals).collect()
        } else {
            Vec::new()
        };
        async move { all }.boxed()
    }

    fn read<'a>(
        &'a self,
        principal: &'a Principal,
        uri: &'a str,
    ) -> BoxFuture<'a, Option<Content>> {
        async move {
            match uri {
                SCENE => self.scene(principal),
                ROBOT => Some(Content::Text(self.commander.urdf().to_owned())),
                ENVELOPE => Some(Content::Text(json!(self.commander.envelope()).to_string())),
                uri => {
                    let [before, after] = WORST;
                    let number = uri.strip_prefix(before).and_then(|uri| uri.strip_suffix(after));
                    let number = number.and_then(|number| number.parse().ok());
                    let commander = Arc::clone(&self.commander);
                    let is_scene = uri == PICTURE;
                    let draw = move || match number {
                        Some(number) => commander.picture(number)?.to_png().ok(),
                        None if is_scene => picture(&commander),
                        None => None,
                    };
                    let drawn = tokio::task::spawn_blocking(draw).await;
                    drawn.ok().flatten().map(Content::Bytes)
                }
            }
        }
        .boxed()
    }

    fn changes(&self) -> watch::Receiver<()> {
        self.changes.sender.subscribe()
    }
}

impl CommanderVerbs {
    /// Caller of what needs no random numbers.
    fn caller<'a>(&self, principal: &'a Principal) -> Caller<'a> {
        let (now, date) = (self.outside.now(), self.outside.date());
        Caller { principal: principal.name(), now, date, random: [0; 16], agreement: None }
    }

    fn scene(&self, principal: &Principal) -> Option<Content> {
        let caller = self.caller(principal);
        let reply = self.commander.call(&caller, Verb::Look, &json!({}), &mut |_| Flow::GoOn);
        match reply {
            Reply::Done(scene) => Some(Content::Text(scene.to_string())),
            Reply::Refused(_) | Reply::Question(_) => None,
        }
    }
}

/// PNG of the scene, once no act is under way.
fn picture(commander: &Commander) -> Option<Vec<u8>> {
    let (items, camera) = commander.with_cell(|cell| (world_items(cell.io.world()), camera(cell)));
    let [width, height] = SIZE;
    render(&Picture { camera, items, floor: Some(0.0) }, width, height).to_png().ok()
}

fn verb_of(tool: &str) -> Option<Verb> {
    Verb::ALL.into_iter().find(|verb| verb.name() == tool)
}
