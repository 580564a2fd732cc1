//! Newton's method on softened contact laws, inside a proximal loop: the reference.
//!
//! With a centre `λ₀` and a regularisation `ε g` the law of a block is single-valued, `λ(u) = argmin_{λ ∈ C} ½ λᵀ W λ − λᵀ y`,
//! `W = R + ε g`, `y = ε g λ₀ − (u − u*) − s e_n`, and a round solves for the velocity
//!
//! ```text
//! Â (v − v_f) = Σ Jᵀ λ(J v)          by steps  H δ = Jᵀ(λ(v) − α),  H = Â + Jᵀ D J,  D = −∂λ/∂u
//! ```
//!
//! where `α` are the impulses that `v` comes from. The new ones are `α + t (λ − D J δ − α)`, so that `v = v_f + Y α`
//! holds exactly whatever the quality of `H`. After a round `λ₀ ← λ`, which undoes the regularisation.
//!
//! 1. *Convex rounds*: `s` is fixed, `v` minimises a convex function, and `t` makes its derivative along the ray vanish.
//! 2. *Least impulses*, where contacts of a small island slide: a round with Coulomb's shift from centre zero, all contacts of a
//!    pair at one weight. Of the solutions in which a face slides and turns with uneven loads, it takes the one with even loads.
//! 3. *Coulomb rounds*, where contacts slide: `s = μ‖u_t‖` is De Saxcé's and moves with `u`, so that `H` is not
//!    symmetric and `t` lowers the mismatch `λ − α`. A round that does not lower the natural map is
//!    reverted and repeated with more regularisation; where the most fails, gradient steps look for a better start.
//!
//! The first centre is zero, and only contacts that slid before begin with a shift: of all solutions this finds one
//! that holds, if any holds, with the least impulses. What stuck in the last step is [let go](holding) only where nothing else is
//! found. Only a warm start that is all but the solution is its own centre: an island at rest needs no more than a round, and comes to rest to
//! the last digits.
//! [Castro, Permenter, Han 2023; Acary, Cadoux, Lemaréchal, Malick 2011; Alart & Curnier 1991; Rockafellar 1976]
//!
//! An island of single rows, without contacts, is left to the [active set method](super::active_set) where that ends.
//!
//! Where an island [has few rows](Problem::has_few_rows) the same steps are found in impulses ([`ImpulseSteps`]).
//!
//! Limits: Coulomb rounds may fail on crowds of contacts that all slide with high friction, off the centres of light bodies.

mod holding;
mod line_search;
mod sliding;
#[cfg(test)]
mod tests;

use std::ops::Range;

use nalgebra::{Matrix3, Vector3};

use super::accelerated_gradient::AcceleratedGradient;
use super::active_set::ActiveSet;
use super::block_factor::BlockFactor;
use super::impulse_steps::ImpulseSteps;
use super::interior_point::StickSearch;
use super::law::{Softened, residual};
use super::method::{ContactSolver, FINE, Method, SolverSettings};
use super::{Admissible, Block, Problem, Run, apply};

// The constants were tuned on the scenes of `examples/solvers.rs` and the random problems of `tests/physics/solvers.rs`: what a
// doc comment says of either side is what was seen there.

