#![doc = include_str!("../README.md")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

mod builder;
mod diagnostic;
mod model;

pub use builder::{
    EndEffectorSpec, GeometrySpec, JointSpec, LinkSpec, LoopFrames, LoopSpec, MimicSpec,
    ModelBuilder, SensorSpec,
};
pub use diagnostic::{Diagnostic, Diagnostics, Place, Severity};
pub use model::*;
