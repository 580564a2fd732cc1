//! Gauss-Seidel over contacts, each on its exact cone, with the memory of conjugate gradients: for crowds that move.
//!
//! ```text
//! λ ← 0 | −(G + R)⁻¹ w | λ_n (1, −μ d)       each contact in turn: it opens | sticks | slides along d
//! λ ← λ + β p,  p ← β p + Δλ                 after a sweep that changed λ by Δλ,  β = ‖Δλ‖²/‖Δλ₋‖²
//! ```
//!
//! A contact is solved by itself as [`LocalContact`] says, and the change of impulse goes into the velocity at once: of free bodies in
//! [`PackedContacts`], of few rows in [`DenseRows`], of anything else in the problem. Between sweeps impulses, and the velocity with them,
//! are carried on along the sum of the last changes; where those grow (`β > 1`) the sum begins again. Of packed contacts a sweep leaves out
//! those of bodies that the one before did not disturb. The last step is a sweep over all, so that impulses end on their cones.
//! [Hwangbo, Lee, Hutter 2018; Bonnefon & Daviet 2011; Silcowitz, Niebe, Erleben 2010]
//!
//! Limits: linear convergence, the slower the higher the heap and the larger the mass ratios; what equal points of a face carry
//! depends on their order. What rests or is held is for Newton's method.

use std::ops::Range;

use nalgebra::Vector3;

use super::block_gauss_seidel::{solve_block, solved_alone, solved_row};
use super::dense_rows::DenseRows;
use super::local_contact::{LocalContact, friction_of};
use super::method::{ContactSolver, Method, SolverSettings};
use super::packed_contacts::PackedContacts;
use super::problem::apply_rows;
use super::{Admissible, Block, Problem};

/// Part of the tolerance to which the last sweep may change velocities: what is left after it is more. [-]
const SETTLED: f64 = 0.3;

/// Part of that change from which on it disturbs the other contacts of a body, which the next sweep visits then. [-]
// At 1 what is left out is a worse warm start: `pile200` has twice as many unsolved steps. At 0.1 a tenth of its time is lost.
const DISTURBS: f64 = 0.5;

/// Part of the tolerance at which a warm start is left as it is: what slides on is solved better from step to step. [-]
const GOAL: f64 = 0.1;

/// The solver of this file.
pub(super) const SOLVER: ContactSolver = ContactSolver {
    name: "cone_gauss_seidel",
    level: 1,
    next: Some(2),
    goal: GOAL,
    most_rows: usize::MAX,
    iterations: 100,
    keeps_apart: true,
    work: |_| 2,
    method: || Box::<ConeGaussSeidel>::default(),
};

/// Most rows of an island that is swept by its Delassus matrix: 29 kB.
const MOST_DENSE: usize = 60;

/// Where the velocity is while an island is swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    /// With contacts of free bodies, side by side.
    Packed,
    /// In the rows, by their Delassus matrix.
    Dense,
    /// In the problem.
    #[default]
    Problem,
}

/// What conjugate gradients remember of a number: what it was before the sweep, and the sum `p` of its last changes.
#[derive(Debug, Default)]
struct Memory {
    before: Vec<f64>,
    carried: Vec<f64>,
}

/// The method, and its memory.
#[derive(Debug, Default)]
pub(super) struct ConeGaussSeidel {
    /// Blocks as contacts by themselves; none of what is left to the solver of blocks.
    locals: Vec<Option<LocalContact>>,
    /// Their impulses. [N·s or N·m·s] (blocks)
    impulses: Vec<[f64; 3]>,
    /// Metric of their impulses: the traces of their stiffnesses, side by side for what passes over all of them. (blocks)
    weights: Vec<f64>,
    place: Place,
    packed: PackedContacts,
    /// Packed contacts that the last sweep visited.
    visited: Vec<u32>,
    dense: DenseRows,
    /// First entry and length of each run of the velocity that the blocks touch, where it is in the problem.
    runs: Vec<(usize, usize)>,
    /// Solve that found an entry to be the first of a run, by entry; number of the present one. (n)
    found: Vec<u64>,
    solve: u64,
    of_impulses: Memory,
    of_velocities: Memory,
    /// `‖Δλ‖²` of the last sweep, in the metric of the blocks' stiffness; none before the first. [J]
    change: Option<f64>,
}

