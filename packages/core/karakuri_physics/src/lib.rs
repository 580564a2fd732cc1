#![doc = include_str!("../README.md")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

mod batch;
mod body;
mod bushings;
mod carried;
mod cones;
mod contacts;
mod energy;
mod errors;
mod factor;
mod gears;
mod impacts;
mod integrate;
mod integrators;
mod islands;
mod joint_dynamics;
mod joints;
mod loops;
mod materials;
mod motion_table;
mod motors;
mod noise;
mod operators;
mod overlaps;
mod pivoted;
mod prescribed;
mod pushes;
mod queries;
mod robot;
mod rows;
mod scene;
mod sensors;
mod settings;
mod shapes;
mod sleep;
pub mod solver;
mod springs;
mod stages;
mod step;
mod sweeps;
mod work;
mod world;

pub use batch::Batch;
pub use body::BodyDescription;
pub use bushings::Bushing;
pub use carried::PoseTable;
pub use contacts::{ContactReport, Owner};
pub use energy::{Energy, Ledger};
pub use errors::WorldError;
pub use gears::{GearDescription, GearEnd, GearId, GearReport};
pub use integrators::Integrator;
pub use joint_dynamics::JointDynamics;
pub use joints::{Failure, JointDescription, JointId, JointReport, Strength};
pub use karakuri_collision::ClosestPoints;
pub use loops::loop_gap;
pub use materials::{MaterialId, Mix, Mixing, Surface};
pub use motion_table::MotionTable;
pub use motors::MotorReport;
pub use overlaps::LinkOverlap;
pub use pushes::{Push, PushId};
pub use queries::RayHit;
pub use robot::Drives;
pub use scene::{
    Ground, MaterialName, Scene, SceneAnchor, SceneBall, SceneBody, SceneDrive, SceneGear,
    SceneGearEnd, SceneJoint, SceneMaterials, SceneMotion, ScenePart, ScenePrescribed, ScenePush,
    SceneRobot, SceneSpring, SceneSurface,
};
pub use sensors::Imu;
pub use settings::WorldSettings;
pub use sleep::Sleeping;
pub use solver::SolverSettings;
pub use springs::{Anchor, Spring, SpringId};
pub use stages::{Stage, Watch};
pub use step::{Culprit, StepOutcome};
pub use work::EnergyWatch;
pub use world::{BodyId as ObjectId, BodyView, RobotId, RobotView, Snapshot, Statistics, World};
