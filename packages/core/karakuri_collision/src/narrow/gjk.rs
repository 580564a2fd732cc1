//! Distance of two convex cores: Gilbert, Johnson, Keerthi (1988), to the precision of the numbers.
//!
//! The points of `A − B` form a convex set; its point `v` nearest to the origin is the distance. A simplex of at most
//! four support points closes in on it: `w = s(−v)` bounds the distance from below by `v·w/‖v‖`, and the search ends
//! where the bounds meet to 1e-13 (relative) or to round-off. The nearest point of a simplex goes by the Voronoi
//! regions of its parts [Ericson 2005, §5.1 and §9.5].

use karakuri_spatial::Vector3;

use super::posed::Posed;

/// Difference between the bounds of the distance, relative to it, at which the search ends. [-]
const RELATIVE: f64 = 1e-13;
/// Round-off relative to the largest coordinate.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// Distance between the bounds, relative to the size, at which a search that stands still has gone astray.
const STUCK: f64 = 1e-9;
const MAX_RESTARTS: usize = 3;
/// Most rounds: polyhedra end within twenty; round shapes at grazing angles take the most.
const MAX_ITERATIONS: usize = 128;

/// A point of `A − B` and the points that make it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Corner {
    pub(super) w: Vector3,
    pub(super) a: Vector3,
    pub(super) b: Vector3,
}

impl Corner {
    /// The point of `A − B` farthest along `d`.
    fn along(A: &Posed, B: &Posed, d: &Vector3) -> Self {
        let (a, b) = (A.support(d), B.support(&-d));
        Self { w: a - b, a, b }
    }
}

/// Support points, and the weights of their point nearest to the origin.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Simplex {
    corners: [Corner; 4],
    weights: [f64; 4],
    len: usize,
}

/// Result of the search.
#[derive(Debug, Clone, Copy)]
pub(super) enum Distance {
    /// The cores are farther apart than asked.
    Far,
    /// Nearest points on A and B, apart by more than round-off.
    Near([Vector3; 2]),
    /// The cores share a point.
    Overlap,
}

impl Simplex {
    pub(super) fn corners(&self) -> &[Corner] {
        &self.corners[..self.len]
    }

    fn mix(&self, part: impl Fn(&Corner) -> Vector3) -> Vector3 {
        self.corners().iter().zip(&self.weights).map(|(c, &x)| part(c) * x).sum()
    }

    /// Keeps the corners `of` with their weights.
    fn keep<const N: usize>(&mut self, of: [usize; N], weights: [f64; N]) {
        let corners = self.corners;
        self.len = N;
        for (i, (k, weight)) in of.into_iter().zip(weights).enumerate() {
            (self.corners[i], self.weights[i]) = (corners[k], weight);
        }
    }

    /// Reduces to the part that holds the point nearest to the origin; true if the origin is inside.
    fn reduce(&mut self) -> bool {
        match self.len {
            1 => self.keep([0], [1.0]),
            2 => self.reduce_segment([0, 1]),
            3 => self.reduce_triangle([0, 1, 2]),
            _ => return self.reduce_tetrahedron(),
        }
        false
    }

    fn reduce_segment(&mut self, [i, j]: [usize; 2]) {
        let (p, e) = (self.corners[i].w, self.corners[j].w - self.corners[i].w);
        let (along, length) = (-p.dot(&e), e.norm_squared());
        if along <= 0.0 {
            self.keep([i], [1.0]);
        } else if along >= length {
            self.keep([j], [1.0]);
        } else {
            let t = along / length;
            self.keep([i, j], [1.0 - t, t]);
        }
    }

