//! A body that follows a curve in space; its coordinate is the length along the curve. [m]
//!
//! The curve is the cubic spline through given points, twice continuously differentiable, natural at open ends or
//! closed. With `t` the unit tangent, `k = dt/ds` its curvature, and the body's axes either still or turning along
//! (x along `t`, z as near to `up` as that allows):
//!
//! ```text
//! S = [ω; t],   Ṡ = [dω/ds; k] v,   ω = t × k + τ t,   τ = (up·t)(y·k)/(up·z)
//! ```
//!
//! Length is measured by Gauss's quadrature and inverted by Newton's method to round-off, so the coordinate's rate
//! is the speed. [de Boor 1978, ch. IV, XV]

use std::sync::Arc;

use karakuri_spatial::{Matrix3, Motion, Pose, Vector3};
use nalgebra::DMatrix;

use super::{DofKind, JointMotion, Reshaped};
use crate::JointKind;
use crate::yaml::{Node, Reader};

/// Pieces of a span between two points whose lengths are kept; 16 leave 1e-13 of the length to the quadrature.
const PIECES: usize = 16;
/// Gauss's five points on [0, 1] and their weights.
// Exact for polynomials of degree 9; the speed of a cubic is the root of one of degree 4, smooth where it does not vanish.
const GAUSS: [(f64, f64); 5] = [
    (0.046_910_077_030_668_0, 0.118_463_442_528_094_5),
    (0.230_765_344_947_158_45, 0.239_314_335_249_683_2),
    (0.5, 0.284_444_444_444_444_4),
    (0.769_234_655_052_841_5, 0.239_314_335_249_683_2),
    (0.953_089_922_969_332, 0.118_463_442_528_094_5),
];
/// Most rounds of Newton's method; three are usual.
// Bounds the search where the speed all but vanishes, as at a cusp.
const ROUNDS: usize = 12;
/// Least sine between the tangent and `up`.
// `τ` has `up·z`, this sine, as its divisor: nearer to `up` the body would turn a thousand times faster than the path bends.
const UPRIGHT: f64 = 1e-3;

/// Why points make no path.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// Too few points for a curve.
    #[error("a path has {got} points; an open one needs at least 2, a closed one 3")]
    TooFewPoints {
        /// Number of points given.
        got: usize,
    },
    /// A point that is no place of its own.
    #[error("point {index} is not finite, or on the one before it; give points that are apart")]
    BadPoint {
        /// Index of the point, from 0.
        index: usize,
    },
    /// A path on which the body cannot turn along.
    #[error("the path runs along `up` after {length:.3} m; choose another `up`")]
    AlongUp {
        /// Length from the start to that place. [m]
        length: f64,
    },
}

/// A path joint.
#[derive(Debug, Clone)]
pub struct Path {
    spans: Vec<Span>,
    /// Length from the start of the path to every piece, and to the end. [m] (pieces + 1)
    lengths: Vec<f64>,
    closed: bool,
    up: Option<Vector3>,
}

/// `c(u) = c₀ + c₁ u + c₂ u² + c₃ u³` for `u` from 0 to `width`.
#[derive(Debug, Clone, Copy)]
struct Span {
    c: [Vector3; 4],
    width: f64,
}

/// The curve at a place.
struct At {
    point: Vector3,
    /// Unit tangent `t`.
    tangent: Vector3,
    /// Curvature vector `k = dt/ds`. [1/m]
    curvature: Vector3,
    /// Its derivative `d²t/ds²`. [1/m²]
    change: Vector3,
}

/// The body's axes on the curve.
struct Turn {
    R: Matrix3,
    /// Angular velocity `ω` for unit speed. [rad/m]
    rate: Vector3,
    /// Its derivative `dω/ds`. [rad/m²]
    change: Vector3,
}

impl Path {
    /// Path through points in the joint's frame [m]; a closed path goes from the last to the first. With `up` the body turns
    /// along, its x along the path and its z as near to `up` as that allows; else its axes stay.
    ///
    /// # Errors
    /// When there are fewer than two points (three of a closed path), a point is not finite or on the one before it,
    /// or the path runs along `up`.
    pub fn new(points: &[Vector3], closed: bool, up: Option<Vector3>) -> Result<Self, PathError> {
        let got = points.len();
        if got < if closed { 3 } else { 2 } {
            return Err(PathError::TooFewPoints { got });
        }
        let spans = spans(points, closed)?;
        let mut lengths = vec![0.0];
        for span in &spans {
            for piece in 0..PIECES {
                // The table makes the search for a place a bisection and one short integral.
                let (from, to) = (span.start(piece), span.start(piece + 1));
                lengths.push(lengths[lengths.len() - 1] + span.length(from, to));
            }
        }
        let path = Self { spans, lengths, closed, up: up.map(|u| u.normalize()) };
        if let Some(up) = path.up {
            // Asked at the ends of pieces, 16 a span: a path that touches `up` between two of them goes through.
            for &length in &path.lengths {
                // NaN of a vanishing derivative is not smaller than anything.
                if path.at(length).tangent.cross(&up).norm().is_nan()
                    || path.at(length).tangent.cross(&up).norm() < UPRIGHT
                {
                    return Err(PathError::AlongUp { length });
                }
            }
        }
        Ok(path)
    }

