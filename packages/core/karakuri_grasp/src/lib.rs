#![doc = include_str!("../README.md")]
#![expect(non_snake_case, reason = "monogram notation, docs/notation.md")]

pub mod drive_force;
pub mod end_effector;
pub mod finger_sense;
pub mod grip_force;
pub mod grip_monitor;
pub mod gripper_command;
pub mod hand;
pub mod hand_command;
mod hull;
pub mod pick_and_place;
pub mod scene_changes;
pub mod slip;
pub mod suction;
pub mod tool_change;
pub mod underactuated;

pub use end_effector::{EndEffector, EndEffectorError, FingerForce, Fingers};
