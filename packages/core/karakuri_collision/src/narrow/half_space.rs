//! A half-space and anything: the normal is the plane's, the corners of the face that looks down are the points.

use karakuri_spatial::{Pose, Vector3};

use super::clip::{Patch, rise};
use super::feature::Feature;
use super::posed::Posed;

/// Fills the patch with the points of a half-space and another core; returns the angle of the other's rim. `sign` is 1 if the
/// half-space is shape A, −1 if it is B.
pub(super) fn collide(
    patch: &mut Patch,
    feature: &mut Feature,
    plane: &Pose,
    other: &Posed,
    sign: f64,
) -> f64 {
    let n: Vector3 = plane.rotation.column(2).into();
    patch.normal = n * sign;
    let mut add = |id: u32, p: &Vector3| {
        let gap = n.dot(&(p - plane.translation)) - other.margin;
        // The middle lies half the gap from the surface point `p − margin n`.
        patch.add(u64::from(id), p - n * (other.margin + 0.5 * gap), gap);
    };
    feature.set(other, &-n);
    if let ([p, q], true) = (feature.corners(), other.margin > 0.0) {
        capsule(patch, plane, sign, [p.p, q.p], other.margin);
        return other.rim;
    }
    for corner in feature.corners() {
        add(corner.id, &corner.p);
    }
    // Lying on its side a cylinder shows no rim; the angle is kept for when it stands up again.
    if feature.rim.is_nan() { other.rim } else { feature.rim }
}

/// Adds the ends of a capsule's axis and the surface below them; a steep one touches with its lower end alone.
fn capsule(patch: &mut Patch, plane: &Pose, sign: f64, ends: [Vector3; 2], radius: f64) {
    let n: Vector3 = plane.rotation.column(2).into();
    let heights = ends.map(|p| n.dot(&(p - plane.translation)));
    let along = ends[1] - ends[0];
    let ahead = (along - n * n.dot(&along)).norm();
    patch.normal = n * sign;
    for (id, other) in [(0, 1), (1, 0)] {
        // Of a steep axis the plane sees the lower end only.
        let gain = heights[id] - heights[other];
        if gain > 0.0 && ahead * along.norm() <= radius * gain {
            continue;
        }
        let depth = rise(radius, ahead, gain);
        let gap = heights[id] - depth;
        patch.add(id as u64, ends[id] - n * (depth + 0.5 * gap), gap);
    }
}
