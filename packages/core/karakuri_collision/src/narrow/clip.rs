//! Where two facing features overlap, seen along the normal.
//!
//! In the plane across the normal the overlap of two convex polygons has three kinds of corners: corners of A inside B,
//! corners of B inside A, crossings of an edge of A with an edge of B. Each names itself by the vertices that make
//! it, so that it is found again in the next step. Segments and points are polygons with fewer corners.

use karakuri_spatial::Vector3;

use super::feature::{Corner, Feature, MAX_CORNERS};
use super::{between, tangents};
use crate::manifold::{ContactPoint, Manifold};

/// Most candidates that are collected.
const CAPACITY: usize = 4 * MAX_CORNERS;
/// Distance relative to the features' size within which corners coincide and still count as inside.
const COINCIDENT: f64 = 1e-6;
/// Width of a segment relative to its length, for the overlap of parallel lines.
const LINE_WIDTH: f64 = 1e-4;

const CORNER_OF_A: u64 = 1 << 40;
const CORNER_OF_B: u64 = 2 << 40;
const CROSSING: u64 = 3 << 40;

/// Candidates for contact points.
#[derive(Debug)]
pub(crate) struct Patch {
    pub(super) normal: Vector3,
    margins: [f64; 2],
    prediction: f64,
    pub(super) points: [ContactPoint; CAPACITY],
    pub(super) len: usize,
}

/// A feature in the plane across the normal.
struct Flat {
    ids: [u32; MAX_CORNERS],
    /// In the plane, and height along the normal. [m]
    x: [[f64; 3]; MAX_CORNERS],
    len: usize,
    /// Height of a face above the plane: `h = h₀ + g·x`.
    slope: Option<[f64; 3]>,
}

