//! Gauss-Seidel over faces, each solved exactly with all others fixed.
//!
//! A face is all contacts of one pair of movers: single contacts are solved on their cone in closed form, more of them by
//! Newton's method, because which points of a face carry the load is no question that a sweep from point to point
//! can answer. The change of impulse goes into the velocity at once, so that no Delassus matrix is ever formed.
//! [Hwangbo 2018]
//!
//! Limits: converges to round-off in tens of sweeps where few faces share a body; tall stacks and large mass ratios
//! need hundreds, and go to the next level.

use std::ops::Range;

use nalgebra::Vector3;

use super::cone::solve_contact;
use super::method::{ContactSolver, Method, SolverSettings};
use super::newton::Newton;
use super::{Admissible, Block, Problem};

/// Newton steps for one face. Few: the next sweep continues.
const FACE_STEPS: usize = 20;
/// A face is solved to this part of the tolerance. [-]
const FACE_TOLERANCE: f64 = 0.1;

/// The solver of this file.
pub(super) const SOLVER: ContactSolver = ContactSolver {
    name: "block_gauss_seidel",
    level: 1,
    next: Some(2),
    goal: 1.0,
    most_rows: usize::MAX,
    iterations: 100,
    keeps_apart: false,
    work: |_| 2,
    method: || Box::<BlockGaussSeidel>::default(),
};

/// Method of the solver, with the scratch of its faces.
#[derive(Debug, Default)]
pub(super) struct BlockGaussSeidel {
    /// Method for faces of more than one contact.
    newton: Newton,
}

impl Method for BlockGaussSeidel {
    fn solve(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        settings: &SolverSettings,
    ) -> usize {
        for iteration in 1..=settings.iterations {
            // Sweeps forwards and backwards in turn, so that load passes up and down a stack.
            let forwards = iteration % 2 == 1;
            // Frozen for a sweep: bounds that move within it would let rolling bodies chase their own loads.
            problem.take_loads(island.clone());
            problem.split_soft_fingers(island.clone());
            if self.sweep_faces(problem, island.clone(), forwards, settings) <= settings.tolerance {
                return iteration;
            }
        }
        settings.iterations
    }
}

impl BlockGaussSeidel {
    /// Solves every face of an island in turn; the largest change of velocity. [m/s or rad/s]
    fn sweep_faces(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        forwards: bool,
        settings: &SolverSettings,
    ) -> f64 {
        let mut change: f64 = 0.0;
        let Range { mut start, mut end } = island;
        while start < end {
            let face = if forwards {
                // Blocks of a pair are neighbours, as rows are made contact by contact in the order of pairs.
                let length = problem.blocks[start..end]
                    .iter()
                    .take_while(|b| same_face(&problem.blocks[start], b))
                    .count();
                start..start + length.max(1)
            } else {
                let last = &problem.blocks[end - 1];
                let length = problem.blocks[start..end]
                    .iter()
                    .rev()
                    .take_while(|b| same_face(last, b))
                    .count();
                end - length.max(1)..end
            };
            if forwards {
                start = face.end;
            } else {
                end = face.start;
            }
            change = change.max(if face.len() == 1 {
                solve_block(problem, face.start)
            } else {
                self.solve_face(problem, face, settings)
            });
        }
        change
    }

    /// Solves the contacts of a face together; the largest change of velocity. [m/s]
    fn solve_face(
        &mut self,
        problem: &mut Problem,
        face: Range<usize>,
        settings: &SolverSettings,
    ) -> f64 {
        // Solved faces cost a look only; Newton's method would regularise them again.
        let reached = problem.blocks[face.clone()]
            .iter()
            .fold(0.0, |most: f64, block| most.max(super::natural_map(problem, block)));
        let tolerance = FACE_TOLERANCE * settings.tolerance;
        if reached > tolerance {
            let own = SolverSettings { iterations: FACE_STEPS, tolerance, ..*settings };
            self.newton.solve(problem, face, &own);
        }
        reached
    }
}

/// Whether two blocks are contacts of the same pair of movers.
fn same_face(a: &Block, b: &Block) -> bool {
    let contact = |block: &Block| !matches!(block.admissible, Admissible::Interval { .. });
    let ends = |block: &Block| block.sides.map(|side| (side.start, side.len));
    contact(a) && contact(b) && ends(a) == ends(b)
}

/// Solves block `i`; the change of its velocity. [m/s or rad/s]
pub(super) fn solve_block(problem: &mut Problem, i: usize) -> f64 {
    let block = problem.blocks[i];
    let impulse = solved_alone(&block, &block.impulse, &(problem.velocity_of(&block) - block.bias));
    let delta = impulse - block.impulse;
    // Exactly zero: a block that is solved leaves no rounding in the velocity.
    if delta == Vector3::zeros() {
        return 0.0;
    }
    problem.blocks[i].impulse = impulse;
    problem.apply(&block, &delta);
    (block.own_delassus() * delta).amax()
}

/// Impulse that solves a single row by itself, before it is cut to its bounds: `λ − (u + R λ − u*)/(G + R)`. [N·s or N·m·s]
#[inline]
pub(super) fn solved_row(block: &Block, impulse: f64, u: f64) -> f64 {
    let inverse_mass = block.delassus.m11 + block.compliance;
    impulse - (u + block.compliance * impulse) / inverse_mass
}

/// Impulse that solves a block by itself, where its present one leaves `u − u*`. [N·s or N·m·s] (3); [m/s or rad/s] (3)
pub(super) fn solved_alone(
    block: &Block,
    impulse: &Vector3<f64>,
    u: &Vector3<f64>,
) -> Vector3<f64> {
    match block.admissible {
        Admissible::Interval { lower, upper } => {
            Vector3::new(solved_row(block, impulse.x, u.x).clamp(lower, upper), 0.0, 0.0)
        }
        Admissible::Cone { friction } => {
            // The velocity without the block's own impulse, and the one-contact problem in closed form.
            let mut G = block.own_delassus();
            let w = u - G * impulse;
            G.m11 += block.compliance;
            solve_contact(&G, &w, friction)
        }
        Admissible::FrictionMoment { .. } => {
            // A projected step whose length is safe: the trace is no less than the largest eigenvalue.
            block.admissible.project(&(impulse - u / block.own_delassus().trace()))
        }
    }
}
