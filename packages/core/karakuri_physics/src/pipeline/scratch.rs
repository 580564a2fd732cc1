//! Scratch of the stages of a step.

use karakuri_spatial::{Motion, Pose, UnitQuaternion, Vector3};

use super::islands::Islands;
use crate::constraint::row::Row;
use crate::solver::{Problem, Team};

/// Scratch of the stages of a step: what one hands to the next, and memory that is used again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pipeline {
    pub(crate) problem: Problem,
    pub(crate) team: Team,
    pub(crate) rows: Vec<Row>,
    pub(crate) islands: Islands,
    pub(crate) bounces: Bounces,
    /// How often rows were made.
    pub(crate) generation: u64,
    /// Velocity before the step. (n)
    pub(crate) before: Vec<f64>,
    /// Velocity that only moves positions, to undo their errors. (n)
    pub(crate) correction: Vec<f64>,
    /// Its impulses. (rows)
    pub(crate) correction_impulses: Vec<f64>,
    /// Robots, then bodies, that rows act on.
    pub(crate) touched: Vec<bool>,
    /// Islands that may fall asleep, at their first movers.
    pub(crate) sleepy: Vec<bool>,
    /// How far through the step each body goes. [s]
    pub(crate) stop_times: Vec<f64>,
    /// Gap up to which the contacts of the step were found. [m]
    pub(crate) reach: f64,
}

/// A pair that may meet in this step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meeting {
    pub(crate) contact: usize,
    pub(crate) island: usize,
    /// When it next meets, from the start of the step; infinite if it does not. [s]
    pub(crate) time: f64,
    pub(crate) normal: Vector3,
    pub(crate) point: Vector3,
}

/// Scratch of bouncing islands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bounces {
    pub(crate) parents: Vec<usize>,
    /// Whether an island may bounce, at its root body.
    pub(crate) able: Vec<bool>,
    pub(crate) meetings: Vec<Meeting>,
    /// How far each body has gone. [s]
    pub(crate) times: Vec<f64>,
    /// Bodies as they were before the step.
    pub(crate) saved: Vec<(usize, UnitQuaternion, Pose, Motion)>,
    /// Contact and impulse on its second side, in the world. [N·s] (3)
    pub(crate) impulses: Vec<(usize, Vector3)>,
    /// Of all impacts of the step. [J]
    pub(crate) work: f64,
}
