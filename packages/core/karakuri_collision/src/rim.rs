//! Cylinders on planes: the contact points of round rims.
//!
//! parry cuts a cap to a square inscribed in its circle, and so gives a standing cylinder the wrong support. Here
//! each cap touches at the point of its rim that is lowest against the plane and at the two 120° from it; on its
//! side the cylinder touches at the lowest points of both rims.

use karakuri_spatial::{Pose, Vector3};

use crate::manifold::{ContactPoint, Manifold};

/// Below this sine of the tilt a cap counts as parallel to the plane, and its points keep to the body's axes.
const FLAT: f64 = 1e-9;

/// Adds the rim points of a cylinder above the plane through `plane` with unit `normal`. [m]
pub(crate) fn cylinder_on_plane(
    manifold: &mut Manifold,
    X_WC: &Pose,
    (radius, half_length): (f64, f64),
    (plane, normal): (&Vector3, &Vector3),
    prediction: f64,
) {
    let axis: Vector3 = X_WC.rotation.column(2).into();
    let downhill = axis * axis.dot(normal) - normal;
    let direction = downhill.try_normalize(FLAT).unwrap_or_else(|| X_WC.rotation.column(0).into());
    let across = axis.cross(&direction);
    let (sin, cos) = (core::f64::consts::TAU / 3.0).sin_cos();
    let rim = [direction, direction * cos + across * sin, direction * cos - across * sin];
    for (cap, side) in [-1.0, 1.0].into_iter().enumerate() {
        let center = X_WC.translation + axis * (side * half_length);
        for (i, direction) in rim.iter().enumerate() {
            let point = center + direction * radius;
            let gap = normal.dot(&(point - plane));
            if gap <= prediction {
                let feature = (cap * rim.len() + i) as u64;
                manifold.push(ContactPoint {
                    feature,
                    position: point - normal * (0.5 * gap),
                    gap,
                });
            }
        }
    }
}
