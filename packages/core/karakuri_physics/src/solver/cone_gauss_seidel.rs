//! Gauss-Seidel over contacts, each on its exact cone, with the memory of conjugate gradients: for crowds that move.
//!
//! ```text
//! w = u + R λ_n e_n − (G + R) λ              without the contact's own impulse
//! λ ← 0 | −(G + R)⁻¹ w | λ_n (1, −μ d)       it opens | sticks | slides along d,  d × u_t = 0
//! λ ← λ + β p,  p ← β p + Δλ                 after a sweep that changed λ by Δλ,  β = ‖Δλ‖²/‖Δλ₋‖²
//! ```
//!
//! `G + R` and its inverse are made once a solve, and `d` is the root of one equation, found by Newton's method from the direction
//! of the last sweep: two evaluations as a rule. [`solve_contact`] searches the whole turn where that fails. The change of impulse goes
//! into the velocity at once. Between sweeps impulses, and the velocity with them, are carried on along the sum of the last changes;
//! where those grow (`β > 1`) the sum begins again. The last step is a sweep, so that impulses end on their cones.
//! [Hwangbo, Lee, Hutter 2018; Bonnefon & Daviet 2011; Silcowitz, Niebe, Erleben 2010]
//!
//! Limits: linear convergence, the slower the higher the heap and the larger the mass ratios; what equal points of a face carry
//! depends on their order. What rests or is held is for Newton's method.

use std::ops::Range;

use nalgebra::{Matrix3, Vector2, Vector3};

use super::block_gauss_seidel::solve_block;
use super::cone::solve_contact;
use super::method::{ContactSolver, Method, SolverSettings};
use super::problem::apply_rows;
use super::{Admissible, Block, Problem, Side};

/// Newton steps for the direction of sliding before the whole turn is searched.
const DIRECTION_STEPS: usize = 8;
/// Turn of the direction in a step after which it is exact: the error that is left is about its square. [rad]
const TURNED: f64 = 1e-7;
/// Least stiffness of sliding, over that of the normal: below it friction presses the contact together (Painlevé). [-]
const JAMMED: f64 = 1e-12;

/// Part of the tolerance to which the last sweep may change velocities: what is left after it is more. [-]
const SETTLED: f64 = 0.3;

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

/// A block while it is solved.
#[derive(Debug, Clone, Copy)]
struct Item {
    /// `(G + R)⁻¹` of a contact; none where nothing resists along some direction, and of other blocks.
    inverse: Option<Matrix3<f64>>,
    /// `G + R`.
    stiffness: Matrix3<f64>,
    sides: [Side; 2],
    /// Desired velocity `u*`. [m/s] (3)
    bias: Vector3<f64>,
    /// Compliance `R` of the normal. [1/kg]
    compliance: f64,
    /// Coefficient of friction. [-]
    friction: f64,
    /// Direction of sliding that was found last; zero where it did not slide.
    direction: Vector2<f64>,
    /// Impulse, and what it was before the sweep. [N·s or N·m·s] (3)
    impulse: Vector3<f64>,
    before: Vector3<f64>,
    /// Sum `p` of the last changes.
    carried: Vector3<f64>,
}

/// The method, and its memory.
#[derive(Debug, Default)]
pub(super) struct ConeGaussSeidel {
    items: Vec<Item>,
    /// First entry and length of each run of the velocity that the blocks touch.
    runs: Vec<(usize, usize)>,
    /// Solve that found an entry to be the first of a run, by entry; number of the present one. (n)
    found: Vec<u64>,
    solve: u64,
    /// Velocities of the runs before the sweep, and the sum of their last changes.
    before: Vec<f64>,
    carried: Vec<f64>,
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
        self.prepare(problem, island.clone());
        let has_moments = problem.blocks[island.clone()]
            .iter()
            .any(|block| matches!(block.admissible, Admissible::FrictionMoment { .. }));
        let mut used = 0;
        while used < settings.iterations {
            if used > 0 {
                self.carry_on(problem);
            }
            if has_moments {
                self.bound_moments(problem, island.clone());
            }
            used += 1;
            if self.sweep(problem, island.clone()) <= SETTLED * settings.tolerance {
                break;
            }
        }
        self.hand_over(problem, island);
        used
    }
}

