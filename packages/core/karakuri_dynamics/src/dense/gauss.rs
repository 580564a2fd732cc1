//! Gaussian elimination with partial pivoting. [Golub & Van Loan 2013, §3.4.1]

/// `x ← A⁻¹ x` for a square `A`, row-major, overwritten. False where a pivot is zero or not finite. (n × n), (n)
#[must_use]
pub fn solve_general(A: &mut [f64], x: &mut [f64]) -> bool {
    let n = x.len();
    for k in 0..n {
        // The largest remaining entry of the column: then no factor is above 1, which keeps the growth of round-off small.
        let size = |i: usize| A[i * n + k].abs();
        let pivot = (k + 1..n).fold(k, |most, i| if size(i) > size(most) { i } else { most });
        let (above, below) = A.split_at_mut((k + 1) * n);
        // From column k on: the entries before it are eliminated, and nobody reads them again.
        let row = &mut above[k * n + k..];
        if pivot > k {
            row.swap_with_slice(&mut below[(pivot - k - 1) * n + k..(pivot - k) * n]);
            x.swap(k, pivot);
        }
        // Exactly zero only: how near to singular is too near depends on the caller's units.
        if row[0] == 0.0 || !row[0].is_finite() {
            return false;
        }
        // Subtract the pivot's row from those below, right-hand side included.
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
    // Back substitution.
    for k in (0..n).rev() {
        let right = A[k * n + k + 1..(k + 1) * n].iter().zip(&x[k + 1..]);
        let rest: f64 = right.map(|(a, x)| a * x).sum();
        x[k] = (x[k] - rest) / A[k * n + k];
    }
    true
}