    fn reduce_triangle(&mut self, [i, j, k]: [usize; 3]) {
        // Voronoi regions: the three corners, the three edges, else the inside with its barycentric weights.
        let [a, b, c] = [i, j, k].map(|n| self.corners[n].w);
        // Signs of d1 … d6 as in [Ericson 2005, §5.1], with the origin as the point.
        let (ab, ac) = (b - a, c - a);
        let (d1, d2) = (-ab.dot(&a), -ac.dot(&a));
        if d1 <= 0.0 && d2 <= 0.0 {
            return self.keep([i], [1.0]);
        }
        let (d3, d4) = (-ab.dot(&b), -ac.dot(&b));
        if d3 >= 0.0 && d4 <= d3 {
            return self.keep([j], [1.0]);
        }
        let (d5, d6) = (-ab.dot(&c), -ac.dot(&c));
        if d6 >= 0.0 && d5 <= d6 {
            return self.keep([k], [1.0]);
        }
        // Barycentric weights of the origin's foot in the plane, up to their sum.
        let normal = ab.cross(&ac);
        let [va, vb, vc] =
            [normal.dot(&b.cross(&c)), normal.dot(&c.cross(&a)), normal.dot(&a.cross(&b))];
        if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
            return self.reduce_segment([i, j]);
        }
        if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
            return self.reduce_segment([i, k]);
        }
        if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
            return self.reduce_segment([j, k]);
        }
        let sum = va + vb + vc;
        // The sine of the corner's angle below 1e-12: the normal and the weights are noise.
        let thin = normal.norm_squared() <= 1e-24 * ab.norm_squared() * ac.norm_squared();
        if thin || sum <= 0.0 || !sum.is_finite() {
            // Three points on a line.
            return self.nearest_of(&[[i, j], [i, k], [j, k]], Self::reduce_segment);
        }
        self.keep([i, j, k], [va / sum, vb / sum, vc / sum]);
    }

    /// Reduces a tetrahedron to its nearest face; true if the origin is inside.
    fn reduce_tetrahedron(&mut self) -> bool {
        let w = self.corners.map(|c| c.w);
        let faces = [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]];
        // Six times the volumes of the whole, and of what each face spans with the origin.
        let whole = (w[1] - w[0]).cross(&(w[2] - w[0])).dot(&(w[3] - w[0])).abs();
        // The four volumes add up to the whole if the origin is inside, and to more outside: no orientation is needed.
        let spanned = faces.map(|[i, j, k]| w[i].dot(&w[j].cross(&w[k])).abs());
        // A flat tetrahedron has no inside, whatever rounding says of its volumes.
        let size = (w[1] - w[0]).norm() * (w[2] - w[0]).norm() * (w[3] - w[0]).norm();
        let inside = whole > 1e-12 * size && spanned.iter().sum::<f64>() <= whole * (1.0 + 1e-9);
        if inside {
            self.weights = [0.25; 4];
            return true;
        }
        // All faces: on which side of a thin one the origin lies may be round-off.
        self.nearest_of(&faces, Self::reduce_triangle);
        false
    }

    /// The best of several parts.
    fn nearest_of<const N: usize>(
        &mut self,
        parts: &[[usize; N]],
        reduce: impl Fn(&mut Self, [usize; N]),
    ) {
        // Compared by the points that result, not by regions: rounding cannot pick a region without its distance.
        let mut best = (f64::INFINITY, *self);
        for &part in parts {
            let mut candidate = *self;
            reduce(&mut candidate, part);
            let distance = candidate.mix(|c| c.w).norm_squared();
            if distance < best.0 {
                best = (distance, candidate);
            }
        }
        *self = best.1;
    }
}

/// Distance of two cores, if it is at most `reach`; the search starts along the unit vector `towards` from A to B.
/// `simplex` is what it ended on.
pub(super) fn distance(
    A: &Posed,
    B: &Posed,
    towards: &Vector3,
    reach: f64,
    simplex: &mut Simplex,
) -> Distance {
    let first = Corner::along(A, B, towards);
    *simplex = Simplex { corners: [first; 4], weights: [1.0; 4], len: 1 };
    let mut v = first.w;
    let mut size = v.amax();
    let mut restarts = 0;
    let mut best = (f64::INFINITY, *simplex);
    for _ in 0..MAX_ITERATIONS {
        let length = v.norm();
        // The origin is within rounding of the simplex: there is no direction left.
        if length <= ROUNDING * size {
            return Distance::Overlap;
        }
        if length < best.0 {
            best = (length, *simplex);
        }
        // The support against v: the plane through it, square to v, has all of A − B on the far side.
        let corner = Corner::along(A, B, &(-v / length));
        // The distance is between v·w/‖v‖ and ‖v‖.
        let bound = v.dot(&corner.w) / length;
        size = size.max(corner.w.amax());
        if bound > reach {
            return Distance::Far;
        }
        if length - bound <= RELATIVE * length + ROUNDING * size {
            break;
        }
        // A support that the simplex has already cannot bring v nearer.
        let known = simplex.corners().iter().any(|c| c.w == corner.w);
        if !known {
            simplex.corners[simplex.len] = corner;
            simplex.len += 1;
            if simplex.reduce() {
                return Distance::Overlap;
            }
        }
        // The point of the new simplex nearest to the origin is the next v.
        let next = simplex.mix(|c| c.w);
        // The distance falls from round to round in exact arithmetic; where it does not, rounding has taken over.
        if !known && next.norm_squared() < v.norm_squared() {
            v = next;
        } else if length - bound > STUCK * size && restarts < MAX_RESTARTS {
            // A degenerate simplex misled the search: on from its last corner alone.
            restarts += 1;
            simplex.corners[0] = corner;
            simplex.keep([0], [1.0]);
            v = corner.w;
        } else {
            break;
        }
    }
    // The best seen, as the last round may have been the one led astray.
    *simplex = best.1;
    Distance::Near([simplex.mix(|c| c.a), simplex.mix(|c| c.b)])
}

