//! Accelerated projected gradient, matrix-free: for piles that no factor is worth.
//!
//! Every block steps along its velocity and is projected on its law, `λ ← Π_C(χ − τ (u(χ) + s e_n)/g)`, from the extrapolated
//! point `χ = λ + β (λ − λ₋)`; `s = μ‖u_t‖` is De Saxcé's, lagged by one iteration. The velocity of `χ` is extrapolated
//! with it, so that an iteration is one pass over `J` and one over `Y`. Momentum restarts when it points uphill.
//! [Mazhar, Heyn, Tasora, Negrut 2015; O'Donoghue, Candès 2015]
//!
//! Limits: hundreds of iterations for 1e-4 m/s, thousands for 1e-8; the iterate of the least residual is kept.

use std::ops::Range;

use nalgebra::Vector3;

use super::law::residual;
use super::method::{ContactSolver, Method, SolverSettings};
use super::{Admissible, Block, Problem, apply};

/// Power iterations for the step length, and the margin over what they find.
const POWER_ITERATIONS: usize = 20;
const MARGIN: f64 = 1.05;
/// Part of the iterations in which the residual must have come to half; else the start was as good as the method gets. [-]
const TRIAL: usize = 5;

/// The solver of this file.
pub(super) const SOLVER: ContactSolver = ContactSolver {
    name: "accelerated_gradient",
    level: 4,
    next: None,
    goal: 1.0,
    most_rows: usize::MAX,
    iterations: 1000,
    keeps_apart: false,
    work: |_| 3,
    method: || Box::<AcceleratedGradient>::default(),
};

/// The method, and its memory.
#[derive(Debug, Default)]
pub(super) struct AcceleratedGradient {
    /// Impulses of the last iterate `λ₋`, and the extrapolated point `χ`. (blocks)
    previous: Vec<Vector3<f64>>,
    ahead: Vec<Vector3<f64>>,
    best: Vec<Vector3<f64>>,
    /// Velocity of `λ₋` and of `χ`, laid out as the world's. (n)
    velocity_before: Vec<f64>,
    velocity_ahead: Vec<f64>,
}

impl Method for AcceleratedGradient {
    fn solve(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        settings: &SolverSettings,
    ) -> usize {
        let trial = settings.iterations / TRIAL;
        let iterations =
            self.run(problem, island.clone(), settings.iterations, |iteration, first, least| {
                // Where a fifth of the iterations does not halve the residual, the others will not reach the tolerance.
                least <= settings.tolerance || (iteration == trial && least > 0.5 * first)
            });
        for (best, i) in self.best.iter().zip(island) {
            let block = problem.blocks[i];
            problem.blocks[i].impulse = *best;
            problem.apply(&block, &(best - block.impulse));
        }
        iterations
    }
}

impl AcceleratedGradient {
    /// Makes some iterations, and leaves the last iterate whatever its residual.
    pub(super) fn descend(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        iterations: usize,
    ) {
        self.run(problem, island, iterations, |_, _, _| false);
    }

