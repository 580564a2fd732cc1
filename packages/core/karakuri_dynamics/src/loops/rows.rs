//! Gaps and Jacobian of all loop joints and couplings, row by row.
//!
//! Rows: the locked directions of each loop joint, in the order of the model, then one row a coupling.

use karakuri_model::{BodyId, LoopJoint, Model};
use karakuri_spatial::{Matrix3, Motion, Pose, UnitQuaternion, Vector3};
use nalgebra::Rotation3;

use crate::Data;

/// Number of rows.
pub fn n_constraints(model: &Model) -> usize {
    let locked = |l: &LoopJoint| l.locked.iter().filter(|&&x| x).count();
    model.loops.iter().map(locked).sum::<usize>() + model.couplings.len()
}

/// Writes the gap of every row; returns their number. Needs `forward_kinematics` at `q`. [m or rad]
pub fn constraint_gaps(model: &Model, data: &Data, q: &[f64], gaps: &mut [f64]) -> usize {
    let mut row = 0;
    for joint in &model.loops {
        let (X_WA, X_WB) = joint_frames(joint, data);
        let gap = relative_gap(&X_WA, &X_WB, joint.locked);
        for (value, _) in gap.iter().zip(&joint.locked).filter(|(_, locked)| **locked) {
            gaps[row] = *value;
            row += 1;
        }
    }
    for c in &model.couplings {
        let (follower, leader) = (&model.joints[c.follower.0], &model.joints[c.leader.0]);
        gaps[row] = q[follower.q_start] - c.multiplier * q[leader.q_start] - c.offset;
        row += 1;
    }
    row
}

/// Writes the Jacobian `J` of the gaps on closed loops into a zeroed row-major matrix; returns the number of rows. Needs
/// `forward_kinematics`. (n × nv)
pub fn constraint_jacobian(model: &Model, data: &Data, jacobian: &mut [f64]) -> usize {
    let nv = model.nv;
    let mut row = 0;
    for joint in &model.loops {
        let (X_WA, X_WB) = joint_frames(joint, data);
        let p_OB = X_WB.translation - data.origin;
        let [rx, ry, rz, ..] = joint.locked;
        let turns = rotational_directions(&X_WA.rotation, &X_WB.rotation, [rx, ry, rz]);
        // Common ancestors of both bodies enter twice, with opposite signs.
        for (sign, body) in [(-1.0, joint.body_a), (1.0, joint.body_b)] {
            let Some(BodyId(body)) = body else { continue };
            for k in data.topology.chain(data.topology.last_dof[body]) {
                // Rates of the gaps in A's axes at B's origin; a motion of A counts with minus sign.
                let rates = locked_rates(&data.subspace[k], &p_OB, &X_WA.rotation, &turns);
                let locked = rates.iter().zip(&joint.locked).filter(|(_, locked)| **locked);
                for (i, (rate, _)) in locked.enumerate() {
                    jacobian[(row + i) * nv + k] += sign * rate;
                }
            }
        }
        row += joint.locked.iter().filter(|&&l| l).count();
    }
    for c in &model.couplings {
        let (follower, leader) = (&model.joints[c.follower.0], &model.joints[c.leader.0]);
        jacobian[row * nv + follower.v_start] = 1.0;
        jacobian[row * nv + leader.v_start] = -c.multiplier;
        row += 1;
    }
    row
}

/// Largest [`relative_gap`] of the loop joints at the position of the last `forward_kinematics`. [m or rad]
pub fn loop_gap(model: &Model, data: &Data) -> f64 {
    model.loops.iter().fold(0.0, |largest: f64, joint| {
        let (X_WA, X_WB) = joint_frames(joint, data);
        let gap = relative_gap(&X_WA, &X_WB, joint.locked);
        gap.iter().zip(&joint.locked).filter(|(_, l)| **l).fold(largest, |m, (g, _)| m.max(g.abs()))
    })
}

/// `X_WA` and `X_WB`: the joint frames of a loop joint on both bodies, in the world.
pub fn joint_frames(joint: &LoopJoint, data: &Data) -> (Pose, Pose) {
    let frame = |body: Option<BodyId>, pose: Pose| match body {
        Some(b) => data.pose_in_world[b.0] * pose,
        None => pose,
    };
    (frame(joint.body_a, joint.pose_in_a), frame(joint.body_b, joint.pose_in_b))
}