#[cfg(test)]
mod tests {
    use karakuri_spatial::{Matrix3, Pose, UnitQuaternion};
    use proptest::prelude::*;

    use super::super::Narrow;
    use super::*;
    use crate::solid::Solid;

    fn any_solid() -> impl Strategy<Value = Solid> {
        prop_oneof![
            Just(Solid::Box { half_extents: Vector3::new(0.05, 0.04, 0.03) }),
            Just(Solid::Sphere { radius: 0.04 }),
            Just(Solid::Capsule { radius: 0.02, half_length: 0.05 }),
            Just(Solid::Cylinder { radius: 0.03, half_length: 0.05 }),
        ]
    }

    fn any_pose() -> impl Strategy<Value = Pose> {
        let three = |range: f64| prop::array::uniform3(-range..range);
        (three(0.1), three(3.0)).prop_map(|(p, r)| {
            Pose::from_quaternion(&UnitQuaternion::from_scaled_axis(r.into()), p.into())
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        /// The nearest points are as far apart as the planes through them that bound the cores.
        #[test]
        fn the_bounds_meet(a in any_solid(), b in any_solid(), X_WA in any_pose(), X_WB in any_pose(), small in -9.0..-1.0_f64) {
            let (mut A, mut B) = (Posed::new(&a, X_WA), Posed::new(&b, X_WB));
            (A.margin, B.margin) = (0.0, 0.0);
            let mut narrow = Narrow::default();
            for round in 0..2 {
                let closest = narrow.closest(&A, &B, f64::INFINITY).unwrap();
                let [p, q] = closest.points;
                let (apart, n) = ((q - p).norm(), closest.normal);
                let slack = apart - A.gap_along(&B, &n);
                if (q - p).dot(&n) <= 0.0 {
                    continue;
                }
                let precision = if A.is_round() || B.is_round() { 1e-7 } else { 1e-9 };
                prop_assert!(slack < precision + 2e-17 / apart, "{round}: {slack} of {apart}");
                // Closer, along the same normal.
                B.pose.translation -= n * (apart - 10.0_f64.powf(small));
            }
        }
    }

    /// On the side of a cylinder parry's EPA gives up; its points were 4 mm apart.
    #[test]
    #[expect(clippy::unreadable_literal, reason = "the place where it failed, to the last digit")]
    fn what_overlaps_is_not_said_to_be_apart() {
        let R_WA = Matrix3::new(
            -0.21516625139745776,
            0.45717362112518417,
            -0.862957568138117,
            0.5168866268049254,
            -0.696419050125145,
            -0.4978239866187816,
            -0.8285720845465361,
            -0.5531661475271942,
            -0.08646105447038371,
        );
        let p_WA = Vector3::new(0.0218904926539121, -0.020551424223465762, 0.004152711056993635);
        let n = Vector3::new(-0.4651432575976825, 0.7158640963282346, 0.5207497916462146);
        let p =
            Vector3::new(0.0424675982133596, 0.020795805774255546, 0.02320659189003548) + n * 5e-5;
        let (cylinder, probe) =
            (Solid::Cylinder { radius: 0.03, half_length: 0.05 }, Solid::Sphere { radius: 1e-6 });
        let A = Posed::new(&cylinder, Pose::new(R_WA, Vector3::zeros()));
        let B = Posed::new(&probe, Pose::from_translation(p - p_WA));
        let near = Narrow::default().separation(&A, &B, f64::INFINITY).unwrap();
        assert!((near.gap + 1e-6).abs() < 1e-9, "{near:?}");
    }
}
