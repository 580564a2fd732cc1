//! Newton's method on softened contact laws, inside a proximal loop: the reference.
//!
//! With a centre `λ₀` and a softness `ε g` the law of a block is single-valued, `λ(u) = argmin_{λ ∈ C} ½ λᵀ W λ − λᵀ y`,
//! `W = R + ε g`, `y = ε g λ₀ − (u − u*) − s e_n`, and a round solves for the velocity
//!
//! ```text
//! Â (v − v_f) = Σ Jᵀ λ(J v)          by steps  H δ = Jᵀ(λ(v) − α),  H = Â + Jᵀ D J,  D = −∂λ/∂u
//! ```
//!
//! where `α` are the impulses that `v` comes from. The new ones are `α + t (λ − D J δ − α)`, so that `v = v_f + Y α`
//! holds exactly whatever the quality of `H`. After a round `λ₀ ← λ`, which takes the softness back.
//!
//! 1. *Convex rounds*: `s` is fixed, `v` minimises a convex function, and `t` makes its derivative along the ray vanish.
//! 2. *Coulomb rounds*, where contacts slide: `s = μ‖u_t‖` is De Saxcé's and moves with `u`, so that `H` is not
//!    symmetric and `t` lowers the mismatch `λ − α`. A round that does not lower the natural map is taken back and
//!    done again softer; where even the softest fails, gradient steps look for a better place.
//!
//! The first centre is zero, and only contacts that slid before begin with a shift: of all solutions this finds one
//! that holds, if any holds, with the least impulses. A grip does not depend on the path that led to it. Only a warm
//! start that is all but the solution is its own centre: what rests needs no more than a round, and comes to rest to
//! the last digits.
//! [Castro, Permenter, Han 2023; Acary, Cadoux, Lemaréchal, Malick 2011; Alart & Curnier 1991; Rockafellar 1976]
//!
//! Where an island [has few rows](Problem::has_few_rows) the same steps are found in impulses ([`ImpulseSteps`]).
//!
//! Limits: Coulomb rounds may fail on crowds of contacts that all slide with high friction, off the centres of light bodies.

use std::ops::Range;

use nalgebra::{Matrix3, Vector3};

use super::accelerated_gradient::AcceleratedGradient;
use super::block_factor::BlockFactor;
use super::impulse_steps::ImpulseSteps;
use super::law::{Softened, residual};
use super::method::{ContactSolver, FINE, Method, SolverSettings};
use super::{Admissible, Block, Problem, Run, apply};

/// Softness of the first convex round over a block's own Delassus diagonal, where nothing is known. [-]
const SOFT: f64 = 0.1;
/// Least softness while rounds help: less converges in fewer rounds, each of more steps, and loses digits. [-]
const HARD: f64 = 3e-4;
/// Rounds at the least softness that leave more than this part of the natural map crawl: they may be harder. [-]
const CRAWLING: f64 = 0.3;
/// Most softness: a round is hardly more than a step of the fixed point. [-]
const SOFTEST: f64 = 10.0;
/// Part of the velocity changes that rounding takes away from every round at softness 1. [-]
const ROUNDING: f64 = 1e-14;
/// A round ends when its problem is solved to this part of the last natural map, or after `STEPS`. A convex one gets there;
/// what a heap needs for it is 10 to 20. [-]
const INNER: f64 = 0.05;
const STEPS: usize = 40;
/// Coulomb rounds end after so many steps, and after half of them if the mismatch is not below this part of the first: they
/// do not get there, and a softer one is better. [-]
const COULOMB_STEPS: usize = 8;
const HOPEFUL: f64 = 0.3;
/// Coulomb rounds one after the other that were solved and may raise the natural map, and how far: the way to a solution
/// where many contacts are all but sliding is not straight. [-]
const DETOURS: usize = 4;
const DETOUR: f64 = 2.0;
/// Part of the softness to which a convex round is solved. [-]
const SHARE: f64 = 1e-2;
/// Rounds go on to this part of the tolerance while they help, so that the next step finds a warm start within it. [-]
const GOAL: f64 = 0.1;
/// Multiple of the tolerance below which a warm start is the first centre. [-]
const NEAR: f64 = 10.0;
/// Part of the natural map at which the convex problem is solved, and sliding is what is left. [-]
const SLIDING: f64 = 0.1;
/// Part of the velocity changes to which the problem without new shifts is solved first. [-]
const HOLDING: f64 = 1e-6;
/// Shifts lag behind while each round brings the natural map below this part of the last. [-]
const LAGGING: f64 = 0.2;
/// The convex line search ends when the derivative is this part of the first. [-]
const SLOPE: f64 = 1e-2;
/// Gradient steps where no Coulomb round helps.
const GRADIENT_STEPS: usize = 150;

