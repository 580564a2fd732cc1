//! The studio as another program meets it: over its sockets, with a client that shares no code with it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    clippy::format_push_string,
    clippy::result_large_err,
    clippy::option_option,
    clippy::assigning_clones,
    reason = "helpers of tests may panic as the tests do, and are short rather than fast"
)]

mod boards;
mod client;
mod edits;
mod guards;
mod live;
mod motions;
mod runs;
mod scripts;
mod teach;
