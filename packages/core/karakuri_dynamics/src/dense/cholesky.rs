//! Cholesky factorisation `A = L Lᵀ` and its two triangular solves. [Golub & Van Loan 2013, §4.2.5]

/// `x ← A⁻¹ x` for a symmetric positive definite `A`, row-major; reads its lower triangle and overwrites it with `L`.
/// False where a pivot is not positive. (n × n), (n)
#[must_use]
pub fn solve_positive_definite(A: &mut [f64], x: &mut [f64]) -> bool {
    let n = x.len();
    // Row by row `L`, and with it the forward substitution `L y = x`.
    for i in 0..n {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| A[i * n + k] * A[j * n + k]).sum();
            // On the diagonal `rest > 0` also fails for NaN, so a matrix that is not finite is reported, not factorised.
            let rest = A[i * n + j] - dot;
            if i > j {
                A[i * n + j] = rest / A[j * n + j];
            } else if rest > 0.0 {
                A[i * n + i] = rest.sqrt();
            } else {
                return false;
            }
        }
        let dot: f64 = (0..i).map(|k| A[i * n + k] * x[k]).sum();
        x[i] = (x[i] - dot) / A[i * n + i];
    }
    // Back substitution `Lᵀ x = y`.
    for i in (0..n).rev() {
        let dot: f64 = (i + 1..n).map(|k| A[k * n + i] * x[k]).sum();
        x[i] = (x[i] - dot) / A[i * n + i];
    }
    true
}
