//! The part of a core's surface that looks in a given direction: a face, a side line or a point.

use karakuri_spatial::{Pose, Vector3};

use super::{Core, Posed};
use crate::solid::Solid;

/// Most corners of a feature. A round cap becomes this many points of its rim.
pub(crate) const MAX_CORNERS: usize = 16;
/// Tilt below which the deepest point of a rim has no direction. [rad]
const FLAT: f64 = 1e-5;
/// Tilt up to which a side's own normal stands for the direction. [rad]
const ALONG_SIDE: f64 = 1e-3;

/// A corner and its name on the shape.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Corner {
    pub(crate) id: u32,
    /// In world axes. [m] (3)
    pub(crate) p: Vector3,
}

/// One corner is a point, two are a segment, more are a convex polygon in order.
#[derive(Debug, Clone)]
pub(crate) struct Feature {
    corners: [Corner; MAX_CORNERS],
    len: usize,
    /// Exact outward normal of a face, or of a side that the direction is square to. (3)
    pub(crate) normal: Option<Vector3>,
}

impl Feature {
    fn new(normal: Option<Vector3>) -> Self {
        let nowhere = Corner { id: u32::MAX, p: Vector3::zeros() };
        Self { corners: [nowhere; MAX_CORNERS], len: 0, normal }
    }

    fn push(&mut self, id: u32, p: Vector3) {
        if let Some(corner) = self.corners.get_mut(self.len) {
            *corner = Corner { id, p };
            self.len += 1;
        }
    }

    #[inline]
    pub(crate) fn corners(&self) -> &[Corner] {
        &self.corners[..self.len]
    }

    #[inline]
    pub(crate) fn is_face(&self) -> bool {
        self.len > 2
    }

    /// The feature of `placed` towards the unit vector `d`, in world axes.
    pub(crate) fn of(placed: &Posed, d: &Vector3) -> Self {
        match &placed.core {
            Core::Triangle(corners) => Self::of_triangle(corners, d),
            Core::Shape(shape) => {
                let X = &placed.pose;
                let d_local = X.rotation.tr_mul(d);
                match shape {
                    Solid::Box { half_extents } => Self::of_box(half_extents, X, &d_local),
                    Solid::Capsule { half_length, .. } => {
                        Self::of_segment(*half_length, X, &d_local)
                    }
                    Solid::Cylinder { radius, half_length } => {
                        Self::of_cylinder(*radius, *half_length, X, &d_local)
                    }
                    Solid::Hull(hull) => {
                        let (normal, corners) = hull.support_face(&d_local);
                        let mut feature = Self::new(Some(X.transform_vector(&normal)));
                        // A face with more corners than there is room for loses some, evenly.
                        let stride = corners.len().div_ceil(MAX_CORNERS);
                        for &i in corners.iter().step_by(stride) {
                            feature.push(i, X.transform_point(&hull.vertices()[i as usize]));
                        }
                        feature
                    }
                    Solid::Sphere { .. } | Solid::HalfSpace | Solid::Triangles => {
                        let mut feature = Self::new(None);
                        feature.push(0, X.translation);
                        feature
                    }
                }
            }
        }
    }

    fn of_triangle(corners: &[Vector3; 3], d: &Vector3) -> Self {
        let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0])).try_normalize(0.0);
        let mut feature = Self::new(normal.map(|n| if n.dot(d) < 0.0 { -n } else { n }));
        for (id, p) in (0u32..).zip(corners) {
            feature.push(id, *p);
        }
        feature
    }

    /// The face that looks most along `d`. A corner's id has a bit for each positive coordinate.
    pub(super) fn of_box(half: &Vector3, X: &Pose, d: &Vector3) -> Self {
        let i = d.iamax();
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let side = 1.0_f64.copysign(d[i]);
        let mut feature = Self::new(Some(X.rotation.column(i) * side));
        for (sj, sk) in [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)] {
            let mut p = Vector3::zeros();
            (p[i], p[j], p[k]) = (side * half[i], sj * half[j], sk * half[k]);
            let id = (0u32..3).zip(p.iter()).map(|(bit, x)| u32::from(*x > 0.0) << bit).sum();
            feature.push(id, X.transform_point(&p));
        }
        feature
    }

    fn of_segment(half_length: f64, X: &Pose, d: &Vector3) -> Self {
        let radial = Vector3::new(d.x, d.y, 0.0).try_normalize(0.0);
        let square = d.z.abs() < ALONG_SIDE;
        let mut feature = Self::new(radial.filter(|_| square).map(|r| X.transform_vector(&r)));
        feature.push(0, X.transform_point(&Vector3::new(0.0, 0.0, -half_length)));
        feature.push(1, X.transform_point(&Vector3::new(0.0, 0.0, half_length)));
        feature
    }

    /// A cap, starting at the rim's point deepest along `d`, or the side's line.
    fn of_cylinder(radius: f64, half_length: f64, X: &Pose, d: &Vector3) -> Self {
        let across = d.x.hypot(d.y);
        if d.z.abs() < 0.5 {
            let (x, y) = (radius * d.x / across, radius * d.y / across);
            let square = d.z.abs() < ALONG_SIDE;
            let radial = Vector3::new(d.x / across, d.y / across, 0.0);
            let mut feature = Self::new(square.then(|| X.transform_vector(&radial)));
            feature.push(0, X.transform_point(&Vector3::new(x, y, -half_length)));
            feature.push(1, X.transform_point(&Vector3::new(x, y, half_length)));
            return feature;
        }
        let side = 1.0_f64.copysign(d.z);
        let start = if across > FLAT { d.y.atan2(d.x) } else { 0.0 };
        let mut feature = Self::new(Some(X.rotation.column(2) * side));
        for id in 0..16u32 {
            let angle = start + core::f64::consts::TAU * f64::from(id) / 16.0;
            let rim = Vector3::new(radius * angle.cos(), radius * angle.sin(), side * half_length);
            feature.push(2 + id, X.transform_point(&rim));
        }
        feature
    }
}
