//! Cholesky factorisation with diagonal pivoting, for symmetric matrices that may be rank deficient.
//!
//! `P A Pᵀ ≈ L Lᵀ`. The factorisation stops at the first pivot below a tolerance; the remaining rows depend on the
//! others, and a solve sets their unknowns to zero. Redundant loop closures (a planar four-bar closed by a hinge has
//! three) are dropped exactly, without a regularisation that drifts. [Higham 2002, §10.3]

/// Fraction of the largest pivot up to which a pivot counts as zero. [-]
// Of a Delassus matrix a pivot is the square of a row's distance, in the mass metric, from what the rows before it span:
// rows nearer than 1e-5 of the longest are dropped. Round-off of a few dozen rows, some 1e-14, stays far below.
const RELATIVE_RANK: f64 = 1e-10;

/// A pivoted Cholesky factor.
#[derive(Debug, Clone, Default)]
pub struct PivotedCholesky {
    n: usize,
    rank: usize,
    order: Vec<usize>,
    /// Factor `L`, row-major, in pivoted order. (n × n)
    factor: Vec<f64>,
    /// Unknowns in pivoted order, of up to three right sides. (3·n)
    scratch: Vec<f64>,
}

impl PivotedCholesky {
    /// Allocates for `n` rows.
    pub fn new(n: usize) -> Self {
        Self {
            n,
            rank: 0,
            order: (0..n).collect(),
            factor: vec![0.0; n * n],
            scratch: vec![0.0; 3 * n],
        }
    }

    /// Factorises the symmetric `matrix`, row-major. (n × n)
    pub fn factorize(&mut self, matrix: &[f64]) {
        let n = self.n;
        self.factor.copy_from_slice(matrix);
        for (i, o) in self.order.iter_mut().enumerate() {
            *o = i;
        }
        self.rank = n;
        let mut largest: f64 = 0.0;
        for k in 0..n {
            // The largest diagonal entry that is left becomes the pivot.
            // `total_cmp` puts NaN above every number, so a matrix that is not finite ends the factorisation at once.
            let pivot =
                (k..n).max_by(|&i, &j| self.at(i, i).total_cmp(&self.at(j, j))).unwrap_or(k);
            self.swap(k, pivot);
            let d = self.at(k, k);
            largest = largest.max(d);
            if d <= RELATIVE_RANK * largest || d.is_nan() {
                self.rank = k;
                return;
            }
            let root = d.sqrt();
            self.factor[k * n + k] = root;
            for i in k + 1..n {
                self.factor[i * n + k] /= root;
            }
            // The Schur complement, from which the next pivot is chosen.
            for j in k + 1..n {
                let l = self.at(j, k);
                for i in j..n {
                    let product = self.at(i, k) * l;
                    self.factor[i * n + j] -= product;
                }
            }
        }
    }

    #[inline]
    fn at(&self, i: usize, j: usize) -> f64 {
        self.factor[i * self.n + j]
    }

    /// Exchanges rows and columns `a < b` of the lower triangle.
    fn swap(&mut self, a: usize, b: usize) {
        if a == b {
            return;
        }
        let n = self.n;
        self.order.swap(a, b);
        self.factor.swap(a * n + a, b * n + b);
        // Columns done already: rows of L change places as a whole.
        for j in 0..a {
            self.factor.swap(a * n + j, b * n + j);
        }
        // Between both, column `a` below its diagonal changes places with row `b` left of its diagonal.
        for i in a + 1..b {
            self.factor.swap(i * n + a, b * n + i);
        }
        for i in b + 1..n {
            self.factor.swap(i * n + a, i * n + b);
        }
    }

    /// Number of independent rows of the last matrix.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The smallest pivot above the tolerance over the largest; 1 where there is none. [-]
    pub fn margin(&self) -> f64 {
        let pivot = |k: usize| self.factor[k * (self.n + 1)].powi(2);
        if self.rank == 0 { 1.0 } else { pivot(self.rank - 1) / pivot(0) }
    }

    /// Basic solution of `A y = x`, in place of `x`: zero off the independent rows. (n)
    pub fn solve(&mut self, x: &mut [f64]) {
        self.solve_side_by_side(x.as_chunks_mut::<1>().0);
    }

    /// [`Self::solve`] for three right sides, in less than half the time: their sums do not wait for each other. (n × 3)
    pub fn solve_three(&mut self, x: &mut [[f64; 3]]) {
        self.solve_side_by_side(x);
    }

    /// Solves up to three right sides side by side. (n × N)
    #[inline]
    fn solve_side_by_side<const N: usize>(&mut self, x: &mut [[f64; N]]) {
        let (n, rank) = (self.n, self.rank);
        let scratch = self.scratch.as_chunks_mut::<N>().0;
        // `L y = x` and `Lᵀ z = y` on the independent rows, in the order of their pivots.
        for k in 0..rank {
            // `order` leads from the numbers of the pivots to those of the caller, here and at the end.
            let mut sum = x[self.order[k]];
            let row = &self.factor[k * n..=k * n + k];
            for (l, y) in row.iter().zip(&scratch[..k]) {
                subtract(&mut sum, *l, y);
            }
            scratch[k] = sum.map(|sum| sum / row[k]);
        }
        for k in (0..rank).rev() {
            let mut sum = scratch[k];
            for (i, z) in scratch.iter().enumerate().take(rank).skip(k + 1) {
                subtract(&mut sum, self.factor[i * n + k], z);
            }
            scratch[k] = sum.map(|sum| sum / self.factor[k * n + k]);
        }
        x.fill([0.0; N]);
        for k in 0..rank {
            x[self.order[k]] = scratch[k];
        }
    }
}

/// `x −= a y`.
#[inline]
fn subtract<const N: usize>(x: &mut [f64; N], a: f64, y: &[f64; N]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x -= a * y;
    }
}
