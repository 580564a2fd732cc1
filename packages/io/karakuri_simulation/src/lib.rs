#![doc = include_str!("../README.md")]

mod mock;
mod preview;
mod scene;
mod servo_world;
mod simulated_world;
mod tally;

pub use mock::Mock;
pub use preview::{
    ClipChunk, ClipLayout, PreviewError, PreviewEvent, PreviewReport, PreviewSettings, PreviewSink,
    Surroundings, Verdict, preview,
};
pub use scene::{LoadedScene, fill_scene, load_scene};
pub use servo_world::{Hook, ServoWorld, ServoWorldError};
pub use simulated_world::SimulatedWorld;
pub use tally::Tally;