impl Method for ConeGaussSeidel {
    fn solve(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        settings: &SolverSettings,
    ) -> usize {
        let has_moments = problem.blocks[island.clone()]
            .iter()
            .any(|block| matches!(block.admissible, Admissible::FrictionMoment { .. }));
        self.prepare(problem, island.clone(), has_moments);
        self.run(problem, island, settings, has_moments)
    }
}

impl ConeGaussSeidel {
    /// Sweeps of a prepared island; their number, where one that visits hardly a block counts as half.
    fn run(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        settings: &SolverSettings,
        has_moments: bool,
    ) -> usize {
        // In half visits. If every sweep counted as a whole one, a third more islands of `pile200` would be left unsolved.
        let whole = 2 * island.len();
        let most = settings.iterations.saturating_mul(whole);
        let enough = SETTLED * settings.tolerance;
        let mut spent = 0;
        let mut is_whole = true;
        while spent + whole <= most {
            if spent > 0 {
                self.carry_on(problem);
            }
            if has_moments {
                self.bound_moments(problem, island.clone());
            }
            // One that leaves out any is followed by one over all.
            is_whole |= spent + 2 * whole > most;
            let change = match self.place {
                Place::Packed => self.sweep_packed(DISTURBS * enough, is_whole),
                Place::Dense => self.sweep_dense(&problem.blocks[island.clone()]),
                Place::Problem => self.sweep(problem, island.clone()),
            };
            let is_packed = self.place == Place::Packed;
            spent += island.len() + if is_packed { self.visited.len() } else { island.len() };
            let is_settled = change <= enough;
            if is_settled && is_whole {
                break;
            }
            // What was left out is visited once more before the end; without a tolerance nothing is.
            is_whole = is_settled || !is_packed || enough <= 0.0;
        }
        match self.place {
            Place::Packed => self.packed.hand_over(problem),
            Place::Dense => {
                for (impulse, i) in self.impulses.iter().zip(island.clone()) {
                    let block = problem.blocks[i];
                    problem.apply(&block, &(Vector3::from(*impulse) - block.impulse));
                }
            }
            Place::Problem => {}
        }
        self.hand_over(problem, island);
        spent.div_ceil(whole.max(1))
    }

    /// Takes the blocks of an island, and what they move.
    fn prepare(&mut self, problem: &Problem, island: Range<usize>, has_moments: bool) {
        let blocks = &problem.blocks[island.clone()];
        self.locals.clear();
        self.locals.extend(blocks.iter().map(LocalContact::new));
        self.impulses.clear();
        self.impulses.extend(blocks.iter().map(|block| <[f64; 3]>::from(block.impulse)));
        self.of_impulses.start(self.impulses.as_flattened().iter());
        self.weights.clear();
        let weights = self.locals.iter().zip(blocks).map(|(local, block)| {
            let left_out = || block.own_delassus().trace() + block.compliance;
            local.as_ref().map_or_else(left_out, |local| local.stiffness.trace())
        });
        self.weights.extend(weights);
        self.change = None;
        let rows = blocks.iter().map(Block::rows).sum::<usize>();
        let place = if self.locals.iter().all(Option::is_some)
            && self.packed.load(problem, island.clone())
        {
            Place::Packed
        // The bounds of moments are found with the velocity in the problem.
        } else if rows <= MOST_DENSE && !has_moments {
            Place::Dense
        } else {
            Place::Problem
        };
        self.enter(place, problem, island);
    }

    /// Begins with the velocity in a place; contacts are packed already.
    fn enter(&mut self, place: Place, problem: &Problem, island: Range<usize>) {
        self.place = place;
        match place {
            Place::Packed => {
                self.of_velocities.start(self.packed.velocities.as_flattened().iter());
            }
            Place::Dense => {
                self.dense.load(problem, island);
                self.of_velocities.start(self.dense.velocities.iter());
            }
            Place::Problem => self.find_runs(problem, island),
        }
    }

