//! Curves through samples: straight pieces, the periodic cubic spline, the quintic spline with given ends.
//!
//! Each piece is a polynomial of degree 5 at most in the time since its start. Conditions between pieces (equal
//! derivatives) make one small linear system. [Biagiotti 2008, §4.4]

use nalgebra::{DMatrix, DVector};

use super::Jet;
use super::linear::solve;

/// Error of samples that have no curve.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CurveError {
    /// Fewer than two samples.
    #[error("{0} samples are given; a curve needs at least {1}")]
    TooFew(usize, usize),
    /// Times are not increasing, or a number is not finite.
    #[error("the sample at {0} s is not after the one before it, or is not finite")]
    NotIncreasing(f64),
    /// First and last sample differ.
    #[error("first and last value of a periodic curve are {0} and {1}; make them equal")]
    NotPeriodic(f64, f64),
}

/// Piecewise polynomial over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Starts of the pieces, and the end of the last one. [s] (n+1)
    knots: Vec<f64>,
    /// Coefficients of the pieces: ascending powers of the time since the piece's start. (n×6)
    pieces: Vec<[f64; 6]>,
    /// Whether the curve repeats for ever.
    is_periodic: bool,
}

impl Curve {
    /// The curve of straight lines between samples.
    ///
    /// # Errors
    /// When there are fewer than two samples, or as many times as values are not given, or a time does not increase
    /// or a number is not finite.
    pub fn linear(times: &[f64], values: &[f64]) -> Result<Self, CurveError> {
        check(times, values, 2)?;
        let piece = |i: usize| {
            let slope = (values[i + 1] - values[i]) / (times[i + 1] - times[i]);
            [values[i], slope, 0.0, 0.0, 0.0, 0.0]
        };
        let pieces = (0..times.len() - 1).map(piece).collect();
        Ok(Self { knots: times.to_vec(), pieces, is_periodic: false })
    }

    /// The cubic spline whose third derivative does not jump at the second and the last but one sample (not-a-knot), so that
    /// nothing is assumed of its ends. [Boor 2001, §IV]
    ///
    /// # Errors
    /// When there are fewer than four samples, or their numbers differ, or a time does not increase or a number is
    /// not finite.
    pub fn cubic(times: &[f64], values: &[f64]) -> Result<Self, CurveError> {
        check(times, values, 4)?;
        let n = times.len() - 1;
        let h = |i: usize| times[i + 1] - times[i];
        let slope = |i: usize| (values[i + 1] - values[i]) / h(i);
        let mut a = DMatrix::zeros(n + 1, n + 1);
        let mut b = DVector::zeros(n + 1);
        // Rates are continuous at the inner knots: a tridiagonal system for the second derivatives there.
        for i in 1..n {
            a[(i, i - 1)] = h(i - 1);
            a[(i, i)] = 2.0 * (h(i - 1) + h(i));
            a[(i, i + 1)] = h(i);
            b[i] = 6.0 * (slope(i) - slope(i - 1));
        }
        // Not-a-knot: the third derivative `(m_{i+1} − m_i)/h_i` is continuous at the second and the last but one knot.
        for (row, i) in [(0, 1), (n, n - 1)] {
            a[(row, i - 1)] = h(i);
            a[(row, i)] = -(h(i - 1) + h(i));
            a[(row, i + 1)] = h(i - 1);
        }
        let second = solve(a, &b).ok_or(CurveError::NotIncreasing(times[0]))?;
        let pieces = (0..n)
            .map(|i| cubic_piece(h(i), [values[i], values[i + 1]], [second[i], second[i + 1]]));
        Ok(Self { knots: times.to_vec(), pieces: pieces.collect(), is_periodic: false })
    }

    /// The curve, repeated for ever.
    #[must_use]
    pub fn repeated(self) -> Self {
        Self { is_periodic: true, ..self }
    }

