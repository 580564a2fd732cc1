//! Sums of products, in a fixed order that vector units can keep: bits do not depend on the target.

/// Sum of products; six at a time is a free body.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    // In pairs: a fixed order of sums that vector units can keep, so that bits do not depend on the target.
    if let ([a0, a1, a2, a3, a4, a5], [b0, b1, b2, b3, b4, b5]) = (a, b) {
        return (a0 * b0 + a1 * b1) + (a2 * b2 + a3 * b3) + (a4 * b4 + a5 * b5);
    }
    let mut sums = [0.0; 4];
    let ((quads_a, rest_a), (quads_b, rest_b)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    for (a, b) in quads_a.iter().zip(quads_b) {
        for i in 0..4 {
            sums[i] += a[i] * b[i];
        }
    }
    add_up(sums, rest_a, rest_b)
}

/// [`dot`] of three rows with one, side by side: the sums do not wait for each other.
#[inline]
pub(crate) fn dot_three([a, b, c]: [&[f64]; 3], x: &[f64]) -> [f64; 3] {
    if x.len() == 6 {
        return [a, b, c].map(|row| dot(row, x));
    }
    let mut sums = [[0.0; 4]; 3];
    let (quads, rest) = x.as_chunks::<4>();
    let [(a, rest_a), (b, rest_b), (c, rest_c)] = [a, b, c].map(|row| row.as_chunks::<4>());
    for (((a, b), c), x) in a.iter().zip(b).zip(c).zip(quads) {
        for i in 0..4 {
            sums[0][i] += a[i] * x[i];
            sums[1][i] += b[i] * x[i];
            sums[2][i] += c[i] * x[i];
        }
    }
    [add_up(sums[0], rest_a, rest), add_up(sums[1], rest_b, rest), add_up(sums[2], rest_c, rest)]
}

/// The sums of four lanes, and the products that are left.
#[inline]
fn add_up(sums: [f64; 4], a: &[f64], b: &[f64]) -> f64 {
    let rest: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}