    /// Length of the whole path. [m]
    pub fn length(&self) -> f64 {
        self.lengths[self.lengths.len() - 1]
    }

    fn at(&self, s: f64) -> At {
        // A closed path counts its rounds in q; the curve repeats.
        let s = if self.closed { s.rem_euclid(self.length()) } else { s };
        // Beyond its ends an open path goes on as its last span does.
        let last = self.lengths.len() - 2;
        // Newton's method then integrates over one piece alone, whose length the quadrature gives to round-off.
        let piece = self.lengths.partition_point(|l| *l <= s).saturating_sub(1).min(last);
        let span = &self.spans[piece / PIECES];
        let from = span.start(piece % PIECES);
        let length = s - self.lengths[piece];
        // Newton's method for the parameter u at which the length from the piece's start is `length`.
        // A first guess at the speed of the piece's start, which is nearly constant over a sixteenth of a span.
        let mut u = from + length / span.derivative(from).norm();
        for _ in 0..ROUNDS {
            let step = (span.length(from, u) - length) / span.derivative(u).norm();
            u -= step;
            if step.abs() <= 4.0 * f64::EPSILON * span.width {
                break;
            }
        }
        span.at(u)
    }

    fn turn(&self, at: &At) -> Option<Turn> {
        let up = self.up?;
        let (x, k) = (at.tangent, at.curvature);
        let along = up.dot(&x);
        // Axes: x = t, z = up across t, y = z × x; ω = t × k + τ t with τ = (up·t)(y·k)/(up·z).
        // Gram-Schmidt against the tangent: not defined where the path runs along `up`, which `new` refuses.
        let z = (up - x * along).normalize();
        let (y, upright) = (z.cross(&x), up.dot(&z));
        let bend = y.dot(&k);
        let twist = along * bend / upright;
        let rate = x.cross(&k) + x * twist;
        // The product rule for τ and ω, with ẋ = k, ẏ = ω × y and d(up·z)/ds = −(up·t)(up·k)/(up·z).
        let y_rate = rate.cross(&y);
        let along_rate = up.dot(&k);
        let upright_rate = -along * along_rate / upright;
        let bend_rate = y_rate.dot(&k) + y.dot(&at.change);
        let twist_rate = (along_rate * bend + along * bend_rate - twist * upright_rate) / upright;
        let change = x.cross(&at.change) + x * twist_rate + k * twist;
        Some(Turn { R: Matrix3::from_columns(&[x, y, z]), rate, change })
    }
}

impl JointMotion for Path {
    fn name(&self) -> &'static str {
        "path"
    }

    fn dof_kinds(&self) -> &[DofKind] {
        &[DofKind::Length]
    }

    fn pose(&self, q: &[f64]) -> Pose {
        let at = self.at(q[0]);
        let R = self.turn(&at).map_or_else(Matrix3::identity, |turn| turn.R);
        Pose::new(R, at.point)
    }

    fn subspace(&self, q: &[f64], columns: &mut [Motion]) {
        let at = self.at(q[0]);
        let angular = self.turn(&at).map_or_else(Vector3::zeros, |turn| turn.rate);
        columns[0] = Motion::new(angular, at.tangent);
    }

    fn subspace_rate(&self, q: &[f64], v: &[f64], columns: &mut [Motion]) {
        let at = self.at(q[0]);
        let angular = self.turn(&at).map_or_else(Vector3::zeros, |turn| turn.change);
        // `Ṡ = (dS/ds) v`, as `q` is the length `s`.
        columns[0] = Motion::new(angular, at.curvature) * v[0];
    }

    fn range(&self) -> Option<(f64, f64)> {
        (!self.closed).then(|| (0.0, self.length()))
    }
}

impl Span {
    fn start(&self, piece: usize) -> f64 {
        self.width * piece as f64 / PIECES as f64
    }

    fn derivative(&self, u: f64) -> Vector3 {
        let [_, b, c, d] = self.c;
        b + (c * 2.0 + d * (3.0 * u)) * u
    }

