//! Overlap of two facing features, seen along the normal.
//!
//! In the plane across the normal the overlap of two convex polygons has three kinds of corners: corners of A inside B,
//! corners of B inside A, crossings of an edge of A with an edge of B. Each names itself by the vertices that make
//! it, so that it is found again in the next step. Segments and points are polygons with fewer corners; a round cap is
//! the ellipse that it looks like, and edges cross it exactly.

use karakuri_spatial::{Vector3, tangent_frame};

use super::feature::{Corner, Feature};
use crate::manifold::{ContactPoint, Manifold};

/// Distance relative to the features' size within which corners coincide and still count as inside.
const COINCIDENT: f64 = 1e-6;
/// Width of a segment relative to its length, for the overlap of parallel lines.
const LINE_WIDTH: f64 = 1e-4;
/// Depth by which the closest points must beat the overlap's corners to become a point of their own. [m]
const DEEPER: f64 = 1e-7;

const CORNER_OF_A: u64 = 1 << 40;
const CORNER_OF_B: u64 = 2 << 40;
const CROSSING: u64 = 3 << 40;
/// Rim in the name of a crossing.
const RIM: u64 = 0xf_fffe;

/// Candidates for contact points, and scratch.
#[derive(Debug, Default)]
pub(crate) struct Patch {
    pub(super) normal: Vector3,
    margins: [f64; 2],
    prediction: f64,
    pub(super) points: Vec<ContactPoint>,
    /// Number of points that carry load, the first; the others were left out by [`reduce`](super::reduce).
    pub(super) n_chosen: usize,
    flats: [Flat; 2],
}

/// A feature in the plane across the normal.
#[derive(Debug, Default)]
struct Flat {
    ids: Vec<u32>,
    /// Place of the corners in the plane, and height along the normal. [m]
    x: Vec<[f64; 3]>,
    /// Edges around it, as every corner of the other feature and every edge of it asks for them; a segment has one.
    edges: Vec<Edge>,
    /// Height of a face above the plane: `h = h₀ + g·x`.
    slope: Option<[f64; 3]>,
    /// Middle in the plane and radius of a round cap. [m]
    disc: Option<([f64; 2], f64)>,
    /// Radius of what is round about the corners and edges. [m]
    margin: f64,
    /// 1 if the other feature is above, −1 if it is below.
    side: f64,
}

/// An edge of a feature in the plane across the normal.
#[derive(Debug, Clone, Copy)]
struct Edge {
    /// Name by its ends.
    name: u64,
    /// Places of its ends in the plane, and heights along the normal. [m]
    ends: [[f64; 3]; 2],
    /// Way from the first end to the second in the plane. [m]
    way: [f64; 2],
    /// Length of that way. [m]
    length: f64,
}

/// Two features along the normal.
struct View<'a> {
    axes: [Vector3; 3],
    /// Distance within which points are one. [m]
    near: f64,
    flats: [&'a Flat; 2],
}

/// Name, place in the plane, heights of the two features there.
type Crossing = (u64, [f64; 2], [f64; 2]);

impl Patch {
    pub(super) fn reset(&mut self, normal: Vector3, margins: [f64; 2], prediction: f64) {
        (self.normal, self.margins, self.prediction) = (normal, margins, prediction);
        self.points.clear();
    }

    pub(super) fn prediction(&self) -> f64 {
        self.prediction
    }

    /// Takes a point whose gap is small enough.
    pub(super) fn add(&mut self, feature: u64, position: Vector3, gap: f64) {
        if gap <= self.prediction {
            self.points.push(between(position, feature, gap));
        }
    }

    /// Takes the closest points of the cores, unless a point as deep is there already.
    pub(super) fn include(&mut self, [a, b]: &[Vector3; 2], gap: f64) {
        let gap = gap - self.margins[0] - self.margins[1];
        let deepest = self.points.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        if deepest > gap + DEEPER {
            // Surface points a + m_A n and b − m_B n have their middle ½(m_A − m_B) n beside that of the cores.
            let shift = 0.5 * (self.margins[0] - self.margins[1]);
            self.add(0, (a + b) * 0.5 + self.normal * shift, gap);
        }
    }

