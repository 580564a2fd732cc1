//! Two boxes by separating axes: the face normals are exact, and win against crossed edges when nearly as good.
//! [Gottschalk, Lin, Manocha 1996; Ericson 2005, §4.4]

use karakuri_spatial::Vector3;

use super::clip::Patch;
use super::cores::settle;
use super::feature::Feature;
use super::posed::Posed;

/// Advantage, relative to the boxes' size, by which an axis must win against the last step's, or an earlier one. [-]
const PREFERENCE: f64 = 1e-5;

/// Difference of the gap of the patch's deepest point from that along the axis that is none. [m]
const SAME: f64 = 1e-9;

/// A box at its pose.
#[derive(Debug, Clone, Copy)]
pub(super) struct PosedBox<'a> {
    pub(super) posed: &'a Posed<'a>,
    /// Half of each edge. [m] (3)
    pub(super) half_extents: &'a Vector3,
}

/// Fills the patch with the contact of two boxes; `last` is the number of the axis that won in the last step.
///
/// False if the boxes are apart and nearest at corners, where no axis of theirs is the normal.
pub(super) fn collide(
    patch: &mut Patch,
    PosedBox { posed: A, half_extents: ha }: PosedBox,
    PosedBox { posed: B, half_extents: hb }: PosedBox,
    last: &mut u8,
    [fa, fb]: &mut [Feature; 2],
) -> bool {
    let (RA, RB) = (&A.pose.rotation, &B.pose.rotation);
    let p = B.pose.translation - A.pose.translation;
    // By the smaller box: beside a large one, an advantage in its size would hide the small one's edges.
    let preference = PREFERENCE * ha.amax().min(hb.amax());
    let prediction = patch.prediction();
    // A box reaches Σ |n·a_i| h_i along n. [Ericson 2005, §4.4]
    let reach = |n: &Vector3| RA.tr_mul(n).abs().dot(ha) + RB.tr_mul(n).abs().dot(hb);
    let mut best = (f64::NEG_INFINITY, Vector3::z(), 0);
    let mut number = 0;
    let mut consider = |axis: Vector3| {
        number += 1;
        // Separation |a·p| − r_A − r_B along the axis.
        let along = axis.dot(&p);
        let separation = along.abs() - reach(&axis);
        let score = if number == *last { separation + preference } else { separation };
        // Later axes must win by the preference: faces, whose normals are exact, come before crossed edges.
        if score > best.0 + preference {
            best = (score, if along < 0.0 { -axis } else { axis }, number);
        }
        // The first axis farther apart than the prediction ends the search: no other can bring the boxes nearer.
        separation <= prediction
    };
    for R in [RA, RB] {
        for i in 0..3 {
            if !consider(R.column(i).into()) {
                return true;
            }
        }
    }
    for i in 0..3 {
        for j in 0..3 {
            let edge = RA.column(i).cross(&RB.column(j));
            // Parallel edges say nothing that the faces have not said.
            let axis = edge.try_normalize(1e-6);
            // A face's axis, which cannot win again, stands in: `last` counts on the number of every axis.
            if !consider(axis.unwrap_or_else(|| RA.column(i).into())) {
                return true;
            }
        }
    }
    let (_, normal, winner) = best;
    *last = winner;
    patch.normal = normal;
    fa.set(A, &normal);
    fb.set(B, &-normal);
    patch.intersect(fa, fb);
    let gap = A.gap_along(B, &normal);
    if patch.points.iter().any(|p| p.gap <= gap + SAME) {
        return true;
    }
    // The patch lacks the deepest points: they are added where the boxes overlap.
    if gap < 0.0 {
        patch.include(&settle(A, B, normal, true).points, gap);
    }
    gap < 0.0
}
