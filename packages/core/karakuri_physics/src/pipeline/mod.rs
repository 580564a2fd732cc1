//! The stages of a step; [`step`] is their table of contents.

pub(crate) mod continuous;
pub(crate) mod energy;
pub(crate) mod impacts;
pub(crate) mod integrate;
pub(crate) mod integrators;
pub(crate) mod islands;
pub(crate) mod operators;
pub(crate) mod sensors;
pub(crate) mod sleep;
pub(crate) mod stages;
pub(crate) mod step;
pub(crate) mod work;

use crate::constraint::row::Row;
use crate::solver::{Problem, Team};
use impacts::Bounces;
use islands::Islands;

/// Scratch of the stages of a step: what one hands to the next, and memory that is used again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pipeline {
    pub(crate) problem: Problem,
    pub(crate) team: Team,
    pub(crate) rows: Vec<Row>,
    pub(crate) islands: Islands,
    pub(crate) bounces: Bounces,
    /// How often rows were made.
    pub(crate) builds: u64,
    /// Velocity before the step. (n)
    pub(crate) before: Vec<f64>,
    /// Velocity that only moves positions, to undo their errors. (n)
    pub(crate) correction: Vec<f64>,
    /// Its impulses. (rows)
    pub(crate) corrections: Vec<f64>,
    /// Robots, then bodies, that rows act on.
    pub(crate) touched: Vec<bool>,
    /// Islands that may fall asleep, at their first movers.
    pub(crate) tired: Vec<bool>,
    /// How far through the step each body goes. [s]
    pub(crate) stops: Vec<f64>,
    /// Gap up to which the contacts of the step were found. [m]
    pub(crate) reach: f64,
}
