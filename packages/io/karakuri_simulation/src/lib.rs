#![doc = include_str!("../README.md")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

mod mock;
mod preview;
mod scene;
mod servo_world;
mod simulated_world;
mod suction;
mod tally;

pub use mock::Mock;
pub use preview::{
    ClipChunk, ClipLayout, PreviewError, PreviewEvent, PreviewReport, PreviewSettings, PreviewSink,
    Surroundings, Verdict, preview,
};
pub use scene::{LoadedScene, fill_scene, load_scene};
pub use servo_world::{Hook, ServoWorld, ServoWorldError};
pub use simulated_world::{SimulatedState, SimulatedWorld};
pub use tally::Tally;