impl ConeGaussSeidel {
    /// Takes the blocks of an island, and finds the runs that they touch.
    fn prepare(&mut self, problem: &Problem, island: Range<usize>) {
        let blocks = &problem.blocks[island];
        self.items.clear();
        self.items.extend(blocks.iter().map(Item::new));
        self.solve += 1;
        self.found.resize(problem.velocity.len(), 0);
        self.runs.clear();
        self.before.clear();
        for side in blocks.iter().flat_map(|block| block.sides).filter(|side| side.len > 0) {
            let found = &mut self.found[side.start];
            if *found != self.solve {
                *found = self.solve;
                self.runs.push((side.start, side.len));
                let run = side.start..side.start + side.len;
                self.before.extend_from_slice(&problem.velocity[run]);
            }
        }
        self.carried.clear();
        self.carried.resize(self.before.len(), 0.0);
        self.change = None;
    }

    /// Solves every block of an island in turn; the largest change of velocity. [m/s or rad/s]
    // Always forwards: the sums of changes are of one operator, and sweeps in both directions take twice as many.
    fn sweep(&mut self, problem: &mut Problem, island: Range<usize>) -> f64 {
        let mut most = 0.0_f64;
        for (item, i) in self.items.iter_mut().zip(island) {
            let change = if let Some(inverse) = item.inverse {
                item.solve(&inverse, problem)
            } else {
                problem.blocks[i].impulse = item.impulse;
                let change = solve_block(problem, i);
                item.impulse = problem.blocks[i].impulse;
                change
            };
            most = most.max(change);
        }
        most
    }

    /// Goes on along the sum of the last changes: a step of nonlinear conjugate gradients, whose gradient is what a sweep changes.
    fn carry_on(&mut self, problem: &mut Problem) {
        let change = self.items.iter().map(Item::change).sum::<f64>();
        let ratio = self.change.map_or(0.0, |before| change / before);
        // Also where it is no number.
        let beta = if ratio <= 1.0 { ratio } else { 0.0 };
        self.change = Some(change);
        for Item { impulse, before, carried, .. } in &mut self.items {
            let change = *impulse - *before;
            *impulse += *carried * beta;
            *carried = *carried * beta + change;
            *before = *impulse;
        }
        // The velocity is linear in the impulses.
        let mut entries = self.before.iter_mut().zip(&mut self.carried);
        for &(start, len) in &self.runs {
            let run = &mut problem.velocity[start..start + len];
            for (v, (before, carried)) in run.iter_mut().zip(&mut entries) {
                let change = *v - *before;
                *v += *carried * beta;
                *carried = *carried * beta + change;
                *before = *v;
            }
        }
    }

    /// Bounds the friction moments by the present loads, and splits the limits of soft fingers.
    fn bound_moments(&mut self, problem: &mut Problem, island: Range<usize>) {
        self.hand_over(problem, island.clone());
        // Frozen for a sweep: bounds that move within it would let rolling bodies chase their own loads.
        problem.take_loads(island.clone());
        problem.split_soft_fingers(island.clone());
        for (item, block) in self.items.iter_mut().zip(&problem.blocks[island]) {
            item.friction = friction_of(block);
        }
    }

    /// Gives the impulses to the problem.
    fn hand_over(&self, problem: &mut Problem, island: Range<usize>) {
        for (item, block) in self.items.iter().zip(&mut problem.blocks[island]) {
            block.impulse = item.impulse;
        }
    }
}

/// Coefficient of friction of a contact; zero of other blocks. [-]
fn friction_of(block: &Block) -> f64 {
    match block.admissible {
        Admissible::Cone { friction } => friction,
        _ => 0.0,
    }
}

impl Item {
    fn new(block: &Block) -> Self {
        let mut stiffness = block.own_delassus();
        stiffness.m11 += block.compliance;
        // Contacts on springs in series, and rows of other kinds, are left to the solver of blocks.
        let is_plain = block.is_contact() && block.series.is_none();
        Self {
            inverse: is_plain.then(|| stiffness.try_inverse()).flatten(),
            stiffness,
            sides: block.sides,
            bias: block.bias,
            compliance: block.compliance,
            friction: friction_of(block),
            direction: Vector2::zeros(),
            impulse: block.impulse,
            before: block.impulse,
            carried: Vector3::zeros(),
        }
    }

