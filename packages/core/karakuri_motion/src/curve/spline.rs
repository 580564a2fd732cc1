//! Slopes of cubic splines: continuous in position, velocity and acceleration.
//!
//! At each inner key `s₋/h₋ + 2s(1/h₋ + 1/h₊) + s₊/h₊ = 3(c₋/h₋ + c₊/h₊)` with the slopes `s`, the intervals' lengths `h` and their
//! chords' slopes `c` [de Boor 1978, ch. IV]; the ends say what completes the tridiagonal system.

use crate::motion::Key;

/// What completes a spline at its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// No curvature.
    Natural,
    /// No slope.
    AtRest,
    /// Slope and curvature of the last key are those of the first.
    Matching,
}

/// A row of the tridiagonal system: `below·s₋ + diagonal·s + above·s₊ = right`.
#[derive(Debug, Clone, Copy)]
struct Row {
    below: f64,
    diagonal: f64,
    above: f64,
    right: f64,
}

/// Slopes at keys, of which there are two at least.
pub(super) fn slopes(keys: &[Key], ends: Ends) -> Vec<f64> {
    let n = keys.len();
    let lengths: Vec<f64> = keys.windows(2).map(|pair| pair[1].t - pair[0].t).collect();
    let chords: Vec<f64> =
        keys.windows(2).zip(&lengths).map(|(pair, h)| (pair[1].y - pair[0].y) / h).collect();
    // The row of a key between the intervals `i` and `k`.
    let between = |i: usize, k: usize| {
        // Equal second derivatives of both Hermite cubics at the key.
        let (a, b) = (1.0 / lengths[i], 1.0 / lengths[k]);
        Row {
            below: a,
            diagonal: 2.0 * (a + b),
            above: b,
            right: 3.0 * (chords[i] * a + chords[k] * b),
        }
    };
    if ends == Ends::Matching {
        // The last key is the first one of the next round: one slope for both, and the last interval lies before the first key.
        let m = n - 1;
        let rows: Vec<Row> = (0..m).map(|i| between((i + m - 1) % m, i)).collect();
        let mut slopes = cyclic(&rows);
        slopes.push(slopes[0]);
        return slopes;
    }
    let end = |interval: usize| match ends {
        // `s = 0`.
        Ends::AtRest => Row { below: 0.0, diagonal: 1.0, above: 0.0, right: 0.0 },
        // `2s₀ + s₁ = 3c` from a zero second derivative; with both neighbours, as elimination ignores the one that is not there.
        _ => Row { below: 1.0, diagonal: 2.0, above: 1.0, right: 3.0 * chords[interval] },
    };
    let mut rows = vec![end(0)];
    rows.extend((1..n - 1).map(|i| between(i - 1, i)));
    rows.push(end(n - 2));
    let right: Vec<f64> = rows.iter().map(|row| row.right).collect();
    tridiagonal(&rows, right)
}

/// Solution of a tridiagonal system with a dominant diagonal (Thomas).
fn tridiagonal(rows: &[Row], mut right: Vec<f64>) -> Vec<f64> {
    // Without pivoting: each diagonal is at least twice the sum of its neighbours, so no pivot comes near zero.
    let n = rows.len();
    let mut above = vec![0.0; n];
    for i in 0..n {
        let (before, carried) = if i == 0 { (0.0, 0.0) } else { (above[i - 1], right[i - 1]) };
        let below = if i == 0 { 0.0 } else { rows[i].below };
        let pivot = rows[i].diagonal - below * before;
        above[i] = rows[i].above / pivot;
        right[i] = (right[i] - below * carried) / pivot;
    }
    for i in (0..n.saturating_sub(1)).rev() {
        right[i] -= above[i] * right[i + 1];
    }
    right
}

/// Solution of a system whose first and last rows go on at the other end (Sherman and Morrison).
fn cyclic(rows: &[Row]) -> Vec<f64> {
    let n = rows.len();
    let right: Vec<f64> = rows.iter().map(|row| row.right).collect();
    match rows {
        // Both neighbours are the key itself, or the same other key.
        [row] => return vec![row.right / (row.below + row.diagonal + row.above)],
        [a, b] => {
            let (p, q) = (a.below + a.above, b.below + b.above);
            let determinant = a.diagonal * b.diagonal - p * q;
            return vec![
                (a.right * b.diagonal - p * b.right) / determinant,
                (a.diagonal * b.right - q * a.right) / determinant,
            ];
        }
        _ => {}
    }
    // The corners are a product of two vectors, taken off the first and the last diagonal entry.
    // `A = T + u vᵀ` with `u = (γ, 0, …, corner)`, `v = (1, 0, …, opposite/γ)` [Press 2007, §2.7].
    let (corner, opposite) = (rows[n - 1].above, rows[0].below);
    // Any γ but zero is right; this one doubles the first pivot in place of cancelling it.
    let gamma = -rows[0].diagonal;
    let mut inner = rows.to_vec();
    inner[0].diagonal -= gamma;
    inner[n - 1].diagonal -= corner * opposite / gamma;
    let mut u = vec![0.0; n];
    (u[0], u[n - 1]) = (gamma, corner);
    let x = tridiagonal(&inner, right);
    let z = tridiagonal(&inner, u);
    let v = |x: &[f64]| x[0] + opposite / gamma * x[n - 1];
    // `A⁻¹ b = x − z (vᵀx)/(1 + vᵀz)` with `T x = b`, `T z = u`.
    let factor = v(&x) / (1.0 + v(&z));
    x.iter().zip(&z).map(|(x, z)| x - factor * z).collect()
}
