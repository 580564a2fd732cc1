//! Contact solvers as data, and what each of them does.

use std::fmt::Debug;
use std::ops::Range;

use super::problem::Problem;

/// A residual below this is not worth the next level, though it is above the tolerance and reported. [m/s or rad/s]
pub(crate) const FINE: f64 = 1e-7;

/// A contact solver: an entry of [`SOLVERS`](super::SOLVERS).
#[derive(Debug, Clone, Copy)]
pub struct ContactSolver {
    /// Name in scene files and parameters.
    pub name: &'static str,
    /// Place on the ladder.
    pub level: u8,
    /// The level asked next where this one does not reach the tolerance.
    pub next: Option<u8>,
    /// Part of the tolerance that it aims at, and to which a warm start is left as it is. [-]
    pub goal: f64,
    /// Largest island that it takes, in rows; a larger one goes to the next level, asked to escalate or not.
    pub most_rows: usize,
    /// Most iterations, unless the settings say otherwise.
    pub iterations: usize,
    /// Whether impulses of few iterations keep bodies apart: then they are taken where they give no energy, and compete with
    /// nothing.
    pub keeps_apart: bool,
    /// Work of an iteration for each row of an island of so many rows: a row visited by a sweep of level 0 is 1.
    pub work: fn(usize) -> usize,
    /// Makes its method, with memory of its own.
    pub method: fn() -> Box<dyn Method>,
}

/// The method of a contact solver, with the memory it works in; no state, so that the same problem gives the same bits.
pub trait Method: Debug + Send {
    /// Turns the velocity and the impulses of one island's blocks into the solution; iterations used.
    ///
    /// The velocity comes with the warm impulses in it. Blocks of other islands, and what they move, stay as they
    /// are.
    fn solve(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        settings: &SolverSettings,
    ) -> usize;
}

/// Choice of a solver, and when it may stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolverSettings {
    /// Name of the solver in [`SOLVERS`](super::SOLVERS).
    pub method: &'static str,
    /// Most iterations of this method a step; higher levels take their own.
    pub iterations: usize,
    /// Natural-map residual at which an island counts as solved. [m/s or rad/s]
    pub tolerance: f64,
    /// Part of an island's largest change of velocity in the step that is added to the tolerance: motion at 1 m/s need not be
    /// solved as well as rest. [-]
    pub tolerance_rel: f64,
    /// Whether an island above the tolerance goes to the next level.
    pub escalate: bool,
    /// Most work of a step, in row visits: each island has a share by its rows. At least one iteration is made.
    pub budget: usize,
}

impl Default for SolverSettings {
    /// The method of choice: Newton's to 1e-9 m/s, with 5 to 20 steps where contacts are new, none to 3 where they are warm, and
    /// sweeps for crowds that move.
    fn default() -> Self {
        Self {
            method: "automatic",
            iterations: 200,
            tolerance: 1e-9,
            tolerance_rel: 0.0,
            escalate: true,
            budget: 100_000_000,
        }
    }
}

impl SolverSettings {
    /// Settings for loops that must not be late: motion is solved to 1e-4 of its change of velocity, and a crowd of 500 contacts is swept
    /// some four times a step.
    // Of `pile200` the deepest overlap was 0.23 mm here, 0.17 to 0.43 mm at 15 000 and 20 000, 0.42 mm at 8000: fewer sweeps take no less
    // time, as the heap comes to rest later.
    pub fn realtime() -> Self {
        Self { tolerance_rel: 1e-4, budget: 12_000, ..Self::default() }
    }
}

/// Result of a solve: level, iterations, residual.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Solution {
    /// Highest level any island was solved at.
    pub level: u8,
    /// Most iterations of any island, over all levels it took.
    pub iterations: usize,
    /// Largest natural-map residual of any block. [m/s or rad/s]
    pub residual: f64,
    /// Largest residual at which an island counts as solved: the tolerance of the settings, or more where a crowd moves.
    /// [m/s or rad/s]
    pub tolerance: f64,
    /// Whether an island stayed above its tolerance.
    pub is_unsolved: bool,
}

impl Solution {
    /// The worse of two, number by number.
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            level: self.level.max(other.level),
            iterations: self.iterations.max(other.iterations),
            residual: self.residual.max(other.residual),
            tolerance: self.tolerance.max(other.tolerance),
            is_unsolved: self.is_unsolved || other.is_unsolved,
        }
    }
}