/// Rotation and translation of B against A in A's axes; zero in the locked directions of a closed joint. (6)
///
/// The rotation is that of `rotational_gap`. [rad; m]
pub fn relative_gap(X_WA: &Pose, X_WB: &Pose, locked: [bool; 6]) -> [f64; 6] {
    let X_AB = X_WA.inverse() * *X_WB;
    let rotation = rotational_gap(&X_AB.rotation, [locked[0], locked[1], locked[2]]);
    let p = X_AB.translation;
    [rotation.x, rotation.y, rotation.z, p.x, p.y, p.z]
}

/// Rotation `R` of B against A in the locked directions; zero where a joint is closed, whatever its free angle. (3)
///
/// Three locked rotations give the rotation vector, valid up to π; two the tilt `e × R e` of the free axis; one the angle
/// between an axis of A and one of B against 90°, as a universal joint needs. [rad]
pub(super) fn rotational_gap(R: &Matrix3, locked: [bool; 3]) -> Vector3 {
    match locked {
        // The logarithm: its rate on a closed joint is the relative angular velocity itself.
        [true, true, true] => {
            UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(*R))
                .scaled_axis()
        }
        // A hinge: the tilt of the free axis, e × R e.
        [false, true, true] => tilt(R, 0),
        [true, false, true] => tilt(R, 1),
        [true, true, false] => tilt(R, 2),
        // A universal joint: the angle between one axis of A and another of B, against 90°.
        // Signs as of the locked rotation itself: R_zy = sin ω_x for a turn about x alone.
        [true, false, false] => Vector3::new(R[(2, 1)], 0.0, 0.0),
        [false, true, false] => Vector3::new(0.0, R[(0, 2)], 0.0),
        [false, false, true] => Vector3::new(0.0, 0.0, R[(1, 0)]),
        [false, false, false] => Vector3::zeros(),
    }
}

/// World axes about which [`rotational_gap`] measures: on a closed joint its rates are the parts of the relative angular velocity along
/// them. A's axes, but for one locked rotation. (3 × 3)
pub(super) fn rotational_directions(
    R_WA: &Matrix3,
    R_WB: &Matrix3,
    locked: [bool; 3],
) -> [Vector3; 3] {
    let mut axes = [R_WA.column(0).into(), R_WA.column(1).into(), R_WA.column(2).into()];
    if let Some(k) = only(locked) {
        // g = a · b with a fixed to A and b to B, so ġ = a · (ω × b) = (b × a) · ω: an axis that turns with the free angles.
        let (a, b) = crossed(R_WA, R_WB, k);
        axes[k] = b.cross(&a);
    }
    axes
}

/// Rates of [`rotational_directions`] seen from A, for the angular velocity `omega` of B against A, all in world axes. (3 × 3)
pub(super) fn direction_rates(
    R_WA: &Matrix3,
    R_WB: &Matrix3,
    locked: [bool; 3],
    omega: &Vector3,
) -> [Vector3; 3] {
    let mut rates = [Vector3::zeros(); 3];
    if let Some(k) = only(locked) {
        let (a, b) = crossed(R_WA, R_WB, k);
        // Seen from A, a stands still and b turns with ω: the rate of b × a is (ω × b) × a.
        rates[k] = omega.cross(&b).cross(&a);
    }
    rates
}

/// The only locked rotation, if it is one.
fn only(locked: [bool; 3]) -> Option<usize> {
    let mut all = (0..3).filter(|&k| locked[k]);
    all.next().filter(|_| all.next().is_none())
}

/// The axes of A and of B that the one locked rotation `k` keeps at right angles: the axis before `k` and the one after it. (3 each)
fn crossed(R_WA: &Matrix3, R_WB: &Matrix3, k: usize) -> (Vector3, Vector3) {
    (R_WA.column((k + 2) % 3).into(), R_WB.column((k + 1) % 3).into())
}

fn tilt(R: &Matrix3, axis: usize) -> Vector3 {
    let mut e = Vector3::zeros();
    e[axis] = 1.0;
    // As long as the sine of the tilt; a turn of B about its own free axis leaves R e, and with it the gap.
    e.cross(&R.column(axis))
}

/// Rates of the six gaps for a unit rate of a degree of freedom that moves B alone: about `turns` (world axes), and along A's axes. (6)
#[inline]
fn locked_rates(S: &Motion, p_OB: &Vector3, R_WA: &Matrix3, turns: &[Vector3; 3]) -> [f64; 6] {
    let [x, y, z] = turns.map(|turn| turn.dot(&S.angular));
    let linear = R_WA.tr_mul(&(S.linear + S.angular.cross(p_OB)));
    [x, y, z, linear.x, linear.y, linear.z]
}