/// First regularisation `ε` of a convex round where nothing is known, over a block's own Delassus diagonal. [-]
const FIRST_REGULARISATION: f64 = 0.1;
/// Least regularisation while rounds make progress. Less needs fewer rounds, but each takes more steps and loses digits. [-]
const LEAST_REGULARISATION: f64 = 3e-4;
/// A round that leaves more than this part of the natural map makes slow progress: then the least regularisation falls. [-]
const SLOW_PROGRESS: f64 = 0.3;
/// Most regularisation. With more, a round is hardly more than a step of the fixed-point iteration. [-]
const MOST_REGULARISATION: f64 = 10.0;
/// Part of the velocity changes that rounding takes from every round at regularisation 1. [-]
const ROUNDING: f64 = 1e-14;
/// A round ends when its problem is solved to this part of the last natural map, or after [`CONVEX_STEPS`]. [-]
const ROUND_ACCURACY: f64 = 0.05;
/// Most steps of a convex round, which reaches its accuracy; a heap takes 10 to 20.
const CONVEX_STEPS: usize = 40;
/// Most steps of a Coulomb round. Rounds that need more do not get there, and a more regularised one is better.
const COULOMB_STEPS: usize = 8;
/// A Coulomb round also ends halfway if its mismatch is above this part of the first. [-]
const HALFWAY_MISMATCH: f64 = 0.3;
/// Successive solved Coulomb rounds that may raise the natural map: where many contacts are all but sliding, the path to
/// the solution is not monotone.
const NON_MONOTONE_ROUNDS: usize = 4;
/// Factor by which each of them may raise it. [-]
const NON_MONOTONE_GROWTH: f64 = 2.0;
/// Part of the regularisation to which a convex round is solved. [-]
const REGULARISED_ACCURACY: f64 = 1e-2;
/// Part of the tolerance to which rounds continue while they make progress, so that the next step's warm start is within
/// the tolerance. [-]
const GOAL: f64 = 0.1;
/// Multiple of the tolerance below which a warm start is the first centre. [-]
const WARM_START_TOLERANCE: f64 = 10.0;
/// The convex problem counts as solved when its own natural map is this part of Coulomb's: the rest is sliding. [-]
const CONVEX_IS_SOLVED: f64 = 0.1;
/// Part of the velocity changes to which the problem is solved before any contact may begin to slide. [-]
const STICKING_ACCURACY: f64 = 1e-6;
/// Convex rounds of slow progress after which a solution that holds is searched for.
const SLOW_ROUNDS: usize = 4;
/// Shifts may lag behind while each round brings the natural map below this part of the last. [-]
const SHIFT_PROGRESS: f64 = 0.2;
/// Steps of the gradient method where no Coulomb round makes progress.
const GRADIENT_STEPS: usize = 150;

/// The solver of this file.
pub(super) const SOLVER: ContactSolver = ContactSolver {
    name: "newton",
    level: 2,
    next: Some(3),
    goal: GOAL,
    most_rows: usize::MAX,
    iterations: 200,
    keeps_apart: false,
    work: |_| 20,
    method: || Box::<Newton>::default(),
};

const NONE: usize = usize::MAX;

/// A block while it is solved.
#[derive(Debug, Clone, Copy)]
struct BlockState {
    softened: Softened,
    /// Weight `ε g` of the centre. [1/kg or 1/(kg·m²)]
    proximal: f64,
    /// Centre `λ₀` of the round. [N·s or N·m·s] (3)
    center: Vector3<f64>,
    /// Fixed `s`, or the friction that makes `s` of `u`. [m/s; -]
    shift: f64,
    coulomb: f64,
    /// Biased velocity `u − u*` of `v`, and its change along the ray. [m/s or rad/s] (3)
    u: Vector3<f64>,
    du: Vector3<f64>,
    /// Impulses that `v` comes from, and their change along the ray.
    alpha: Vector3<f64>,
    dalpha: Vector3<f64>,
    /// Impulse `λ(v)` of the softened law, and its slope `D = −∂λ/∂u`.
    lambda: Vector3<f64>,
    slope: Matrix3<f64>,
    /// `λ(v)` with what springs in series yield towards it, where a step is found in velocities.
    aim: Vector3<f64>,
    /// Whether it is a contact that stuck in the last step.
    stuck: bool,
    /// Nodes of its sides; `NONE` where a side does not move.
    nodes: [usize; 2],
}

impl BlockState {
    /// The impulse of the softened law at the biased velocity `u`.
    fn impulse(&self, admissible: &Admissible, u: &Vector3<f64>) -> Vector3<f64> {
        self.softened.impulse(admissible, &self.drive(u))
    }

    /// `y = ε g λ₀ − (u − u*) − s e_n`, with De Saxcé's `s = μ‖u_t‖` where the shift moves with `u`.
    fn drive(&self, u: &Vector3<f64>) -> Vector3<f64> {
        let mut y = self.center * self.proximal - u;
        y.x -= self.shift;
        if self.coulomb > 0.0 {
            y.x -= self.coulomb * u.yz().norm();
        }
        y
    }

