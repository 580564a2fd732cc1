#![doc = include_str!("../README.md")]

mod commit;
mod consistency;
pub mod curve;
mod document;
pub mod file;
mod mirror;
mod motion;
mod op;
mod panel;
mod physics_scene;
mod pose;
mod problem;

pub use document::{AngleUnit, Document, RobotReference, Units, VERSION};
pub use mirror::{Mirror, MirrorPair};
pub use motion::{Blend, Ease, Key, Marker, Motion, RootPose, Scene, Start, Support, Track};
pub use op::{EntryList, Op};
pub use panel::{Cone, Panel, Widget};
pub use physics_scene::PhysicsScene;
pub use pose::Pose;
pub use problem::{Code, Problem};