    /// Iterations, the best iterate kept, until `ends` says so, asked with the iteration, the first residual and the least.
    fn run(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        most: usize,
        ends: impl Fn(usize, f64, f64) -> bool,
    ) -> usize {
        // `τ = 1/L`, with the largest eigenvalue and a margin as `L`.
        // Power iterations approach the eigenvalue from below; a step above `2/L` diverges, hence the margin.
        let step = 1.0 / (MARGIN * self.largest_eigenvalue(problem, island.clone()));
        self.start(problem, island.clone());
        let mut momentum = 1.0_f64;
        let (mut first, mut least) = (f64::INFINITY, f64::INFINITY);
        for iteration in 1..=most {
            let (reached, uphill) = self.iterate(problem, island.clone(), step);
            if reached < least {
                least = reached;
                self.best.clear();
                self.best.extend_from_slice(&self.previous);
            }
            if iteration == 1 {
                first = reached;
            }
            if ends(iteration, first, least) {
                return iteration;
            }
            // `θ₊ = ½ (1 + √(1 + 4 θ²))` and `β = (θ − 1)/θ₊`; a restart begins again with `θ = 1`.
            let next =
                if uphill { 1.0 } else { 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt()) };
            self.extrapolate(
                problem,
                island.clone(),
                if uphill { 0.0 } else { (momentum - 1.0) / next },
            );
            momentum = next;
        }
        most
    }

    fn start(&mut self, problem: &Problem, island: Range<usize>) {
        let impulses = problem.blocks[island].iter().map(|b| b.impulse);
        self.ahead.clear();
        self.ahead.extend(impulses);
        self.previous.clone_from(&self.ahead);
        self.best.clone_from(&self.ahead);
        self.velocity_before.clone_from(&problem.velocity);
        self.velocity_ahead.clone_from(&problem.velocity);
    }

    /// A projected step from `χ`. Natural map of the iterate before it [m/s or rad/s], and whether the step goes
    /// against the momentum.
    fn iterate(&mut self, problem: &mut Problem, island: Range<usize>, step: f64) -> (f64, bool) {
        let (mut reached, mut against) = (0.0_f64, 0.0);
        // Loads of friction moments are frozen within an iteration: projections must be on one set.
        problem.take_loads(island.clone());
        for i in island.clone() {
            let block = problem.blocks[i];
            let k = i - island.start;
            // Momentum moved λ since `previous`; what it was then is what gets measured.
            let u_now = problem.velocity_of(&block) - block.bias;
            reached = reached.max(residual(&block, &block.impulse, &u_now, None));
            self.previous[k] = block.impulse;
        }
        self.velocity_before.clone_from(&problem.velocity);
        for i in island.clone() {
            let block = problem.blocks[i];
            let k = i - island.start;
            let mut u = problem.jacobian_times(&self.velocity_ahead, &block) - block.bias;
            block.add_yielding(&mut u, &self.ahead[k]);
            u.x += block.compliance * self.ahead[k].x;
            let next = step_block(&block, &self.ahead[k], &u, step);
            // Gradient restart: where the step goes against the momentum, that has overshot. [O'Donoghue, Candès 2015]
            // Uphill where `Σ g (χ − λ₊)·(λ₊ − λ) > 0`.
            against += (self.ahead[k] - next).dot(&(next - block.impulse))
                * block.inverse_effective_mass();
            problem.blocks[i].impulse = next;
        }
        for i in island.clone() {
            let block = problem.blocks[i];
            let delta = block.impulse - self.previous[i - island.start];
            problem.apply(&block, &delta);
        }
        (reached, against > 0.0)
    }

    /// `χ = λ + β (λ − λ₋)`, and the velocity with it.
    fn extrapolate(&mut self, problem: &Problem, island: Range<usize>, beta: f64) {
        let blocks = problem.blocks[island].iter();
        for ((ahead, previous), block) in self.ahead.iter_mut().zip(&self.previous).zip(blocks) {
            // The velocity is linear in the impulses: extrapolated with them, it saves a pass over `J` and `Y`.
            *ahead = block.impulse + (block.impulse - previous) * beta;
        }
        let velocities = self.velocity_before.iter().zip(&problem.velocity);
        for (ahead, (before, now)) in self.velocity_ahead.iter_mut().zip(velocities) {
            *ahead = now + (now - before) * beta;
        }
    }

    /// Largest eigenvalue of `g^{-½} (G + R) g^{-½}`, by power iterations. [-]
    fn largest_eigenvalue(&mut self, problem: &Problem, island: Range<usize>) -> f64 {
        let blocks = &problem.blocks[island];
        let mut eigenvalue = 1.0;
        self.ahead.clear();
        self.ahead.extend(
            // Unlike on the three rows, so as not to be orthogonal to the first eigenvector by symmetry.
            blocks.iter().map(|b| Vector3::new(1.0, 0.3, -0.2) / b.inverse_effective_mass().sqrt()),
        );
        // `ξ ← g^{-½} (G + R) g^{-½} ξ`, divided by its length, which becomes the eigenvalue.
        for _ in 0..POWER_ITERATIONS {
            self.velocity_ahead.clear();
            self.velocity_ahead.resize(problem.velocity.len(), 0.0);
            for (x, block) in self.ahead.iter().zip(blocks) {
                apply(&mut self.velocity_ahead, &problem.response, block, x);
            }
            let mut norm = 0.0;
            for (x, block) in self.ahead.iter_mut().zip(blocks) {
                let mut u = problem.jacobian_times(&self.velocity_ahead, block);
                block.add_yielding(&mut u, x);
                u.x += block.compliance * x.x;
                // In the scaled unknown ξ = √g λ.
                *x = u / block.inverse_effective_mass();
                norm += x.norm_squared() * block.inverse_effective_mass();
            }
            eigenvalue = norm.sqrt().max(f64::MIN_POSITIVE);
            for x in &mut self.ahead {
                *x /= eigenvalue;
            }
        }
        // The scaled diagonal has mean 1 in every block, so the largest eigenvalue is not below 1.
        eigenvalue.max(1.0)
    }
}

/// Projected step `Π_C(χ − τ (u + s e_n)/g)` of a block.
fn step_block(block: &Block, ahead: &Vector3<f64>, u: &Vector3<f64>, step: f64) -> Vector3<f64> {
    let mut shifted = *u;
    if let Admissible::Cone { friction } = block.admissible {
        // From the velocity before the step: exact at the fixed point, without an inner problem.
        shifted.x += friction * u.yz().norm();
    }
    let candidate = ahead - shifted * (step / block.inverse_effective_mass());
    block.admissible.project(&candidate)
}
