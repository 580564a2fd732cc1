//! The part of a core's surface that looks in a given direction: a face, a side line or a point.
//!
//! A round cap has no corners: sixteen points of its rim stand for them, one of which follows the direction. They are
//! fixed to the cap, and turn along it only as far as the nearest must to be within [`RIM_SAG`] of the deepest point:
//! so they move continuously, and not at all on a cap that lies flat, whatever the noise of its tilt. On a rim that rolls the
//! deepest point itself is one of them: a point beside it has a velocity along the normal.

use core::f64::consts::TAU;

use karakuri_spatial::{Pose, Vector3};

use super::posed::{Core, Posed};
use crate::solid::Solid;

/// Number of points of a rim.
const RIM_POINTS: u32 = 16;
/// Depth by which the nearest rim point may miss the deepest. [m]
const RIM_SAG: f64 = 1e-9;
/// Turn from one contact to the next, over the angle of [`RIM_SAG`], beyond which a rim rolls: its point is then the deepest.
const ROLLS: f64 = 4.0;
/// Cosine from the axis within which a cylinder shows its cap.
const SHOWS_CAP: f64 = 0.5;
/// Name of the first rim point; below are the ends of side lines.
const FIRST_OF_RIM: u32 = 2;

/// A corner and its name on the shape.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Corner {
    pub(crate) id: u32,
    /// Position in world axes. [m] (3)
    pub(crate) p: Vector3,
}

/// A round cap.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Disc {
    /// Centre in world axes. [m] (3)
    pub(crate) center: Vector3,
    /// Radius of the cap. [m]
    pub(crate) radius: f64,
}

/// Feature of a core: one corner is a point, two are a segment, more are a convex polygon in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Feature {
    corners: Vec<Corner>,
    /// Outward normal of a face. (3)
    pub(crate) normal: Option<Vector3>,
    /// The face, if it is round; the corners are points of its rim.
    pub(crate) disc: Option<Disc>,
    /// Angle of the rim's first point about the cylinder's axis; NaN without a rim. [rad]
    pub(crate) rim: f64,
}

impl Feature {
    fn clear(&mut self) {
        self.corners.clear();
        (self.normal, self.disc, self.rim) = (None, None, f64::NAN);
    }

    fn push(&mut self, id: u32, p: Vector3) {
        self.corners.push(Corner { id, p });
    }

    #[inline]
    pub(crate) fn corners(&self) -> &[Corner] {
        &self.corners
    }

    /// Becomes the feature of `posed` towards the unit vector `d`, in world axes.
    pub(crate) fn set(&mut self, posed: &Posed, d: &Vector3) {
        self.clear();
        let X = &posed.pose;
        match &posed.core {
            Core::Triangle(corners) => self.set_triangle(corners, d),
            Core::Shape(shape) => {
                let d = X.rotation.tr_mul(d);
                match shape {
                    Solid::Box { half_extents } => self.set_box(half_extents, X, &d),
                    Solid::Capsule { half_length, .. } => {
                        self.push(0, X.transform_point(&Vector3::new(0.0, 0.0, -half_length)));
                        self.push(1, X.transform_point(&Vector3::new(0.0, 0.0, *half_length)));
                    }
                    Solid::Cylinder { radius, half_length } => {
                        if d.z.abs() < SHOWS_CAP {
                            self.set_side(*radius, *half_length, X, &d);
                        } else {
                            self.set_cap(*radius, *half_length, X, &d, posed.rim);
                        }
                    }
                    Solid::Hull(hull) => {
                        let (normal, corners) = hull.support_face(&d);
                        self.normal = Some(X.transform_vector(&normal));
                        for &i in corners {
                            self.push(i, X.transform_point(&hull.vertices()[i as usize]));
                        }
                    }
                    Solid::Ellipsoid { .. } => self.push(0, X.transform_point(&shape.support(&d))),
                    Solid::Sphere { .. } | Solid::HalfSpace | Solid::Triangles(_) => {
                        self.push(0, X.translation);
                    }
                }
            }
        }
    }

    fn set_triangle(&mut self, corners: &[Vector3; 3], d: &Vector3) {
        let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0])).try_normalize(0.0);
        // Either side: `Face::admissible` decides from where a triangle is touched.
        self.normal = normal.map(|n| if n.dot(d) < 0.0 { -n } else { n });
        for (id, p) in (0u32..).zip(corners) {
            self.push(id, *p);
        }
    }

    /// The face that looks most along `d`. A corner's id has a bit for each positive coordinate.
    fn set_box(&mut self, half: &Vector3, X: &Pose, d: &Vector3) {
        // The largest component of d in the box's axes: the face within 55° of it.
        let i = d.iamax();
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let side = 1.0_f64.copysign(d[i]);
        self.normal = Some(X.rotation.column(i) * side);
        for (sj, sk) in [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)] {
            let mut p = Vector3::zeros();
            (p[i], p[j], p[k]) = (side * half[i], sj * half[j], sk * half[k]);
            let id = (0u32..3).zip(p.iter()).map(|(bit, x)| u32::from(*x > 0.0) << bit).sum();
            self.push(id, X.transform_point(&p));
        }
    }

    fn set_side(&mut self, radius: f64, half_length: f64, X: &Pose, d: &Vector3) {
        // Off the axis by at least 60°, so the length is not small.
        let scale = radius / d.x.hypot(d.y);
        for (id, z) in [(0, -half_length), (1, half_length)] {
            self.push(id, X.transform_point(&Vector3::new(d.x * scale, d.y * scale, z)));
        }
    }

    fn set_cap(&mut self, radius: f64, half_length: f64, X: &Pose, d: &Vector3, before: f64) {
        let axis: Vector3 = X.rotation.column(2) * 1.0_f64.copysign(d.z);
        let center = X.translation + axis * half_length;
        (self.normal, self.disc) = (Some(axis), Some(Disc { center, radius }));
        let step = TAU / f64::from(RIM_POINTS);
        self.rim = follow(before, d.y.atan2(d.x), radius * d.x.hypot(d.y), step);
        // The points of the rim in the cap's axes, the first at the angle `rim`.
        let z = half_length.copysign(d.z);
        for i in 0..RIM_POINTS {
            let (sin, cos) = (self.rim + step * f64::from(i)).sin_cos();
            let p = X.transform_point(&Vector3::new(radius * cos, radius * sin, z));
            self.push(FIRST_OF_RIM + i, p);
        }
    }
}

/// Angle of a rim's first point, turned from `before` no more than it takes that one of the points, `step` apart, lies within
/// [`RIM_SAG`] of the rim's deepest point at the angle `deepest`, unless it rolls. `drop` is the height from the rim's middle
/// to it. [m]
fn follow(before: f64, deepest: f64, drop: f64, step: f64) -> f64 {
    if before.is_nan() {
        // A cap that lies flat has no deepest point: its rim starts anywhere, but always at the same place.
        return if drop > RIM_SAG { deepest } else { 0.0 };
    }
    // In steps of the points' distance, as all points are alike.
    let miss = deepest - before;
    // Angle from the nearest of the points to the deepest place.
    let miss = miss - (miss / step).round() * step;
    // drop (1 − cos α) = RIM_SAG for the angle α that the nearest point may miss.
    let allowed = if drop > RIM_SAG { (1.0 - RIM_SAG / drop).acos() } else { TAU };
    if miss.abs() > ROLLS * allowed {
        return before + miss;
    }
    // By the excess over the allowed angle only: on a cap at rest the points are fixed to the body, and keep their warm start.
    before + (miss - miss.clamp(-allowed, allowed))
}
