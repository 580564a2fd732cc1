//! Plane geometry of the floor: rectangles and convex polygons, such as soles and the support polygon.
//!
//! The convex hull is Andrew's monotone chain [Berg 2008, §1.1]. The margin of a point is its signed distance to the nearest
//! edge's line, positive inside: of the ZMP in the support polygon it is what is left until the walker tips over an edge.
//!
//! Units: m. Corners are counter-clockwise.

use serde::{Deserialize, Serialize};

/// Axis-aligned rectangle, such as a sole. [m]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rectangle {
    /// Least and greatest x. [m] (2)
    pub x: [f64; 2],
    /// Least and greatest y. [m] (2)
    pub y: [f64; 2],
}

impl Rectangle {
    /// Corners. [m] (4×2)
    pub fn corners(&self) -> [[f64; 2]; 4] {
        let ([x0, x1], [y0, y1]) = (self.x, self.y);
        [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]
    }

    /// Centre. [m] (2)
    pub fn center(&self) -> [f64; 2] {
        [self.x, self.y].map(|[from, to]| 0.5 * (from + to))
    }

    /// Side lengths. [m] (2)
    pub fn size(&self) -> [f64; 2] {
        [self.x, self.y].map(|[from, to]| to - from)
    }
}

/// Convex polygon, counter-clockwise. [m] (n×2)
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConvexPolygon {
    /// Corners, counter-clockwise from the leftmost one. [m] (n×2)
    pub corners: Vec<[f64; 2]>,
    /// Inward unit normal `n` and offset `d` of each edge: inside is `n·p >= d`.
    edges: Vec<[f64; 3]>,
    /// Scratch of [`Self::fit`]: the points, sorted by x, then y. [m] (n×2)
    points: Vec<[f64; 2]>,
}

/// Twice the signed area of the triangle `oab`, positive where it turns left. [m²]
fn cross(o: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])
}

impl ConvexPolygon {
    /// Convex hull of points. [m] (n×2)
    pub fn hull(points: &[[f64; 2]]) -> Self {
        let mut polygon = Self::default();
        polygon.fit(points.iter().copied());
        polygon
    }

    /// Replaces the polygon by the convex hull of points, in the memory that it has. [m] (n×2)
    pub fn fit(&mut self, points: impl Iterator<Item = [f64; 2]>) {
        let Self { corners, edges, points: sorted } = self;
        sorted.clear();
        sorted.extend(points);
        sorted.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        // Equal points would make edges of no length, whose normals are NaN.
        sorted.dedup();
        corners.clear();
        // The lower chain from left to right, then the upper one back: a corner that does not turn left is inside.
        let mut add_chain = |points: &mut dyn Iterator<Item = [f64; 2]>| {
            let first = corners.len();
            for p in points {
                while let [.., a, b] = corners[first..]
                    // Collinear points go as well: an edge would stand twice, with the round-off of two normals.
                    && cross(a, b, p) <= 0.0
                {
                    corners.pop();
                }
                corners.push(p);
            }
            corners.pop(); // it begins the other chain
        };
        add_chain(&mut sorted.iter().copied());
        add_chain(&mut sorted.iter().rev().copied());
        if corners.is_empty() {
            corners.extend(sorted.first()); // one point only
        }
        let n = corners.len();
        edges.clear();
        // The inward normal of the edge p→q is its direction turned left by 90°; fewer than three corners enclose no area.
        edges.extend((0..if n < 3 { 0 } else { n }).map(|i| {
            let (p, q) = (corners[i], corners[(i + 1) % n]);
            let length = (q[0] - p[0]).hypot(q[1] - p[1]);
            let normal = [-(q[1] - p[1]) / length, (q[0] - p[0]) / length];
            [normal[0], normal[1], normal[0] * p[0] + normal[1] * p[1]]
        }));
    }

    /// Convex hull of rectangles, such as the soles that stand.
    pub fn around(soles: &[Rectangle]) -> Self {
        Self::hull(&soles.iter().flat_map(Rectangle::corners).collect::<Vec<_>>())
    }

    /// Signed distance to the nearest edge's line, positive inside; minus infinity for a polygon without area. [m]
    #[inline]
    pub fn margin(&self, point: [f64; 2]) -> f64 {
        if self.edges.is_empty() {
            return f64::NEG_INFINITY;
        }
        let distance = |e: &[f64; 3]| e[0] * point[0] + e[1] * point[1] - e[2];
        self.edges.iter().map(distance).fold(f64::INFINITY, f64::min)
    }

    /// Signed distance to the polygon's edge, positive inside; outside past a corner the distance to the corner, which
    /// [`Self::margin`] takes for less. Of a polygon without area minus the distance to its points; minus infinity without points. [m]
    pub fn clearance(&self, point: [f64; 2]) -> f64 {
        let margin = self.margin(point);
        // Inside, the nearest edge's line is the nearest part of the edge.
        if margin >= 0.0 {
            return margin;
        }
        let n = self.corners.len();
        let distance = |i: usize| {
            let (a, b) = (self.corners[i], self.corners[(i + 1) % n]);
            let (edge, to) = ([b[0] - a[0], b[1] - a[1]], [point[0] - a[0], point[1] - a[1]]);
            let length = edge[0] * edge[0] + edge[1] * edge[1];
            // Of two corners both edges are the same one; of one corner the edge has no length.
            let along = if length > 0.0 {
                ((to[0] * edge[0] + to[1] * edge[1]) / length).clamp(0.0, 1.0)
            } else {
                0.0
            };
            (to[0] - along * edge[0]).hypot(to[1] - along * edge[1])
        };
        -(0..n).map(distance).fold(f64::INFINITY, f64::min)
    }

