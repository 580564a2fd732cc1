//! The studio as another program meets it: over its sockets, with a client that shares no code with it.

mod client;
mod edits;
mod guards;
mod live;
mod motions;
mod runs;
mod scripts;
