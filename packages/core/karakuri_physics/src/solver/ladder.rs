//! The solver of each island, and the next level where one does not suffice.

use std::ops::Range;

use nalgebra::Vector3;

use super::automatic::Choice;
use super::certificate::Certificate;
use super::law::natural_map_at;
use super::method::{ContactSolver, FINE, Method, Solution, SolverSettings};
use super::problem::{Block, Problem};
use super::{
    accelerated_gradient, admm, automatic, block_gauss_seidel, cone_gauss_seidel, newton,
    projected_gauss_seidel,
};

/// All solvers, ascending by level.
pub const SOLVERS: &[ContactSolver] = &[
    projected_gauss_seidel::SOLVER,
    block_gauss_seidel::SOLVER,
    newton::SOLVER,
    admm::SOLVER,
    accelerated_gradient::SOLVER,
    cone_gauss_seidel::SOLVER,
    automatic::SOLVER,
];

/// The solver of this name.
pub fn solver(name: &str) -> Option<&'static ContactSolver> {
    SOLVERS.iter().find(|s| s.name == name)
}

/// Part of the aim that a warm start must reach if it was solved for: impulses that stopped an error of the last step
/// would bring it back with the other sign, and an island at rest would alternate just below the aim. [-]
const SETTLED: f64 = 0.4;

/// Impulses that leave more than this are compared with those of a few sweeps: fewer of them let bodies pass into each other.
/// [m/s or rad/s]
const COARSE: f64 = 1e-3;
/// Sweeps of the solver that replaces impulses which would give energy.
const SAFE_SWEEPS: usize = 30;

impl Solution {
    /// Velocity that it may be off by: its residual, or less where that is within the tolerance. A velocity above it that was asked for
    /// came about, if it could. [m/s or rad/s]
    pub(crate) fn attained(&self, tolerance: f64) -> f64 {
        let aim = newton::SOLVER.goal * tolerance * SETTLED;
        if self.residual > tolerance { self.residual } else { aim }
    }
}

/// The solvers with their memory: one for each thread that solves. No state: a copy starts its own.
#[derive(Debug)]
pub struct Ladder {
    /// Methods in the order of [`SOLVERS`].
    methods: Vec<Box<dyn Method>>,
    /// Velocities `J v` of an island's blocks. [m/s or rad/s] (blocks × 3)
    velocities: Vec<Vector3<f64>>,
    /// Impulses of the best iterate so far. (blocks)
    best: Vec<Vector3<f64>>,
    certificate: Certificate,
}

impl Default for Ladder {
    fn default() -> Self {
        Self {
            methods: SOLVERS.iter().map(|s| (s.method)()).collect(),
            velocities: Vec::new(),
            best: Vec::new(),
            certificate: Certificate::default(),
        }
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
        self.velocities.clear();
        self.velocities.reserve(problem.blocks.len());
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
        let start = self.residual(problem, island.clone());
        let Choice { solver: asked, settings, tolerance, mut then } =
            automatic::choose(asked, problem, island.clone(), settings, &self.velocities);
        let (requested, asked) = (asked.level, first_that_takes(asked, rows));
        let mut best =
            Solution { level: asked.level, residual: start, tolerance, ..Solution::default() };
        // By the island: one block that had to be solved moves all of its neighbours.
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
        let mut own = settings;
        // Iterations that the caller set are of the method that was asked for, not of the one that stands in.
        if method.level != requested {
            own.iterations = method.iterations;
        }
        let mut iterations = 0;
        // Whether the impulses are still those of the last step, and nothing at new contacts.
        let mut is_start = true;
        // Row visits left for each of the island's rows.
        // By rows, so that the share of an island does not depend on what else was solved before it.
        let mut budget = settings.budget / problem.rows_of_step.max(rows).max(1);
        loop {
            let work = (method.work)(rows);
            // One iteration whatever the budget: its impulses are at least of the present contacts.
            own.iterations = own.iterations.min((budget / work).max(1));
            let used = self.method_of(method).solve(problem, island.clone(), &own);
            iterations += used;
            budget = budget.saturating_sub(used * work);
            // What iterates left behind in the velocity is no impulse of anything.
            problem.reset_velocity(island.clone());
            let reached = self.residual(problem, island.clone());
            // Level 0 keeps what its sweeps give, better or worse, and so do others that keep bodies apart and have no successor: where
            // a sweep moves the largest error to a neighbour, a start that is kept instead is the same in the next step, and for ever.
            let sweeps_on = method.level == 0 || (method.keeps_apart && is_start && then.is_none());
            if reached < best.residual || !best.residual.is_finite() || sweeps_on {
                is_start = false;
                best.residual = reached;
                self.save_impulses(problem, island.clone());
            } else {
                self.restore_impulses(problem, island.clone());
                self.find_velocities(problem, island.clone());
            }
            best.iterations = iterations;
            best.level = method.level;
            let then = then.take().filter(|_| best.residual > tolerance && budget > 0);
            if let Some((solver, settings)) = then {
                (method, own) = (solver, settings);
                continue;
            }
            let next = method
                .next
                // Above `FINE` only: what is solved to 0.1 µm/s is not worth the cost of the next level.
                .filter(|_| own.escalate && best.residual > own.tolerance.max(FINE));
            let Some(next) = next.filter(|_| budget > 0).and_then(at_level) else {
                let mut solution = self.certified(problem, island, method, best, is_start);
                solution.is_unsolved = solution.residual > tolerance;
                return solution;
            };
            method = first_that_takes(next, rows);
            own.iterations = method.iterations;
        }
    }

