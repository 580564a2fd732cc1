//! A half-space and anything: the normal is the plane's, every corner near the plane is a candidate.

use karakuri_spatial::{Pose, Vector3};

use super::clip::Patch;
use super::feature::Feature;
use super::{Core, Posed, Write};
use crate::solid::Solid;

/// `sign` is 1 if the half-space is shape A, −1 if it is B.
pub(super) fn collide(plane: &Pose, other: &Posed, prediction: f64, sign: f64, write: &mut Write) {
    let n: Vector3 = plane.rotation.column(2).into();
    let mut patch = Patch::new(n * sign, [0.0; 2], prediction);
    let mut add = |id: u32, p: &Vector3| {
        let gap = n.dot(&(p - plane.translation)) - other.margin;
        // The middle lies half the gap from the surface point `p − margin n`.
        patch.add(u64::from(id), p - n * (other.margin + 0.5 * gap), gap);
    };
    if let Core::Shape(Solid::Hull(hull)) = other.core {
        for (id, p) in (0u32..).zip(hull.vertices()) {
            add(id, &other.pose.transform_point(p));
        }
    } else {
        for corner in Feature::of(other, &-n).corners() {
            add(corner.id, &corner.p);
        }
    }
    patch.reduce();
    write(n * sign, &patch);
}
