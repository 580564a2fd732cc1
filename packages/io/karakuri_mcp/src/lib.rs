#![doc = include_str!("../README.md")]

mod approvals;
mod http;
mod principal;
mod progress;
mod question;
mod running;
mod server;
mod stdio;
mod subscriptions;
mod tasks;
#[cfg(test)]
mod tests;
mod uri;
mod verbs;

pub use http::{HttpServer, ListenError};
pub use principal::{Principal, TokenError, Tokens};
pub use progress::Progress;
pub use server::{Server, Settings};
pub use stdio::{StdioError, serve_stdio};
pub use tokio_util::sync::CancellationToken;
pub use verbs::{About, Answer, Approval, Call, Content, Effect, Repeated, Resource, Tool, Verbs};