/// The solver of this file.
pub(super) const SOLVER: ContactSolver = ContactSolver {
    name: "newton",
    level: 2,
    next: Some(3),
    goal: GOAL,
    most_rows: usize::MAX,
    iterations: 200,
    method: || Box::<Newton>::default(),
};

const NONE: usize = usize::MAX;

/// A block while it is solved.
#[derive(Debug, Clone, Copy)]
struct Item {
    softened: Softened,
    /// `ε g`: weight of the centre.
    proximal: f64,
    /// `λ₀`.
    center: Vector3<f64>,
    /// Fixed `s`, or the friction that makes `s` of `u`. [m/s; -]
    shift: f64,
    coulomb: f64,
    /// Biased velocity `u − u*` of `v`, and its change along the ray.
    u: Vector3<f64>,
    du: Vector3<f64>,
    /// Impulses that `v` comes from, and their change along the ray.
    alpha: Vector3<f64>,
    dalpha: Vector3<f64>,
    /// `λ(v)` and `D`.
    lambda: Vector3<f64>,
    slope: Matrix3<f64>,
    /// Nodes of its sides; `NONE` where a side does not move.
    nodes: [usize; 2],
}

impl Item {
    /// The softened law at the biased velocity `u`: impulse and `−∂λ/∂u`.
    fn respond(&self, admissible: &Admissible, u: &Vector3<f64>) -> (Vector3<f64>, Matrix3<f64>) {
        let mut y = self.center * self.proximal - u;
        let sliding = u.yz().norm();
        y.x -= self.shift + self.coulomb * sliding;
        let (lambda, mut slope) = self.softened.respond(admissible, &y);
        if self.coulomb * sliding > 0.0 {
            let normal = slope.column(0) * (self.coulomb / sliding);
            slope += normal * Vector3::new(0.0, u.y, u.z).transpose();
        }
        (lambda, slope)
    }
}

/// The method, and its memory.
#[derive(Debug, Default)]
pub(super) struct Newton {
    items: Vec<Item>,
    runs: Vec<Run>,
    /// Node of each velocity entry that starts a run of the island.
    node_at: Vec<usize>,
    factor: BlockFactor,
    /// Instead of the factor, where there are few rows.
    has_few_rows: bool,
    impulse_steps: ImpulseSteps,
    gradient: AcceleratedGradient,
    /// Direction in velocity space, laid out as the world's velocity. (n)
    step: Vec<f64>,
    /// Velocity without the impulses of these blocks, laid out so. (n)
    base: Vec<f64>,
    /// Impulses of the last round that helped.
    best: Vec<Vector3<f64>>,
    softness: f64,
    /// Of rounds to come, and of any: harder ones lose more digits than are asked for.
    least_softness: f64,
    hardest: f64,
    iterations: usize,
}

impl Method for Newton {
    fn solve(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        settings: &SolverSettings,
    ) -> usize {
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
        let reached = self.convex_rounds(problem, island.clone(), settings);
        if reached > settings.tolerance {
            self.coulomb_rounds(problem, island, settings, reached);
        }
        self.iterations
    }