    /// The softened law at the biased velocity `u`: impulse and `−∂λ/∂u`.
    fn respond(&self, admissible: &Admissible, u: &Vector3<f64>) -> (Vector3<f64>, Matrix3<f64>) {
        // The regularised friction cone answers in closed form, so no inner iteration is needed. [Castro 2023]
        let (lambda, mut slope) = self.softened.respond(admissible, &self.drive(u));
        let sliding = u.yz().norm();
        // Such a shift adds `∂λ/∂y e_n μ u_tᵀ/‖u_t‖` to `D`, which is then not symmetric.
        if self.coulomb * sliding > 0.0 {
            // `∂s/∂u_t = μ u_tᵀ/‖u_t‖`, which has no limit at rest: there the shift is zero and its slope left out.
            let normal = slope.column(0) * (self.coulomb / sliding);
            slope += normal * Vector3::new(0.0, u.y, u.z).transpose();
        }
        (lambda, slope)
    }

    /// Takes springs in series with the rows out of the system of velocities: with `Δu = J δ + S Δα`, `Δα = λ − D Δu − α` says
    /// `Δα = M (λ − α) − M D J δ` with `M = (1 + D S)⁻¹`. False if there is none.
    fn condense(&mut self, series: Option<&Matrix3<f64>>) -> bool {
        self.aim = self.lambda;
        let Some(series) = series else { return true };
        let Some(M) = (Matrix3::identity() + self.slope * series).try_inverse() else {
            return false;
        };
        let is_symmetric = self.slope == self.slope.transpose();
        self.aim = self.alpha + M * (self.lambda - self.alpha);
        self.slope = M * self.slope;
        if is_symmetric {
            // It stays so but for rounding, and an unsymmetric factor costs twice.
            self.slope = (self.slope + self.slope.transpose()) * 0.5;
        }
        true
    }
}

/// The method, and its memory.
#[derive(Debug, Default)]
pub(super) struct Newton {
    states: Vec<BlockState>,
    /// States of the blocks before sliding was tried.
    before_sliding: Vec<BlockState>,
    runs: Vec<Run>,
    /// Node of each velocity entry that starts a run of the island.
    node_at: Vec<usize>,
    factor: BlockFactor,
    /// Whether steps are found in impulses, in place of the factor, as the island has few rows.
    has_few_rows: bool,
    impulse_steps: ImpulseSteps,
    active_set: ActiveSet,
    gradient: AcceleratedGradient,
    stick_search: StickSearch,
    /// Whether the island may hold as a whole: no contact slid at the start, and it was not searched yet.
    may_hold: bool,
    /// Impulses that let nothing go, and a solution that does; empty where none was found. (blocks)
    held: Vec<Vector3<f64>>,
    loose: Vec<Vector3<f64>>,
    /// Direction in velocity space, laid out as the world's velocity. (n)
    step: Vec<f64>,
    /// Velocity without the impulses of these blocks, laid out as the world's. (n)
    base: Vec<f64>,
    /// Impulses of the last round that helped.
    best: Vec<Vector3<f64>>,
    regularisation: f64,
    /// Least regularisation of the rounds to come, and of any round: with less, more digits are lost than are asked for. [-]
    least_regularisation: f64,
    floor: f64,
    iterations: usize,
}

impl Method for Newton {
    fn solve(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        settings: &SolverSettings,
    ) -> usize {
        let goal = GOAL * settings.tolerance;
        if let Some(used) = self.active_set.solve(problem, island.clone(), goal) {
            return used;
        }
        self.has_few_rows = problem.has_few_rows(island.clone());
        self.run(problem, island, settings)
    }
}

impl Newton {
    /// Rounds until the tolerance is reached, by the kind of steps that was chosen; iterations used.
    fn run(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        settings: &SolverSettings,
    ) -> usize {
        self.prepare(problem, island.clone());
        // An island that slid is tried with the least impulses first; else nothing slides until the convex problem says so.
        self.may_hold = !self.states.iter().any(|state| state.shift > 0.0);
        if !self.may_hold && self.slide(problem, island.clone(), settings) {
            return self.iterations;
        }
        let reached = self.convex_rounds(problem, island.clone(), settings);
        if reached > settings.tolerance && !self.slide(problem, island.clone(), settings) {
            self.coulomb_rounds(problem, island.clone(), settings, reached);
        }
        self.keep_holding(problem, island);
        self.iterations
    }

