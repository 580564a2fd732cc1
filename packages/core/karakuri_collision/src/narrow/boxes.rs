//! Two boxes by separating axes: the face normals are exact, and win against crossed edges when nearly as good.
//! [Gottschalk, Lin, Manocha 1996; Ericson 2005, §4.4]

use karakuri_spatial::Vector3;

use super::clip::Patch;
use super::feature::Feature;
use super::{Posed, Write};

/// How much better (relative to the boxes' size) an axis must be to win against an earlier one.
const PREFERENCE: f64 = 1e-5;

/// The boxes with their half extents.
pub(super) fn collide(
    (A, ha): (&Posed, &Vector3),
    (B, hb): (&Posed, &Vector3),
    prediction: f64,
    write: &mut Write,
) {
    let (RA, RB) = (&A.pose.rotation, &B.pose.rotation);
    let p = B.pose.translation - A.pose.translation;
    let preference = PREFERENCE * ha.amax().min(hb.amax());
    let reach = |n: &Vector3| RA.tr_mul(n).abs().dot(ha) + RB.tr_mul(n).abs().dot(hb);
    let mut best = (f64::NEG_INFINITY, Vector3::z());
    let mut consider = |axis: Vector3| {
        let along = axis.dot(&p);
        let separation = along.abs() - reach(&axis);
        if separation > best.0 + preference {
            best = (separation, if along < 0.0 { -axis } else { axis });
        }
        separation <= prediction
    };
    for R in [RA, RB] {
        for i in 0..3 {
            if !consider(R.column(i).into()) {
                return;
            }
        }
    }
    for i in 0..3 {
        for j in 0..3 {
            let edge = RA.column(i).cross(&RB.column(j));
            // Parallel edges say nothing that the faces have not said.
            if let Some(axis) = edge.try_normalize(1e-6)
                && !consider(axis)
            {
                return;
            }
        }
    }
    let (separation, normal) = best;
    let mut patch = Patch::new(normal, [0.0; 2], prediction);
    patch.intersect(
        &Feature::of_box(ha, &A.pose, &RA.tr_mul(&normal)),
        &Feature::of_box(hb, &B.pose, &-RB.tr_mul(&normal)),
    );
    if separation < 0.0 && patch.is_empty() {
        patch.include(&[A.support(&normal), B.support(&-normal)]);
    }
    patch.reduce();
    write(normal, &patch);
}
