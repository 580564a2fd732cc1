//! From island to island, and from level to level where one does not do.

use std::ops::Range;

use super::law::natural_map;
use super::{Block, ContactSolver, Problem, SOLVERS, Solution, SolverSettings, solver};

/// A residual below this is not worth the next level, though it is above the tolerance and said to be. [m/s or rad/s]
pub(super) const FINE: f64 = 1e-7;
/// Part of the aim that a warm start must reach if it was solved for: impulses that stopped an error of the last step
/// would bring it back with the other sign, and what rests would go to and fro at just less than the aim. [-]
const SETTLED: f64 = 0.4;

/// Solves all islands: `problem.velocity` and the blocks' impulses become the solution.
///
/// An island whose warm start is as good as what the method makes is left as it is. One that stays above the tolerance
/// goes up the ladder; the best iterate of any level is kept. Same inputs, same bits.
pub fn solve(problem: &mut Problem, settings: &SolverSettings) -> Solution {
    let Some(asked) = solver(settings.method) else { return Solution::default() };
    problem.save_free_velocity();
    let all = 0..problem.island_ends.len();
    solve_islands(problem, all, asked, settings)
}

/// [`solve`] for some of the islands, the velocity without impulses saved.
pub(super) fn solve_islands(
    problem: &mut Problem,
    islands: Range<usize>,
    asked: &'static dyn ContactSolver,
    settings: &SolverSettings,
) -> Solution {
    let mut worst = Solution::default();
    let mut start = if islands.start == 0 { 0 } else { problem.island_ends[islands.start - 1] };
    for i in islands {
        let end = problem.island_ends[i];
        worst = worst.max(solve_island(problem, start..end, asked, settings));
        start = end;
    }
    worst
}

fn solve_island(
    problem: &mut Problem,
    island: Range<usize>,
    asked: &'static dyn ContactSolver,
    settings: &SolverSettings,
) -> Solution {
    problem.apply_impulses(island.clone());
    let rows = problem.blocks[island.clone()].iter().map(Block::rows).sum();
    let (requested, asked) = (asked.level(), first_that_takes(asked, rows));
    let mut best = Solution {
        level: asked.level(),
        iterations: 0,
        residual: residual(problem, island.clone()),
    };
    let unsettled = problem.blocks[island.clone()].iter().any(|b| b.unsettled);
    let aim = asked.goal() * settings.tolerance * if unsettled { SETTLED } else { 1.0 };
    // Level 0 is defined by its sweeps, not by its residual.
    let settled = best.residual <= aim && asked.level() > 0;
    for block in &mut problem.blocks[island.clone()] {
        block.unsettled = !settled;
    }
    if settled {
        return best;
    }
    problem.save_impulses(island.clone());
    let mut method = asked;
    let mut own = *settings;
    if method.level() != requested {
        own.iterations = method.iterations();
    }
    let mut iterations = 0;
    loop {
        iterations += method.solve(problem, island.clone(), &own);
        // What iterates left behind in the velocity is no impulse of anything.
        problem.reset_velocity(island.clone());
        let reached = residual(problem, island.clone());
        if reached < best.residual || !best.residual.is_finite() || method.level() == 0 {
            best = Solution { level: method.level(), iterations, residual: reached };
            problem.save_impulses(island.clone());
        } else {
            problem.restore_impulses(island.clone());
        }
        best.iterations = iterations;
        best.level = method.level();
        let next = method
            .next()
            .filter(|_| settings.escalate && best.residual > settings.tolerance.max(FINE));
        let Some(next) = next.and_then(at_level) else { return best };
        method = first_that_takes(next, rows);
        own.iterations = method.iterations();
    }
}

/// This method, or the next up the ladder that takes islands of so many rows.
fn first_that_takes(method: &'static dyn ContactSolver, rows: usize) -> &'static dyn ContactSolver {
    let next = |method: &&'static dyn ContactSolver| method.next().and_then(at_level);
    std::iter::successors(Some(method), next).find(|m| m.takes(rows)).unwrap_or(method)
}

fn at_level(level: u8) -> Option<&'static dyn ContactSolver> {
    SOLVERS.iter().copied().find(|s| s.level() == level)
}

/// Largest natural map of an island; infinite if one is not finite. [m/s or rad/s]
fn residual(problem: &Problem, island: Range<usize>) -> f64 {
    let residuals = problem.blocks[island].iter().map(|b| natural_map(problem, b));
    residuals.fold(0.0, |worst, r| if r.is_finite() { r.max(worst) } else { f64::INFINITY })
}
