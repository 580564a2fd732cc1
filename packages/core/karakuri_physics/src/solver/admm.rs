//! Alternating directions on the whole island: one factor of its Delassus matrix, one back-substitution an iteration.
//!
//! ```text
//! λ ← (G + R + (η + ρ) g)⁻¹ (−b + η g λ + ρ g (z − y)),   z ← Π_C(λ + y − s/(ρ g)),   y ← y + λ − z
//! ```
//!
//! with `b = J v_f − u*`, `g` the mean diagonal of each block, and De Saxcé's `s = μ‖u_t‖` taken from the dual
//! velocity `u = −ρ g y`. `ρ` follows the ratio of the primal to the dual residual, and the factor with it. Redundant
//! rows and mass ratios do not matter to the factor; from a cold start the impulses of equal points stay equal.
//! [Carpentier, Le Lidec, Montaut 2024; Boyd et al. 2011, §3]
//!
//! Limits: dense, so islands above [`MOST_ROWS`] rows are left to the next level; linear convergence, slow near the limit of
//! a grip from a bad start.

use std::ops::Range;

use nalgebra::Vector3;

use super::block_factor::{backward, factorize_dense, forward};
use super::cone::project_on_cone;
use super::delassus::Delassus;
use super::dot::dot;
use super::method::{ContactSolver, Method, SolverSettings};
use super::{Admissible, Block, Problem, natural_map};

/// Largest island: its factor takes a few milliseconds.
const MOST_ROWS: usize = 300;
/// Proximal weight `η`, over the diagonal of a block. [-]
const PROXIMAL: f64 = 1e-6;
/// First penalty `ρ`, over the diagonal of a block. [-]
const PENALTY: f64 = 0.1;
/// Residuals this far apart change the penalty, looked at every so many iterations.
// Residual balancing. [Boyd et al. 2011, §3.4.1]
const UNBALANCED: f64 = 10.0;
const PERIOD: usize = 10;

/// The solver of this file.
pub(super) const SOLVER: ContactSolver = ContactSolver {
    name: "admm",
    level: 3,
    next: Some(4),
    goal: 1.0,
    most_rows: MOST_ROWS,
    iterations: 2000,
    keeps_apart: false,
    work: |rows| rows,
    method: || Box::<Admm>::default(),
};

/// A block while it is solved.
#[derive(Debug, Clone, Copy)]
struct Item {
    /// Mean diagonal `g` of the block. [1/kg or 1/(kg·m²)]
    inverse_mass: f64,
    /// Copy `z` of the impulse on the cone, and the scaled dual velocity `y`. [N·s or N·m·s] (3)
    z: Vector3<f64>,
    y: Vector3<f64>,
}

/// The method, and its memory.
#[derive(Debug, Default)]
pub(super) struct Admm {
    items: Vec<Item>,
    /// Delassus matrix with the compliances, `G + R`.
    delassus: Delassus,
    factor: Vec<f64>,
    /// Biased velocity without impulses, `b = J v_f − u*`. [m/s or rad/s] (rows)
    free: Vec<f64>,
    /// `λ`, and the right-hand side that becomes it. (rows)
    impulse: Vec<f64>,
    penalty: f64,
}

impl Method for Admm {
    fn solve(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        settings: &SolverSettings,
    ) -> usize {
        self.prepare(problem, island.clone());
        // Each island from the same penalty: what others left would make the bits depend on them.
        self.penalty = PENALTY;
        self.start_dual(&problem.blocks[island.clone()], problem);
        if !self.factorize() {
            // Without a factor the next level has the warm impulses.
            return 0;
        }
        for iteration in 1..=settings.iterations {
            let (primal, dual) = self.iterate(&problem.blocks[island.clone()]);
            let near = primal.max(dual) <= settings.tolerance;
            // The natural map decides: both residuals may be small while De Saxcé's shift still moves.
            if near && self.hand_over(problem, island.clone()) <= settings.tolerance {
                return iteration;
            }
            if iteration % PERIOD == 0 && !self.balance(primal, dual) {
                break;
            }
        }
        self.hand_over(problem, island);
        settings.iterations
    }
}

impl Admm {
    /// `G + R` of the island, and `b` by taking the warm impulses out of the velocity.
    fn prepare(&mut self, problem: &Problem, island: Range<usize>) {
        let blocks = &problem.blocks[island];
        self.delassus.fill(problem, blocks);
        let n = self.delassus.rows;
        self.items.clear();
        for (block, start) in blocks.iter().zip(&self.delassus.starts) {
            let (inverse_mass, z, y) =
                (block.inverse_effective_mass(), block.impulse, Vector3::zeros());
            self.items.push(Item { inverse_mass, z, y });
            // Compliance on the first row: that is the normal of a contact, and all of a bounded row.
            self.delassus.matrix[start * (n + 1)] += block.compliance;
        }
        self.factor.resize(n * n, 0.0);
        self.free.resize(n, 0.0);
        self.impulse.resize(n, 0.0);
        for (block, start) in blocks.iter().zip(&self.delassus.starts) {
            for row in 0..block.rows() {
                self.impulse[start + row] = block.impulse[row];
            }
        }
        // `b = u + R λ − (G + R) λ`, the warm impulses taken out.
        for (block, start) in blocks.iter().zip(&self.delassus.starts) {
            let mut u = problem.velocity_of(block) - block.bias;
            u.x += block.compliance * block.impulse.x;
            for row in 0..block.rows() {
                let at = start + row;
                self.free[at] = u[row] - dot(self.delassus.row(at), &self.impulse);
            }
        }
    }

