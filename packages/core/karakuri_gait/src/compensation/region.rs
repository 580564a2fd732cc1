//! Where the ZMP may be: the convex hull of the contact points.
//!
//! Andrew's monotone chain; the margin is the signed distance to the nearest edge, positive inside.
//! [Berg 2008, §1.1]

use serde::{Deserialize, Serialize};

/// A rectangle on the floor, such as a sole. [m]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rectangle {
    /// From, to. [m] (2)
    pub x: [f64; 2],
    /// From, to. [m] (2)
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

/// A convex polygon, counter-clockwise. [m] (n×2)
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Polygon {
    /// [m] (n×2)
    pub corners: Vec<[f64; 2]>,
    /// Inward unit normal and offset of each edge: inside is `n·p >= d`.
    edges: Vec<[f64; 3]>,
    /// Scratch: the points, in order.
    points: Vec<[f64; 2]>,
}

fn cross(o: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])
}

impl Polygon {
    /// The smallest convex polygon around points. [m] (n×2)
    pub fn hull(points: &[[f64; 2]]) -> Self {
        let mut polygon = Self::default();
        polygon.fit(points.iter().copied());
        polygon
    }

    /// The same in the place of another polygon, whose memory it uses. [m] (n×2)
    pub fn fit(&mut self, points: impl Iterator<Item = [f64; 2]>) {
        let Self { corners, edges, points: sorted } = self;
        sorted.clear();
        sorted.extend(points);
        sorted.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        sorted.dedup();
        corners.clear();
        let mut add_chain = |points: &mut dyn Iterator<Item = [f64; 2]>| {
            let first = corners.len();
            for p in points {
                while let [.., a, b] = corners[first..]
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
        edges.extend((0..if n < 3 { 0 } else { n }).map(|i| {
            let (p, q) = (corners[i], corners[(i + 1) % n]);
            let length = (q[0] - p[0]).hypot(q[1] - p[1]);
            let normal = [-(q[1] - p[1]) / length, (q[0] - p[0]) / length];
            [normal[0], normal[1], normal[0] * p[0] + normal[1] * p[1]]
        }));
    }

    /// Around two soles or more.
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

    /// The point itself where it is at least `rim` inside, else one that is, nearby; the centroid of the corners where the polygon is
    /// too narrow for the rim. [m] (2)
    pub fn nearest(&self, point: [f64; 2], rim: f64) -> [f64; 2] {
        let mut p = point;
        for _ in 0..4 * self.edges.len() {
            let worst = self
                .edges
                .iter()
                .map(|e| (e, rim - (e[0] * p[0] + e[1] * p[1] - e[2])))
                .max_by(|a, b| a.1.total_cmp(&b.1));
            match worst {
                Some((e, short)) if short > 1e-9 => {
                    p = [p[0] + e[0] * short, p[1] + e[1] * short];
                }
                _ => return p,
            }
        }
        if self.margin(p) > 0.0 {
            return p;
        }
        let n = self.corners.len().max(1) as f64;
        [0, 1].map(|axis| self.corners.iter().map(|c| c[axis]).sum::<f64>() / n)
    }
}