    /// `‖Δλ‖²` of the last sweep, by the mean stiffness. [J]
    fn change(&self) -> f64 {
        (self.impulse - self.before).norm_squared() * self.stiffness.trace()
    }

    /// Solves the contact; the change of its velocity. [m/s]
    #[inline]
    fn solve(&mut self, inverse: &Matrix3<f64>, problem: &mut Problem) -> f64 {
        let mut u = problem.rows_times(&problem.velocity, &self.sides, 3) - self.bias;
        u.x += self.compliance * self.impulse.x;
        let impulse = self.response(inverse, &u);
        let delta = impulse - self.impulse;
        // Exactly zero: a contact that is solved leaves no rounding in the velocity.
        if delta == Vector3::zeros() {
            return 0.0;
        }
        self.impulse = impulse;
        apply_rows(&mut problem.velocity, &problem.response, &self.sides, delta.as_slice());
        (self.stiffness * delta).amax()
    }

    /// The impulse that solves the contact, where the present one leaves `u − u* + R λ`. [N·s] (3); [m/s] (3)
    #[inline]
    fn response(&mut self, inverse: &Matrix3<f64>, u: &Vector3<f64>) -> Vector3<f64> {
        let sticking = self.impulse - inverse * u;
        let most = self.friction * sticking.x;
        if sticking.x >= 0.0 && sticking.yz().norm_squared() <= most * most {
            return sticking;
        }
        let w = u - self.stiffness * self.impulse;
        if w.x >= 0.0 {
            return Vector3::zeros();
        }
        if self.friction <= 0.0 {
            return Vector3::new(-w.x / self.stiffness.m11, 0.0, 0.0);
        }
        self.sliding(&w, &sticking).unwrap_or_else(|| {
            self.direction = Vector2::zeros();
            solve_contact(&self.stiffness, &w, self.friction)
        })
    }

    /// The impulse of a contact that slides, by Newton's method on its direction; none where that does not lead to one.
    #[inline]
    fn sliding(&mut self, w: &Vector3<f64>, sticking: &Vector3<f64>) -> Option<Vector3<f64>> {
        let (G, mu) = (&self.stiffness, self.friction);
        let b = Vector2::new(G.m12, G.m13);
        let mut d = self.direction;
        if d == Vector2::zeros() {
            // Against the sticking impulse, as friction opposes the slip that it would have stopped.
            d = -sticking.yz() / sticking.yz().norm();
        }
        for _ in 0..DIRECTION_STEPS {
            // `u_n = 0` with `λ_t = −μ λ_n d`.
            let stiffness = G.m11 - mu * b.dot(&d);
            if stiffness <= JAMMED * G.m11 {
                return None;
            }
            let normal = -w.x / stiffness;
            let across = Vector2::new(-d.y, d.x);
            let times = |d: &Vector2<f64>| {
                Vector2::new(G.m22 * d.x + G.m23 * d.y, G.m23 * d.x + G.m33 * d.y) * mu
            };
            let slip = b - times(&d);
            let u = w.yz() + slip * normal;
            // `d × u_t`, and its derivative for a turn of `d`.
            let cross = across.dot(&u);
            let along = d.dot(&u);
            let normal_slope = normal * mu * b.dot(&across) / stiffness;
            let u_slope = slip * normal_slope - times(&across) * normal;
            let slope = across.dot(&u_slope) - along;
            let turn = -cross / slope;
            if !turn.is_finite() {
                return None;
            }
            let turn = turn.clamp(-0.5, 0.5);
            let next = d + across * turn;
            d = next / next.norm();
            if turn.abs() <= TURNED {
                // The other root has friction along the slip.
                if along < 0.0 {
                    return None;
                }
                self.direction = d;
                let normal = -w.x / (G.m11 - mu * b.dot(&d));
                return Some(Vector3::new(normal, -mu * normal * d.x, -mu * normal * d.y));
            }
        }
        None
    }
}
