//! Walking for any robot on two legs: footsteps or a velocity in, joint targets out.
//!
//! ```text
//! WalkCommand -> Footstep (clipped) -> Timeline (phases, ZMP reference, feet) -> Generator (preview control, whole-body
//! inverse kinematics, second pass on the whole robot's ZMP) -> Sample -> WalkEngine (+ Stabilizer) -> JointTargets
//! ```
//!
//! Frames: the world, X forward at the start, Z up; soles as URDF links. Units: SI.

mod biped;
mod capture;
pub mod dcm;
mod engine;
mod excess;
mod fall;
mod footstep;
mod generator;
mod landing;
mod pendulum;
mod preview;
mod reaction;
mod route;
mod sample;
mod settings;
mod stabilizer;
mod stance;
mod swing;
mod timeline;
mod upper_body;
mod walk;
mod whole_body;

pub use biped::{Biped, BipedError, FootSensor, Leg};
pub use capture::{Capturability, Capture};
pub use engine::{JointTargets, WalkEngine, WalkState};
pub use excess::{Excess, Limited};
pub use fall::{Fall, Lost};
pub use footstep::{Clip, ClipKind, Footstep, Place, Side, SlipTurn, StepLimits, Velocity, clip};
pub use generator::{Generator, PlanError};
pub use landing::{LandingSettings, Yielded};
pub use pendulum::Pendulum;
pub use preview::{CartState, PreviewDesign, PreviewGains};
pub use reaction::{Reach, ReactionSettings};
pub use route::{StraightWalk, WalkCommand};
pub use sample::{Sample, Samples};
pub use settings::{GeneratorKind, SettingError, WalkSettings};
pub use stabilizer::{Correction, Measured, Stabilizer, StabilizerSettings, with_servo_sag};
pub use timeline::{Support, Timeline};
pub use upper_body::UpperBodySettings;
pub use walk::{Progress, Travelled, Walk, WalkFailure, WalkGoal};
pub use whole_body::{BodyTarget, OutOfReach, WholeBody};
