//! Gaussian elimination with partial pivoting. [Golub & Van Loan 2013, §3.4.1]

/// Entries that are eliminated at once.
const LANES: usize = 4;

/// Entries from one row of a system of `n` unknowns to the next: those of the matrix, then room to go on in whole lanes.
pub fn general_stride(n: usize) -> usize {
    n.next_multiple_of(LANES)
}

/// `x ← A⁻¹ x` for a square `A`, row-major with rows [`general_stride`] apart, overwritten. False where a pivot is zero or not
/// finite. (n × n), (n)
#[must_use]
pub fn solve_general(A: &mut [f64], x: &mut [f64]) -> bool {
    let n = x.len();
    let stride = general_stride(n);
    for k in 0..n {
        // The largest remaining entry of the column: then no factor is above 1, which keeps the growth of round-off small.
        let (mut pivot, mut largest) = (k, A[k * stride + k].abs());
        for i in k + 1..n {
            let size = A[i * stride + k].abs();
            if size > largest {
                (pivot, largest) = (i, size);
            }
        }
        let (above, below) = A.split_at_mut((k + 1) * stride);
        // From the lanes of column k on. What they hold of columns before it is eliminated, and nobody reads it again.
        let first = k / LANES * LANES;
        let row = &mut above[k * stride + first..];
        if pivot > k {
            let at = (pivot - k - 1) * stride;
            row.swap_with_slice(&mut below[at + first..at + stride]);
            x.swap(k, pivot);
        }
        let (row, right) = (&*row, x[k]);
        let pivot = row[k - first];
        // Exactly zero only: how near to singular is too near depends on the caller's units.
        if pivot == 0.0 || !pivot.is_finite() {
            return false;
        }
        // Subtract the pivot's row from those below, right-hand side included.
        for (other, x) in below.chunks_exact_mut(stride).zip(&mut x[k + 1..]) {
            // Rows of what does not act are mostly zero.
            if other[k] == 0.0 {
                continue;
            }
            let factor = other[k] / pivot;
            let (others, _) = other[first..].as_chunks_mut::<LANES>();
            for (other, own) in others.iter_mut().zip(row.as_chunks::<LANES>().0) {
                // Spelt out: as a loop the compiler takes it for one that may be long.
                let [a, b, c, d] = *other;
                let [p, q, r, s] = *own;
                *other = [a - factor * p, b - factor * q, c - factor * r, d - factor * s];
            }
            *x -= factor * right;
        }
    }
    // Back substitution.
    for k in (0..n).rev() {
        let right = A[k * stride + k + 1..k * stride + n].iter().zip(&x[k + 1..]);
        let rest: f64 = right.map(|(a, x)| a * x).sum();
        x[k] = (x[k] - rest) / A[k * stride + k];
    }
    true
}