    /// The cubic spline with equal value, rate and acceleration at both ends.
    ///
    /// # Errors
    /// As [`Self::cubic`], and when the first and the last value differ by more than 1e-12.
    pub fn periodic_cubic(times: &[f64], values: &[f64]) -> Result<Self, CurveError> {
        check(times, values, 4)?;
        let n = times.len() - 1;
        // Both are the same sample of the file times the same factor: equal, or a mistake.
        if (values[0] - values[n]).abs() > 1e-12 {
            return Err(CurveError::NotPeriodic(values[0], values[n]));
        }
        // Rates are continuous at each knot: a cyclic tridiagonal system for the accelerations there.
        let h = |i: usize| times[i % n + 1] - times[i % n];
        let slope = |i: usize| (values[i % n + 1] - values[i % n]) / h(i);
        let mut a = DMatrix::zeros(n, n);
        let mut b = DVector::zeros(n);
        for i in 0..n {
            let before = (i + n - 1) % n;
            a[(i, before)] += h(before);
            a[(i, i)] += 2.0 * (h(before) + h(i));
            a[(i, (i + 1) % n)] += h(i);
            b[i] = 6.0 * (slope(i) - slope(before));
        }
        let second = solve(a, &b).ok_or(CurveError::NotIncreasing(times[0]))?;
        let ends = |i: usize| [second[i], second[(i + 1) % n]];
        let pieces = (0..n).map(|i| cubic_piece(h(i), [values[i], values[i + 1]], ends(i)));
        Ok(Self { knots: times.to_vec(), pieces: pieces.collect(), is_periodic: true })
    }

    /// The spline of degree 5 with given rate and acceleration at both ends, `[rate, acceleration]`; four times
    /// continuously differentiable.
    ///
    /// # Errors
    /// As [`Self::linear`].
    pub fn quintic(
        times: &[f64],
        values: &[f64],
        start: [f64; 2],
        end: [f64; 2],
    ) -> Result<Self, CurveError> {
        check(times, values, 2)?;
        let n = times.len() - 1;
        // Unknown: rate and acceleration at each knot; third and fourth derivatives are continuous.
        let mut a = DMatrix::zeros(2 * (n + 1), 2 * (n + 1));
        let mut b = DVector::zeros(2 * (n + 1));
        // Four rows give rate and acceleration at both ends.
        for (row, (column, value)) in
            [(0, start[0]), (1, start[1]), (2 * n, end[0]), (2 * n + 1, end[1])].iter().enumerate()
        {
            a[(row, *column)] = 1.0;
            b[row] = *value;
        }
        for i in 1..n {
            // Third and fourth derivative at the end of the piece before equal those at the start of the piece after.
            for (k, order) in [3, 4].into_iter().enumerate() {
                let row = 2 + 2 * i + k;
                let h = times[i] - times[i - 1];
                let before = hermite_derivative(h, order, true);
                let after = hermite_derivative(times[i + 1] - times[i], order, false);
                for j in 0..2 {
                    a[(row, 2 * (i - 1) + j)] += before[1 + j];
                    a[(row, 2 * i + j)] += before[4 + j] - after[1 + j];
                    a[(row, 2 * (i + 1) + j)] -= after[4 + j];
                }
                b[row] = after[0] * values[i] + after[3] * values[i + 1]
                    - before[0] * values[i - 1]
                    - before[3] * values[i];
            }
        }
        let knot = solve(a, &b).ok_or(CurveError::NotIncreasing(times[0]))?;
        let piece = |i: usize| {
            let jet = |i: usize| Jet::new(values[i], knot[2 * i], knot[2 * i + 1]);
            hermite(times[i + 1] - times[i], jet(i), jet(i + 1))
        };
        let pieces = (0..n).map(piece).collect();
        Ok(Self { knots: times.to_vec(), pieces, is_periodic: false })
    }

    /// The polynomial of degree 5 from one jet to the next, over each interval: twice continuously differentiable.
    ///
    /// # Errors
    /// As [`Self::linear`].
    pub fn through_jets(times: &[f64], jets: &[Jet]) -> Result<Self, CurveError> {
        check(times, &jets.iter().map(|j| j.value).collect::<Vec<_>>(), 2)?;
        let piece = |i: usize| hermite(times[i + 1] - times[i], jets[i], jets[i + 1]);
        let pieces = (0..times.len() - 1).map(piece).collect();
        Ok(Self { knots: times.to_vec(), pieces, is_periodic: false })
    }

