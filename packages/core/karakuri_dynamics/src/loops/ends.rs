//! The two joint frames of a loop: gap, constraint directions and convective acceleration.
//!
//! The gap is the pose of B's joint frame seen from A's. Its rate is taken at B's origin, so a motion that both ends
//! share does not enter. Units: m, rad, s. [Featherstone 2008, §8.2]

use karakuri_model::{BodyId, LoopJoint, Model};
use karakuri_spatial::{Force, Matrix3, Motion, Pose, Vector3};

use crate::Data;
use crate::frames::shifted;

use super::rows::{direction_rates, rotational_directions, rotational_gap};

/// The joint frames of a loop joint, in the world.
#[derive(Debug, Clone)]
pub struct LoopEnds {
    /// Axes of the joint frame on A. (3×3)
    pub R_WA: Matrix3,
    /// Axes of the joint frame on B where rotations are locked, otherwise of B. (3×3)
    R_WB: Matrix3,
    /// Origin of the joint frame on A. [m] (3)
    p_WA: Vector3,
    /// Origin of the joint frame on B. [m] (3)
    pub p_WB: Vector3,
    /// Whether each rotation is locked.
    locked: [bool; 3],
}

impl LoopEnds {
    /// Computes the frames at the position of the last `forward_kinematics`.
    pub fn at(data: &Data, l: &LoopJoint) -> Self {
        let (X_WA, X_WB) = (pose(data, l.body_a), pose(data, l.body_b));
        let locked = [l.locked[0], l.locked[1], l.locked[2]];
        let locks_rotation = locked.contains(&true);
        Self {
            R_WA: X_WA.rotation * l.pose_in_a.rotation,
            // Without locked rotations nobody reads these axes, and a product of matrices is spared.
            R_WB: if locks_rotation { X_WB.rotation * l.pose_in_b.rotation } else { X_WB.rotation },
            p_WA: X_WA.transform_point(&l.pose_in_a.translation),
            p_WB: X_WB.transform_point(&l.pose_in_b.translation),
            locked,
        }
    }

    /// Rotation and translation of B against A, in A's axes; zero on a closed loop. (6)
    ///
    /// That of [`relative_gap`](super::relative_gap): its derivative on a closed loop is the relative velocity in the locked
    /// directions, so Newton's method converges quadratically. [rad; m]
    pub fn gap(&self) -> [f64; 6] {
        // In A's axes, so that a common motion of both ends leaves the gap and a free direction of A stays free.
        let p = self.R_WA.tr_mul(&(self.p_WB - self.p_WA));
        let rotation = if self.locked.contains(&true) {
            rotational_gap(&self.R_WA.tr_mul(&self.R_WB), self.locked)
        } else {
            Vector3::zeros()
        };
        [rotation.x, rotation.y, rotation.z, p.x, p.y, p.z]
    }

    /// Wrench on B, about O and in world axes, of a unit multiplier of constraint direction `k`; A bears its opposite.
    ///
    /// Directions: rotations x y z, then translations x y z, along A's axes; one locked rotation about the axis that is normal to one of
    /// A and to one of B.
    pub fn unit_wrench(&self, k: usize, origin: &Vector3) -> Force {
        if k < 3 {
            Force::new(self.directions()[k], Vector3::zeros())
        } else {
            let e: Vector3 = self.R_WA.column(k - 3).into();
            // Both bodies' motion is taken at B's point: the gap is seen from A, which turns.
            Force::new((self.p_WB - origin).cross(&e), e)
        }
    }

    fn directions(&self) -> [Vector3; 3] {
        rotational_directions(&self.R_WA, &self.R_WB, self.locked)
    }

    /// `Ġ v` of all six directions on a closed loop, along A's axes: the relative acceleration while `v̇ = 0`, seen from A.
    ///
    /// Reads velocities and accelerations for `v̇ = 0` from `data`; an acceleration that both ends share cancels.
    /// [Featherstone 2008, §8.7]
    pub fn convective_acceleration(&self, data: &Data, l: &LoopJoint) -> [f64; 6] {
        let p_OP = self.p_WB - data.origin;
        let at = |body: Option<BodyId>| {
            body.map_or((Motion::default(), Motion::default()), |body| {
                let V = shifted(&data.velocity[body.0], &p_OP);
                let A = shifted(&data.acceleration[body.0], &p_OP);
                // From the spatial to the classical acceleration of the point.
                (V, Motion::new(A.angular, A.linear + V.angular.cross(&V.linear)))
            })
        };
        let ((V_A, A_A), (V_B, A_B)) = (at(l.body_a), at(l.body_b));
        let (V, A) = (V_B - V_A, A_B - A_A);
        // Seen from A, which turns with `w`: the Coriolis terms `w × ω` of the rotation and `2 w × v` of the translation.
        let w = V_A.angular;
        let angular = if self.locked.contains(&true) {
            let alpha = A.angular - w.cross(&V.angular);
            let directions = self.directions();
            let rates = direction_rates(&self.R_WA, &self.R_WB, self.locked, &V.angular);
            let along = |k: usize| directions[k].dot(&alpha) + rates[k].dot(&V.angular);
            Vector3::new(along(0), along(1), along(2))
        } else {
            Vector3::zeros()
        };
        let linear = self.R_WA.tr_mul(&(A.linear - w.cross(&V.linear) * 2.0));
        [angular.x, angular.y, angular.z, linear.x, linear.y, linear.z]
    }
}

/// Largest [`LoopEnds::gap`] of the loop joints at the position in `data`, and the name of its loop. [m or rad]
pub fn largest_gap<'a>(model: &'a Model, data: &Data) -> (f64, &'a str) {
    let mut largest = (0.0, "");
    for l in &model.loops {
        for (gap, _) in
            LoopEnds::at(data, l).gap().iter().zip(&l.locked).filter(|(_, locked)| **locked)
        {
            // NaN is above nothing and would go unseen; once it is here, nothing replaces it.
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
