#![doc = include_str!("../README.md")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

mod assets;
mod board;
mod curves;
mod link;
mod pose;
mod preview;
mod run;
mod script;
mod server;
mod session;
mod stage;
pub mod wire;

pub use board::Board;
pub use link::{LinkNews, Measurement, RobotLink, Trajectory, TrajectoryPoint};
pub use server::{Listening, ServeError, Studio, Token, TokenError};
pub use session::{OpenError, Settings};

/// Port of the page where none is given.
pub const DEFAULT_PORT: u16 = 8787;

/// Bytes as text of messages.
fn text_of(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// Bytes of a text of messages; `None` where it is no base64.
fn bytes_of(text: &str) -> Option<Vec<u8>> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).ok()
}
