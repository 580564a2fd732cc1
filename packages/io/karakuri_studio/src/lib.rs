#![doc = include_str!("../README.md")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

mod assets;
mod pose;
mod server;
mod session;
mod stage;
pub mod wire;

pub use server::{Listening, ServeError, Studio, Token, TokenError};
pub use session::{OpenError, Settings};
