//! The interface of motors' laws, and the reading of their numbers.

use std::fmt::Debug;

use crate::yaml::{Fields, Reader};

/// Command of a motor; a law uses the fields that it has a use for.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MotorCommand {
    /// Desired position. [rad or m]
    pub position: f64,
    /// Desired velocity. [rad/s or m/s]
    pub velocity: f64,
    /// Added effort [N·m or N], or the part of full voltage [-] where the law has one.
    pub effort: f64,
}

/// A joint as its motor sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MotorState {
    /// Position of the joint. [rad or m]
    pub position: f64,
    /// Velocity of the joint. [rad/s or m/s]
    pub velocity: f64,
    /// Command of the motor.
    pub command: MotorCommand,
    /// Memory of the law at the end of the last step; 0 at first. [as the law says]
    pub memory: f64,
    /// Time step at whose end the joint has this state. [s]
    pub dt: f64,
}

/// Effort of a motor and its slopes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MotorResponse {
    /// Effort on the joint. [N·m or N]
    pub effort: f64,
    /// `−∂effort/∂position`. [N·m/rad or N/m]
    pub stiffness: f64,
    /// `−∂effort/∂velocity`. [N·m·s/rad or N·s/m]
    pub damping: f64,
}

/// Law of a motor's effort as a function of the joint's state.
pub trait MotorLaw: Debug + Send + Sync {
    /// Name of the law.
    fn name(&self) -> &'static str;

    /// Effort and its slopes; finite at every finite state.
    fn respond(&self, at: &MotorState) -> MotorResponse;

    /// Memory at the end of a step that ends in this state.
    fn remember(&self, at: &MotorState) -> f64 {
        // Most laws are functions of the state alone.
        at.memory
    }
}

/// A number, 0 if it is not there.
pub(super) fn number(reader: &mut Reader<'_>, fields: &Fields<'_>, key: &str, unit: &str) -> f64 {
    let given = fields.get(key);
    given.and_then(|(n, p)| reader.number(n, &p, &(-1e12..=1e12), unit)).unwrap_or(0.0)
}

/// A number of at least zero, 0 if it is not there.
pub(super) fn gain(reader: &mut Reader<'_>, fields: &Fields<'_>, key: &str, unit: &str) -> f64 {
    let given = fields.get(key);
    // A negative gain would feed energy in: springs push away, dampers accelerate.
    given.and_then(|(n, p)| reader.number(n, &p, &(0.0..=1e12), unit)).unwrap_or(0.0)
}

/// A positive number that must be there.
pub(super) fn positive(
    reader: &mut Reader<'_>,
    fields: &Fields<'_>,
    key: &str,
    unit: &str,
) -> Option<f64> {
    let (node, path) = reader.required(fields, key, &format!("1 # {unit}"))?;
    reader.number(node, &path, &(1e-12..=1e12), unit)
}
