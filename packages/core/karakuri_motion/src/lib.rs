#![doc = include_str!("../README.md")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

mod bake;
mod commit;
mod consistency;
pub mod curve;
mod document;
pub mod file;
pub mod formats;
mod gamepad;
mod loads;
mod mirror;
mod motion;
mod op;
mod panel;
mod performance;
mod physics_scene;
mod pose;
mod problem;
mod record;
mod review;
mod robot;
mod root_curve;
mod score;
mod stretch;
mod symmetry;

pub use bake::bake;
pub use document::{AngleUnit, Document, RobotReference, Units, VERSION};
pub use gamepad::{Action, GamepadBinding};
pub use loads::{Balance, Loads, LoadsOf};
pub use mirror::{Mirror, MirrorPair};
pub use motion::{Blend, Ease, Key, Marker, Motion, RootPose, Scene, Start, Support, Track};
pub use op::{EntryList, Op};
pub use panel::{Cone, Panel, Widget};
pub use performance::{Extremes, MotionState, Performance};
pub use physics_scene::PhysicsScene;
pub use pose::Pose;
pub use problem::{Code, Problem};
pub use record::Record;
pub use review::{
    Check, Finding, JointPeak, MarginSample, Review, ReviewSettings, Reviewing, review,
};
pub use robot::Performer;
pub use score::Span;
pub use stretch::{Fit, fit_to_limits, stretch};
