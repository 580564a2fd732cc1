//! Projected Gauss-Seidel over row blocks, each contact solved exactly on its cone.
//!
//! A sweep visits the blocks of an island in order; each block is solved with all others fixed, and its change of
//! impulse goes into the velocity at once, so that no Delassus matrix of the island is ever formed. Islands stop on
//! their own. [physics: velocity-level LCP by projected Gauss-Seidel; Hwangbo, Lee, Hutter 2018]
//!
//! Limits: converges to round-off in tens of sweeps where a few contacts share a body; tall stacks and large mass
//! ratios need hundreds.

use nalgebra::Vector3;

use super::cone::{project_on_cone, solve_contact};
use super::{Admissible, Block, ContactSolver, Problem, Solution, SolverSettings};

/// The solver of this file.
#[derive(Debug, Clone, Copy, Default)]
pub struct BlockGaussSeidel;

impl ContactSolver for BlockGaussSeidel {
    fn name(&self) -> &'static str {
        "block_gauss_seidel"
    }

    fn solve(&self, problem: &mut Problem, settings: &SolverSettings) -> Solution {
        let mut solution = Solution { iterations: 0, residual: 0.0 };
        let mut start = 0;
        for island in 0..problem.island_ends.len() {
            let end = problem.island_ends[island];
            warm_start(problem, start, end);
            let iterations = sweep_until_settled(problem, start, end, settings);
            solution.iterations = solution.iterations.max(iterations);
            for i in start..end {
                solution.residual = solution.residual.max(natural_map(problem, &problem.blocks[i]));
            }
            start = end;
        }
        solution
    }
}

fn warm_start(problem: &mut Problem, start: usize, end: usize) {
    for i in start..end {
        let block = problem.blocks[i];
        problem.apply(&block, &block.impulse);
    }
}

fn sweep_until_settled(
    problem: &mut Problem,
    start: usize,
    end: usize,
    settings: &SolverSettings,
) -> usize {
    for iteration in 1..=settings.iterations {
        let mut change: f64 = 0.0;
        for i in start..end {
            change = change.max(solve_block(problem, i));
        }
        if change <= settings.tolerance {
            return iteration;
        }
    }
    settings.iterations
}

/// Solves block `i`; the change of its velocity. [m/s or rad/s]
fn solve_block(problem: &mut Problem, i: usize) -> f64 {
    let block = problem.blocks[i];
    let u = problem.velocity_of(&block) - block.bias;
    let impulse = match block.admissible {
        Admissible::Interval { lower, upper } => {
            let stiffness = block.delassus.m11 + block.compliance;
            let wanted = block.impulse.x - (u.x + block.compliance * block.impulse.x) / stiffness;
            Vector3::new(wanted.clamp(lower, upper), 0.0, 0.0)
        }
        Admissible::Cone { friction } => {
            let w = u - block.delassus * block.impulse;
            solve_contact(&block.delassus, &w, friction)
        }
    };
    let delta = impulse - block.impulse;
    if delta == Vector3::zeros() {
        return 0.0;
    }
    problem.blocks[i].impulse = impulse;
    problem.apply(&block, &delta);
    (block.delassus * delta).amax()
}

/// How far a block is from its law, as a velocity: `‖λ − Π_K(λ − û/g)‖ g` with De Saxcé's
/// `û = u + (μ‖u_t‖, 0, 0)` and `g` the mean diagonal of its Delassus block. [m/s or rad/s]
/// [Acary, Cadoux, Lemaréchal, Malick 2011]
pub(crate) fn natural_map(problem: &Problem, block: &Block) -> f64 {
    let u = problem.velocity_of(block) - block.bias;
    match block.admissible {
        Admissible::Interval { lower, upper } => {
            let g = block.delassus.m11 + block.compliance;
            let step = block.impulse.x - (u.x + block.compliance * block.impulse.x) / g;
            (block.impulse.x - step.clamp(lower, upper)).abs() * g
        }
        Admissible::Cone { friction } => {
            let g = block.delassus.trace() / 3.0;
            let shifted = Vector3::new(u.x + friction * u.yz().norm(), u.y, u.z);
            (block.impulse - project_on_cone(&(block.impulse - shifted / g), friction)).norm() * g
        }
    }
}
