//! A piece of a curve, between two keys.

use super::CurvePoint;
use super::bezier::Bezier;

/// A piece, over the time since its first key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Piece {
    /// Coefficients of the powers of the time. (6)
    Polynomial([f64; 6]),
    /// A Bézier curve.
    Bezier(Bezier),
}

impl Piece {
    /// The polynomial `start + rise·w(t/length)` of one on the unit interval.
    pub(super) fn of_unit(unit: [f64; 6], length: f64, start: f64, rise: f64) -> Self {
        // `c_k rise/length^k`: powers of the time itself, so that sampling needs no division.
        let mut scale = rise;
        let mut powers = unit.map(|c| {
            let power = c * scale;
            scale /= length;
            power
        });
        powers[0] += start;
        Self::Polynomial(powers)
    }

    /// The cubic with given positions and slopes at its ends.
    pub(super) fn hermite(length: f64, y: [f64; 2], slope: [f64; 2]) -> Self {
        // `c₂` and `c₃` of `y₀ + s₀t + c₂t² + c₃t³` from `y(h) = y₁`, `y'(h) = s₁` [de Boor 1978, ch. IV].
        let chord = (y[1] - y[0]) / length;
        let c2 = (3.0 * chord - 2.0 * slope[0] - slope[1]) / length;
        let c3 = (slope[0] + slope[1] - 2.0 * chord) / (length * length);
        Self::Polynomial([y[0], slope[0], c2, c3, 0.0, 0.0])
    }

    /// State a time after the first key.
    pub(super) fn at(&self, t: f64) -> CurvePoint {
        match self {
            Self::Polynomial(c) => {
                // Horner's scheme with its derivatives; the second one comes out halved.
                let (mut y, mut v, mut a) = (0.0, 0.0, 0.0);
                for c in c.iter().rev() {
                    a = a * t + v;
                    v = v * t + y;
                    y = y * t + c;
                }
                CurvePoint { position: y, velocity: v, acceleration: 2.0 * a }
            }
            Self::Bezier(bezier) => bezier.at(t),
        }
    }

    /// Times inside the piece at which it stands still.
    pub(super) fn stationary(&self, length: f64) -> Vec<f64> {
        match self {
            Self::Polynomial(c) => inside(quadratic_roots(c[1], 2.0 * c[2], 3.0 * c[3]), length),
            Self::Bezier(bezier) => bezier.stationary(),
        }
        // Polynomials of a higher degree are minimum-jerk ones, which rise or fall all along.
    }

    /// Times inside the piece at which its acceleration is zero.
    pub(super) fn inflections(&self, length: f64) -> Vec<f64> {
        match self {
            Self::Polynomial([_, _, c2, c3, c4, c5]) => {
                let roots = if *c5 == 0.0 && *c4 == 0.0 {
                    quadratic_roots(2.0 * c2, 6.0 * c3, 0.0)
                } else {
                    // Minimum jerk: 2c₂ is zero, and t is taken out of 6c₃t + 12c₄t² + 20c₅t³.
                    quadratic_roots(6.0 * c3, 12.0 * c4, 20.0 * c5)
                };
                inside(roots, length)
            }
            Self::Bezier(bezier) => bezier.inflections(),
        }
    }
}

fn inside(roots: Vec<f64>, length: f64) -> Vec<f64> {
    // The ends are keys, which the callers look at by themselves.
    roots.into_iter().filter(|t| *t > 0.0 && *t < length).collect()
}

/// Real roots of `c + bt + at²`, without cancellation [Press 2007, §5.6].
pub(super) fn quadratic_roots(c: f64, b: f64, a: f64) -> Vec<f64> {
    if a == 0.0 {
        return if b == 0.0 { Vec::new() } else { vec![-c / b] };
    }
    let discriminant = b * b - 4.0 * a * c;
    // A cubic that rises or falls all along.
    if discriminant < 0.0 {
        return Vec::new();
    }
    // `b` and the root get one sign, so nothing cancels; the other root is `c/q` by Vieta. `signum` of 0 is 1, as needed.
    let q = -0.5 * (b + b.signum() * discriminant.sqrt());
    // Only for `b = c = 0`, where zero is the double root and `c/q` would be 0/0.
    if q == 0.0 { vec![0.0] } else { vec![q / a, c / q] }
}
