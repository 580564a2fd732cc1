//! What reaches the session's thread.

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;

use crate::preview::News;
use crate::server::Outbox;
use crate::wire::Request;

/// What reaches the session.
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
    /// A script of the simulation has stopped, said something, or plots something new.
    Scripts,
    /// News of a preview.
    Preview(News),
    /// An upload to boards has ended: what was done, or why not.
    Uploaded(Result<String, String>),
    /// The studio ends.
    Quit,
}