    /// Finds the runs of the velocity that the blocks touch.
    fn find_runs(&mut self, problem: &Problem, island: Range<usize>) {
        let blocks = &problem.blocks[island];
        self.solve += 1;
        self.found.resize(problem.velocity.len(), 0);
        self.runs.clear();
        for side in blocks.iter().flat_map(|block| block.sides).filter(|side| side.len > 0) {
            let found = &mut self.found[side.start];
            if *found != self.solve {
                *found = self.solve;
                self.runs.push((side.start, side.len));
            }
        }
        let runs = self.runs.iter().flat_map(|&(start, len)| &problem.velocity[start..start + len]);
        self.of_velocities.start(runs);
    }

    /// Solves every block of an island in turn; the largest change of velocity. [m/s or rad/s]
    // Always forwards: the sums of changes are of one operator, and sweeps in both directions take twice as many.
    fn sweep(&mut self, problem: &mut Problem, island: Range<usize>) -> f64 {
        let mut most = 0.0_f64;
        for ((local, impulse), i) in self.locals.iter_mut().zip(&mut self.impulses).zip(island) {
            let before = Vector3::from(*impulse);
            let change = if let Some(local) = local {
                let block = &problem.blocks[i];
                let u = problem.jacobian_times(&problem.velocity, block) - block.bias;
                let Some((delta, change)) = local.change(&before, u) else { continue };
                *impulse = (before + delta).into();
                let sides = block.sides;
                apply_rows(&mut problem.velocity, &problem.response, &sides, delta.as_slice());
                change
            } else {
                problem.blocks[i].impulse = before;
                let change = solve_block(problem, i);
                *impulse = problem.blocks[i].impulse.into();
                change
            };
            most = most.max(change);
        }
        most
    }

    /// [`Self::sweep`] over packed contacts: all of them, or those of bodies that the last sweep disturbed. Changes above
    /// `disturbs` do. [m/s]
    fn sweep_packed(&mut self, disturbs: f64, is_whole: bool) -> f64 {
        let mut most = 0.0_f64;
        self.packed.begin_sweep(is_whole, &mut self.visited);
        for i in self.visited.iter().map(|&contact| contact as usize) {
            let Some(local) = &mut self.locals[i] else { continue };
            let before = Vector3::from(self.impulses[i]);
            let u = self.packed.velocity_of(i);
            let Some((delta, change)) = local.change(&before, u) else { continue };
            self.impulses[i] = (before + delta).into();
            self.packed.apply(i, &delta);
            if change > disturbs {
                self.packed.disturb(i);
            }
            most = most.max(change);
        }
        most
    }

    /// [`Self::sweep`] by the Delassus matrix.
    fn sweep_dense(&mut self, blocks: &[Block]) -> f64 {
        let mut most = 0.0_f64;
        let locals = self.locals.iter_mut().zip(&mut self.impulses).zip(blocks).enumerate();
        for (i, ((local, impulse), block)) in locals {
            let before = Vector3::from(*impulse);
            let u = self.dense.velocity_of(i, block.rows()) - block.bias;
            if let Admissible::Interval { lower, upper } = block.admissible {
                let delta = solved_row(block, before.x, u.x).clamp(lower, upper) - before.x;
                if delta != 0.0 {
                    impulse[0] = before.x + delta;
                    self.dense.apply(i, &[delta]);
                    most = most.max((block.own_delassus().m11 * delta).abs());
                }
                continue;
            }
            let changed = if let Some(local) = local {
                local.change(&before, u)
            } else {
                let delta = solved_alone(block, &before, &u) - before;
                Some((delta, (block.own_delassus() * delta).amax()))
            };
            let Some((delta, change)) = changed else { continue };
            *impulse = (before + delta).into();
            self.dense.apply(i, &delta.as_slice()[..block.rows()]);
            most = most.max(change);
        }
        most
    }

