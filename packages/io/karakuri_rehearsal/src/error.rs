//! What keeps an act from being rehearsed.

use karakuri_control::ControllerError;
use karakuri_grasp::gripper_command::GripperCommandError;
use karakuri_grasp::pick_and_place::{Misstated, PlanError};
use karakuri_grasp::tool_change::ToolChangeFailure;
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
    /// The robot has no hand.
    #[error("the robot has no hand")]
    NoHand,
    /// The robot does not walk.
    #[error("the robot has no gait")]
    NoGait,
    /// A walk is under way.
    #[error("a walk is under way")]
    Walking,
    /// The robot does not stand.
    #[error("the robot does not stand as its gait begins")]
    NotStanding,
    /// The robot changes no tools.
    #[error("the robot has no tools to change")]
    NoTools,
    /// The tool cannot be changed.
    #[error("{why}")]
    Tool {
        /// Cause.
        failure: ToolChangeFailure,
        /// The same in a sentence.
        why: String,
    },
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
    /// The controller cannot be made.
    #[error(transparent)]
    Controller(#[from] ControllerError),
    /// A copy can no longer be stepped.
    #[error(transparent)]
    Io(#[from] RobotIoError),
}
