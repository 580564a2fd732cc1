//! Cubic Bézier curve whose time is monotone.

use super::CurvePoint;
use super::piece::quadratic_roots;

/// Slope of the time over the parameter below which it counts as this: a vertical handle has no finite speed. [-]
// Bounds the speed at a vertical handle to 1e6 times the rise over the length: large, but finite.
const STEEP: f64 = 1e-6;
/// Most steps of Newton's method inside a bracket.
// Bisection alone needs 52. Where the time all but stands still the root is nearly threefold and a step of Newton takes off a
// third of the error: some 25 steps until it is simple again.
const STEPS: usize = 60;
/// Points among which the largest speed is looked for.
// The nearest point is at most 1/128 of the interval off the peak, where the speed is flat: the value misses by second order.
const GRID: u32 = 64;

/// A curve from (0, 0) to (1, 1) with two handles, stretched over an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bezier {
    /// Position at the first key.
    pub(super) start: f64,
    /// Position of the second key above it.
    pub(super) rise: f64,
    /// Length of the interval. [s]
    pub(super) length: f64,
    /// `[x1, y1, x2, y2]`. [-] (4)
    pub(super) handles: [f64; 4],
}

/// A coordinate of the curve and its derivatives by the parameter.
struct Coordinate {
    value: f64,
    slope: f64,
    bend: f64,
}

/// Bernstein polynomial from 0 to 1 with two handles.
fn coordinate([a, b]: [f64; 2], s: f64) -> Coordinate {
    // 3s(1−s)²a + 3s²(1−s)b + s³ by powers of s
    let (c1, c2, c3) = (3.0 * a, 3.0 * b - 6.0 * a, 1.0 + 3.0 * a - 3.0 * b);
    Coordinate {
        value: s * (c1 + s * (c2 + s * c3)),
        slope: c1 + s * (2.0 * c2 + s * 3.0 * c3),
        bend: 2.0 * c2 + 6.0 * c3 * s,
    }
}

impl Bezier {
    fn x(&self, s: f64) -> Coordinate {
        // Curves can be made of keys that nobody checked; with x inside, the time is monotone and the bracket below holds.
        coordinate([self.handles[0].clamp(0.0, 1.0), self.handles[2].clamp(0.0, 1.0)], s)
    }

    fn y(&self, s: f64) -> Coordinate {
        coordinate([self.handles[1], self.handles[3]], s)
    }

    /// Parameter of a time, by Newton's method inside a bracket.
    fn parameter(&self, t: f64) -> f64 {
        let u = (t / self.length).clamp(0.0, 1.0);
        // The start is exact for handles on the diagonal.
        let (mut low, mut high, mut s) = (0.0, 1.0, u);
        for _ in 0..STEPS {
            let Coordinate { value, slope, .. } = self.x(s);
            let miss = value - u;
            // Rounding of the polynomial itself.
            if miss.abs() < 4.0 * f64::EPSILON {
                break;
            }
            if miss > 0.0 {
                high = s;
            } else {
                low = s;
            }
            // A slope of zero gives an infinite or undefined step, which is in no bracket: then bisection.
            let newton = s - miss / slope;
            s = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        }
        s
    }

    pub(super) fn at(&self, t: f64) -> CurvePoint {
        let s = self.parameter(t);
        let (x, y) = (self.x(s), self.y(s));
        let slope = x.slope.max(STEEP);
        // Chain rule through the parameter: `dy/dx = y'/x'`, `d²y/dx² = (y'' − (dy/dx) x'')/x'²`.
        let rate = y.slope / slope;
        let bend = (y.bend - rate * x.bend) / (slope * slope);
        CurvePoint {
            position: self.start + self.rise * y.value,
            velocity: self.rise * rate / self.length,
            acceleration: self.rise * bend / (self.length * self.length),
        }
    }

    /// Times inside at which it stands still.
    pub(super) fn stationary(&self) -> Vec<f64> {
        let [_, a, _, b] = self.handles;
        // The speed is zero where `dy/ds` is, since `dx/ds` is positive inside: a quadratic.
        let (c1, c2, c3) = (3.0 * a, 3.0 * b - 6.0 * a, 1.0 + 3.0 * a - 3.0 * b);
        let roots = quadratic_roots(c1, 2.0 * c2, 3.0 * c3);
        let inside = roots.into_iter().filter(|s| *s > 0.0 && *s < 1.0);
        inside.map(|s| self.length * self.x(s).value).collect()
    }

    /// Times inside near which the speed is largest: a grid, since there is no closed form.
    pub(super) fn inflections(&self) -> Vec<f64> {
        (1..GRID).map(|i| self.length * f64::from(i) / f64::from(GRID)).collect()
    }
}
