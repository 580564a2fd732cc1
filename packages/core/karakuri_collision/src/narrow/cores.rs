//! Closest points of two convex cores, by parry's GJK and, where they overlap, EPA.

use karakuri_spatial::Vector3;
use parry3d_f64::math::{Pose as ParryPose, Vector};
use parry3d_f64::query::gjk::{self, CsoPoint, GJKResult};
use parry3d_f64::shape::SupportMap;

use super::{Closest, Narrow, Posed};
use crate::convert;

impl SupportMap for Posed<'_> {
    fn local_support_point(&self, dir: Vector) -> Vector {
        convert::vector(&self.support(&convert::from_vector(dir)))
    }
}

impl Narrow {
    /// `None` if the cores are farther apart than `reach`.
    pub(super) fn closest(&mut self, A: &Posed, B: &Posed, reach: f64) -> Option<Closest> {
        // Both supports are in one frame already.
        let same = ParryPose::IDENTITY;
        let towards = (B.center() - A.center()).try_normalize(0.0).unwrap_or_else(Vector3::x);
        self.simplex.reset(CsoPoint::from_shapes(&same, A, B, convert::vector(&towards)));
        let found = match gjk::closest_points(&same, A, B, reach, true, &mut self.simplex) {
            GJKResult::ClosestPoints(a, b, n) => Some((a, b, n)),
            GJKResult::NoIntersection(_) => return None,
            GJKResult::Intersection | GJKResult::Proximity(_) => {
                self.epa.closest_points(&same, A, B, &self.simplex)
            }
        };
        let closest = found.map(|(a, b, n)| Closest {
            normal: convert::from_vector(n),
            points: [convert::from_vector(a), convert::from_vector(b)],
        });
        let sound = |c: &Closest| (c.normal.norm_squared() - 1.0).abs() < 1e-6;
        // Degenerate overlaps (coincident or flat cores) have no unique answer: along the line of centres.
        Some(closest.filter(sound).unwrap_or_else(|| Closest {
            normal: towards,
            points: [A.support(&towards), B.support(&-towards)],
        }))
    }
}
