//! Closest points of two convex cores: by GJK, and where they overlap by parry's EPA.

use karakuri_spatial::Vector3;
use parry3d_f64::math::{Pose as ParryPose, Vector};
use parry3d_f64::query::gjk::CsoPoint;
use parry3d_f64::shape::SupportMap;

use super::Narrow;
use super::gjk::{Distance, Simplex, distance};
use super::posed::{Closest, Core, Posed};
use crate::convert;
use crate::solid::Solid;

/// The core's point nearest to a half-space, and the point of the plane below it.
fn above(plane: &Posed, other: &Posed) -> Closest {
    let normal: Vector3 = plane.pose.rotation.column(2).into();
    let low = other.support(&-normal);
    let foot = low - normal * normal.dot(&(low - plane.pose.translation));
    Closest { normal, points: [foot, low] }
}

impl SupportMap for Posed<'_> {
    fn local_support_point(&self, dir: Vector) -> Vector {
        convert::vector(&self.support(&convert::from_vector(dir)))
    }
}

/// Difference of room within which normals are equally good; those of faces win. [m]
const SAME: f64 = 1e-12;

/// Room relative to the size below which the direction between the closest points is noise.
const TOUCHING: f64 = 1e-11;
/// Room relative to the size from which round cores show their direction.
const NEAR: f64 = 1e-4;
/// Room that [`settle`] makes between the cores to see the direction, relative to their size: at first, and at last on
/// ridges, from which one must look closely.
const CLEARANCE: [f64; 2] = [1e-2, 1e-6];
const MAX_SETTLING: usize = 32;

/// The normal that separates two cores most: `normal`, or one that the faces and axes of the cores suggest.
///
/// The distance of convex sets is the largest room between parallel planes, and an overlap the smallest one in which
/// they fit; so whatever the precision of `normal`, more room is nearer to the truth. Faces and straight sides have
/// exact candidates.
///
/// Also says whether the cores suggested it.
fn best_normal(A: &Posed, B: &Posed, closest: &Closest, overlap: bool) -> (Vector3, bool) {
    let normal = closest.normal;
    let mut best = (room(A, B, &normal), normal);
    // Until one is taken, a candidate as good as `normal` wins; then only a better one, so their order decides ties.
    let mut margin = -SAME;
    let mut consider = |n: Option<Vector3>| {
        let Some(n) = n else { return };
        let gap = room(A, B, &n);
        if gap > best.0 + margin {
            best = (gap, n);
            margin = SAME;
        }
    };
    // Faces first, then radii of round cores and crossed lines on both.
    consider(A.face_normal(&normal));
    consider(B.face_normal(&-normal).map(|n| -n));
    if A.is_round() || B.is_round() {
        let [a, b] = closest.points;
        // The distance to an axis grows along the radius: the radial direction through the other's nearest point.
        consider(A.radial(&b));
        consider(B.radial(&a).map(|n| -n));
        for along_a in A.axes(&a) {
            for along_b in B.axes(&b) {
                // Across both lines, as at crossed edges; nearly parallel lines have no such direction.
                let n = along_a.cross(&along_b).try_normalize(1e-6);
                consider(n);
                consider(n.map(|n| -n));
            }
        }
    }
    if overlap {
        // EPA may fail on thin overlaps; then the least overlap along an axis is near enough to the least of all.
        let middle = towards(A, B);
        for axis in A.axes(&B.center()).chain(B.axes(&A.center())).chain([middle]) {
            let n = axis.try_normalize(0.0);
            consider(n.map(|n| n * 1.0_f64.copysign(n.dot(&middle))));
        }
        consider(A.radial(&B.center()));
        consider(B.radial(&A.center()).map(|n| -n));
    }
    (best.1, margin > 0.0)
}

/// Room between the planes square to `n` that bound the cores; negative where they overlap. [m]
fn room(A: &Posed, B: &Posed, n: &Vector3) -> f64 {
    n.dot(&(B.support(&-n) - A.support(n)))
}

/// The size by which cores are judged that face each other along `n`. [m]
fn size(A: &Posed, B: &Posed, n: &Vector3) -> f64 {
    (A.support(n) - A.center()).norm() + (B.support(&-n) - B.center()).norm()
}

/// Normal of the most room near a given one, and the points of the cores there.
///
/// With B moved along `n` until the planes have some room between them, the direction of the cores' distance has no less
/// room than `n`, wherever B is; where it is `n` again, no normal nearby has more. Of an `exact` normal only what is
/// better by more than [`SAME`] takes the place.
pub(super) fn settle(A: &Posed, B: &Posed, start: Vector3, exact: bool) -> Closest {
    let size = size(A, B, &start);
    let mut best = (room(A, B, &start), start);
    let mut better = if exact { SAME } else { f64::EPSILON * size };
    let mut points = [A.support(&start), B.support(&-start)];
    let mut clearance = CLEARANCE[0];
    // With n the start, c its room after the shift by s, and n' the direction found: room(n') ≥ c − s n·n' ≥ c − s = room(n),
    // as the distance of the moved cores is their largest room.
    for _ in 0..MAX_SETTLING {
        // B is moved along n until the planes are apart by the clearance.
        let shift = best.1 * (clearance * size - best.0);
        // Less and less, since a ridge rounds off the direction seen from afar; not to nothing, where the direction is noise.
        clearance = (0.5 * clearance).max(CLEARANCE[1]);
        let mut simplex = Simplex::default();
        let moved = B.shifted(&shift);
        let Distance::Near([a, b]) = distance(A, &moved, &best.1, f64::INFINITY, &mut simplex)
        else {
            break;
        };
        points = [a, b - shift];
        // The direction of the distance there has at least the room of n.
        let Some(n) = (b - a).try_normalize(0.0) else { break };
        let found = room(A, B, &n);
        if found <= best.0 + better {
            break;
        }
        best = (found, n);
        better = f64::EPSILON * size;
    }
    Closest { normal: best.1, points }
}

