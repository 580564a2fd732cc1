//! Cubic Bézier curve whose time is monotone.

use super::CurvePoint;
use super::piece::quadratic_roots;

/// Slope of the time over the parameter below which it counts as this: a vertical handle has no finite speed. [-]
const STEEP: f64 = 1e-6;
/// Steps of Newton and bisection together, which halve the interval at least every second one.
const STEPS: usize = 60;
/// Points among which the largest speed is looked for.
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
        coordinate([self.handles[0].clamp(0.0, 1.0), self.handles[2].clamp(0.0, 1.0)], s)
    }

    fn y(&self, s: f64) -> Coordinate {
        coordinate([self.handles[1], self.handles[3]], s)
    }

    /// Parameter of a time, by Newton's method inside a bracket.
    fn parameter(&self, t: f64) -> f64 {
        let u = (t / self.length).clamp(0.0, 1.0);
        let (mut low, mut high, mut s) = (0.0, 1.0, u);
        for _ in 0..STEPS {
            let Coordinate { value, slope, .. } = self.x(s);
            let miss = value - u;
            if miss.abs() < 4.0 * f64::EPSILON {
                break;
            }
            if miss > 0.0 {
                high = s;
            } else {
                low = s;
            }
            let newton = s - miss / slope;
            s = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        }
        s
    }

    pub(super) fn at(&self, t: f64) -> CurvePoint {
        let s = self.parameter(t);
        let (x, y) = (self.x(s), self.y(s));
        let slope = x.slope.max(STEEP);
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