    /// Takes the corners of the overlap of two features.
    pub(super) fn intersect(&mut self, fa: &Feature, fb: &Feature) {
        let [t1, t2] = tangent_frame(&self.normal);
        let axes = [t1, t2, self.normal];
        let [mut A, mut B] = core::mem::take(&mut self.flats);
        A.set(fa, &axes, self.margins[0], 1.0);
        B.set(fb, &axes, self.margins[1], -1.0);
        // Relative to the larger feature: its rounding is the one that separates corners meant to coincide.
        let near = COINCIDENT * A.size().max(B.size());
        let view = View { axes, near, flats: [&A, &B] };
        // Corners before crossings: where they coincide, the first name stands, and a corner's survives more steps.
        // Corners of A over B, corners of B over A, crossings of edges.
        for (&id, &[x, y, height]) in A.ids.iter().zip(&A.x) {
            if let Some(other) = B.height_at([x, y], near) {
                self.add_between(CORNER_OF_A | u64::from(id), [x, y], [height, other], &view);
            }
        }
        for (&id, &[x, y, height]) in B.ids.iter().zip(&B.x) {
            if let Some(other) = A.height_at([x, y], near) {
                self.add_between(CORNER_OF_B | u64::from(id), [x, y], [other, height], &view);
            }
        }
        if A.disc.is_some() {
            for edge in &B.edges {
                for (name, x, [ha, hb]) in A.rim_crossings(edge).into_iter().flatten() {
                    let name = CROSSING | (RIM + name) << 20 | edge.name;
                    self.add_between(name, x, [ha, hb], &view);
                }
            }
        } else if B.disc.is_some() {
            for edge in &A.edges {
                for (name, x, [hb, ha]) in B.rim_crossings(edge).into_iter().flatten() {
                    let name = CROSSING | edge.name << 20 | (RIM + name);
                    self.add_between(name, x, [ha, hb], &view);
                }
            }
        } else {
            for a in &A.edges {
                for b in &B.edges {
                    if let Some((x, heights)) = crossing(a, b) {
                        self.add_between(CROSSING | a.name << 20 | b.name, x, heights, &view);
                    }
                }
            }
        }
        self.flats = [A, B];
    }

    /// Takes the point of the surfaces over a place in the plane, from the heights of the cores there.
    fn add_between(&mut self, feature: u64, x: [f64; 2], [ha, hb]: [f64; 2], view: &View) {
        let View { axes, near, flats: [A, B] } = view;
        let (a, b) = (ha + A.rise(x, ha), hb - B.rise(x, hb));
        let position = axes[0] * x[0] + axes[1] * x[1] + axes[2] * (0.5 * (a + b));
        // A corner of A over a corner of B is found up to four times, by corners and crossings.
        let twin = |p: &ContactPoint| (p.position - position).norm_squared() < 4.0 * near * near;
        if !self.points.iter().any(twin) {
            self.add(feature, position, b - a);
        }
    }

    /// Writes the points to a manifold.
    pub(super) fn write(&self, origin: &Vector3, out: &mut Manifold) {
        out.normal = self.normal;
        let in_world = self.points.iter().map(|p| between(p.position + origin, p.feature, p.gap));
        out.fill(in_world, self.n_chosen);
    }
}

impl Flat {
    fn set(&mut self, feature: &Feature, axes: &[Vector3; 3], margin: f64, side: f64) {
        (self.margin, self.side) = (margin, side);
        self.ids.clear();
        self.x.clear();
        self.slope = None;
        for Corner { id, p } in feature.corners() {
            self.ids.push(*id);
            self.x.push(axes.map(|axis| axis.dot(p)));
        }
        self.keep_the_end_of_a_steep_capsule();
        if self.twice_area() < 0.0 {
            self.ids.reverse();
            self.x.reverse();
        }
        self.set_edges();
        self.disc = feature
            .disc
            .map(|disc| ([axes[0].dot(&disc.center), axes[1].dot(&disc.center)], disc.radius));
        if let Some(n) = feature.normal {
            let [n1, n2, up] = axes.map(|axis| axis.dot(&n));
            // A face seen edge on has no height as a function of the plane: its corners remain.
            if up.abs() > 1e-3 {
                // The face's plane n·x = const, solved for the height.
                let (g1, g2) = (-n1 / up, -n2 / up);
                let [x, y, h] = self.x[0];
                self.slope = Some([h - g1 * x - g2 * y, g1, g2]);
            }
        }
    }

