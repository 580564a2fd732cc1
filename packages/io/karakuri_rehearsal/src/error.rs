//! What keeps an act from being rehearsed.

use karakuri_grasp::gripper_command::GripperCommandError;
use karakuri_grasp::pick_and_place::{Misstated, PlanError};
use karakuri_hardware::RobotIoError;
use karakuri_physics::WorldError;

/// Cause for which nothing is rehearsed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RehearsalError {
    /// The task cannot be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A number of a goal is out of its range, or its object leans.
    #[error(transparent)]
    Misstated(#[from] Misstated),
    /// The hand does not take the command.
    #[error(transparent)]
    Gripper(#[from] GripperCommandError),
    /// There is no such object.
    #[error("there is no object `{name}` in the world")]
    NoObject {
        /// Name of the object that was asked for.
        name: String,
    },
    /// No hand takes the object.
    #[error("object `{name}`: {why}")]
    Shape {
        /// Name of the object.
        name: String,
        /// Cause.
        why: String,
    },
    /// The object cannot be made to differ.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A copy can no longer be stepped.
    #[error(transparent)]
    Io(#[from] RobotIoError),
}