    /// The solution; where its impulses would give energy, or are far from a solution, those of a few sweeps from zero instead,
    /// or they themselves made smaller; where they are those that the island started with, a few sweeps from there.
    fn certified(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        method: &'static ContactSolver,
        reached: Solution,
        is_start: bool,
    ) -> Solution {
        if reached.residual <= FINE {
            return reached;
        }
        // What fails or is coarse competes with a few sweeps, scaled likewise; the smaller residual is taken.
        let passes = self.scale(problem, island.clone()) >= 1.0;
        let competes = is_start || !(method.keeps_apart || method.level == 0);
        if passes && (reached.residual <= COARSE || !competes) {
            return reached;
        }
        let scaled = self.residual(problem, island.clone());
        self.save_impulses(problem, island.clone());
        if !is_start {
            Certificate::clear(problem, island.clone());
        }
        let sweeps =
            SolverSettings { iterations: SAFE_SWEEPS, tolerance: FINE, ..Default::default() };
        let sweeper = if method.keeps_apart { method } else { &cone_gauss_seidel::SOLVER };
        self.method_of(sweeper).solve(problem, island.clone(), &sweeps);
        problem.reset_velocity(island.clone());
        self.find_velocities(problem, island.clone());
        let sweeps_pass = self.scale(problem, island.clone()) >= 1.0;
        let swept = self.residual(problem, island.clone());
        // Energy first: impulses that pass replace such that had to be scaled, whatever their residual.
        if swept < scaled || is_start || (sweeps_pass && !passes) {
            return Solution { residual: swept, ..reached };
        }
        self.restore_impulses(problem, island);
        Solution { residual: scaled, ..reached }
    }

    /// Scales the impulses of an island, whose velocities were found, where they would give energy; the factor. [-]
    fn scale(&mut self, problem: &mut Problem, island: Range<usize>) -> f64 {
        self.certificate.scale(problem, island, &self.velocities)
    }

    fn find_velocities(&mut self, problem: &Problem, island: Range<usize>) {
        let each = problem.blocks[island].iter();
        self.velocities.clear();
        self.velocities.extend(each.map(|b| problem.jacobian_times(&problem.velocity, b)));
    }

    /// Largest natural map of an island, whose velocities are kept; infinite if one is not finite. [m/s or rad/s]
    fn residual(&mut self, problem: &Problem, island: Range<usize>) -> f64 {
        self.find_velocities(problem, island.clone());
        let blocks = &problem.blocks[island];
        let residuals = blocks.iter().zip(&self.velocities).map(|(b, u)| natural_map_at(b, *u));
        residuals.fold(0.0, |worst, r| if r.is_finite() { r.max(worst) } else { f64::INFINITY })
    }

    fn method_of(&mut self, solver: &ContactSolver) -> &mut dyn Method {
        let at = SOLVERS.iter().position(|s| s.name == solver.name).unwrap_or_default();
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
