//! Cholesky factorisation `A = L Lᵀ` and its two triangular solves. [Golub & Van Loan 2013, §4.2.5]

/// `x ← A⁻¹ x` for a symmetric positive definite `A`, row-major; reads its lower triangle and overwrites it with `L`.
/// False where a pivot is not positive. (n × n), (n)
#[must_use]
pub fn solve_positive_definite(A: &mut [f64], x: &mut [f64]) -> bool {
    let n = x.len();
    // Column by column: the sums of a column do not wait for each other.
    for j in 0..n {
        let (rows, below) = A.split_at_mut((j + 1) * n);
        let (known, rest) = rows[j * n..].split_at_mut(j);
        let pivot = rest[0] - dot(known, known);
        // Also fails for NaN, so a matrix that is not finite is reported, not factorised.
        if pivot > 0.0 {
            rest[0] = pivot.sqrt();
        } else {
            return false;
        }
        for row in below.chunks_exact_mut(n) {
            row[j] = (row[j] - dot(&row[..j], known)) / rest[0];
        }
    }
    // Forward substitution `L y = x`.
    for i in 0..n {
        let (known, rest) = x.split_at_mut(i);
        let row = &A[i * n..];
        rest[0] = (rest[0] - dot(&row[..i], known)) / row[i];
    }
    // Back substitution `Lᵀ x = y`.
    for i in (0..n).rev() {
        let dot: f64 = (i + 1..n).map(|k| A[k * n + i] * x[k]).sum();
        x[i] = (x[i] - dot) / A[i * n + i];
    }
    true
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