    /// Lets the shifts of contacts move with the velocity.
    fn make_coulomb(&mut self, blocks: &[Block]) {
        for (state, block) in self.states.iter_mut().zip(blocks) {
            if let Admissible::Cone { friction } = block.admissible {
                (state.shift, state.coulomb) = (0.0, friction);
            }
        }
    }

    /// Numbers the runs of the blocks, chooses the elimination order, starts from the warm impulses.
    fn prepare(&mut self, problem: &Problem, island: Range<usize>) {
        self.iterations = 0;
        // Only entries of this island are read, so what other islands left in the map does not matter.
        self.node_at.resize(problem.velocity.len(), NONE);
        self.step.resize(problem.velocity.len(), 0.0);
        self.runs.clear();
        self.states.clear();
        let sides = |block: &Block| block.sides.into_iter().filter(|s| s.len > 0);
        for side in problem.blocks[island.clone()].iter().flat_map(sides) {
            self.node_at[side.start] = NONE;
        }
        // Each run is numbered where a block first touches it.
        for block in &problem.blocks[island.clone()] {
            let mut nodes = [NONE; 2];
            for (node, side) in nodes.iter_mut().zip(&block.sides).filter(|(_, s)| s.len > 0) {
                if self.node_at[side.start] == NONE {
                    self.node_at[side.start] = self.runs.len();
                    self.runs.push(if self.has_few_rows {
                        Run { start: side.start, len: side.len, offset: 0 }
                    } else {
                        let found = problem.runs.partition_point(|run| run.start < side.start);
                        problem.runs[found]
                    });
                }
                *node = self.node_at[side.start];
            }
            self.states.push(start(problem, block, nodes));
        }
        for found in [&mut self.held, &mut self.loose] {
            found.clear();
            // Now, as the first time that it is needed may be long after the first step.
            found.reserve(self.states.len());
        }
        self.base.resize(problem.velocity.len(), 0.0);
        for run in &self.runs {
            let run = run.start..run.start + run.len;
            self.base[run.clone()].copy_from_slice(&problem.velocity[run]);
        }
        for block in &problem.blocks[island.clone()] {
            // The warm impulses taken out: every later velocity is `base + Y α`, without a sum of changes.
            apply(&mut self.base, &problem.response, block, &-block.impulse);
        }
        if self.has_few_rows {
            self.impulse_steps.prepare(problem, &problem.blocks[island]);
            return;
        }
        let pairs = self.states.iter().map(|state| (state.nodes[0], state.nodes[1]));
        // Fill-in comes from pairs of movers only: a block with one side is on the diagonal.
        let coupled = pairs.filter(|(a, b)| *a != NONE && *b != NONE && a != b);
        self.factor.analyze(&self.runs, coupled);
    }

