#![doc = include_str!("../README.md")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

mod batch;
mod constraint;
mod errors;
mod pipeline;
mod scene;
pub mod solver;
mod state;
mod world;

pub use batch::Batch;
pub use constraint::*;
pub use errors::WorldError;
pub use karakuri_collision::ClosestPoints;
pub use karakuri_dynamics::loops::loop_gap;
pub use pipeline::ledger::{Energy, Ledger};
pub use pipeline::outcome::{Culprit, StepOutcome};
pub use pipeline::stages::{Stage, StageObserver};
pub use pipeline::work::EnergyMonitor;
pub use scene::{
    Ground, MaterialName, Scene, SceneAnchor, SceneBall, SceneBody, SceneDrive, SceneGear,
    SceneGearEnd, SceneJoint, SceneMaterials, SceneMotion, ScenePart, ScenePrescribed, ScenePush,
    SceneRobot, SceneSpring, SceneSuction, SceneSurface,
};
pub use solver::SolverSettings;
pub use state::body::BodyDescription;
pub use state::free_motion::Integrator;
pub use state::ids::{BodyId as ObjectId, RobotId};
pub use state::imu::Imu;
pub use state::joint_dynamics::JointDynamics;
pub use state::joint_limits::JointLimits;
pub use state::materials::{MaterialId, Mix, Mixing, Surface};
pub use state::motion_table::MotionTable;
pub use state::motor_unit::MotorReport;
pub use state::mover::Owner;
pub use state::overlaps::LinkOverlap;
pub use state::prescribed_bodies::PoseTable;
pub use state::pushes::{Push, PushId};
pub use state::robot::Drives;
pub use state::settings::Sleeping;
pub use state::settings::WorldSettings;
pub use world::World;
pub use world::long_turns::LongTurn;
pub use world::queries::RayHit;
pub use world::reports::Statistics;
pub use world::states::Snapshot;
pub use world::views::{BodyView, RobotView};
