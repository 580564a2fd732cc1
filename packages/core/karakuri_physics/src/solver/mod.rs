//! Contact solvers: one trait over matrices, one file a solver, one line in the registry.

mod block_gauss_seidel;
mod cone;
mod problem;

pub use block_gauss_seidel::BlockGaussSeidel;
pub use cone::{project_on_cone, solve_contact};
pub use problem::{Admissible, Block, Problem, Side};
pub(crate) use problem::{apply, dot};

/// A solver of velocity-level contact problems.
pub trait ContactSolver: Send + Sync {
    /// Name in scene files and parameters.
    fn name(&self) -> &'static str;

    /// Turns `problem.velocity` and the blocks' impulses into the solution, starting from the blocks' impulses.
    fn solve(&self, problem: &mut Problem, settings: &SolverSettings) -> Solution;
}

/// All solvers.
pub const SOLVERS: &[&dyn ContactSolver] = &[&BlockGaussSeidel];

/// The solver of this name.
pub fn solver(name: &str) -> Option<&'static dyn ContactSolver> {
    SOLVERS.iter().copied().find(|s| s.name() == name)
}

/// Which solver, and when it may stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolverSettings {
    /// Name in [`SOLVERS`].
    pub method: &'static str,
    /// Most sweeps a step.
    pub iterations: usize,
    /// Change of velocity below which an island counts as solved. [m/s or rad/s]
    pub tolerance: f64,
}

impl Default for SolverSettings {
    /// 100 sweeps to 1e-9 m/s: a grasp or a small stack settles in 5 to 40, warm in 1 to 5.
    fn default() -> Self {
        Self { method: "block_gauss_seidel", iterations: 100, tolerance: 1e-9 }
    }
}

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Solution {
    /// Most sweeps of any island.
    pub iterations: usize,
    /// Largest natural-map residual of any block. [m/s or rad/s]
    pub residual: f64,
}
