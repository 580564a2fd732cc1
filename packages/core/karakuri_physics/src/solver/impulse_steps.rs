//! Steps of Newton's method in impulses, for islands of few rows.
//!
//! `H δ = Jᵀ (λ − α)` with `H = Â + Jᵀ D J` has its solution among the responses, `δ = Y ζ`, and there it says
//!
//! ```text
//! (1 + D G) ζ = λ − α,    G = J Y
//! ```
//!
//! a system of as many unknowns as there are rows, whatever the robot's size, and with loops exactly closed. It is not
//! symmetric; Gaussian elimination with partial pivoting solves it. [Golub & Van Loan 2013, §2.1.4 and 3.4]

use karakuri_dynamics::dense::{general_stride, solve_general};
use nalgebra::{Matrix3, Vector3};

use super::delassus::Delassus;
use super::dot::dot;
use super::{Block, Problem};

/// The system of a step, and the room for it.
#[derive(Debug, Default)]
pub(crate) struct ImpulseSteps {
    delassus: Delassus,
    /// `1 + D G`, row-major, rows [`general_stride`] apart; eliminated in place. (rows × rows)
    matrix: Vec<f64>,
    /// `λ − α`, then `ζ`. (rows)
    change: Vec<f64>,
}

impl ImpulseSteps {
    /// Takes the blocks of an island.
    pub(crate) fn prepare(&mut self, problem: &Problem, blocks: &[Block]) {
        self.delassus.fill(problem, blocks);
        let rows = self.delassus.rows;
        self.matrix.resize(rows * general_stride(rows), 0.0);
        self.change.resize(rows, 0.0);
    }

    /// Takes the next block, of so many rows: its `D` and `λ − α`.
    pub(crate) fn load(
        &mut self,
        block: usize,
        rows: usize,
        D: &Matrix3<f64>,
        change: &Vector3<f64>,
    ) {
        let Delassus { rows: n, starts, .. } = &self.delassus;
        let (at, stride) = (starts[block], general_stride(*n));
        // `D` from the left, as `λ` answers to `u = G λ`: the system is not symmetric even where `D` and `G` are.
        // Rows of `1 + D G`; `D` couples the rows of a block only.
        for i in 0..rows {
            let out = &mut self.matrix[(at + i) * stride..(at + i + 1) * stride];
            out.fill(0.0);
            for j in 0..rows {
                let d = D[(i, j)];
                if d != 0.0 {
                    for (out, g) in out.iter_mut().zip(self.delassus.row(at + j)) {
                        *out += d * g;
                    }
                }
            }
            out[at + i] += 1.0;
            self.change[at + i] = change[i];
        }
    }

    /// Makes `ζ` of what was loaded; false if there is none.
    pub(crate) fn solve(&mut self) -> bool {
        solve_general(&mut self.matrix, &mut self.change)
    }

    /// `ζ` of a block, and the change of velocity `G ζ`. (3, 3; one row uses the first entry)
    pub(crate) fn step(&self, block: usize, rows: usize) -> (Vector3<f64>, Vector3<f64>) {
        let (mut change, mut velocity) = (Vector3::zeros(), Vector3::zeros());
        for i in 0..rows {
            let row = self.delassus.starts[block] + i;
            change[i] = self.change[row];
            velocity[i] = dot(self.delassus.row(row), &self.change);
        }
        (change, velocity)
    }
}
