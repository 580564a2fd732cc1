//! Projected Gauss-Seidel over row blocks, each contact solved exactly on its cone.
//!
//! A sweep visits the blocks of an island in order; each block is solved with all others fixed, and its change of
//! impulse goes into the velocity at once, so that no Delassus matrix of the island is ever formed. Islands stop on
//! their own. [physics: velocity-level LCP by projected Gauss-Seidel; Hwangbo, Lee, Hutter 2018]
//!
//! Limits: converges to round-off in tens of sweeps where a few contacts share a body; tall stacks and large mass
//! ratios need hundreds.

use std::ops::Range;

use nalgebra::Vector3;

use super::cone::solve_contact;
use super::{Admissible, ContactSolver, Problem, SolverSettings};

/// The solver of this file.
#[derive(Debug, Clone, Copy, Default)]
pub struct BlockGaussSeidel;

impl ContactSolver for BlockGaussSeidel {
    fn name(&self) -> &'static str {
        "block_gauss_seidel"
    }

    fn level(&self) -> u8 {
        1
    }

    fn next(&self) -> Option<u8> {
        Some(2)
    }

    fn iterations(&self) -> usize {
        100
    }

    fn solve(
        &self,
        problem: &mut Problem,
        island: Range<usize>,
        settings: &SolverSettings,
    ) -> usize {
        for iteration in 1..=settings.iterations {
            if sweep(problem, island.clone()) <= settings.tolerance {
                return iteration;
            }
        }
        settings.iterations
    }
}

/// Solves every block of an island in turn; the largest change of velocity. [m/s or rad/s]
pub(crate) fn sweep(problem: &mut Problem, island: Range<usize>) -> f64 {
    island.fold(0.0, |change: f64, i| change.max(solve_block(problem, i)))
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
