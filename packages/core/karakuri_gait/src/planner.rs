//! Walking for any robot on two legs: footsteps or a velocity in, joint targets out.
//!
//! ```text
//! WalkCommand -> Footstep (clipped) -> Timeline (phases, ZMP reference, feet) -> Generator (preview control, whole-body
//! inverse kinematics, second pass on the whole robot's ZMP) -> Sample -> WalkEngine (+ Stabilizer) -> JointTargets
//! ```
//!
//! Frames: the world, X forward at the start, Z up; soles as URDF links. Units: SI.

mod biped;
mod candidate;
mod capture;
pub mod dcm;
mod engine;
mod error;
mod excess;
mod fall;
mod following;
mod footstep;
mod generator;
mod landing;
mod lost;
mod pendulum;
mod place;
mod plan_state;
mod preview;
mod reaction;
mod route;
mod sample;
mod settings;
mod side;
mod stabilizer;
mod stance;
mod standing;
mod swing;
mod targets;
mod timeline;
mod upper_body;
mod velocity;
mod walk;
mod walker;
mod whole_body;

pub use biped::{Biped, BipedError, FootSensor, Leg};
pub use capture::{Capturability, Capture};
pub use engine::{WalkEngine, WalkState};
pub use error::PlanError;
pub use excess::{Excess, Limited};
pub use fall::{Fall, RootSign};
pub use following::{FollowingMonitor, JointError};
pub use footstep::{Clip, ClipKind, Footstep, SlipTurn, StepLimits, clip};
pub use generator::Generator;
pub use lost::Lost;
pub use pendulum::Pendulum;
pub use place::Place;
pub use preview::{CartState, PreviewDesign, PreviewGains};
pub use route::{StraightWalk, WalkCommand};
pub use sample::{Sample, Samples};
pub use settings::{
    GeneratorKind, LandingSettings, Reach, ReactionSettings, SettingError, StabilizerSettings,
    UpperBodySettings, WalkSettings,
};
pub use side::{Side, Support};
pub use stabilizer::{Correction, Measured, Stabilizer};
pub use targets::{JointTargets, with_servo_sag};
pub use timeline::{Timeline, TimelineStart};
pub use velocity::Velocity;
pub use walk::{Progress, Standstill, Travelled, Walk, WalkFailure, WalkGoal};
pub use walker::{NotStanding, Walker, WalkerSettings};
pub use whole_body::{BodyTarget, OutOfReach, WholeBody};
