//! What a server offers: verbs that clients call, and resources that they read.

use futures::future::BoxFuture;
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::principal::Principal;
use crate::progress::Progress;

/// A program whose verbs clients of the protocol may call.
///
/// Its methods take `&self` and their futures go from thread to thread; what lives on one thread is asked over a channel.
pub trait Verbs: Send + Sync + 'static {
    /// How it introduces itself.
    fn about(&self) -> About;

    /// The tools that a principal may see, always in the same order.
    fn tools(&self, principal: &Principal) -> Vec<Tool>;

    /// Carries out a tool, one of those that the principal sees. `arguments` is an object; its content is not checked yet.
    ///
    /// The future runs to its end also when the client has gone: [`Call::cancelled`] says so.
    fn call<'a>(
        &'a self,
        principal: &'a Principal,
        tool: &'a str,
        arguments: Value,
        call: &'a Call,
    ) -> BoxFuture<'a, Answer>;

    /// Hears of a call of what is no tool that the principal sees; the client's answer is an error of the protocol. By default nothing is done.
    fn refuse(&self, _principal: &Principal, _tool: &str, _arguments: &Value) {}

    /// The resources that a principal may read now.
    fn resources<'a>(&'a self, principal: &'a Principal) -> BoxFuture<'a, Vec<Resource>>;

    /// Content of a resource, one of those that are listed; `None`: it has gone meanwhile.
    fn read<'a>(&'a self, principal: &'a Principal, uri: &'a str)
    -> BoxFuture<'a, Option<Content>>;

    /// Fires when resources, or the list of them, may have changed. Which ones is found in the list, by [`Resource::version`]: it may
    /// fire too often, and a slow client misses nothing but repeated notifications. By default nothing ever changes.
    fn changes(&self) -> watch::Receiver<()> {
        watch::channel(()).1
    }
}

/// Name and instructions of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// Name for programs.
    pub name: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// What a client is to know before its first call.
    pub instructions: &'static str,
}

/// A verb, as clients see it. Its texts are constant: nothing that is read at run time, as the name of an object, can speak to a
/// language model through them.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Name for calls.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// JSON Schema 2020-12 of the arguments: an object.
    pub input_schema: Value,
    /// JSON Schema 2020-12 of what [`Answer::Done`] holds.
    pub output_schema: Value,
    /// What it does to the world.
    pub effect: Effect,
    /// Whether a call may take long: a client that knows tasks gets one at the call's first report of progress, and asks after it instead
    /// of waiting. What needs an approval asks for it before that report.
    pub is_long: bool,
}

/// What a tool does to the world. Hints for clients: none of them replaces a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only looks.
    ReadOnly,
    /// It moves something that can be moved back.
    Changes(Repeated),
    /// It may do what cannot be undone.
    Destructive(Repeated),
}

/// What a second call with the same arguments does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeated {
    /// Nothing more than the first.
    Idempotent,
    /// The same again.
    Again,
}

/// A call under way.
#[derive(Debug)]
pub struct Call {
    /// Where the verb reports how far it is.
    pub progress: Progress,
    /// Fires when the client cancels or goes away, and when the server ends: a motion is to brake. A client may go away from a task.
    pub cancelled: CancellationToken,
    /// The answer to [`Answer::NeedsApproval`], if this call repeats one that got it.
    pub approval: Option<Approval>,
}

/// What was said to a question, with the state that came with the question.
#[derive(Debug, Clone, PartialEq)]
pub enum Approval {
    /// It may be done.
    Given(Value),
    /// It must not be done, or nobody answered.
    Declined(Value),
}

/// Result of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// It is done: a value of the tool's output schema.
    Done(Value),
    /// It was not done: an object with `code`, `field`, `value`, `range` and `hint`.
    Refused(Value),
    /// Somebody must agree first.
    NeedsApproval {
        /// What will happen, for a person.
        message: String,
        /// What comes back with the answer. The client can read it, but not change it.
        state: Value,
    },
}

/// Something to read, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Address, as `karakuri://scene.json`.
    pub uri: String,
    /// Name for people.
    pub name: &'static str,
    /// What it shows.
    pub description: &'static str,
    /// Media type.
    pub mime_type: &'static str,
    /// A number that is another one when the content is another.
    pub version: u64,
}

/// Content of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text.
    Text(String),
    /// Anything else, as a picture.
    Bytes(Vec<u8>),
}
