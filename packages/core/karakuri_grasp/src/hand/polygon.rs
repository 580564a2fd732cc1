//! Convex polygons in space, and what faces that look along y have in common.
//!
//! Units: m; tool axes, the plane of the faces across y.

use karakuri_spatial::Vector3;

/// Area of faces below which they are a point or a line. [m²]
const LEAST_AREA: f64 = 1e-14;

/// Part of a convex polygon where `normal·p ≤ offset`, both in its axes. [m] [Sutherland 1974]
pub(super) fn clip(polygon: &[Vector3], normal: &Vector3, offset: f64) -> Vec<Vector3> {
    let mut part = Vec::with_capacity(polygon.len() + 1);
    for (i, to) in polygon.iter().enumerate() {
        let from = &polygon[(i + polygon.len() - 1) % polygon.len()];
        let (before, after) = (normal.dot(from) - offset, normal.dot(to) - offset);
        if (before > 0.0) != (after > 0.0) {
            part.push(from.lerp(to, before / (before - after)));
        }
        if after <= 0.0 {
            part.push(*to);
        }
    }
    part
}

/// Part of a convex polygon between two places along an axis. [m]
pub(super) fn between(polygon: &[Vector3], axis: &Vector3, [from, to]: [f64; 2]) -> Vec<Vector3> {
    clip(&clip(polygon, &-axis, -from), axis, to)
}

/// Polygons side by side, seen along y.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Patches(pub(super) Vec<Vec<Vector3>>);

impl Patches {
    /// What two sides have in common, seen along y.
    pub(super) fn common(&self, other: &Self) -> Self {
        let pairs = self.0.iter().flat_map(|a| other.0.iter().map(move |b| overlap(a, b)));
        Self(pairs.filter(|part| part.len() > 2).collect())
    }

    /// Part of each between two places along an axis. [m]
    pub(super) fn between(&self, axis: &Vector3, range: [f64; 2]) -> Self {
        let parts = self.0.iter().map(|polygon| between(polygon, axis, range));
        Self(parts.filter(|part| !part.is_empty()).collect())
    }

    /// Least and greatest place along an axis; the first is the greater where there are no patches. [m] (2)
    pub(super) fn range(&self, axis: &Vector3) -> [f64; 2] {
        let along = self.0.iter().flatten().map(|p| p.dot(axis));
        along.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(x), b.max(x)])
    }

    /// Middle of the area [m] (3), and the mean distance of its points from there: the effective radius under even pressure [m]; `None` where the
    /// area is that of a line or a point.
    pub(super) fn disc(&self) -> Option<(Vector3, f64)> {
        let (mut area, mut first) = (0.0, Vector3::zeros());
        for polygon in &self.0 {
            let sign = area_of(polygon).signum();
            for (p, q) in edges(polygon) {
                let part = 0.5 * sign * cross(p, q);
                area += part;
                first += (p + q) * (part / 3.0);
            }
        }
        if area < LEAST_AREA {
            return None;
        }
        let middle = first / area;
        let mut distance = 0.0;
        for polygon in &self.0 {
            let sign = area_of(polygon).signum();
            distance += sign
                * edges(polygon).map(|(p, q)| moment(&(p - middle), &(q - middle))).sum::<f64>();
        }
        Some((middle, distance / area))
    }

    /// Effective radius of what is symmetric about a point [m] (3): pressed on evenly, its resultant is there. [m]
    pub(super) fn radius_about(&self, point: &Vector3) -> f64 {
        let mirrored = self.0.iter().map(|side| side.iter().map(|p| point * 2.0 - p).collect());
        let symmetric = self.common(&Self(mirrored.collect()));
        symmetric.disc().map_or(0.0, |(_, radius)| radius)
    }

    /// The points of two sides that are nearest to each other, seen along y. [m] (3 each)
    pub(super) fn nearest(&self, other: &Self) -> Option<[Vector3; 2]> {
        let mut best: Option<(f64, [Vector3; 2])> = None;
        let mut keep = |a: Vector3, b: Vector3| {
            let distance = (a - b).norm();
            if best.is_none_or(|(least, _)| distance < least) {
                best = Some((distance, [a, b]));
            }
        };
        // Of two convex polygons apart, one of the two points is a corner.
        for (a, b) in self.0.iter().flat_map(|a| other.0.iter().map(move |b| (a, b))) {
            for (p, q) in edges(b) {
                for corner in a {
                    keep(*corner, on_edge(corner, p, q));
                }
            }
            for (p, q) in edges(a) {
                for corner in b {
                    keep(on_edge(corner, p, q), *corner);
                }
            }
        }
        best.map(|(_, pair)| pair)
    }
}