    /// The curve with all values multiplied. [-]
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let pieces = self.pieces.iter().map(|piece| piece.map(|c| c * factor)).collect();
        Self { pieces, ..self.clone() }
    }

    /// Value, rate and acceleration at a time [s]; the end values go on outside, unless the curve is periodic.
    pub fn at(&self, time: f64) -> Jet {
        let (first, last) = (self.knots[0], self.knots[self.knots.len() - 1]);
        let time = if self.is_periodic {
            first + (time - first).rem_euclid(last - first)
        } else {
            time.clamp(first, last)
        };
        // Without the ends, so that the last time belongs to the last piece.
        let inner = &self.knots[1..self.knots.len() - 1];
        let i = inner.partition_point(|&knot| knot <= time);
        let u = time - self.knots[i];
        let c = &self.pieces[i];
        // Horner's scheme for the polynomial and its first two derivatives.
        Jet {
            value: c[0] + u * (c[1] + u * (c[2] + u * (c[3] + u * (c[4] + u * c[5])))),
            rate: c[1] + u * (2.0 * c[2] + u * (3.0 * c[3] + u * (4.0 * c[4] + u * 5.0 * c[5]))),
            acceleration: 2.0 * c[2] + u * (6.0 * c[3] + u * (12.0 * c[4] + u * 20.0 * c[5])),
        }
    }

    /// First and last time. [s]
    pub fn span(&self) -> [f64; 2] {
        [self.knots[0], self.knots[self.knots.len() - 1]]
    }
}

fn check(times: &[f64], values: &[f64], least: usize) -> Result<(), CurveError> {
    if times.len() < least || values.len() != times.len() {
        return Err(CurveError::TooFew(times.len().min(values.len()), least));
    }
    for (i, (t, v)) in times.iter().zip(values).enumerate() {
        let after = i == 0 || times[i - 1] < *t;
        if !(t.is_finite() && v.is_finite() && after) {
            return Err(CurveError::NotIncreasing(*t));
        }
    }
    Ok(())
}

/// Coefficients of the polynomial of degree 3 over `h` with these values and second derivatives at its ends.
fn cubic_piece(h: f64, values: [f64; 2], second: [f64; 2]) -> [f64; 6] {
    let [m0, m1] = second;
    // `p'(0) = c − h (2 m₀ + m₁)/6` with the chord's slope `c`, from `p'' = m₀ + (m₁ − m₀) t/h` integrated twice.
    let rate = (values[1] - values[0]) / h - h * (2.0 * m0 + m1) / 6.0;
    [values[0], rate, m0 / 2.0, (m1 - m0) / (6.0 * h), 0.0, 0.0]
}

/// Coefficients of the polynomial of degree 5 over `h` from jet to jet.
fn hermite(h: f64, p: Jet, q: Jet) -> [f64; 6] {
    let (v0, v1) = (p.rate * h, q.rate * h);
    let (a0, a1) = (p.acceleration * h * h, q.acceleration * h * h);
    // In `u = t/h` the conditions at both ends give the coefficients in closed form; the loop below turns `uⁱ` into `tⁱ`.
    let d = q.value - p.value;
    let c = [
        p.value,
        v0,
        a0 / 2.0,
        10.0 * d - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1,
        -15.0 * d + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1,
        6.0 * d - 3.0 * (v0 + v1) - 0.5 * (a0 - a1),
    ];
    let mut scale = 1.0;
    c.map(|x| {
        let y = x / scale;
        scale *= h;
        y
    })
}

/// Third or fourth derivative at an end of [`hermite`] as a linear function of
/// `[value, rate, acceleration]` at its start and end. (6)
fn hermite_derivative(h: f64, order: i32, at_end: bool) -> [f64; 6] {
    // The polynomial is linear in its end values: unit vectors give the derivative's coefficients one by one.
    core::array::from_fn(|k| {
        let part = |i: usize| if i == k { 1.0 } else { 0.0 };
        let c =
            hermite(h, Jet::new(part(0), part(1), part(2)), Jet::new(part(3), part(4), part(5)));
        let u = if at_end { h } else { 0.0 };
        match order {
            3 => 6.0 * c[3] + 24.0 * c[4] * u + 60.0 * c[5] * u * u,
            _ => 24.0 * c[4] + 120.0 * c[5] * u,
        }
    })
}

