//! Scalar projected Gauss-Seidel as the engine Springhead has it, for teaching and comparison.
//!
//! Every row on its own: `λ ← λ − ω (u + R λ − u*) / (J Y (1 + ε) + R)`, cut to its bounds; a tangent of a contact is bounded by
//! `±μ λ_n`, a box in place of the cone. Rows of joints start from 0.7 of their last impulses, contacts from zero; the
//! sweeps end when no impulse changes. The complementarity problem at the velocity level is that
//! of [Stewart 1996], its sweeps are those of [Catto 2005].
//!
//! Limits: the box holds up to √2 of the friction it should, and what it holds depends on the axes; a fixed number of
//! sweeps leaves creep and sag. The residual tells, and no other level is asked.

use std::ops::Range;

use nalgebra::Vector3;

use super::method::{ContactSolver, Method, SolverSettings};
use super::{Admissible, Problem};

/// Part of the last impulses that joints start from. [-]
const WARM_START: f64 = 0.7;
/// Over-relaxation `ω` of a row. [-]
const RELAXATION: f64 = 1.0;
/// Regularisation `ε` of the diagonal. [-]
const REGULARISATION: f64 = 1e-6;
/// A sweep that changes no impulse by more is the last. [N·s or N·m·s]
const SETTLED: f64 = 1e-12;

/// The solver of this file.
pub(super) const SOLVER: ContactSolver = ContactSolver {
    name: "projected_gauss_seidel",
    level: 0,
    next: None,
    goal: 1.0,
    most_rows: usize::MAX,
    iterations: 15,
    keeps_apart: false,
    work: |_| 1,
    method: || Box::<ProjectedGaussSeidel>::default(),
};

/// Method of the solver, which needs no scratch.
#[derive(Debug, Default)]
pub(super) struct ProjectedGaussSeidel;

impl Method for ProjectedGaussSeidel {
    fn solve(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        settings: &SolverSettings,
    ) -> usize {
        for i in island.clone() {
            let block = problem.blocks[i];
            let part = match block.admissible {
                Admissible::Interval { .. } => WARM_START,
                // As in the engine that this follows: only joints start warm.
                Admissible::Cone { .. } | Admissible::FrictionMoment { .. } => 0.0,
            };
            change_to(problem, i, block.impulse * part);
        }
        for iteration in 1..=settings.iterations {
            let mut change: f64 = 0.0;
            problem.take_loads(island.clone());
            problem.split_soft_fingers(island.clone());
            for i in island.clone() {
                for row in 0..problem.blocks[i].rows() {
                    change = change.max(solve_row(problem, i, row));
                }
            }
            if change <= SETTLED {
                return iteration;
            }
        }
        settings.iterations
    }
}

/// Solves one row of block `i`; change of its impulse. [N·s or N·m·s]
fn solve_row(problem: &mut Problem, i: usize, row: usize) -> f64 {
    let block = problem.blocks[i];
    let compliance = if row == 0 { block.compliance } else { 0.0 };
    let u = problem.velocity_of(&block) - block.bias;
    let diagonal = block.own_delassus()[(row, row)] * (1.0 + REGULARISATION) + compliance;
    // Nothing moves along this row, whatever the impulse: a planar mechanism touched from the side.
    if diagonal <= 0.0 {
        return 0.0;
    }
    // `λ ← λ − ω (u + R λ − u*)/(J Y (1 + ε) + R)`, before it is cut to its bounds.
    let candidate =
        block.impulse[row] - RELAXATION * (u[row] + compliance * block.impulse[row]) / diagonal;
    let mut impulse = block.impulse;
    impulse[row] = match block.admissible {
        Admissible::Interval { lower, upper } => candidate.clamp(lower, upper),
        Admissible::Cone { .. } if row == 0 => candidate.max(0.0),
        Admissible::Cone { friction } => {
            // By the normal of this sweep: friction follows the load within a sweep.
            let most = friction * impulse.x;
            candidate.clamp(-most, most)
        }
        Admissible::FrictionMoment { spinning, rolling, load, .. } => {
            let most = load * if row == 0 { spinning } else { rolling };
            candidate.clamp(-most, most)
        }
    };
    change_to(problem, i, impulse);
    (impulse[row] - block.impulse[row]).abs()
}

/// Gives block `i` another impulse, and the velocity with it.
fn change_to(problem: &mut Problem, i: usize, impulse: Vector3<f64>) {
    let block = problem.blocks[i];
    problem.blocks[i].impulse = impulse;
    problem.apply(&block, &(impulse - block.impulse));
}
