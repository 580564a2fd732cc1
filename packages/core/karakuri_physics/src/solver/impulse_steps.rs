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

use nalgebra::{Matrix3, Vector3};

use super::delassus::Delassus;
use super::{Block, Problem, block_factor, dot};

/// The system of a step, and the room for it.
#[derive(Debug, Default)]
pub(crate) struct ImpulseSteps {
    delassus: Delassus,
    /// `1 + D G`, row-major; eliminated in place. (rows × rows)
    matrix: Vec<f64>,
    /// `λ − α`, then `ζ`. (rows)
    change: Vec<f64>,
}

impl ImpulseSteps {
    /// Takes the blocks of an island.
    pub(crate) fn prepare(&mut self, problem: &Problem, blocks: &[Block]) {
        self.delassus.fill(problem, blocks);
        self.matrix.resize(self.delassus.rows * self.delassus.rows, 0.0);
        self.change.resize(self.delassus.rows, 0.0);
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
        let at = starts[block];
        for i in 0..rows {
            let out = &mut self.matrix[(at + i) * n..(at + i + 1) * n];
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
        eliminate(&mut self.matrix, &mut self.change)
    }

    /// `ζ` of a block, and the change of velocity `G ζ`. (3, 3; one row uses the first entry)
    pub(crate) fn step(&self, block: usize, rows: usize) -> (Vector3<f64>, Vector3<f64>) {
        let (mut change, mut velocity) = (Vector3::zeros(), Vector3::zeros());
        for i in 0..rows {
            let row = self.delassus.starts[block] + i;
            change[i] = self.change[row];
            velocity[i] = block_factor::dot(self.delassus.row(row), &self.change);
        }
        (change, velocity)
    }
}

/// `x ← A⁻¹ x`, `A` row-major, eliminated in place; false if a pivot vanishes.
fn eliminate(A: &mut [f64], x: &mut [f64]) -> bool {
    let n = x.len();
    for k in 0..n {
        let size = |i: usize| A[i * n + k].abs();
        let pivot = (k + 1..n).fold(k, |most, i| if size(i) > size(most) { i } else { most });
        let (above, below) = A.split_at_mut((k + 1) * n);
        let row = &mut above[k * n + k..];
        if pivot > k {
            row.swap_with_slice(&mut below[(pivot - k - 1) * n + k..(pivot - k) * n]);
            x.swap(k, pivot);
        }
        if row[0] == 0.0 || !row[0].is_finite() {
            return false;
        }
        for (i, other) in below.chunks_exact_mut(n).enumerate() {
            let factor = other[k] / row[0];
            if factor != 0.0 {
                for (other, own) in other[k + 1..].iter_mut().zip(&row[1..]) {
                    *other -= factor * own;
                }
                x[k + 1 + i] -= factor * x[k];
            }
        }
    }
    for k in (0..n).rev() {
        let rest = dot(&A[k * n + k + 1..(k + 1) * n], &x[k + 1..]);
        x[k] = (x[k] - rest) / A[k * n + k];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};
    use proptest::prelude::*;

    proptest! {
        /// Solves what nalgebra's factor solves.
        #[test]
        fn equals_the_solution_of_nalgebra(n in 1..20_usize, seed in prop::collection::vec(-1.0..1.0_f64, 421)) {
            let entry = |i: usize| seed[i * 31 % 421];
            let A = DMatrix::from_fn(n, n, |i, j| entry(i * n + j));
            let b = DVector::from_fn(n, |i, _| entry(i + 400));
            let Some(expected) = A.clone().lu().solve(&b) else { return Ok(()) };
            prop_assume!(expected.amax() < 1e3);
            let mut rows: Vec<f64> = A.transpose().as_slice().to_vec();
            let mut x = b.as_slice().to_vec();
            prop_assert!(eliminate(&mut rows, &mut x));
            let error = (DVector::from_vec(x) - &expected).amax();
            prop_assert!(error < 1e-9, "{error}");
        }
    }

    #[test]
    fn a_singular_system_is_refused() {
        assert!(!eliminate(&mut [1.0, 2.0, 2.0, 4.0], &mut [1.0, 1.0]));
        assert!(!eliminate(&mut [f64::NAN], &mut [1.0]));
    }
}