    /// `y` of the warm start: its velocity.
    fn start_dual(&mut self, blocks: &[Block], problem: &Problem) {
        for (item, block) in self.items.iter_mut().zip(blocks) {
            let mut u = problem.velocity_of(block) - block.bias;
            u.x += block.compliance * block.impulse.x;
            // From `u = −ρ g y`.
            // So that the first iteration goes on from the warm velocity as well as from the impulses.
            item.y = -u / (self.penalty * item.inverse_mass);
        }
    }

    fn factorize(&mut self) -> bool {
        self.factor.copy_from_slice(&self.delassus.matrix);
        let Delassus { rows: n, ref starts, .. } = self.delassus;
        // `G + R + (η + ρ) g`.
        for (k, item) in self.items.iter().enumerate() {
            let end = starts.get(k + 1).copied().unwrap_or(n);
            for row in starts[k]..end {
                self.factor[row * (n + 1)] += (PROXIMAL + self.penalty) * item.inverse_mass;
            }
        }
        factorize_dense(&mut self.factor, n)
    }

    /// One iteration; primal and dual residual. [m/s or rad/s]
    fn iterate(&mut self, blocks: &[Block]) -> (f64, f64) {
        let Delassus { rows: n, ref starts, .. } = self.delassus;
        // Impulses of the smooth part: the factor of `G + R` with `(η + ρ) g` on its diagonal.
        for ((item, block), start) in self.items.iter().zip(blocks).zip(starts) {
            for row in 0..block.rows() {
                let at = start + row;
                let pulled = self.penalty * (item.z[row] - item.y[row]);
                // The proximal weight makes the factor definite with redundant rows, and vanishes at the fixed point.
                self.impulse[at] =
                    (PROXIMAL * self.impulse[at] + pulled) * item.inverse_mass - self.free[at];
            }
        }
        forward(&self.factor, n, &mut self.impulse);
        backward(&self.factor, n, &mut self.impulse);
        // Their copies `z` in the admissible sets; the cone is shifted by De Saxcé's term, so that sliding stays on the surface.
        let (mut primal, mut dual) = (0.0_f64, 0.0_f64);
        let mut normal = 0.0;
        for ((item, block), start) in self.items.iter_mut().zip(blocks).zip(starts) {
            let mut impulse = Vector3::zeros();
            for row in 0..block.rows() {
                impulse[row] = self.impulse[start + row];
            }
            let before = item.z;
            let candidate = impulse + item.y;
            item.z = match block.admissible {
                Admissible::Interval { .. } => block.admissible.project(&candidate),
                Admissible::Cone { friction } => {
                    // `s/(ρ g) = μ ‖y_t‖`, as `u = −ρ g y`.
                    let shift = friction * item.y.yz().norm();
                    let on_cone = project_on_cone(&(candidate - Vector3::x() * shift), friction);
                    // A contact's friction moments come right after it, and their bounds with its new load.
                    normal = on_cone.x;
                    on_cone
                }
                Admissible::FrictionMoment { spinning, rolling, soft, .. } => {
                    Admissible::FrictionMoment { spinning, rolling, load: normal, soft }
                        .project(&candidate)
                }
            };
            // `y ← y + λ − z`; the residuals are `λ − z` and `ρ (z − z₋)`, as velocities.
            item.y += impulse - item.z;
            primal = primal.max((impulse - item.z).amax() * item.inverse_mass);
            dual = dual.max((item.z - before).amax() * item.inverse_mass * self.penalty);
        }
        (primal, dual)
    }

    /// A penalty that brings the residuals together; false if it has no factor.
    fn balance(&mut self, primal: f64, dual: f64) -> bool {
        let ratio = primal / dual.max(f64::MIN_POSITIVE);
        if (1.0 / UNBALANCED..UNBALANCED).contains(&ratio) {
            return true;
        }
        // A tenfold change at most, as the ratio of one iteration says little far from the solution.
        // `ρ ← ρ √(primal/dual)`, within a factor of ten; `y` keeps its velocity `−ρ g y`.
        let next = (self.penalty * ratio.sqrt().clamp(0.1, 10.0)).clamp(1e-6, 1e6);
        for item in &mut self.items {
            item.y *= self.penalty / next;
        }
        self.penalty = next;
        self.factorize()
    }

    /// Gives the impulses to the problem; natural map. [m/s or rad/s]
    fn hand_over(&self, problem: &mut Problem, island: Range<usize>) -> f64 {
        for (item, block) in self.items.iter().zip(&mut problem.blocks[island.clone()]) {
            // `z` and not `λ`: only the copy is in the admissible set.
            block.impulse = item.z;
        }
        problem.reset_velocity(island.clone());
        let each = problem.blocks[island].iter().map(|block| natural_map(problem, block));
        each.fold(0.0, f64::max)
    }
}
