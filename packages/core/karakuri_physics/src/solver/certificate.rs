//! The energy certificate of an island: impulses that were not solved for must not give energy.
//!
//! With the velocity `u_f` of the rows without impulses, `½ λᵀ(G + R) λ + λᵀ(u_f − u*)` is the kinetic energy that impulses
//! give, in the metric of the step's operator, less the work of targets `u*` and what compliances store. It is negative for every
//! solution of the contact law: there `λᵀ(u + R λ − u*) ≤ 0`, so that it is at most `−½ λᵀ(G + R) λ`. Along a ray `s λ` it is
//! a parabola through zero, so impulses that fail are brought to where it is least.
//!
//! Rows whose bounds exclude zero (a drive at its limit) are no part of it: their impulses act in `u_f`.

use std::ops::Range;

use nalgebra::Vector3;

use super::{Admissible, Block, Problem};

/// Part of its terms by which the certificate may fail by rounding. [-]
const ROUNDING: f64 = 1e-9;

/// Memory of the check.
#[derive(Debug, Default)]
pub(super) struct Certificate {
    /// Impulses of the island, and its velocities without those that may be scaled. (blocks)
    impulses: Vec<Vector3<f64>>,
    free: Vec<Vector3<f64>>,
}

/// Whether a block's impulse may be made smaller.
fn may_scale(block: &Block) -> bool {
    match block.admissible {
        Admissible::Interval { lower, upper } => lower <= 0.0 && upper >= 0.0,
        _ => true,
    }
}

impl Certificate {
    /// Scales the impulses of an island where they would give energy; the factor. Before, they leave `velocities` `J v`. [-]; [m/s or
    /// rad/s] (blocks × 3)
    pub(super) fn scale(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        velocities: &[Vector3<f64>],
    ) -> f64 {
        self.find_free(problem, island.clone());
        // `λᵀ(u_f − u*)` and `λᵀ(G + R) λ`.
        let (mut work, mut metric) = (0.0, 0.0);
        let blocks = &problem.blocks[island.clone()];
        for ((block, velocity), free) in blocks.iter().zip(velocities).zip(&self.free) {
            if may_scale(block) {
                let impulse = &block.impulse;
                let mut u = *velocity;
                block.add_yielding(&mut u, impulse);
                u -= block.bias;
                work += impulse.dot(free);
                // `G λ = u − u_f` over all blocks at once, so that no Delassus matrix is made.
                metric += impulse.dot(&(u - free)) + block.compliance * impulse.x * impulse.x;
            }
        }
        if 0.5 * metric + work <= ROUNDING * (metric + work.abs()) {
            return 1.0;
        }
        // Least value of the parabola `½ s² λᵀ(G + R) λ + s λᵀ(u_f − u*)`.
        let factor = if metric > 0.0 { (-work / metric).clamp(0.0, 1.0) } else { 0.0 };
        for block in problem.blocks[island.clone()].iter_mut().filter(|block| may_scale(block)) {
            block.impulse *= factor;
        }
        problem.reset_velocity(island);
        factor
    }

    /// Finds `u_f − u*`: the velocities without the impulses that may be scaled.
    fn find_free(&mut self, problem: &mut Problem, island: Range<usize>) {
        self.free.clear();
        let blocks = &problem.blocks[island.clone()];
        if blocks.iter().all(may_scale) {
            let each = blocks
                .iter()
                .map(|block| problem.jacobian_times(&problem.free_velocity, block) - block.bias);
            self.free.extend(each);
            return;
        }
        self.impulses.clear();
        self.impulses.extend(blocks.iter().map(|block| block.impulse));
        // By clearing them, as subtraction of `Y λ` would leave their rounding in `u_f`.
        Self::clear(problem, island.clone());
        let blocks = &problem.blocks[island.clone()];
        self.free.extend(blocks.iter().map(|block| problem.velocity_of(block) - block.bias));
        for (block, impulse) in problem.blocks[island.clone()].iter_mut().zip(&self.impulses) {
            block.impulse = *impulse;
        }
        problem.reset_velocity(island);
    }

    /// Takes the impulses that may be scaled out of an island.
    pub(super) fn clear(problem: &mut Problem, island: Range<usize>) {
        for block in problem.blocks[island.clone()].iter_mut().filter(|block| may_scale(block)) {
            block.impulse = Vector3::zeros();
        }
        problem.reset_velocity(island);
    }
}
