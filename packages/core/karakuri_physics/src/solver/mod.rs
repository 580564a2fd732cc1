//! Contact solvers: one trait over matrices, one file a solver, one line in the registry.
//!
//! The law of every block is `u + R λ − u* ∈ −N_C(λ)` with `u = J v`, and for a contact Coulomb's exact law in
//! De Saxcé's form: `K_μ* ∋ û ⟂ λ ∈ K_μ`, `û = u + (μ‖u_t‖, 0, 0)`. [De Saxcé & Feng 1998]
//!
//! | level | solver | for |
//! |---|---|---|
//! | 0 | [`ProjectedGaussSeidel`] | teaching: Springhead's |
//! | 1 | [`BlockGaussSeidel`] | few contacts, each on its own |
//! | 2 | [`Newton`] | robots, grips, stacks: the reference |
//! | 3 | [`Admm`] | what defeats Newton: ill-conditioned, redundant |
//! | 4 | [`AcceleratedGradient`] | piles, matrix-free |
//!
//! An island that the asked solver leaves above the tolerance goes to the next level, and the [`Solution`] says how
//! far it went and how well it ended: nothing is returned unconverged in silence.

mod accelerated_gradient;
mod admm;
mod block_factor;
mod block_gauss_seidel;
mod cone;
mod delassus;
mod impulse_steps;
mod ladder;
mod law;
mod newton;
mod problem;
mod projected_gauss_seidel;
mod soft_finger;
mod team;
mod workspace;

use std::fmt::Debug;
use std::ops::Range;

pub use accelerated_gradient::AcceleratedGradient;
pub use admm::Admm;
pub use block_gauss_seidel::BlockGaussSeidel;
pub use cone::{project_on_cone, solve_contact};
pub use ladder::solve;
pub use law::natural_map;
pub use newton::Newton;
pub use problem::{Admissible, Block, Problem, RowSpec, Run, Side};
pub(crate) use problem::{apply, dot};
pub use projected_gauss_seidel::ProjectedGaussSeidel;
pub use soft_finger::SoftFinger;
pub(crate) use team::Team;

/// A solver of velocity-level contact problems.
pub trait ContactSolver: Debug + Send + Sync {
    /// Name in scene files and parameters.
    fn name(&self) -> &'static str;

    /// Place on the ladder.
    fn level(&self) -> u8;

    /// The level asked next, where this one does not reach the tolerance.
    fn next(&self) -> Option<u8> {
        None
    }

    /// Part of the tolerance that it aims at, and leaves alone what a warm start brings within. [-]
    fn goal(&self) -> f64 {
        1.0
    }

    /// Whether it takes an island of so many rows; where it does not, the next level does, asked to escalate or not.
    fn takes(&self, rows: usize) -> bool {
        let _ = rows;
        true
    }

    /// Most iterations, unless the settings say other.
    fn iterations(&self) -> usize;

    /// Turns the velocity and the impulses of one island's blocks into the solution; iterations used.
    ///
    /// The velocity comes with the warm impulses in it. Blocks of other islands, and what they move, stay as they
    /// are.
    fn solve(
        &self,
        problem: &mut Problem,
        island: Range<usize>,
        settings: &SolverSettings,
    ) -> usize;
}

/// All solvers, ascending by level.
pub const SOLVERS: &[&dyn ContactSolver] =
    &[&ProjectedGaussSeidel, &BlockGaussSeidel, &Newton, &Admm, &AcceleratedGradient];

/// The solver of this name.
pub fn solver(name: &str) -> Option<&'static dyn ContactSolver> {
    SOLVERS.iter().copied().find(|s| s.name() == name)
}

/// Which solver, and when it may stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolverSettings {
    /// Name in [`SOLVERS`].
    pub method: &'static str,
    /// Most iterations of this method a step; higher levels take their own.
    pub iterations: usize,
    /// Natural-map residual at which an island counts as solved. [m/s or rad/s]
    pub tolerance: f64,
    /// Whether an island above the tolerance goes to the next level.
    pub escalate: bool,
}

impl Default for SolverSettings {
    /// Newton's method to 1e-9 m/s: 5 to 20 steps where contacts are new, none to 3 where they are warm.
    fn default() -> Self {
        Self { method: "newton", iterations: 200, tolerance: 1e-9, escalate: true }
    }
}

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Solution {
    /// Highest level any island was solved at.
    pub level: u8,
    /// Most iterations of any island, over all levels it took.
    pub iterations: usize,
    /// Largest natural-map residual of any block. [m/s or rad/s]
    pub residual: f64,
}

impl Solution {
    /// The worse of two, number by number.
    fn max(self, other: Self) -> Self {
        Self {
            level: self.level.max(other.level),
            iterations: self.iterations.max(other.iterations),
            residual: self.residual.max(other.residual),
        }
    }
}