impl Patch {
    pub(super) fn new(normal: Vector3, margins: [f64; 2], prediction: f64) -> Self {
        let nowhere = between(Vector3::zeros(), 0, 0.0);
        Self { normal, margins, prediction, points: [nowhere; CAPACITY], len: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes a point whose gap is small enough.
    pub(super) fn add(&mut self, feature: u64, position: Vector3, gap: f64) {
        if gap <= self.prediction
            && let Some(place) = self.points.get_mut(self.len)
        {
            *place = between(position, feature, gap);
            self.len += 1;
        }
    }

    /// Takes the closest points of the cores, unless a point as deep is there already.
    pub(super) fn include(&mut self, closest: &[Vector3; 2]) {
        let [a, b] = closest;
        let gap = self.normal.dot(&(b - a)) - self.margins[0] - self.margins[1];
        let deepest = self.points[..self.len].iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        if deepest > gap + 1e-9 + 1e-3 * gap.abs() {
            let shift = 0.5 * (self.margins[0] - self.margins[1]);
            self.add(0, (a + b) * 0.5 + self.normal * shift, gap);
        }
    }

    /// Takes the corners of the overlap of two features.
    pub(super) fn intersect(&mut self, fa: &Feature, fb: &Feature) {
        let (t1, t2) = tangents(&self.normal);
        let axes = [t1, t2, self.normal];
        let (A, B) = (Flat::new(fa, &axes), Flat::new(fb, &axes));
        let near = COINCIDENT * A.size().max(B.size());
        for (i, &[x, y, height]) in A.corners().iter().enumerate() {
            if let Some(other) = B.height_at([x, y], near) {
                self.add_between(
                    CORNER_OF_A | u64::from(A.ids[i]),
                    &axes,
                    [x, y],
                    [height, other],
                    near,
                );
            }
        }
        for (i, &[x, y, height]) in B.corners().iter().enumerate() {
            if let Some(other) = A.height_at([x, y], near) {
                self.add_between(
                    CORNER_OF_B | u64::from(B.ids[i]),
                    &axes,
                    [x, y],
                    [other, height],
                    near,
                );
            }
        }
        for (ids_a, p, q) in A.edges() {
            for (ids_b, r, s) in B.edges() {
                if let Some((x, heights)) = crossing([p, q], [r, s]) {
                    let name = CROSSING | ids_a << 20 | ids_b;
                    self.add_between(name, &axes, x, heights, near);
                }
            }
        }
    }

    fn add_between(
        &mut self,
        feature: u64,
        axes: &[Vector3; 3],
        [x, y]: [f64; 2],
        [ha, hb]: [f64; 2],
        near: f64,
    ) {
        let (a, b) = (ha + self.margins[0], hb - self.margins[1]);
        let position = axes[0] * x + axes[1] * y + axes[2] * (0.5 * (a + b));
        let twin = |p: &ContactPoint| (p.position - position).norm_squared() < 4.0 * near * near;
        if !self.points[..self.len].iter().any(twin) {
            self.add(feature, position, b - a);
        }
    }

    /// Hands the points over; `tag` marks their features.
    pub(super) fn write(&self, origin: &Vector3, tag: u64, out: &mut Manifold) {
        for p in &self.points[..self.len] {
            out.push(between(p.position + origin, p.feature | tag, p.gap));
        }
    }
}

impl Flat {
    fn new(feature: &Feature, axes: &[Vector3; 3]) -> Self {
        let corners = feature.corners();
        let mut flat = Self {
            ids: [0; MAX_CORNERS],
            x: [[0.0; 3]; MAX_CORNERS],
            len: corners.len(),
            slope: None,
        };
        for (i, Corner { id, p }) in corners.iter().enumerate() {
            flat.ids[i] = *id;
            flat.x[i] = axes.map(|axis| axis.dot(p));
        }
        if flat.twice_area() < 0.0 {
            flat.ids[..corners.len()].reverse();
            flat.x[..corners.len()].reverse();
        }
        if let Some(n) = feature.normal.filter(|_| feature.is_face()) {
            let [n1, n2, up] = axes.map(|axis| axis.dot(&n));
            if up.abs() > 1e-3 {
                let (g1, g2) = (-n1 / up, -n2 / up);
                let [x, y, h] = flat.x[0];
                flat.slope = Some([h - g1 * x - g2 * y, g1, g2]);
            }
        }
        flat
    }

    fn corners(&self) -> &[[f64; 3]] {
        &self.x[..self.len]
    }

    fn twice_area(&self) -> f64 {
        let x = self.corners();
        (0..x.len())
            .map(|i| (x[i], x[(i + 1) % x.len()]))
            .map(|(p, q)| p[0] * q[1] - p[1] * q[0])
            .sum()
    }

    fn size(&self) -> f64 {
        let [x, y, h] = self.x[0];
        let far = |p: &[f64; 3]| (p[0] - x).abs() + (p[1] - y).abs() + (p[2] - h).abs();
        self.corners().iter().map(far).fold(0.0, f64::max)
    }

    /// Edges with the name of their ends; a segment has one.
    fn edges(&self) -> impl Iterator<Item = (u64, [f64; 3], [f64; 3])> + '_ {
        let n = match self.len {
            0 | 1 => 0,
            2 => 1,
            n => n,
        };
        (0..n).map(move |i| {
            let j = (i + 1) % self.len;
            let (low, high) = (self.ids[i].min(self.ids[j]), self.ids[i].max(self.ids[j]));
            (u64::from(low & 0x3ff) << 10 | u64::from(high & 0x3ff), self.x[i], self.x[j])
        })
    }

    /// Height of the feature over a point of the plane, if it is there.
    fn height_at(&self, [x, y]: [f64; 2], near: f64) -> Option<f64> {
        match self.len {
            0 | 1 => None,
            2 => {
                let ([px, py, ph], [qx, qy, qh]) = (self.x[0], self.x[1]);
                let (ex, ey) = (qx - px, qy - py);
                let length = ex.hypot(ey);
                if length == 0.0 {
                    return None;
                }
                let along = ((x - px) * ex + (y - py) * ey) / length;
                let off = (ex * (y - py) - ey * (x - px)).abs() / length;
                let inside = off <= LINE_WIDTH * length && along >= -near && along <= length + near;
                inside.then_some(ph + (qh - ph) * along / length)
            }
            n => {
                let [h0, g1, g2] = self.slope?;
                for i in 0..n {
                    let ([px, py, _], [qx, qy, _]) = (self.x[i], self.x[(i + 1) % n]);
                    let (ex, ey) = (qx - px, qy - py);
                    if ex * (y - py) - ey * (x - px) < -near * ex.hypot(ey) {
                        return None;
                    }
                }
                Some(h0 + g1 * x + g2 * y)
            }
        }
    }
}

/// Where two edges cross in the plane, and their heights there.
fn crossing([p, q]: [[f64; 3]; 2], [r, s]: [[f64; 3]; 2]) -> Option<([f64; 2], [f64; 2])> {
    let (ax, ay) = (q[0] - p[0], q[1] - p[1]);
    let (bx, by) = (s[0] - r[0], s[1] - r[1]);
    let denominator = ax * by - ay * bx;
    if denominator.abs() <= 1e-9 * (ax.hypot(ay) * bx.hypot(by)) {
        return None;
    }
    let (cx, cy) = (r[0] - p[0], r[1] - p[1]);
    let (t, u) = ((cx * by - cy * bx) / denominator, (cx * ay - cy * ax) / denominator);
    let within = 0.0..=1.0;
    if !within.contains(&t) || !within.contains(&u) {
        return None;
    }
    let heights = [p[2] + t * (q[2] - p[2]), r[2] + u * (s[2] - r[2])];
    Some(([p[0] + t * ax, p[1] + t * ay], heights))
}
