//! Curves through samples: straight pieces, the periodic cubic spline, the quintic spline with given ends.
//!
//! Each piece is a polynomial of degree 5 at most in the time since its start. Conditions between pieces (equal
//! derivatives) make one small linear system. [Biagiotti 2008, §4.4]

use nalgebra::{DMatrix, DVector};

use super::Jet;
use super::linear::solve;

/// Why there is no curve through the samples.
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
    /// Starts of the pieces, and the end of the last. [s] (n+1)
    knots: Vec<f64>,
    /// Ascending powers of the time since the piece's start. (n)
    pieces: Vec<[f64; 6]>,
    /// Repeats for ever.
    is_periodic: bool,
}

impl Curve {
    /// Straight lines.
    pub fn linear(times: &[f64], values: &[f64]) -> Result<Self, CurveError> {
        check(times, values, 2)?;
        let piece = |i: usize| {
            let slope = (values[i + 1] - values[i]) / (times[i + 1] - times[i]);
            [values[i], slope, 0.0, 0.0, 0.0, 0.0]
        };
        let pieces = (0..times.len() - 1).map(piece).collect();
        Ok(Self { knots: times.to_vec(), pieces, is_periodic: false })
    }

    /// The cubic spline with equal value, rate and acceleration at both ends.
    pub fn periodic_cubic(times: &[f64], values: &[f64]) -> Result<Self, CurveError> {
        check(times, values, 4)?;
        let n = times.len() - 1;
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
        let piece = |i: usize| {
            let (m0, m1) = (second[i], second[(i + 1) % n]);
            let rate = slope(i) - h(i) * (2.0 * m0 + m1) / 6.0;
            [values[i], rate, m0 / 2.0, (m1 - m0) / (6.0 * h(i)), 0.0, 0.0]
        };
        let pieces = (0..n).map(piece).collect();
        Ok(Self { knots: times.to_vec(), pieces, is_periodic: true })
    }

    /// The spline of degree 5 with given rate and acceleration at both ends, `[rate, acceleration]`; four times
    /// continuously differentiable.
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
        for (row, (column, value)) in
            [(0, start[0]), (1, start[1]), (2 * n, end[0]), (2 * n + 1, end[1])].iter().enumerate()
        {
            a[(row, *column)] = 1.0;
            b[row] = *value;
        }
        for i in 1..n {
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
    pub fn through_jets(times: &[f64], jets: &[Jet]) -> Result<Self, CurveError> {
        check(times, &jets.iter().map(|j| j.value).collect::<Vec<_>>(), 2)?;
        let piece = |i: usize| hermite(times[i + 1] - times[i], jets[i], jets[i + 1]);
        let pieces = (0..times.len() - 1).map(piece).collect();
        Ok(Self { knots: times.to_vec(), pieces, is_periodic: false })
    }

    /// With all values multiplied. [-]
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let pieces = self.pieces.iter().map(|piece| piece.map(|c| c * factor)).collect();
        Self { pieces, ..self.clone() }
    }

    /// Value, rate and acceleration at a time; the end values go on outside, unless it is periodic. [s]
    pub fn at(&self, time: f64) -> Jet {
        let (first, last) = (self.knots[0], self.knots[self.knots.len() - 1]);
        let time = if self.is_periodic {
            first + (time - first).rem_euclid(last - first)
        } else {
            time.clamp(first, last)
        };
        let inner = &self.knots[1..self.knots.len() - 1];
        let i = inner.partition_point(|&knot| knot <= time);
        let u = time - self.knots[i];
        let c = &self.pieces[i];
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

/// Coefficients of the polynomial of degree 5 over `h` from jet to jet.
fn hermite(h: f64, p: Jet, q: Jet) -> [f64; 6] {
    let (v0, v1) = (p.rate * h, q.rate * h);
    let (a0, a1) = (p.acceleration * h * h, q.acceleration * h * h);
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

/// Least-squares smoothing of a periodic sequence: each value is replaced by that of the polynomial of `degree`
/// fitted to it and `half` neighbours on either side.
pub(super) fn smooth_periodic(values: &[f64], degree: usize, half: usize) -> Vec<f64> {
    // The value at the middle is the same combination of neighbours everywhere.
    let width = 2 * half + 1;
    let powers = DMatrix::from_fn(width, degree + 1, |row, power| {
        (0..power).fold(1.0, |p, _| p * (row as f64 - half as f64))
    });
    let mut middle = DVector::zeros(degree + 1);
    middle[0] = 1.0;
    let Some(weights) = solve(powers.tr_mul(&powers), &middle).map(|x| powers * x) else {
        return values.to_vec();
    };
    let n = values.len();
    (0..n).map(|i| (0..width).map(|k| weights[k] * values[(i + n + k - half) % n]).sum()).collect()
}
