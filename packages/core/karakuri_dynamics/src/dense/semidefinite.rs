//! `A = L D Lᵀ` of a symmetric positive semidefinite matrix. [Golub & Van Loan 2013, §4.1.2, §4.2.8]

/// Pivot up to which it is round-off, for matrices scaled to entries near one.
// Pivots are squares: what is dropped has less than 1e-6 of the effect of an unknown whose entries are near one.
const RANK_TOLERANCE: f64 = 1e-12;

/// Basic solution `A x = b`, in place of `b`, for a symmetric positive semidefinite `A`, row-major, overwritten by its factor:
/// unknowns without a pivot of their own become zero. (n × n), (n)
pub fn solve_semidefinite(a: &mut [f64], b: &mut [f64]) {
    // Not the solution of least norm: an unknown that repeats others stays zero, as a loop's indeterminate reaction is to.
    let n = b.len();
    // A row whose pivot vanishes depends on the rows above: it gets no unknown.
    for j in 0..n {
        for k in 0..j {
            let (l, d) = (a[j * n + k], a[k * n + k]);
            a[j * n + j] -= l * l * d;
        }
        // d_j = a_jj − Σ l_jk² d_k, then l_ij = (a_ij − Σ l_ik l_jk d_k)/d_j.
        let d = a[j * n + j];
        let null = d <= RANK_TOLERANCE;
        a[j * n + j] = if null { 0.0 } else { d };
        for i in j + 1..n {
            let mut sum = a[i * n + j];
            for k in 0..j {
                sum -= a[i * n + k] * a[j * n + k] * a[k * n + k];
            }
            a[i * n + j] = if null { 0.0 } else { sum / d };
        }
    }
    // L y = b, D z = y, Lᵀ x = z.
    for i in 0..n {
        for k in 0..i {
            b[i] -= a[i * n + k] * b[k];
        }
    }
    for i in 0..n {
        let d = a[i * n + i];
        b[i] = if d > 0.0 { b[i] / d } else { 0.0 };
    }
    for i in (0..n).rev() {
        for k in i + 1..n {
            b[i] -= a[k * n + i] * b[k];
        }
    }
}