/// Neighbours on either side of a smoothed value, and below the degree of its polynomial. [Kume 1991]
const HALF: usize = 4;
const DEGREE: usize = 6;

/// Weights of `width` equally spaced values in their least-squares polynomial, evaluated at the place of one of them. (width)
fn weights(width: usize, place: usize) -> Option<DVector<f64>> {
    // No more coefficients than values: short curves are interpolated instead.
    let degree = DEGREE.min(width - 1);
    let middle = 0.5 * (width - 1) as f64;
    let power = |row: usize, power: usize| (0..power).fold(1.0, |p, _| p * (row as f64 - middle));
    // The normal equations `(PᵀP) x = p(place)`; the weights are `P x`. Powers about the middle condition them better.
    let powers = DMatrix::from_fn(width, degree + 1, power);
    let at = DVector::from_fn(degree + 1, |k, _| power(place, k));
    solve(powers.tr_mul(&powers), &at).map(|x| powers * x)
}

/// Least-squares smoothing of equally spaced values, degree 6 over 9 points: each is replaced by that of the polynomial fitted to
/// it and four neighbours on either side, around the end where the sequence is periodic. Where it is not, the first and the last
/// four lie on the polynomial of the first and the last nine. [Savitzky 1964]
pub(super) fn smooth(values: &[f64], is_periodic: bool) -> Vec<f64> {
    let n = values.len();
    let width = (2 * HALF + 1).min(n);
    let at = |i: usize| {
        let first = if is_periodic { i + n - HALF } else { i.saturating_sub(HALF).min(n - width) };
        let place = if is_periodic { HALF } else { i - first };
        let weights = weights(width, place)?;
        Some((0..width).map(|k| weights[k] * values[(first + k) % n]).sum())
    };
    (0..n).map(|i| at(i).unwrap_or(values[i])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weights of the middle in the tables of the method's authors; at the ends, too, a polynomial of degree 6 stays what it
    /// is.
    #[test]
    fn smoothing_is_that_of_savitzky_and_golay() {
        let printed = [-7.0, 56.0, -196.0, 392.0, 797.0, 392.0, -196.0, 56.0, -7.0];
        let middle = weights(9, 4).unwrap();
        assert!(
            middle.iter().zip(printed).all(|(w, p)| (w - p / 1287.0).abs() < 1e-12),
            "{middle}"
        );
        let values: Vec<f64> =
            (0..31).map(|i| 0.1 * f64::from(i)).map(|t| t.powi(6) - 3.0 * t.powi(5) + t).collect();
        let gap = smooth(&values, false).into_iter().zip(&values).map(|(a, b)| (a - b).abs());
        assert!(gap.fold(0.0, f64::max) < 1e-9);
        let wave: Vec<f64> = (0..60).map(|i| f64::from(i % 7)).collect();
        let turned: Vec<f64> = (0..60).map(|i| wave[(i + 13) % 60]).collect();
        let (a, b) = (smooth(&wave, true), smooth(&turned, true));
        assert!((0..60).all(|i| (a[(i + 13) % 60] - b[i]).abs() < 1e-12));
        assert_eq!(smooth(&[1.0, 3.0], false).len(), 2);
    }

    /// A cubic polynomial is its own spline.
    #[test]
    fn a_cubic_is_met_everywhere() {
        let times = [0.0, 0.1, 0.4, 0.5, 0.9];
        let f = |t: f64| 1.0 - 2.0 * t + 3.0 * t * t - 4.0 * t.powi(3);
        let curve = Curve::cubic(&times, &times.map(f)).unwrap();
        for i in 0..=90 {
            let t = 0.01 * f64::from(i);
            let jet = curve.at(t);
            let gaps = [
                jet.value - f(t),
                jet.rate - (-2.0 + 6.0 * t - 12.0 * t * t),
                jet.acceleration - (6.0 - 24.0 * t),
            ];
            assert!(gaps.iter().all(|gap| gap.abs() < 1e-11), "{t}: {gaps:?}");
        }
    }
}