    /// Numbers the runs of the blocks, chooses the elimination order, starts from the warm impulses.
    fn prepare(&mut self, problem: &Problem, island: Range<usize>) {
        self.iterations = 0;
        self.node_at.resize(problem.velocity.len(), NONE);
        self.step.resize(problem.velocity.len(), 0.0);
        self.runs.clear();
        self.items.clear();
        let sides = |block: &Block| block.sides.into_iter().filter(|s| s.len > 0);
        for side in problem.blocks[island.clone()].iter().flat_map(sides) {
            self.node_at[side.start] = NONE;
        }
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
            self.items.push(start(problem, block, nodes));
        }
        self.base.resize(problem.velocity.len(), 0.0);
        for run in &self.runs {
            let run = run.start..run.start + run.len;
            self.base[run.clone()].copy_from_slice(&problem.velocity[run]);
        }
        for block in &problem.blocks[island.clone()] {
            apply(&mut self.base, &problem.response, block, &-block.impulse);
        }
        if self.has_few_rows {
            self.impulse_steps.prepare(problem, &problem.blocks[island]);
            return;
        }
        let pairs = self.items.iter().map(|item| (item.nodes[0], item.nodes[1]));
        let coupled = pairs.filter(|(a, b)| *a != NONE && *b != NONE && a != b);
        self.factor.analyze(&self.runs, coupled);
    }

    /// Rounds with fixed shifts, until sliding is what is left. Natural map. [m/s or rad/s]
    fn convex_rounds(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        settings: &SolverSettings,
    ) -> f64 {
        let (warm, _) = self.measure(&problem.blocks[island.clone()]);
        let scale = self.velocity_scale(&problem.blocks[island.clone()]);
        if warm <= NEAR * settings.tolerance {
            for item in &mut self.items {
                item.center = item.alpha;
            }
        }
        self.hardest = (ROUNDING * scale.max(warm) / settings.tolerance).min(SOFT);
        self.least_softness = self.hardest.max(HARD);
        self.softness = (warm / scale.max(warm)).clamp(self.least_softness, SOFT);
        let (mut last, mut convex, mut before) = (warm, warm, f64::INFINITY);
        let mut lagged = f64::INFINITY;
        while self.iterations < settings.iterations {
            self.soften(&problem.blocks[island.clone()]);
            // Little enough that softness, not what is left, says which of equal points carry how much.
            let share = SHARE * self.softness * scale.max(warm);
            let enough = (INNER * convex).max(GOAL * settings.tolerance).min(share);
            self.round(problem, island.clone(), enough, settings);
            (last, convex) = self.take(problem, island.clone());
            if last <= GOAL * settings.tolerance
                || (last <= settings.tolerance && last > 0.5 * before)
            {
                break;
            }
            let scale = self.velocity_scale(&problem.blocks[island.clone()]);
            // What holds must be known before anything may slide.
            let known = lagged.is_finite() || convex <= HOLDING * scale;
            if known && convex <= SLIDING * last {
                if last > LAGGING * lagged {
                    break;
                }
                lagged = last;
                self.take_shifts(&problem.blocks[island.clone()]);
                (before, convex) = (f64::INFINITY, last);
                self.softness = (last / scale).clamp(self.least_softness, SOFT);
            } else if convex >= before {
                break;
            } else {
                self.harden(0.1, convex > CRAWLING * before);
                before = convex;
            }
        }
        last
    }

    /// Rounds with Coulomb's shifts, harder while they help and softer while they do not.
    fn coulomb_rounds(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        settings: &SolverSettings,
        reached: f64,
    ) {
        for (item, block) in self.items.iter_mut().zip(&problem.blocks[island.clone()]) {
            if let Admissible::Cone { friction } = block.admissible {
                (item.shift, item.coulomb) = (0.0, friction);
            }
        }
        let scale = self.velocity_scale(&problem.blocks[island.clone()]);
        self.hardest = self.hardest.max((ROUNDING * scale / settings.tolerance).min(SOFT));
        self.least_softness = self.least_softness.max(self.hardest);
        self.softness = (10.0 * reached / scale).clamp(self.least_softness, SOFT);
        let mut last = reached;
        let mut detours = DETOURS;
        self.keep(&problem.blocks[island.clone()]);
        while last > settings.tolerance && self.iterations < settings.iterations {
            self.soften(&problem.blocks[island.clone()]);
            let is_solved = self.round(
                problem,
                island.clone(),
                (INNER * last).max(GOAL * settings.tolerance),
                settings,
            );
            let (now, _) = self.take(problem, island.clone());
            if now < last {
                self.harden(0.2, now > CRAWLING * last);
                last = now;
                detours = DETOURS;
            } else if is_solved && detours > 0 && now < DETOUR * last {
                detours -= 1;
                continue;
            } else if last <= FINE {
                break;
            } else if self.softness < SOFTEST {
                self.softness = (8.0 * self.softness).min(SOFTEST);
                self.go_back(problem, island.clone());
                continue;
            } else {
                self.go_back(problem, island.clone());
                last = self.descend(problem, island.clone());
                self.softness = SOFT;
            }
            self.keep(&problem.blocks[island.clone()]);
        }
        if self.items.iter().zip(&self.best).any(|(item, best)| item.alpha != *best) {
            self.go_back(problem, island);
        }
    }

    /// Makes the next round harder; less than `HARD` only after rounds that crawl.
    fn harden(&mut self, factor: f64, crawls: bool) {
        if crawls && self.softness <= self.least_softness {
            self.least_softness = (0.1 * self.least_softness).max(self.hardest);
        }
        self.softness = (factor * self.softness).max(self.least_softness);
    }

    /// Shifts of the present sliding.
    fn take_shifts(&mut self, blocks: &[Block]) {
        for (item, block) in self.items.iter_mut().zip(blocks) {
            if let Admissible::Cone { friction } = block.admissible {
                item.shift = friction * item.u.yz().norm();
            }
        }
    }

    /// Largest natural maps: of the law, and of the law with the shifts as they are. [m/s or rad/s]
    fn measure(&self, blocks: &[Block]) -> (f64, f64) {
        let (mut exact, mut convex) = (0.0_f64, 0.0_f64);
        for (block, item) in blocks.iter().zip(&self.items) {
            exact = exact.max(residual(block, &item.alpha, &item.u, None));
            convex = convex.max(residual(block, &item.alpha, &item.u, Some(item.shift)));
        }
        (exact, convex)
    }

    /// Largest change of velocity that a block's impulse makes on its own. [m/s or rad/s]
    fn velocity_scale(&self, blocks: &[Block]) -> f64 {
        let each = self.items.iter().zip(blocks);
        each.fold(f64::MIN_POSITIVE, |most, (item, block)| {
            most.max(item.alpha.amax() * block.inverse_effective_mass())
        })
    }

    fn soften(&mut self, blocks: &[Block]) {
        for (item, block) in self.items.iter_mut().zip(blocks) {
            item.proximal = self.softness * block.inverse_effective_mass();
            item.softened =
                Softened { normal: item.proximal + block.compliance, tangential: item.proximal };
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
        let steps = if is_coulomb { COULOMB_STEPS } else { STEPS };
        let mut first = 0.0;
        for step in 0.. {
            let mismatch = self.respond(blocks);
            if mismatch <= enough {
                return true;
            }
            if step == 0 {
                first = mismatch;
            }
            let is_hopeless = is_coulomb && step == steps / 2 && mismatch > HOPEFUL * first;
            if is_hopeless || step >= steps || self.iterations >= settings.iterations {
                return false;
            }
            self.iterations += 1;
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
        self.items.iter().any(|item| item.coulomb > 0.0)
    }

    /// `λ(v)` and slopes; how far the impulses are from it, as a velocity. [m/s or rad/s]
    fn respond(&mut self, blocks: &[Block]) -> f64 {
        let mut mismatch: f64 = 0.0;
        for (item, block) in self.items.iter_mut().zip(blocks) {
            (item.lambda, item.slope) = item.respond(&block.admissible, &item.u);
            mismatch =
                mismatch.max((item.lambda - item.alpha).amax() * block.inverse_effective_mass());
        }
        mismatch
    }

    /// Puts the first linearisation of a convex round where the law gives the present impulses: there it knows what sticks.
    fn predict(&mut self, blocks: &[Block]) {
        for (item, block) in self.items.iter_mut().zip(blocks) {
            let mut u = item.center * item.proximal - item.softened.weigh(&item.alpha);
            u.x -= item.shift;
            let (lambda, slope) = item.respond(&block.admissible, &u);
            item.lambda = lambda - slope * (item.u - u);
            item.slope = slope;
        }
    }

    /// Takes `λ(v)` for the impulses and the next centre. Natural maps as of [`Self::measure`].
    fn take(&mut self, problem: &mut Problem, island: Range<usize>) -> (f64, f64) {
        for (item, block) in self.items.iter_mut().zip(&mut problem.blocks[island.clone()]) {
            block.impulse = item.lambda;
        }
        self.refresh(problem, island.clone());
        self.measure(&problem.blocks[island])
    }

    /// Starts from the blocks' impulses.
    fn refresh(&mut self, problem: &mut Problem, island: Range<usize>) {
        for run in &self.runs {
            let run = run.start..run.start + run.len;
            problem.velocity[run.clone()].copy_from_slice(&self.base[run]);
        }
        problem.apply_impulses(island.clone());
        for (item, block) in self.items.iter_mut().zip(&problem.blocks[island]) {
            item.alpha = block.impulse;
            item.center = block.impulse;
            item.u = problem.velocity_of(block) - block.bias;
        }
    }

    fn keep(&mut self, blocks: &[Block]) {
        self.best.clear();
        self.best.extend(blocks.iter().map(|b| b.impulse));
    }

    fn go_back(&mut self, problem: &mut Problem, island: Range<usize>) {
        for (best, block) in self.best.iter().zip(&mut problem.blocks[island.clone()]) {
            block.impulse = *best;
        }
        self.refresh(problem, island);
    }

    /// Natural map after some gradient steps. [m/s or rad/s]
    fn descend(&mut self, problem: &mut Problem, island: Range<usize>) -> f64 {
        self.gradient.descend(problem, island.clone(), GRADIENT_STEPS);
        self.iterations += GRADIENT_STEPS;
        self.refresh(problem, island.clone());
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
        for item in &mut self.items {
            item.alpha += item.dalpha * length;
            item.u += item.du * length;
        }
        length > 0.0
    }

    /// The direction of a step from a system of the impulses; false if it has no solution.
    fn find_impulses(&mut self, blocks: &[Block]) -> bool {
        for (i, (item, block)) in self.items.iter().zip(blocks).enumerate() {
            let change = item.lambda - item.alpha;
            self.impulse_steps.load(i, block.rows(), &item.slope, &change);
        }
        if !self.impulse_steps.solve() {
            return false;
        }
        for (i, (item, block)) in self.items.iter_mut().zip(blocks).enumerate() {
            (item.dalpha, item.du) = self.impulse_steps.step(i, block.rows());
        }
        true
    }

    /// The direction of a step from a system of the velocities; false if it has no solution.
    fn find_velocities(&mut self, problem: &Problem, blocks: &[Block]) -> bool {
        self.assemble(problem, blocks);
        if !self.factor.factorize() {
            return false;
        }
        self.clear_step();
        for (item, block) in self.items.iter().zip(blocks) {
            apply(&mut self.step, &problem.jacobian, block, &(item.lambda - item.alpha));
        }
        self.factor.solve(&mut self.step);
        for (item, block) in self.items.iter_mut().zip(blocks) {
            let du = problem.jacobian_times(&self.step, block);
            item.dalpha = item.lambda - item.slope * du - item.alpha;
        }
        // The change of velocity that the impulses make, not the one they were made from.
        self.clear_step();
        for (item, block) in self.items.iter().zip(blocks) {
            apply(&mut self.step, &problem.response, block, &item.dalpha);
        }
        for (item, block) in self.items.iter_mut().zip(blocks) {
            item.du = problem.jacobian_times(&self.step, block);
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
        let symmetric = self.items.iter().all(|item| item.slope == item.slope.transpose());
        self.factor.load(&problem.inertia, symmetric);
        for (item, block) in self.items.iter().zip(blocks) {
            if item.slope == Matrix3::zeros() {
                continue;
            }
            let J = block.sides.map(|s| &problem.jacobian[s.offset..][..block.rows() * s.len]);
            for (node, J) in item.nodes.iter().zip(J).filter(|(n, _)| **n != NONE) {
                self.factor.add_diagonal(*node, J, &item.slope);
            }
            let [a, b] = item.nodes;
            if a != NONE && b != NONE && a != b {
                self.factor.add_coupling(item.nodes, J, &item.slope);
            }
        }
    }

    /// Where the derivative of the convex function along the ray vanishes, at most 1; 0 where it does not descend.
    fn convex_length(&self, blocks: &[Block]) -> f64 {
        let derivative = |t: f64| -> f64 {
            let each = self.items.iter().zip(blocks);
            each.map(|(item, block)| {
                let (lambda, _) = item.respond(&block.admissible, &(item.u + item.du * t));
                item.du.dot(&(item.alpha + item.dalpha * t - lambda))
            })
            .sum()
        };
        let first = derivative(0.0);
        if first >= 0.0 {
            return 0.0;
        }
        let (mut low, mut at_low, mut high, mut at_high) = (0.0, first, 1.0, derivative(1.0));
        if at_high <= SLOPE * first.abs() {
            return high;
        }
        // The Illinois variant of false position.
        for _ in 0..30 {
            let t = (low * at_high - high * at_low) / (at_high - at_low);
            let at_t = derivative(t);
            if at_t.abs() <= SLOPE * first.abs() {
                return t;
            }
            if at_t < 0.0 {
                (low, at_low) = (t, at_t);
                at_high *= 0.5;
            } else {
                (high, at_high) = (t, at_t);
                at_low *= 0.5;
            }
        }
        low
    }

    /// The length out of 1, ½, ¼ … at which the mismatch falls, or the one at which it is least.
    fn coulomb_length(&self, blocks: &[Block]) -> f64 {
        let mismatch = |t: f64| -> f64 {
            let each = self.items.iter().zip(blocks);
            each.map(|(item, block)| {
                let (lambda, _) = item.respond(&block.admissible, &(item.u + item.du * t));
                let off = (lambda - item.alpha - item.dalpha * t) * block.inverse_effective_mass();
                off.norm_squared()
            })
            .sum()
        };
        let first = mismatch(0.0);
        let (mut t, mut best) = (1.0, 1.0);
        let mut least = mismatch(t);
        while least > first * (1.0 - 1e-4 * best) && t > 0.05 {
            t *= 0.5;
            let now = mismatch(t);
            if now < least {
                (least, best) = (now, t);
            }
        }
        best
    }
}

/// A block at the start: warm impulses, centre zero, a shift where it slid.
fn start(problem: &Problem, block: &Block, nodes: [usize; 2]) -> Item {
    let u = problem.velocity_of(block) - block.bias;
    let impulse = &block.impulse;
    let slid = |friction: f64| {
        impulse.x > 0.0 && impulse.yz().norm() >= friction * impulse.x * (1.0 - 1e-9)
    };
    let shift = match block.admissible {
        Admissible::Cone { friction } if slid(friction) => friction * u.yz().norm(),
        _ => 0.0,
    };
    Item {
        softened: Softened { normal: 1.0, tangential: 1.0 },
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
        nodes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::RowSpec;
    use crate::solver::Side;
    use nalgebra::{DMatrix, DVector};
    use proptest::prelude::*;

    /// Some contacts and a brake on one robot of `n` velocities.
    fn problem(n: usize, contacts: usize, friction: f64, numbers: &[f64]) -> Problem {
        let mut numbers = numbers.iter().copied().cycle();
        let mut next = || numbers.next().unwrap_or(0.5);
        let root = DMatrix::from_fn(n, n, |_, _| next());
        let operator = &root * root.transpose() + DMatrix::identity(n, n);
        let factor = operator.clone().cholesky().unwrap();
        let mut problem = Problem {
            velocity: (0..n).map(|_| next()).collect(),
            runs: vec![Run { start: 0, len: n, offset: 0 }],
            inertia: operator.as_slice().to_vec(),
            ..Problem::default()
        };
        let laws = std::iter::repeat_n(Admissible::Cone { friction }, contacts)
            .chain([Admissible::Interval { lower: -0.1, upper: 0.1 }]);
        for admissible in laws {
            let side = Side { start: 0, len: n, offset: problem.jacobian.len() };
            let mut block =
                Block { admissible, ..Block::row([side, Side::default()], &RowSpec::default()) };
            for _ in 0..block.rows() {
                let row = DVector::from_fn(n, |_, _| next());
                problem.jacobian.extend(&row);
                problem.response.extend(&factor.solve(&row));
            }
            block.delassus = problem.delassus_of(&block);
            problem.blocks.push(block);
        }
        problem.island_ends.push(problem.blocks.len());
        problem
    }

    proptest! {
        /// Steps in impulses and steps in velocities end at the same impulses.
        #[test]
        fn both_kinds_of_steps_have_one_solution(
            n in 14..20_usize,
            contacts in 1..5_usize,
            friction in 0.0..1.0_f64,
            numbers in prop::collection::vec(-1.0..1.0_f64, 997),
        ) {
            let settings = SolverSettings { tolerance: 1e-11, ..SolverSettings::default() };
            let solved = [true, false].map(|has_few_rows| {
                let mut problem = problem(n, contacts, friction, &numbers);
                let all = 0..problem.blocks.len();
                let mut newton = Newton { has_few_rows, ..Newton::default() };
                newton.run(&mut problem, all.clone(), &settings);
                let (left, _) = newton.measure(&problem.blocks);
                (left, problem)
            });
            for (left, _) in &solved {
                prop_assert!(*left <= 1e-11, "{left}");
            }
            for (a, b) in solved[0].1.blocks.iter().zip(&solved[1].1.blocks) {
                let off = (a.impulse - b.impulse).amax();
                prop_assert!(off < 1e-8, "{} {}", a.impulse, b.impulse);
            }
        }
    }
}
