#![doc = include_str!("../README.md")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

mod digest;
mod mock;
mod preview;
mod scene;
mod servo_world;
mod simulated_world;
mod suction;
mod tally;
mod tools;

pub use digest::Digest;
pub use karakuri_grasp::tool_change::RackTool;
pub use mock::Mock;
pub use preview::{
    ClipChunk, ClipLayout, PreviewError, PreviewEvent, PreviewReport, PreviewSettings, PreviewSink,
    Surroundings, Verdict, preview,
};
pub use scene::{LoadedScene, fill_scene, load_scene};
pub use servo_world::{Hook, ServoWorld, ServoWorldError};
pub use simulated_world::{SimulatedState, SimulatedWorld};
pub use tally::Tally;
pub use tools::{DockedTool, SceneToolsError, ToolError};
