//! Two boxes by separating axes: the face normals are exact, and win against crossed edges when nearly as good.
//! [Gottschalk, Lin, Manocha 1996; Ericson 2005, §4.4]

use karakuri_spatial::{Matrix3, Vector3};

use super::clip::Patch;
use super::cores::settle;
use super::feature::Feature;
use super::posed::Posed;

/// Advantage, relative to the boxes' size, by which an axis must win against the last step's, or an earlier one. [-]
const PREFERENCE: f64 = 1e-5;

/// Difference of the gap of the patch's deepest point from that along the axis that is none. [m]
const SAME: f64 = 1e-9;

/// Sine of the angle up to which two edges are parallel. [-]
const PARALLEL: f64 = 1e-6;

/// The axis of the largest separation.
struct Best {
    /// Separation with the advantage of the last step's axis. [m]
    score: f64,
    /// From 1: faces of A, faces of B, edges of A crossed with those of B.
    number: u8,
    /// Way from A to B along the axis, whatever its length.
    along: f64,
}

impl Best {
    /// The axis in the world, from A to B. (3)
    fn normal(&self, RA: &Matrix3, RB: &Matrix3) -> Vector3 {
        let axis = match usize::from(self.number) {
            face @ 1..=3 => RA.column(face - 1).into_owned(),
            face @ 4..=6 => RB.column(face - 4).into_owned(),
            edges => {
                let (i, j) = ((edges - 7) / 3, (edges - 7) % 3);
                RA.column(i).cross(&RB.column(j)).normalize()
            }
        };
        if self.along < 0.0 { -axis } else { axis }
    }
}

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
    // All separations follow from the axes of B and the way to it, in axes of A. [Gottschalk, Lin, Manocha 1996]
    let (R, pA, pB) = (RA.tr_mul(RB), RA.tr_mul(&p), RB.tr_mul(&p));
    let abs_R = R.abs();
    // By the smaller box: beside a large one, an advantage in its size would hide the small one's edges.
    let preference = PREFERENCE * ha.amax().min(hb.amax());
    let prediction = patch.prediction();
    let mut best = Best { score: f64::NEG_INFINITY, number: 1, along: 0.0 };
    let mut number = 0;
    let mut consider = |separation: f64, along: f64| {
        number += 1;
        let score = if number == *last { separation + preference } else { separation };
        // Later axes must win by the preference: faces, whose normals are exact, come before crossed edges.
        if score > best.score + preference {
            best = Best { score, number, along };
        }
        // The first axis farther apart than the prediction ends the search: no other can bring the boxes nearer.
        separation <= prediction
    };
    // A box reaches Σ |n·a_i| h_i along n; the separation is |n·p| − r_A − r_B. [Ericson 2005, §4.4]
    let (rb, ra) = (abs_R * hb, abs_R.tr_mul(ha));
    for i in 0..3 {
        if !consider(pA[i].abs() - ha[i] - rb[i], pA[i]) {
            return true;
        }
    }
    for j in 0..3 {
        if !consider(pB[j].abs() - ra[j] - hb[j], pB[j]) {
            return true;
        }
    }
    for i in 0..3 {
        let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
        for j in 0..3 {
            let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
            // n = a_i × b_j, which in axes of A has the components −b_j2 and b_j1 beside a_i.
            let length = (R[(i1, j)] * R[(i1, j)] + R[(i2, j)] * R[(i2, j)]).sqrt();
            let along = R[(i1, j)] * pA[i2] - R[(i2, j)] * pA[i1];
            let reach_a = ha[i1] * abs_R[(i2, j)] + ha[i2] * abs_R[(i1, j)];
            let reach_b = hb[j1] * abs_R[(i, j2)] + hb[j2] * abs_R[(i, j1)];
            // Parallel edges say nothing that the faces have not said.
            let is_axis = length > PARALLEL;
            let separation = if is_axis {
                (along.abs() - reach_a - reach_b) / length
            } else {
                f64::NEG_INFINITY
            };
            if !consider(separation, along) {
                return true;
            }
        }
    }
    *last = best.number;
    let normal = best.normal(RA, RB);
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