    /// Goes on along the sum of the last changes: a step of nonlinear conjugate gradients, whose gradient is what a sweep changes.
    fn carry_on(&mut self, problem: &mut Problem) {
        let before = self.of_impulses.before.as_chunks::<3>().0;
        let changes = self.impulses.iter().zip(before).zip(&self.weights);
        let change = changes
            .map(|((impulse, before), weight)| {
                (Vector3::from(*impulse) - Vector3::from(*before)).norm_squared() * weight
            })
            .sum::<f64>();
        let ratio = self.change.map_or(0.0, |before| change / before);
        // Also where it is no number.
        let beta = if ratio <= 1.0 { ratio } else { 0.0 };
        self.change = Some(change);
        self.of_impulses.carry_on(0, self.impulses.as_flattened_mut(), beta);
        // The velocity is linear in the impulses.
        match self.place {
            Place::Packed => {
                self.of_velocities.carry_on(0, self.packed.velocities.as_flattened_mut(), beta);
            }
            Place::Dense => self.of_velocities.carry_on(0, &mut self.dense.velocities, beta),
            Place::Problem => {
                let mut first = 0;
                for &(start, len) in &self.runs {
                    let run = &mut problem.velocity[start..start + len];
                    self.of_velocities.carry_on(first, run, beta);
                    first += len;
                }
            }
        }
    }

    /// Bounds the friction moments by the present loads, and splits the limits of soft fingers.
    fn bound_moments(&mut self, problem: &mut Problem, island: Range<usize>) {
        self.hand_over(problem, island.clone());
        // Frozen for a sweep: bounds that move within it would let rolling bodies chase their own loads.
        problem.take_loads(island.clone());
        problem.split_soft_fingers(island.clone());
        for (local, block) in self.locals.iter_mut().zip(&problem.blocks[island]) {
            if let Some(local) = local {
                local.friction = friction_of(block);
            }
        }
    }

    /// Gives the impulses to the problem.
    fn hand_over(&self, problem: &mut Problem, island: Range<usize>) {
        for (impulse, block) in self.impulses.iter().zip(&mut problem.blocks[island]) {
            block.impulse = Vector3::from(*impulse);
        }
    }
}