    /// Projection of a point into the polygon less a rim: the point itself where it is at least `rim` inside, else a point nearby
    /// that is; the centroid of the corners where the polygon is too narrow for the rim. In an acute corner it may keep less than
    /// the rim, but is always inside. [m] (2)
    pub fn nearest(&self, point: [f64; 2], rim: f64) -> [f64; 2] {
        // Projects on the edge that is violated most, which ends after a few edges where there is an inside at all.
        let mut p = point;
        // Successive projections end in a few rounds; the bound is for polygons without an inside, where they never do.
        for _ in 0..4 * self.edges.len() {
            let worst = self
                .edges
                .iter()
                .map(|e| (e, rim - (e[0] * p[0] + e[1] * p[1] - e[2])))
                .max_by(|a, b| a.1.total_cmp(&b.1));
            match worst {
                // A nanometre: without a tolerance the projections creep towards a corner of two edges.
                Some((e, short)) if short > 1e-9 => {
                    p = [p[0] + e[0] * short, p[1] + e[1] * short];
                }
                _ => return p,
            }
        }
        // The projections did not settle, as in a polygon narrower than twice the rim: inside is enough, else the centroid.
        if self.margin(p) > 0.0 {
            return p;
        }
        let n = self.corners.len().max(1) as f64;
        [0, 1].map(|axis| self.corners.iter().map(|c| c[axis]).sum::<f64>() / n)
    }
}

#[cfg(test)]
mod tests {
    use karakuri_testkit::Random;

    use super::*;

    fn points(random: &mut Random, n: usize) -> Vec<[f64; 2]> {
        (0..n).map(|_| [random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0)]).collect()
    }

    #[test]
    fn a_hull_is_convex_and_contains_its_points() {
        let mut random = Random::new(1);
        for n in 3..40 {
            let points = points(&mut random, n);
            let hull = ConvexPolygon::hull(&points);
            let k = hull.corners.len();
            for i in 0..k {
                let [a, b, c] = [0, 1, 2].map(|j| hull.corners[(i + j) % k]);
                assert!(cross(a, b, c) > 0.0, "corner {i} of {:?} turns right", hull.corners);
            }
            for p in &points {
                assert!(hull.margin(*p) > -1e-12, "{p:?} is outside of its hull");
            }
            assert!(hull.corners.iter().all(|c| points.contains(c)));
        }
    }

    #[test]
    fn the_margin_is_the_distance_to_the_nearest_edge() {
        let square = ConvexPolygon::around(&[Rectangle { x: [-1.0, 1.0], y: [-2.0, 2.0] }]);
        for (point, margin) in [([0.0, 0.0], 1.0), ([0.9, 1.0], 0.1), ([0.0, 2.5], -0.5)] {
            assert!((square.margin(point) - margin).abs() < 1e-12, "{point:?}");
        }
        for few in [&[][..], &[[0.0, 0.0]], &[[0.0, 0.0], [1.0, 0.0]]] {
            let margin = ConvexPolygon::hull(few).margin([0.5, 0.0]);
            assert!(margin.is_infinite() && margin < 0.0, "{margin}");
        }
    }

    /// Against the distance to a million points of the edges.
    #[test]
    fn the_clearance_is_the_distance_to_the_edge() {
        let mut random = Random::new(4);
        for _ in 0..20 {
            let hull = ConvexPolygon::hull(&points(&mut random, 8));
            let n = hull.corners.len();
            for p in points(&mut random, 10).into_iter().map(|p| p.map(|x| 2.0 * x)) {
                let edge = |k: usize| {
                    let (a, b) = (hull.corners[k / 1000], hull.corners[(k / 1000 + 1) % n]);
                    let u = (k % 1000) as f64 / 1000.0;
                    (a[0] + u * (b[0] - a[0]) - p[0]).hypot(a[1] + u * (b[1] - a[1]) - p[1])
                };
                let nearest = (0..1000 * n).map(edge).fold(f64::INFINITY, f64::min);
                let found = hull.clearance(p);
                assert!((found.abs() - nearest).abs() < 2e-3, "{p:?}: {found}, not {nearest}");
                assert_eq!(found >= 0.0, hull.margin(p) >= 0.0);
            }
        }
        let line = ConvexPolygon::hull(&[[0.0, 0.0], [1.0, 0.0]]);
        assert!((line.clearance([0.5, 0.25]) + 0.25).abs() < 1e-12);
        assert!((line.clearance([2.0, 0.0]) + 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_projection_is_inside_and_a_point_inside_stays() {
        let mut random = Random::new(2);
        for _ in 0..200 {
            let hull = ConvexPolygon::hull(&points(&mut random, 12));
            for p in points(&mut random, 10) {
                let p = p.map(|x| 2.0 * x);
                let q = hull.nearest(p, 0.02);
                assert!(hull.margin(q) > 0.0, "{p:?} to {q:?}");
                let moved = (p[0] - q[0]).hypot(p[1] - q[1]) > 0.0;
                assert!(hull.margin(p) < 0.02 || !moved, "{p:?} moved to {q:?}");
            }
        }
    }

    /// Corners of soles are right or blunt.
    #[test]
    fn a_projection_into_soles_keeps_the_rim() {
        let mut random = Random::new(3);
        let mut sole = || {
            let [x, y] = [random.uniform(-0.3, 0.3), random.uniform(-0.3, 0.3)];
            Rectangle { x: [x - 0.1, x + 0.1], y: [y - 0.05, y + 0.05] }
        };
        let soles: Vec<_> = (0..50).map(|_| ConvexPolygon::around(&[sole(), sole()])).collect();
        for hull in soles {
            for p in points(&mut random, 20) {
                let q = hull.nearest(p, 0.01);
                assert!(hull.margin(q) > 0.01 - 1e-8, "{p:?} to {q:?} of {:?}", hull.corners);
            }
        }
    }
}