    /// Rounds with fixed shifts, until only sliding is left. Natural map. [m/s or rad/s]
    fn convex_rounds(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        settings: &SolverSettings,
    ) -> f64 {
        // A warm start that is all but the solution already has even loads, and is its own centre.
        let (warm, _) = self.measure(&problem.blocks[island.clone()]);
        let scale = self.velocity_scale(&problem.blocks[island.clone()]);
        if warm <= WARM_START_TOLERANCE * settings.tolerance {
            for state in &mut self.states {
                state.center = state.alpha;
            }
        }
        // Below the floor rounding takes more than the tolerance; a good warm start begins with little regularisation.
        self.floor = (ROUNDING * scale.max(warm) / settings.tolerance).min(FIRST_REGULARISATION);
        self.least_regularisation = self.floor.max(LEAST_REGULARISATION);
        self.regularisation =
            (warm / scale.max(warm)).clamp(self.least_regularisation, FIRST_REGULARISATION);
        let (mut last, mut convex, mut before) = (warm, warm, f64::INFINITY);
        let mut lagged = f64::INFINITY;
        let mut slow_rounds = 0;
        while self.iterations < settings.iterations {
            self.set_regularisation(&problem.blocks[island.clone()]);
            // Little enough that the regularisation, not the remaining mismatch, says which of equal points carry how much.
            let share = REGULARISED_ACCURACY * self.regularisation * scale.max(warm);
            let enough = (ROUND_ACCURACY * convex).max(GOAL * settings.tolerance).min(share);
            self.round(problem, island.clone(), enough, settings);
            (last, convex) = self.accept(problem, island.clone());
            if last <= GOAL * settings.tolerance
                // Beyond the tolerance, as long as it goes on: the next step's warm start is then good enough to be left.
                || (last <= settings.tolerance && last > 0.5 * before)
            {
                break;
            }
            if last <= FINE && !self.lets_go() {
                self.held.clear();
                self.held.extend(self.states.iter().map(|state| state.alpha));
            }
            let scale = self.velocity_scale(&problem.blocks[island.clone()]);
            // What holds must be known before anything may slide.
            // Regularisation makes all contacts creep: until that is small, sliding and creep look alike.
            let known = lagged.is_finite() || convex <= STICKING_ACCURACY * scale;
            let begins_to_slide = known && convex <= CONVEX_IS_SOLVED * last;
            slow_rounds += usize::from(convex > SLOW_PROGRESS * before);
            if (begins_to_slide || slow_rounds >= SLOW_ROUNDS)
                && let Some(held) = self.hold(problem, island.clone(), settings)
            {
                // Impulses that hold everything solve Coulomb's law, and none that slides is to be taken then.
                return held;
            }
            if begins_to_slide {
                // Shifts may lag while that converges; then they join the Jacobian.
                if last > SHIFT_PROGRESS * lagged {
                    break;
                }
                lagged = last;
                self.update_shifts(&problem.blocks[island.clone()]);
                // New shifts are a new convex problem: its progress begins again.
                (before, convex) = (f64::INFINITY, last);
                self.regularisation =
                    (last / scale).clamp(self.least_regularisation, FIRST_REGULARISATION);
            // No progress: rounding has taken over, or the round ran out of steps.
            } else if convex >= before {
                break;
            } else {
                self.reduce_regularisation(0.1, convex > SLOW_PROGRESS * before);
                before = convex;
            }
        }
        last
    }

    /// Rounds with Coulomb's shifts: less regularised while they make progress, more while they do not.
    fn coulomb_rounds(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        settings: &SolverSettings,
        reached: f64,
    ) {
        self.make_coulomb(&problem.blocks[island.clone()]);
        let scale = self.velocity_scale(&problem.blocks[island.clone()]);
        self.floor =
            self.floor.max((ROUNDING * scale / settings.tolerance).min(FIRST_REGULARISATION));
        self.least_regularisation = self.least_regularisation.max(self.floor);
        self.regularisation =
            // More than a convex round takes for such an error, as Coulomb's term may make a round diverge.
            (10.0 * reached / scale).clamp(self.least_regularisation, FIRST_REGULARISATION);
        let mut last = reached;
        let mut non_monotone_left = NON_MONOTONE_ROUNDS;
        self.save(&problem.blocks[island.clone()]);
        while last > settings.tolerance && self.iterations < settings.iterations {
            self.set_regularisation(&problem.blocks[island.clone()]);
            let is_solved = self.round(
                problem,
                island.clone(),
                (ROUND_ACCURACY * last).max(GOAL * settings.tolerance),
                settings,
            );
            let (now, _) = self.accept(problem, island.clone());
            // Less regularisation after progress; a solved round may raise the natural map a few times; a failed one is
            // repeated with more.
            if now < last {
                self.reduce_regularisation(0.2, now > SLOW_PROGRESS * last);
                last = now;
                non_monotone_left = NON_MONOTONE_ROUNDS;
            } else if is_solved && non_monotone_left > 0 && now < NON_MONOTONE_GROWTH * last {
                non_monotone_left -= 1;
                continue;
            // Good enough to be reported: the ladder does not go on from here either.
            } else if last <= FINE {
                break;
            } else if self.regularisation < MOST_REGULARISATION {
                // In large steps: each costs a failed round, and each success lowers it.
                self.regularisation = (8.0 * self.regularisation).min(MOST_REGULARISATION);
                self.revert(problem, island.clone());
                continue;
            } else {
                // With the most regularisation: gradient steps look for a better start.
                self.revert(problem, island.clone());
                last = self.descend(problem, island.clone());
                self.regularisation = FIRST_REGULARISATION;
            }
            self.save(&problem.blocks[island.clone()]);
        }
        // The best round, not the last.
        if self.states.iter().zip(&self.best).any(|(state, best)| state.alpha != *best) {
            self.revert(problem, island);
        }
    }