pub(super) fn edges(polygon: &[Vector3]) -> impl Iterator<Item = (&Vector3, &Vector3)> {
    polygon.iter().zip(polygon.iter().cycle().skip(1))
}

/// The product `p × q` about y.
fn cross(p: &Vector3, q: &Vector3) -> f64 {
    p.z * q.x - p.x * q.z
}

/// Area seen against y; positive where the corners go about y.
fn area_of(polygon: &[Vector3]) -> f64 {
    0.5 * edges(polygon).map(|(p, q)| cross(p, q)).sum::<f64>()
}

/// Integral of the distance from the origin over the triangle of the origin and an edge: with the edge at the distance h and the corners at
/// `s` along it, `[h s r + h³ asinh(s/h)]/6`.
fn moment(p: &Vector3, q: &Vector3) -> f64 {
    let edge = Vector3::new(q.x - p.x, 0.0, q.z - p.z);
    let Some(along) = edge.try_normalize(0.0) else { return 0.0 };
    let h = cross(p, &along);
    if h.abs() < 1e-12 {
        return 0.0;
    }
    let at = |corner: &Vector3| {
        let s = corner.x * along.x + corner.z * along.z;
        (h * s * s.hypot(h) + h.powi(3) * (s / h.abs()).asinh()) / 6.0
    };
    at(q) - at(p)
}

fn overlap(a: &[Vector3], b: &[Vector3]) -> Vec<Vector3> {
    let sign = area_of(b).signum();
    edges(b).fold(a.to_vec(), |part, (p, q)| {
        let edge = q - p;
        // Across the edge, away from the polygon.
        let outward = Vector3::new(-edge.z, 0.0, edge.x) * sign;
        clip(&part, &outward, outward.dot(p))
    })
}

/// Point of an edge that is nearest to a point. [m] (3)
pub(super) fn on_edge(point: &Vector3, p: &Vector3, q: &Vector3) -> Vector3 {
    let edge = q - p;
    let share = (point - p).dot(&edge) / edge.norm_squared().max(f64::MIN_POSITIVE);
    p + edge * share.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slip::effective_radius;

    fn rectangle([x, z]: [f64; 2], [a, b]: [f64; 2]) -> Vec<Vector3> {
        [[-0.5, -0.5], [-0.5, 0.5], [0.5, 0.5], [0.5, -0.5]]
            .map(|[i, j]| Vector3::new(x + i * a, 0.0, z + j * b))
            .to_vec()
    }

    #[test]
    fn a_rectangle_resists_turning_as_its_formula_says() {
        for size in [[0.02, 0.02], [0.028, 0.01], [0.03, 1e-4]] {
            let whole = Patches(vec![rectangle([0.3, -0.1], size)]);
            let (middle, radius) = whole.disc().unwrap();
            assert!((middle - Vector3::new(0.3, 0.0, -0.1)).norm() < 1e-12);
            let known = effective_radius(size[0], size[1]);
            assert!((radius - known).abs() < 1e-9 * known, "{radius} m, {known} m");
            // In two pieces, and with its corners the other way round.
            let half = [0.5 * size[0], size[1]];
            let pieces = [-0.25, 0.25]
                .map(|s| rectangle([0.3 + s * size[0], -0.1], half).into_iter().rev().collect());
            let (_, in_pieces) = Patches(pieces.to_vec()).disc().unwrap();
            assert!((in_pieces - known).abs() < 1e-9 * known, "{in_pieces} m, {known} m");
        }
    }

    #[test]
    fn sides_have_their_overlap_in_common() {
        let a = Patches(vec![rectangle([0.0, 0.0], [0.04, 0.02])]);
        let b = Patches(vec![rectangle([0.03, 0.005], [0.04, 0.02])]);
        let (middle, radius) = a.common(&b).disc().unwrap();
        assert!((middle - Vector3::new(0.015, 0.0, 0.0025)).norm() < 1e-15, "{middle}");
        assert!((radius - effective_radius(0.01, 0.015)).abs() < 1e-12);
        let beside = Patches(vec![rectangle([0.0, 0.05], [0.04, 0.02])]);
        assert_eq!(a.common(&beside).disc(), None);
        let [p, q] = a.nearest(&beside).unwrap();
        assert!(
            (p.z - 0.01).abs() < 1e-15 && (q.z - 0.04).abs() < 1e-15 && (p.x - q.x).abs() < 1e-15
        );
        let [from, to] = a.range(&Vector3::x());
        assert!((from + 0.02).abs() + (to - 0.02).abs() < 1e-15);
        // About a point 5 mm off the middle, 30 mm of the 40 are symmetric.
        let part = a.radius_about(&Vector3::new(0.005, 0.0, 0.0));
        assert!((part - effective_radius(0.03, 0.02)).abs() < 1e-12, "{part} m");
    }
}