impl Memory {
    /// Remembers numbers that did not change yet.
    fn start<'a>(&mut self, numbers: impl Iterator<Item = &'a f64>) {
        self.before.clear();
        self.before.extend(numbers);
        self.carried.clear();
        self.carried.resize(self.before.len(), 0.0);
    }

    /// `x ← x + β p`, `p ← β p + Δx` of numbers, of which the memory holds the `first` at its place.
    fn carry_on(&mut self, first: usize, numbers: &mut [f64], beta: f64) {
        let memory = self.before[first..].iter_mut().zip(&mut self.carried[first..]);
        for (x, (before, carried)) in numbers.iter_mut().zip(memory) {
            let change = *x - *before;
            *x += *carried * beta;
            *carried = *carried * beta + change;
            *before = *x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{RowSpec, Run, Side};
    use nalgebra::{Matrix3, Matrix6, Vector2, Vector6};
    use proptest::prelude::*;

    /// A tower of contacts between `n` bodies, the first of them on what does not move, of operators, rows and motions by `numbers`.
    fn tower(n: usize, numbers: &[f64]) -> Problem {
        let mut numbers = numbers.iter().copied().cycle();
        let mut next = || numbers.next().unwrap_or(0.5);
        let mut problem = Problem::default();
        let mut operators = Vec::new();
        for i in 0..n {
            let root = Matrix3::from_fn(|_, _| next());
            let mut operator = Matrix6::identity() * (1.0 + next().abs());
            operator
                .fixed_view_mut::<3, 3>(3, 3)
                .copy_from(&(root * root.transpose() + Matrix3::identity()));
            problem.runs.push(Run { start: 6 * i, len: 6, offset: 36 * i });
            problem.inertia.extend_from_slice(operator.as_slice());
            problem.velocity.extend((0..6).map(|_| next()));
            operators.push(operator.cholesky().unwrap());
        }
        for contact in 0..4 * n {
            let i = contact / 4;
            let mut sides = [Side::default(); 2];
            for (side, body) in sides.iter_mut().zip([i.checked_sub(1), Some(i)]) {
                let Some(body) = body else { continue };
                *side = Side::new(6 * body, 6, problem.jacobian.len());
                for _ in 0..3 {
                    let row = Vector6::from_fn(|_, _| next());
                    problem.jacobian.extend_from_slice(row.as_slice());
                    problem.response.extend_from_slice(operators[body].solve(&row).as_slice());
                }
            }
            let admissible = Admissible::Cone { friction: 0.2 + next().abs() };
            let mut block = Block { admissible, ..Block::row(sides, &RowSpec::default()) };
            block.bias = Vector3::new(next(), 0.0, next());
            block.delassus = problem.delassus_of(&block);
            // By more it may jam (Painlevé), where it is open as well: which of both is found depends on a rounding.
            let G = &block.delassus;
            let jams = 0.9 * G.m11 / Vector2::new(G.m12, G.m13).norm();
            let friction = friction_of(&block).min(jams);
            block.admissible = Admissible::Cone { friction };
            problem.blocks.push(block);
        }
        problem.island_ends.push(problem.blocks.len());
        problem
    }

    #[test]
    fn a_sweep_leaves_out_what_the_last_did_not_disturb() {
        let problem = tower(4, &[0.3, -0.7, 0.4, 0.9, -0.2, 0.6, -0.5]);
        let n = problem.blocks.len();
        let mut sweeps = ConeGaussSeidel::default();
        sweeps.prepare(&problem, 0..n, false);
        let visits = |sweeps: &mut ConeGaussSeidel, disturbs, is_whole| {
            sweeps.sweep_packed(disturbs, is_whole);
            sweeps.visited.len()
        };
        assert_eq!(visits(&mut sweeps, f64::INFINITY, true), n);
        assert_eq!(visits(&mut sweeps, 0.0, false), 0);
        // The last contact changes: those of the upper two bodies are visited next.
        sweeps.packed.disturb(n - 1);
        assert_eq!(visits(&mut sweeps, f64::INFINITY, false), 8);
        assert_eq!(visits(&mut sweeps, f64::INFINITY, false), 0);
    }

    proptest! {
        /// Ten sweeps lead to the same impulses and velocities wherever the velocity is kept.
        #[test]
        fn sweeps_agree_wherever_the_velocity_is(
            n in 1..5_usize,
            numbers in prop::collection::vec(-1.0..1.0_f64, 997),
        ) {
            let settings = SolverSettings { iterations: 10, tolerance: 0.0, ..SolverSettings::default() };
            let swept = [Place::Packed, Place::Dense, Place::Problem].map(|place| {
                let mut problem = tower(n, &numbers);
                let island = 0..problem.blocks.len();
                let mut sweeps = ConeGaussSeidel::default();
                sweeps.prepare(&problem, island.clone(), false);
                assert_eq!(sweeps.place, Place::Packed);
                sweeps.enter(place, &problem, island.clone());
                sweeps.run(&mut problem, island, &settings, false);
                problem
            });
            let [packed, others @ ..] = &swept;
            for other in others {
                for (a, b) in packed.blocks.iter().zip(&other.blocks) {
                    let off = (a.impulse - b.impulse).amax();
                    prop_assert!(off < 1e-7 * (1.0 + a.impulse.amax()), "{} {}", a.impulse, b.impulse);
                }
                for (a, b) in packed.velocity.iter().zip(&other.velocity) {
                    prop_assert!((a - b).abs() < 1e-6 * (1.0 + a.abs()), "{a} {b}");
                }
            }
        }

        /// What sweeps left out, and carried on with the others, is on its cone at the end.
        #[test]
        fn impulses_end_on_their_cones(
            n in 2..5_usize,
            numbers in prop::collection::vec(-1.0..1.0_f64, 997),
        ) {
            let settings = SolverSettings { tolerance: 1e-2, ..SolverSettings::default() };
            let mut problem = tower(n, &numbers);
            let island = 0..problem.blocks.len();
            let mut sweeps = ConeGaussSeidel::default();
            sweeps.solve(&mut problem, island, &settings);
            for block in &problem.blocks {
                let most = friction_of(block) * block.impulse.x;
                prop_assert!(block.impulse.yz().norm() <= most + 1e-12, "{}", block.impulse);
            }
        }
    }
}