/// Direction from the middle of A to the middle of B.
pub(crate) fn towards(A: &Posed, B: &Posed) -> Vector3 {
    (B.center() - A.center()).try_normalize(0.0).unwrap_or_else(Vector3::x)
}

/// Nearest points of two surfaces, or those of their least overlap.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Separation {
    /// Unit vector from A to B. (3)
    pub(crate) normal: Vector3,
    /// Points on the surfaces of A and B. [m] (3 each)
    pub(crate) points: [Vector3; 2],
    /// Distance along the normal; negative where they overlap. [m]
    pub(crate) gap: f64,
}

impl Narrow {
    /// Nearest points of the surfaces, if they are at most `reach` apart.
    pub(crate) fn separation(&mut self, A: &Posed, B: &Posed, reach: f64) -> Option<Separation> {
        let plane = |posed: &Posed| matches!(posed.core, Core::Shape(Solid::HalfSpace));
        let closest = if plane(A) {
            above(A, B)
        } else if plane(B) {
            let Closest { normal, points: [b, a] } = above(B, A);
            Closest { normal: -normal, points: [a, b] }
        } else {
            self.closest(A, B, reach + A.margin + B.margin)?
        };
        let Closest { normal, points: [a, b] } = closest;
        let points = [a + normal * A.margin, b - normal * B.margin];
        let gap = normal.dot(&(b - a)) - A.margin - B.margin;
        (gap <= reach).then_some(Separation { normal, points, gap })
    }

    /// Closest points of the cores; `None` if they are farther apart than `reach`.
    pub(super) fn closest(&mut self, A: &Posed, B: &Posed, reach: f64) -> Option<Closest> {
        let mut simplex = Simplex::default();
        let towards = towards(A, B);
        let size = size(A, B, &towards);
        let touching = |points| {
            // Of touching cores the direction is noise: it is read off the cores moved apart.
            let moved = B.shifted(&(towards * (CLEARANCE[0] * size)));
            let normal = match distance(A, &moved, &towards, f64::INFINITY, &mut Simplex::default())
            {
                Distance::Near([a, b]) => (b - a).try_normalize(0.0).unwrap_or(towards),
                Distance::Far | Distance::Overlap => towards,
            };
            Closest { normal, points }
        };
        let middles = [A.center(), B.center()];
        let (closest, overlap) = match distance(A, B, &towards, reach, &mut simplex) {
            Distance::Far => return None,
            Distance::Near(points) => {
                let between = points[1] - points[0];
                let apart = between.norm();
                // Well apart, the direction between the nearest points or an exact candidate is the normal.
                if apart > TOUCHING * size {
                    let closest = Closest { normal: between / apart, points };
                    let (normal, exact) = best_normal(A, B, &closest, false);
                    let clear = apart > NEAR * size || A.has_only_corners() && B.has_only_corners();
                    // Room equal to the distance certifies the normal: the one bounds the other from below (duality).
                    if (exact || clear) && room(A, B, &normal) > apart - SAME {
                        return Some(Closest { normal, points });
                    }
                    (closest, false)
                } else {
                    (touching(points), true)
                }
            }
            // Fewer corners: the origin is on the boundary to rounding, so there is no depth to expand.
            Distance::Overlap if simplex.corners().len() < 4 => (touching(middles), true),
            Distance::Overlap => (self.overlap(A, B, &simplex), true),
        };
        // Else the best candidate is improved to a fixed point.
        let (start, exact) = best_normal(A, B, &closest, overlap);
        Some(settle(A, B, start, exact))
    }

    fn overlap(&mut self, A: &Posed, B: &Posed, simplex: &Simplex) -> Closest {
        let mut corners = simplex
            .corners()
            .iter()
            .map(|c| CsoPoint::new(convert::vector(&c.a), convert::vector(&c.b)));
        if let Some(first) = corners.next() {
            self.simplex.reset(first);
        }
        for corner in corners {
            self.simplex.add_point(corner);
        }
        let found = self.epa.closest_points(&ParryPose::IDENTITY, A, B, &self.simplex);
        let closest = found.map(|(a, b, n)| Closest {
            normal: convert::from_vector(n),
            points: [convert::from_vector(a), convert::from_vector(b)],
        });
        // A degenerate polytope can leave parry's normal without unit length.
        let sound = |c: &Closest| (c.normal.norm_squared() - 1.0).abs() < 1e-6;
        // Degenerate overlaps (coincident or flat cores) have no unique answer: along the line of centres.
        closest.filter(sound).unwrap_or_else(|| {
            let normal = towards(A, B);
            Closest { normal, points: [A.support(&normal), B.support(&-normal)] }
        })
    }
}