    /// Length between two places. [m]
    fn length(&self, from: f64, to: f64) -> f64 {
        let width = to - from;
        // ds = ‖dc/du‖ du, by five Gauss points.
        let speed = |x: f64| self.derivative(from + x * width).norm();
        width * GAUSS.iter().map(|(x, weight)| weight * speed(*x)).sum::<f64>()
    }

    fn at(&self, u: f64) -> At {
        let [a, b, c, d] = self.c;
        let point = a + (b + (c + d * u) * u) * u;
        // t = c'/‖c'‖, k = (c'' − t (t·c''))/‖c'‖².
        let (first, second, third) = (self.derivative(u), c * 2.0 + d * (6.0 * u), d * 6.0);
        let speed = first.norm();
        let t = first / speed;
        let across = second - t * second.dot(&t);
        let k = across / (speed * speed);
        // By u: dt = speed · k, dspeed = second · t.
        let (t_rate, speed_rate) = (k * speed, second.dot(&t));
        // Quotient rule for k by u; another 1/‖c'‖ makes it a derivative by s.
        let across_rate =
            third - t * third.dot(&t) - t * second.dot(&t_rate) - t_rate * second.dot(&t);
        let change = (across_rate - across * (2.0 * speed_rate / speed)) / speed.powi(3);
        At { point, tangent: t, curvature: k, change }
    }
}

/// The spline's spans, parametrised by the chords between the points.
fn spans(points: &[Vector3], closed: bool) -> Result<Vec<Span>, PathError> {
    let n = points.len();
    let n_spans = if closed { n } else { n - 1 };
    let next = |i: usize| points[(i + 1) % n];
    // By chords and not by equal steps: close points between far ones would make the curve overshoot.
    let widths: Vec<f64> = (0..n_spans).map(|i| (next(i) - points[i]).norm()).collect();
    if let Some(i) = widths.iter().position(|w| !(w.is_finite() && *w > 0.0)) {
        return Err(PathError::BadPoint { index: (i + 1) % n });
    }
    // Second derivatives at the points: continuous first derivatives, zero at open ends.
    let mut matrix = DMatrix::identity(n, n);
    let mut second = DMatrix::zeros(n, 3);
    let inner = if closed { 0..n } else { 1..n - 1 };
    for i in inner {
        let before = (i + n - 1) % n;
        let (h0, h1) = (widths[before], widths[i]);
        // `h₀ m₋ + 2(h₀ + h₁) m + h₁ m₊ = 6 (c₁ − c₀)` with the chords' slopes `c` [de Boor 1978, ch. IV].
        matrix[(i, i)] = 2.0 * (h0 + h1);
        matrix[(i, before)] += h0;
        matrix[(i, (i + 1) % n)] += h1;
        let bend = ((next(i) - points[i]) / h1 - (points[i] - points[before]) / h0) * 6.0;
        second.set_row(i, &bend.transpose());
    }
    // Diagonally dominant: it has a solution.
    matrix.lu().solve_mut(&mut second);
    let at = |i: usize| Vector3::new(second[(i, 0)], second[(i, 1)], second[(i, 2)]);
    Ok((0..n_spans)
        .map(|i| {
            // The cubic of a span from the second derivatives m at its two ends.
            let (w, m0, m1) = (widths[i], at(i), at((i + 1) % n));
            let slope = (next(i) - points[i]) / w - (m0 * 2.0 + m1) * (w / 6.0);
            Span { c: [points[i], slope, m0 * 0.5, (m1 - m0) / (6.0 * w)], width: w }
        })
        .collect())
}

/// `{type: path, points: [[x, y, z], ...], closed: false, up: [x, y, z]}`.
pub(super) fn read(reader: &mut Reader<'_>, node: &Node, path: &str) -> Option<Reshaped> {
    let fields = reader.fields(node, path, &["type", "points", "closed", "up"]);
    let closed = fields.get("closed").and_then(|(n, p)| reader.flag(n, &p)).unwrap_or(false);
    let up = fields.get("up").and_then(|(n, p)| reader.unit_vector(n, &p)).map(Vector3::from);
    let (list, at) = reader.required(&fields, "points", "[[0, 0, 0], [1, 0, 0]]")?;
    let points = reader.list(list, &at).iter();
    let points = points.map(|point| Some(reader.vector(point, &at, "m")?.into()));
    let points = points.collect::<Option<Vec<Vector3>>>()?;
    match Path::new(&points, closed, up) {
        Ok(path) => Some(Reshaped { kind: JointKind::Custom(Arc::new(path)), cone: None }),
        Err(error) => {
            reader.error(list, format!("{at}: {error}"), "see docs/robot-yaml.md, joints");
            None
        }
    }
}
