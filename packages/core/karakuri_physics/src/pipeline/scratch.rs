//! Scratch of the stages of a step.

use karakuri_spatial::{Motion, Pose, UnitQuaternion, Vector3};

use super::carry::Carry;
use super::corrected_row::CorrectedRow;
use super::islands::Islands;
use super::restitution::RowImpacts;
use super::strikes::{Meeting, Strike};
use crate::constraint::row::Row;
use crate::solver::{Problem, Team};

/// Scratch of the stages of a step: what one hands to the next, and memory that is used again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pipeline {
    pub(crate) problem: Problem,
    pub(crate) team: Team,
    pub(crate) rows: Vec<Row>,
    pub(crate) islands: Islands,
    pub(crate) carry: Carry,
    pub(crate) bounces: Bounces,
    pub(crate) row_impacts: RowImpacts,
    /// Number of times rows were made.
    pub(crate) generation: u64,
    /// Velocity before the step. (n)
    pub(crate) before: Vec<f64>,
    /// Velocity that only moves positions, to undo their errors. (n)
    pub(crate) correction: Vec<f64>,
    /// Rows of the correction.
    pub(crate) corrected_rows: Vec<CorrectedRow>,
    /// Robots, then bodies, that rows act on.
    pub(crate) touched: Vec<bool>,
    /// Islands that may fall asleep, at their first movers.
    pub(crate) sleepy: Vec<bool>,
    /// Time up to which each mover goes through the step. [s]
    pub(crate) stop_times: Vec<f64>,
    /// Gap up to which the contacts of the step were found. [m]
    pub(crate) reach: f64,
}

/// Scratch of bouncing islands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bounces {
    pub(crate) parents: Vec<usize>,
    /// Whether an island may bounce, at its root body.
    pub(crate) able: Vec<bool>,
    pub(crate) meetings: Vec<Meeting>,
    /// Meetings at one instant.
    pub(crate) together: Vec<Meeting>,
    pub(crate) strikes: Vec<Strike>,
    /// Time up to which each body has gone. [s]
    pub(crate) times: Vec<f64>,
    /// Bodies as they were before the step.
    pub(crate) saved: Vec<(usize, UnitQuaternion, Pose, Motion)>,
    /// Contact and impulse on its second side, in the world. [N·s] (3)
    pub(crate) impulses: Vec<(usize, Vector3)>,
    /// Work of all impacts of the step. [J]
    pub(crate) work: f64,
}