    /// Reduces the regularisation of the next round; below [`LEAST_REGULARISATION`] only after rounds of slow progress.
    fn reduce_regularisation(&mut self, factor: f64, is_slow: bool) {
        if is_slow && self.regularisation <= self.least_regularisation {
            self.least_regularisation = (0.1 * self.least_regularisation).max(self.floor);
        }
        self.regularisation = (factor * self.regularisation).max(self.least_regularisation);
    }

    /// Shifts of the present sliding.
    fn update_shifts(&mut self, blocks: &[Block]) {
        for (state, block) in self.states.iter_mut().zip(blocks) {
            if let Admissible::Cone { friction } = block.admissible {
                state.shift = friction * state.u.yz().norm();
            }
        }
    }

    /// Largest natural maps: of the law, and of the law with the shifts as they are. [m/s or rad/s]
    fn measure(&self, blocks: &[Block]) -> (f64, f64) {
        let (mut exact, mut convex) = (0.0_f64, 0.0_f64);
        for (block, state) in blocks.iter().zip(&self.states) {
            exact = exact.max(residual(block, &state.alpha, &state.u, None));
            convex = convex.max(residual(block, &state.alpha, &state.u, Some(state.shift)));
        }
        (exact, convex)
    }

    /// Largest change of velocity that a block's impulse makes on its own. [m/s or rad/s]
    fn velocity_scale(&self, blocks: &[Block]) -> f64 {
        let each = self.states.iter().zip(blocks);
        // Above 0, as it divides: without impulses, too.
        each.fold(f64::MIN_POSITIVE, |most, (state, block)| {
            most.max(state.alpha.amax() * block.inverse_effective_mass())
        })
    }

    fn set_regularisation(&mut self, blocks: &[Block]) {
        for (state, block) in self.states.iter_mut().zip(blocks) {
            state.proximal = self.regularisation * block.inverse_effective_mass();
            state.softened = Softened::new(state.proximal + block.compliance, state.proximal);
        }
    }

    /// Newton steps until the impulses are those of the softened law within `enough`; whether they are. [m/s or rad/s]
    fn round(
        &mut self,
        problem: &Problem,
        island: Range<usize>,
        enough: f64,
        settings: &SolverSettings,
    ) -> bool {
        let blocks = &problem.blocks[island];
        let is_coulomb = self.is_coulomb();
        let steps = if is_coulomb { COULOMB_STEPS } else { CONVEX_STEPS };
        let mut first = 0.0;
        for step in 0.. {
            let mismatch = self.respond(blocks);
            if mismatch <= enough {
                return true;
            }
            if step == 0 {
                first = mismatch;
            }
            // Little gain in half of the steps: repeating with more regularisation is cheaper than the other half.
            let is_stuck = is_coulomb && step == steps / 2 && mismatch > HALFWAY_MISMATCH * first;
            if is_stuck || step >= steps || self.iterations >= settings.iterations {
                return false;
            }
            self.iterations += 1;
            // The first linearisation of a convex round is predicted; where it gives no step, it is taken at `v`.
            let predicted = step == 0 && !is_coulomb;
            if predicted {
                self.predict(blocks);
                if self.newton_step(problem, blocks) {
                    continue;
                }
                self.respond(blocks);
            }
            if !self.newton_step(problem, blocks) {
                return false;
            }
        }
        false
    }