    /// Drops the hidden end of a capsule that stands so steep that only one of its ends is seen.
    fn keep_the_end_of_a_steep_capsule(&mut self) {
        if let (&[p, q], true) = (self.x.as_slice(), self.margin > 0.0) {
            let (ahead, gain) = (length([q[0] - p[0], q[1] - p[1]]), self.side * (q[2] - p[2]));
            // As in `rise`: even over the lower end, the surface straight above is the half-ball of the upper one.
            if ahead * length([ahead, gain]) <= self.margin * gain.abs() {
                let hidden = usize::from(gain < 0.0);
                self.ids.remove(hidden);
                self.x.remove(hidden);
            }
        }
    }

    /// Height of the surface above the core, towards the other feature, where the core's height is `h`. [m]
    fn rise(&self, [x, y]: [f64; 2], h: f64) -> f64 {
        let (&[p, q], true) = (self.x.as_slice(), self.margin > 0.0) else { return self.margin };
        let top = if self.side * (q[2] - p[2]) > 0.0 { q } else { p };
        rise(self.margin, length([top[0] - x, top[1] - y]), self.side * (top[2] - h))
    }

    fn twice_area(&self) -> f64 {
        let x = &self.x;
        (0..x.len())
            .map(|i| (x[i], x[(i + 1) % x.len()]))
            .map(|(p, q)| p[0] * q[1] - p[1] * q[0])
            .sum()
    }

    fn size(&self) -> f64 {
        let [x, y, h] = self.x[0];
        let far = |p: &[f64; 3]| (p[0] - x).abs() + (p[1] - y).abs() + (p[2] - h).abs();
        self.x.iter().map(far).fold(0.0, f64::max)
    }

    fn set_edges(&mut self) {
        let n = match self.x.len() {
            0 | 1 => 0,
            2 => 1,
            n => n,
        };
        let (ids, x) = (&self.ids, &self.x);
        self.edges.clear();
        self.edges.extend((0..n).map(|i| {
            let j = if i + 1 < x.len() { i + 1 } else { 0 };
            let (low, high) = (ids[i].min(ids[j]), ids[i].max(ids[j]));
            // Ten bits an end fit both edges beside the kind; names of hulls with more corners may repeat.
            let name = u64::from(low & 0x3ff) << 10 | u64::from(high & 0x3ff);
            let way = [x[j][0] - x[i][0], x[j][1] - x[i][1]];
            Edge { name, ends: [x[i], x[j]], way, length: length(way) }
        }));
    }

    /// Height of the feature over a point of the plane, if it is there.
    fn height_at(&self, [x, y]: [f64; 2], near: f64) -> Option<f64> {
        let n = self.x.len();
        if n < 3 {
            return if n == 2 { self.height_on_line([x, y], near) } else { None };
        }
        let [h0, g1, g2] = self.slope?;
        // Beside a steep face its plane is soon far.
        let near = near / (1.0 + g1 * g1 + g2 * g2).sqrt();
        if let Some((center, radius)) = self.disc {
            // The ellipse that the cap looks like: lengths are measured on the cap, where it is a circle.
            let inside = length_on([g1, g2], [x - center[0], y - center[1]]) <= radius + near;
            return inside.then_some(h0 + g1 * x + g2 * y);
        }
        // The point must not be to the right of any edge.
        for Edge { ends: [[px, py, _], _], way: [ex, ey], length, .. } in &self.edges {
            if ex * (y - py) - ey * (x - px) < -near * length {
                return None;
            }
        }
        Some(h0 + g1 * x + g2 * y)
    }

    /// Height of a segment over a point of the plane, if it is there.
    fn height_on_line(&self, [x, y]: [f64; 2], near: f64) -> Option<f64> {
        let Edge { ends: [[px, py, ph], [_, _, qh]], way: [ex, ey], length, .. } = self.edges[0];
        if length == 0.0 {
            return None;
        }
        // A segment covers the places within its width, as two lines that lie over each other never cross.
        let along = ((x - px) * ex + (y - py) * ey) / length;
        let off = (ex * (y - py) - ey * (x - px)).abs() / length;
        let inside = off <= LINE_WIDTH * length && along >= -near && along <= length + near;
        inside.then_some(ph + (qh - ph) * along / length)
    }

