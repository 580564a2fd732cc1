//! Where the two ends of a loop are, how far apart, and how they part.
//!
//! The gap is the pose of B's joint frame seen from A's; its rate is taken at B's origin, so that a motion which both ends
//! share does not enter. Units: m, rad, s.

use karakuri_dynamics::Data;
use karakuri_model::{BodyId, LoopJoint, Model};
use karakuri_spatial::{Matrix3, Motion, Pose, Vector3};

/// The two ends of a loop, in the world.
#[derive(Debug, Clone)]
pub(super) struct Ends {
    /// Axes of the joint frame on A, and on B where rotations are locked. (3 × 3)
    pub(super) R_WA: Matrix3,
    R_WB: Matrix3,
    /// Origins of both. [m] (3)
    p_WA: Vector3,
    pub(super) p_WB: Vector3,
    /// Some rotation is locked.
    turns: bool,
}

impl Ends {
    /// At the position in `data`.
    pub(super) fn at(data: &Data, l: &LoopJoint) -> Self {
        let (X_WA, X_WB) = (pose(data, l.body_a), pose(data, l.body_b));
        let turns = l.locked[..3].contains(&true);
        Self {
            R_WA: X_WA.rotation * l.pose_in_a.rotation,
            R_WB: if turns { X_WB.rotation * l.pose_in_b.rotation } else { X_WB.rotation },
            p_WA: X_WA.transform_point(&l.pose_in_a.translation),
            p_WB: X_WB.transform_point(&l.pose_in_b.translation),
            turns,
        }
    }

    /// Rotation (its sine, where it is locked) and translation from A to B, in A's axes. (6)
    pub(super) fn gap(&self) -> [f64; 6] {
        let p = self.R_WA.tr_mul(&(self.p_WB - self.p_WA));
        let mut rotation = [0.0; 3];
        if self.turns {
            let R = self.R_WA.tr_mul(&self.R_WB);
            let half = |a: f64, b: f64| 0.5 * (a - b);
            rotation = [half(R.m32, R.m23), half(R.m13, R.m31), half(R.m21, R.m12)];
        }
        [rotation[0], rotation[1], rotation[2], p.x, p.y, p.z]
    }

    /// `Ġ v` of all six rows on a closed loop, in A's axes: the relative acceleration while `v̇ = 0`, seen from A. An
    /// acceleration in `data` that both ends share does not count. (6)
    pub(super) fn rate(&self, data: &Data, l: &LoopJoint) -> [f64; 6] {
        let p_OP = self.p_WB - data.origin;
        let at = |body: Option<BodyId>| {
            body.map_or((Motion::default(), Motion::default()), |body| {
                let V = moved(&data.velocity[body.0], &p_OP);
                let A = moved(&data.acceleration[body.0], &p_OP);
                // From the spatial to the classical acceleration of the point.
                (V, Motion::new(A.angular, A.linear + V.angular.cross(&V.linear)))
            })
        };
        let ((V_A, A_A), (V_B, A_B)) = (at(l.body_a), at(l.body_b));
        let (V, A) = (V_B - V_A, A_B - A_A);
        let w = V_A.angular;
        let angular = if self.turns {
            self.R_WA.tr_mul(&(A.angular - w.cross(&V.angular)))
        } else {
            Vector3::zeros()
        };
        let linear = self.R_WA.tr_mul(&(A.linear - w.cross(&V.linear) * 2.0));
        [angular.x, angular.y, angular.z, linear.x, linear.y, linear.z]
    }
}

/// Largest gap of the loop joints at the position in `data`, and whose. [m or rad]
pub(crate) fn largest_gap<'a>(model: &'a Model, data: &Data) -> (f64, &'a str) {
    let mut largest = (0.0, "");
    for l in &model.loops {
        for (gap, _) in Ends::at(data, l).gap().iter().zip(&l.locked).filter(|(_, locked)| **locked)
        {
            if gap.abs() > largest.0 || gap.is_nan() {
                largest = (gap.abs(), l.name.as_str());
            }
        }
    }
    largest
}

fn pose(data: &Data, body: Option<BodyId>) -> &Pose {
    body.map_or(&Pose::IDENTITY, |b| &data.pose_in_world[b.0])
}

fn moved(S: &Motion, p_OP: &Vector3) -> Motion {
    Motion::new(S.angular, S.linear + S.angular.cross(p_OP))
}

/// Visits the freedoms of the joints between two bodies: with +1 those that carry only `a`, with −1 those that carry
/// only `b`. What carries both moves neither against the other.
pub(crate) fn for_each_between(
    model: &Model,
    mut a: Option<BodyId>,
    mut b: Option<BodyId>,
    mut visit: impl FnMut(f64, usize),
) {
    // Parents come before children, so the later body is never the common one.
    while a != b {
        let (body, sign) = if a > b { (&mut a, 1.0) } else { (&mut b, -1.0) };
        let Some(BodyId(i)) = *body else { return };
        let joint = &model.joints[i];
        (joint.v_start..joint.v_start + joint.kind.nv()).for_each(|k| visit(sign, k));
        *body = model.bodies[i].parent;
    }
}