    /// Whether shifts move with the velocity.
    fn is_coulomb(&self) -> bool {
        self.states.iter().any(|state| state.coulomb > 0.0)
    }

    /// `λ(v)` and slopes; distance of the impulses from it, as a velocity. [m/s or rad/s]
    fn respond(&mut self, blocks: &[Block]) -> f64 {
        let mut mismatch: f64 = 0.0;
        for (state, block) in self.states.iter_mut().zip(blocks) {
            (state.lambda, state.slope) = state.respond(&block.admissible, &state.u);
            mismatch =
                mismatch.max((state.lambda - state.alpha).amax() * block.inverse_effective_mass());
        }
        mismatch
    }

    /// Puts the first linearisation of a convex round where the law gives the present impulses: it knows which contacts stick.
    fn predict(&mut self, blocks: &[Block]) {
        for (state, block) in self.states.iter_mut().zip(blocks) {
            // `u₀` with `W α = ε g λ₀ − u₀ − s e_n`, so that `λ(u₀) = α`; its tangent is taken at the present `u`.
            let mut u = state.center * state.proximal - state.softened.weigh(&state.alpha);
            u.x -= state.shift;
            let (lambda, slope) = state.respond(&block.admissible, &u);
            state.lambda = lambda - slope * (state.u - u);
            state.slope = slope;
        }
    }

    /// Accepts `λ(v)` as the impulses and the next centre. Natural maps as of [`Self::measure`].
    fn accept(&mut self, problem: &mut Problem, island: Range<usize>) -> (f64, f64) {
        for (state, block) in self.states.iter_mut().zip(&mut problem.blocks[island.clone()]) {
            block.impulse = state.lambda;
        }
        self.recompute(problem, island.clone());
        self.measure(&problem.blocks[island])
    }

    /// Starts from the blocks' impulses.
    fn recompute(&mut self, problem: &mut Problem, island: Range<usize>) {
        // From the velocity without impulses: a sum of changes would carry the rounding of all rounds.
        for run in &self.runs {
            let run = run.start..run.start + run.len;
            problem.velocity[run.clone()].copy_from_slice(&self.base[run]);
        }
        problem.apply_impulses(island.clone());
        for (state, block) in self.states.iter_mut().zip(&problem.blocks[island]) {
            state.alpha = block.impulse;
            state.center = block.impulse;
            state.u = problem.velocity_of(block) - block.bias;
        }
    }

    fn save(&mut self, blocks: &[Block]) {
        self.best.clear();
        self.best.extend(blocks.iter().map(|b| b.impulse));
    }

    fn revert(&mut self, problem: &mut Problem, island: Range<usize>) {
        for (best, block) in self.best.iter().zip(&mut problem.blocks[island.clone()]) {
            block.impulse = *best;
        }
        self.recompute(problem, island);
    }

    /// Natural map after some gradient steps. [m/s or rad/s]
    fn descend(&mut self, problem: &mut Problem, island: Range<usize>) -> f64 {
        self.gradient.descend(problem, island.clone(), GRADIENT_STEPS);
        self.iterations += GRADIENT_STEPS;
        self.recompute(problem, island.clone());
        self.measure(&problem.blocks[island]).0
    }

    /// One step of the softened problem; false if there is none.
    fn newton_step(&mut self, problem: &Problem, blocks: &[Block]) -> bool {
        let is_found = if self.has_few_rows {
            self.find_impulses(blocks)
        } else {
            self.find_velocities(problem, blocks)
        };
        if !is_found {
            return false;
        }
        let length = if self.is_coulomb() {
            self.coulomb_length(blocks)
        } else {
            self.convex_length(blocks)
        };
        // `α` and `u` move together, so that `v = v_f + Y α` stays exact.
        for state in &mut self.states {
            state.alpha += state.dalpha * length;
            state.u += state.du * length;
        }
        length > 0.0
    }

