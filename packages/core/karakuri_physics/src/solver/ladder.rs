//! From island to island, and from level to level where one does not do.

use std::ops::Range;

use nalgebra::Vector3;

use super::law::natural_map;
use super::method::{ContactSolver, FINE, Method, Solution, SolverSettings};
use super::problem::{Block, Problem};
use super::{accelerated_gradient, admm, block_gauss_seidel, newton, projected_gauss_seidel};

/// All solvers, ascending by level.
pub const SOLVERS: &[ContactSolver] = &[
    projected_gauss_seidel::SOLVER,
    block_gauss_seidel::SOLVER,
    newton::SOLVER,
    admm::SOLVER,
    accelerated_gradient::SOLVER,
];

/// The solver of this name.
pub fn solver(name: &str) -> Option<&'static ContactSolver> {
    SOLVERS.iter().find(|s| s.name == name)
}

/// Part of the aim that a warm start must reach if it was solved for: impulses that stopped an error of the last step
/// would bring it back with the other sign, and what rests would go to and fro at just less than the aim. [-]
const SETTLED: f64 = 0.4;

/// The solvers with their memory: one for each thread that solves. No state: a copy starts its own.
#[derive(Debug)]
pub struct Ladder {
    /// As [`SOLVERS`].
    methods: Vec<Box<dyn Method>>,
    /// Impulses of the best iterate so far. (blocks)
    best: Vec<Vector3<f64>>,
}

impl Default for Ladder {
    fn default() -> Self {
        Self { methods: SOLVERS.iter().map(|s| (s.method)()).collect(), best: Vec::new() }
    }
}

impl Ladder {
    /// Solves all islands: `problem.velocity` and the blocks' impulses become the solution.
    ///
    /// An island whose warm start is as good as what the method makes is left as it is. One that stays above the tolerance
    /// goes up the ladder; the best iterate of any level is kept. Same inputs, same bits.
    pub fn solve(&mut self, problem: &mut Problem, settings: &SolverSettings) -> Solution {
        let Some(asked) = solver(settings.method) else { return Solution::default() };
        problem.save_free_velocity();
        let all = 0..problem.island_ends.len();
        self.solve_islands(problem, all, asked, settings)
    }

    /// [`Self::solve`] for some of the islands, the velocity without impulses saved.
    pub(super) fn solve_islands(
        &mut self,
        problem: &mut Problem,
        islands: Range<usize>,
        asked: &'static ContactSolver,
        settings: &SolverSettings,
    ) -> Solution {
        self.best.resize(problem.blocks.len(), Vector3::zeros());
        let mut worst = Solution::default();
        let mut start = if islands.start == 0 { 0 } else { problem.island_ends[islands.start - 1] };
        for i in islands {
            let end = problem.island_ends[i];
            worst = worst.max(self.solve_island(problem, start..end, asked, settings));
            start = end;
        }
        worst
    }

    fn solve_island(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        asked: &'static ContactSolver,
        settings: &SolverSettings,
    ) -> Solution {
        problem.apply_impulses(island.clone());
        let rows = problem.blocks[island.clone()].iter().map(Block::rows).sum();
        let (requested, asked) = (asked.level, first_that_takes(asked, rows));
        let mut best = Solution {
            level: asked.level,
            iterations: 0,
            residual: residual(problem, island.clone()),
        };
        let unsettled = problem.blocks[island.clone()].iter().any(|b| b.unsettled);
        let aim = asked.goal * settings.tolerance * if unsettled { SETTLED } else { 1.0 };
        // Level 0 is defined by its sweeps, not by its residual.
        let settled = best.residual <= aim && asked.level > 0;
        for block in &mut problem.blocks[island.clone()] {
            block.unsettled = !settled;
        }
        if settled {
            return best;
        }
        self.save_impulses(problem, island.clone());
        let mut method = asked;
        let mut own = *settings;
        if method.level != requested {
            own.iterations = method.iterations;
        }
        let mut iterations = 0;
        loop {
            iterations += self.method_of(method).solve(problem, island.clone(), &own);
            // What iterates left behind in the velocity is no impulse of anything.
            problem.reset_velocity(island.clone());
            let reached = residual(problem, island.clone());
            if reached < best.residual || !best.residual.is_finite() || method.level == 0 {
                best = Solution { level: method.level, iterations, residual: reached };
                self.save_impulses(problem, island.clone());
            } else {
                self.restore_impulses(problem, island.clone());
            }
            best.iterations = iterations;
            best.level = method.level;
            let next = method
                .next
                .filter(|_| settings.escalate && best.residual > settings.tolerance.max(FINE));
            let Some(next) = next.and_then(at_level) else { return best };
            method = first_that_takes(next, rows);
            own.iterations = method.iterations;
        }
    }

    fn method_of(&mut self, solver: &ContactSolver) -> &mut dyn Method {
        let at = SOLVERS.iter().position(|s| s.level == solver.level).unwrap_or_default();
        &mut *self.methods[at]
    }

    fn save_impulses(&mut self, problem: &Problem, island: Range<usize>) {
        let blocks = &problem.blocks[island.clone()];
        for (best, block) in self.best[island].iter_mut().zip(blocks) {
            *best = block.impulse;
        }
    }

    /// Goes back to the saved impulses, and the velocity with them.
    fn restore_impulses(&self, problem: &mut Problem, island: Range<usize>) {
        let blocks = &mut problem.blocks[island.clone()];
        for (best, block) in self.best[island.clone()].iter().zip(blocks) {
            block.impulse = *best;
        }
        problem.reset_velocity(island);
    }
}

/// This solver, or the next up the ladder that takes islands of so many rows.
fn first_that_takes(solver: &'static ContactSolver, rows: usize) -> &'static ContactSolver {
    let next = |solver: &&'static ContactSolver| solver.next.and_then(at_level);
    std::iter::successors(Some(solver), next).find(|s| rows <= s.most_rows).unwrap_or(solver)
}

fn at_level(level: u8) -> Option<&'static ContactSolver> {
    SOLVERS.iter().find(|s| s.level == level)
}

/// Largest natural map of an island; infinite if one is not finite. [m/s or rad/s]
fn residual(problem: &Problem, island: Range<usize>) -> f64 {
    let residuals = problem.blocks[island].iter().map(|b| natural_map(problem, b));
    residuals.fold(0.0, |worst, r| if r.is_finite() { r.max(worst) } else { f64::INFINITY })
}
