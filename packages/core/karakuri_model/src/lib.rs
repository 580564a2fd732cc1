#![doc = include_str!("../README.md")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

mod assets;
mod builder;
mod closest;
mod config;
mod diagnostic;
mod joint_motion;
mod load;
mod mesh;
mod model;
mod motor;
mod suction;
mod text;
mod urdf;
mod xml;
pub mod yaml;

pub use assets::{Asset, AssetError, Assets, NoAssets};
pub use builder::{
    EndEffectorSpec, GeometrySpec, JointSpec, LinkSpec, LoopFrames, LoopSpec, MimicSpec,
    ModelBuilder, SensorSpec,
};
pub use config::{read_convex, read_joint_type};
pub use diagnostic::{Diagnostic, Diagnostics, Place, Report, Severity, shorten_numbers};
pub use joint_motion::{DofKind, JointMotion, MAX_DOFS, Path, PathError, Screw};
pub use load::{Loaded, Source, load};
pub use mesh::{MeshError, decode as decode_mesh};
pub use model::*;
pub use motor::{
    Exponential, ExponentialEnd, Linear, MotorCommand, MotorLaw, MotorResponse, MotorSpec,
    MotorState, Plastic, SpeedTorque, Table, Viscoelastic, read_motor,
};
pub use suction::{ATMOSPHERE, Bellows, SuctionCup, SuctionUnit, VacuumGenerator};
pub use text::decode_text;