    /// The direction of a step from a system of the impulses; false if it has no solution.
    fn find_impulses(&mut self, blocks: &[Block]) -> bool {
        for (i, (state, block)) in self.states.iter().zip(blocks).enumerate() {
            // Of the impulses, not of the velocity: zero where they are already those of the law.
            let change = state.lambda - state.alpha;
            self.impulse_steps.load(i, block.rows(), &state.slope, &change);
        }
        if !self.impulse_steps.solve() {
            return false;
        }
        for (i, (state, block)) in self.states.iter_mut().zip(blocks).enumerate() {
            (state.dalpha, state.du) = self.impulse_steps.step(i, block.rows());
        }
        true
    }

    /// The direction of a step from a system of the velocities; false if it has no solution.
    fn find_velocities(&mut self, problem: &Problem, blocks: &[Block]) -> bool {
        for (state, block) in self.states.iter_mut().zip(blocks) {
            if !state.condense(block.series.as_ref()) {
                return false;
            }
        }
        self.assemble(problem, blocks);
        if !self.factor.factorize() {
            return false;
        }
        // `H δ = Jᵀ (λ − α)`, then `Δα = λ − D J δ − α`.
        self.clear_step();
        for (state, block) in self.states.iter().zip(blocks) {
            apply(&mut self.step, &problem.jacobian, block, &(state.aim - state.alpha));
        }
        self.factor.solve(&mut self.step);
        for (state, block) in self.states.iter_mut().zip(blocks) {
            let du = problem.jacobian_times(&self.step, block);
            state.dalpha = state.aim - state.slope * du - state.alpha;
        }
        // The change of velocity that the impulses make, not the one they were made from: that has the error of the factor.
        self.clear_step();
        for (state, block) in self.states.iter().zip(blocks) {
            apply(&mut self.step, &problem.response, block, &state.dalpha);
        }
        for (state, block) in self.states.iter_mut().zip(blocks) {
            state.du = problem.jacobian_times(&self.step, block);
            block.add_yielding(&mut state.du, &state.dalpha);
        }
        true
    }

    fn clear_step(&mut self) {
        for run in &self.runs {
            self.step[run.start..run.start + run.len].fill(0.0);
        }
    }

    /// `H = Â + Σ Jᵀ D J`.
    fn assemble(&mut self, problem: &Problem, blocks: &[Block]) {
        // Only contacts that slide with Coulomb's term make it unsymmetric, and that costs twice.
        let symmetric = self.states.iter().all(|state| state.slope == state.slope.transpose());
        self.factor.load(&problem.inertia, symmetric);
        for (state, block) in self.states.iter().zip(blocks) {
            if state.slope == Matrix3::zeros() {
                continue;
            }
            let J = block.sides.map(|s| &problem.jacobian[s.offset..][..block.rows() * s.len]);
            for (node, J) in state.nodes.iter().zip(J).filter(|(n, _)| **n != NONE) {
                self.factor.add_diagonal(*node, J, &state.slope);
            }
            let [a, b] = state.nodes;
            if a != NONE && b != NONE && a != b {
                self.factor.add_coupling(state.nodes, J, &state.slope);
            }
        }
    }
}

/// A block at the start: warm impulses, centre zero, a shift where it slid.
fn start(problem: &Problem, block: &Block, nodes: [usize; 2]) -> BlockState {
    let u = problem.velocity_of(block) - block.bias;
    let impulse = &block.impulse;
    let on_cone = |friction: f64| {
        impulse.x > 0.0 && impulse.yz().norm() >= friction * impulse.x * (1.0 - 1e-9)
    };
    // Only of what was solved as sliding: in a grip near its limit some points hold on the surface of the cone.
    let shift = match block.admissible {
        Admissible::Cone { friction } if block.slid && on_cone(friction) => {
            friction * u.yz().norm()
        }
        _ => 0.0,
    };
    BlockState {
        softened: Softened::new(1.0, 1.0),
        proximal: 1.0,
        center: Vector3::zeros(),
        shift,
        coulomb: 0.0,
        u,
        du: Vector3::zeros(),
        alpha: block.impulse,
        dalpha: Vector3::zeros(),
        lambda: block.impulse,
        slope: Matrix3::zeros(),
        aim: block.impulse,
        stuck: block.is_contact() && impulse.x > 0.0 && !block.slid,
        nodes,
    }
}