    /// Crossings of the rim by an edge of another feature: which end, place, and heights of this and of the edge.
    fn rim_crossings(&self, edge: &Edge) -> [Option<Crossing>; 2] {
        let Edge { ends: [p, q], way: [dx, dy], .. } = *edge;
        let (Some([h0, g1, g2]), Some((center, radius))) = (self.slope, self.disc) else {
            return [None; 2];
        };
        let (cx, cy) = (p[0] - center[0], p[1] - center[1]);
        // ‖c + t d‖ = radius, measured on the cap.
        let (dh, ch) = (g1 * dx + g2 * dy, g1 * cx + g2 * cy);
        let a = dx * dx + dy * dy + dh * dh;
        let b = cx * dx + cy * dy + ch * dh;
        let c = cx * cx + cy * cy + ch * ch - radius * radius;
        // a t² + 2 b t + c = 0 has its roots at the two crossings.
        let root = b * b - a * c;
        if a == 0.0 || root <= 0.0 {
            return [None; 2];
        }
        [(0, -root.sqrt()), (1, root.sqrt())].map(|(name, root)| {
            let t = (root - b) / a;
            let (x, y) = (p[0] + t * dx, p[1] + t * dy);
            let heights = [h0 + g1 * x + g2 * y, p[2] + t * (q[2] - p[2])];
            (0.0..=1.0).contains(&t).then_some((name, [x, y], heights))
        })
    }
}

/// Length on a sloped face of a step in the plane below it.
fn length_on([g1, g2]: [f64; 2], [x, y]: [f64; 2]) -> f64 {
    let h = g1 * x + g2 * y;
    (x * x + y * y + h * h).sqrt()
}

/// Length in the plane; `hypot` guards against overflow, which costs more than the rest of a test.
#[inline]
fn length([x, y]: [f64; 2]) -> f64 {
    (x * x + y * y).sqrt()
}

/// Height of a capsule's surface over a point of its axis, which goes on by `ahead` in the plane and by `gain` in height
/// to its upper end. [m]
// A surface point straight above has its foot on the axis by r·gain/ahead farther up. While that is on the segment, the
// height is r/cos of the slope.
pub(super) fn rise(radius: f64, ahead: f64, gain: f64) -> f64 {
    let sloped = length([ahead, gain]);
    if gain <= 0.0 {
        radius
    } else if ahead * sloped >= radius * gain {
        radius * sloped / ahead
    } else {
        // The half-ball at the end.
        gain + (radius * radius - ahead * ahead).sqrt()
    }
}

/// Crossing of two edges in the plane, and their heights there.
fn crossing(a: &Edge, b: &Edge) -> Option<([f64; 2], [f64; 2])> {
    let Edge { ends: [p, q], way: [ax, ay], .. } = a;
    let Edge { ends: [r, s], way: [bx, by], .. } = b;
    let denominator = ax * by - ay * bx;
    // Nearly parallel edges cross anywhere: their corners over the other feature stand for the overlap.
    if denominator.abs() <= 1e-9 * (a.length * b.length) {
        return None;
    }
    let (cx, cy) = (r[0] - p[0], r[1] - p[1]);
    // p + t a = r + u b, with both t and u from 0 to 1; most edges do not cross, and are not divided for.
    let (along_a, along_b) = (cx * by - cy * bx, cx * ay - cy * ax);
    let is_within =
        |part: f64| (0.0..=denominator.abs()).contains(&(part * 1.0_f64.copysign(denominator)));
    if !is_within(along_a) || !is_within(along_b) {
        return None;
    }
    let (t, u) = (along_a / denominator, along_b / denominator);
    let heights = [p[2] + t * (q[2] - p[2]), r[2] + u * (s[2] - r[2])];
    Some(([p[0] + t * ax, p[1] + t * ay], heights))
}

/// The corner of a triangle A that a feature names.
pub(super) fn corner_of_a(feature: u64) -> Option<usize> {
    let corner = (feature >> 40 == CORNER_OF_A >> 40).then_some(feature & 0xff)?;
    usize::try_from(corner).ok()
}

/// The edge of a triangle A, from corner k to k + 1, whose crossing a feature names.
pub(super) fn crossed_edge_of_a(feature: u64) -> Option<usize> {
    let ends = (feature >> 40 == CROSSING >> 40).then_some(feature >> 20 & 0xf_ffff)?;
    match (ends >> 10, ends & 0x3ff) {
        (0, 1) => Some(0),
        (1, 2) => Some(1),
        (0, 2) => Some(2),
        _ => None,
    }
}

pub(super) fn between(p: Vector3, feature: u64, gap: f64) -> ContactPoint {
    ContactPoint { feature, position: p, gap }
}
