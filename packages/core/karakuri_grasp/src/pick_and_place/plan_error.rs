//! Refusals of goals.

use super::types::Stage;
use crate::end_effector::SqueezedOut;

/// Cause that keeps a goal from being accepted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Another run is in progress.
    #[error("a pick and place or a move is under way; cancel it first")]
    Busy,
    /// An object is in the hand.
    #[error("the hand holds an object; place it, or open the hand first")]
    Holding,
    /// No object is in the hand.
    #[error("the hand holds nothing that it has picked; pick an object first")]
    EmptyHand,
    /// A number is outside its range.
    #[error("{what} is {value}; it must be {range}")]
    Range {
        /// Name of the number.
        what: &'static str,
        /// Value of the number.
        value: f64,
        /// Values that are permitted.
        range: String,
    },
    /// The grip cannot hold the object.
    #[error(
        "holding {mass} kg needs {needed:.1} {unit} (friction {friction}, safety {safety}); {given:.1} N are allowed and {highest:.1} N possible; raise max_grip_force or take less"
    )]
    TooHeavy {
        /// Mass of the object. [kg]
        mass: f64,
        /// Coefficient of friction. [-]
        friction: f64,
        /// Safety factor of the slip condition. [-]
        safety: f64,
        /// Strength that is needed. [N]
        needed: f64,
        /// Strength that the goal allows. [N]
        given: f64,
        /// Greatest strength. [N]
        highest: f64,
        /// What the strength is the force of, after a number in newtons.
        unit: &'static str,
    },
    /// The hand does not take objects of this shape.
    #[error("a hand of the kind {hand} takes {taken}; use another hand")]
    Shape {
        /// Kind of the hand.
        hand: &'static str,
        /// Objects that it takes.
        taken: &'static str,
    },
    /// The hand has no grip on a convex object.
    #[error("no grip on the object: {why}")]
    NoGrip {
        /// What it lacks, and what to do.
        why: String,
    },
    /// None of the grasps that the goal brings can be taken.
    #[error("none of the grasps given can be taken: {faults}")]
    Grasps {
        /// Number of each in the goal's list, from 1 on, and its fault.
        faults: String,
    },
    /// Fingers would slide off the object's side.
    #[error(
        "its side faces up by {:.1} degrees where the fingers touch it, and friction {friction} holds up to {:.1}: they would slide off, however firmly they press; turn the object over, or use fingers with more friction",
        lean.to_degrees(), largest.to_degrees()
    )]
    SlipsOff {
        /// Angle by which its side faces up. [rad]
        lean: f64,
        /// Coefficient of friction. [-]
        friction: f64,
        /// Largest angle that friction holds. [rad]
        largest: f64,
    },
    /// The fingers would lean too much about the object.
    #[error(transparent)]
    SqueezedOut(#[from] SqueezedOut),
    /// No yaw has a path.
    #[error("unreachable: {stage}: {why}")]
    Unreachable {
        /// Stage in which it fails, of the yaw that came furthest.
        stage: Stage,
        /// Joint or distance that is the cause.
        why: String,
    },
    /// The hand does not feel enough of what it takes and lifts.
    #[error(
        "picking and placing needs {sensors}, and robot `{robot}` has none; close and open its hand by `gripper_cmd`"
    )]
    NoSensors {
        /// Name of the robot.
        robot: String,
        /// Sensors that it lacks.
        sensors: &'static str,
    },
    /// The robot has no posture of this name.
    #[error("the robot has no posture `{name}`; it has {}", known.join(", "))]
    NoPosture {
        /// Name that was asked for.
        name: String,
        /// Names of its postures.
        known: Vec<String>,
    },
    /// The robot has no arm.
    #[error("robot `{robot}` has no joint group for its arm")]
    NoArm {
        /// Name of the robot.
        robot: String,
    },
}
