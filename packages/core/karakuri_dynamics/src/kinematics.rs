//! Poses, joint axes, velocities and accelerations of all bodies.
//!
//! With the axes `S_k` of every freedom in world axes about the common point O, the sweeps from root to leaf are
//!
//! ```text
//! V_i = V_p + Σ S_k v_k
//! A_i = A_p + Σ S_k v̇_k + Ṡ_k v_k,    Ṡ_k = C_i × S_k
//! ```
//!
//! where `C_i` is the velocity in which the joint's axes stand still: the parent's, plus the joint's own
//! translation (a floating or planar joint turns about a point that it carries along itself). All coordinates of
//! a joint are measured in the axes of its parent side, so no axis turns with the joint.
//! [Featherstone 2008, §2.11, §5.3]

use karakuri_model::{Base, Joint, JointKind, Model};
use karakuri_spatial::{Matrix3, Motion, Pose, UnitQuaternion, Vector3};
use nalgebra::Quaternion;

use crate::Data;

/// Poses of all bodies and the axes of all freedoms at the position `q`. (nq)
///
/// Fills `origin`, `pose_in_world` and `subspace`.
pub fn forward_kinematics(model: &Model, data: &mut Data, q: &[f64]) {
    debug_assert_eq!(q.len(), model.nq, "length of q");
    // Most parents are the body before: its pose is at hand, and need not come back through memory.
    let mut before = Pose::IDENTITY;
    for (i, (body, joint)) in model.bodies.iter().zip(&model.joints).enumerate() {
        let X_WP = match body.parent {
            Some(p) if p.0 + 1 == i => before,
            Some(p) => data.pose_in_world[p.0],
            None => Pose::IDENTITY,
        };
        let shift = joint.pose_in_parent.translation;
        let X_WJ = if data.topology.is_shift[i] {
            Pose::new(X_WP.rotation, X_WP.transform_point(&shift))
        } else {
            X_WP * joint.pose_in_parent
        };
        let X_WB = place(joint, X_WJ, q);
        if i == 0 && matches!(model.base, Base::Floating) {
            data.origin = X_WB.translation;
        }
        let p_OB = X_WB.translation - data.origin;
        set_axes(joint, &X_WJ.rotation, &X_WB.rotation, &p_OB, &mut data.subspace);
        data.com[i] = X_WB.rotation * body.inertia.com + p_OB;
        data.pose_in_world[i] = X_WB;
        before = X_WB;
    }
}

/// Velocities of all bodies for the rates `v` (nv), at the position of the last `forward_kinematics`.
///
/// Fills `velocity`.
pub fn update_velocities(model: &Model, data: &mut Data, v: &[f64]) {
    debug_assert_eq!(v.len(), model.nv, "length of v");
    for (i, (body, joint)) in model.bodies.iter().zip(&model.joints).enumerate() {
        let parent = body.parent.map_or(Motion::default(), |p| data.velocity[p.0]);
        let k = joint.v_start;
        let S = &data.subspace;
        (data.carrier[i], data.velocity[i]) = match joint.kind {
            JointKind::Revolute { .. } | JointKind::Prismatic { .. } => {
                (parent, parent + S[k] * v[k])
            }
            JointKind::Spherical => (parent, parent + sum(&S[k..k + 3], &v[k..k + 3])),
            JointKind::Planar { .. } => {
                let carrier = parent + sum(&S[k..k + 2], &v[k..k + 2]);
                (carrier, carrier + S[k + 2] * v[k + 2])
            }
            JointKind::Floating => {
                let carrier = parent + sum(&S[k..k + 3], &v[k..k + 3]);
                (carrier, carrier + sum(&S[k + 3..k + 6], &v[k + 3..k + 6]))
            }
        };
    }
}

/// Accelerations of all bodies for the generalized accelerations `vdot` (nv), at the velocity `v` of the last
/// `update_velocities`. Gravity is not part of them.
///
/// Fills `acceleration`.
pub fn update_accelerations(model: &Model, data: &mut Data, v: &[f64], vdot: &[f64]) {
    debug_assert_eq!(vdot.len(), model.nv, "length of vdot");
    for (i, body) in model.bodies.iter().enumerate() {
        let mut A = body.parent.map_or(Motion::default(), |p| data.acceleration[p.0]);
        // Σ Ṡ v = C × Σ S v, and Σ S v is the velocity of the body against its parent.
        let mut V_rel = Motion::default();
        for k in data.topology.dofs(i) {
            let S = data.subspace[k];
            A += S * vdot[k];
            V_rel += S * v[k];
        }
        data.acceleration[i] = A + data.carrier[i].cross_motion(&V_rel);
    }
}

#[inline]
fn sum(S: &[Motion], v: &[f64]) -> Motion {
    S[1..].iter().zip(&v[1..]).fold(S[0] * v[0], |sum, (S, v)| sum + *S * *v)
}

/// `X_WB` from the pose of the joint frame.
#[inline]
fn place(joint: &Joint, X_WJ: Pose, q: &[f64]) -> Pose {
    let R = X_WJ.rotation;
    let k = joint.q_start;
    match joint.kind {
        JointKind::Revolute { axis } => Pose::new(turn(&R, &axis, q[k]), X_WJ.translation),
        JointKind::Prismatic { axis } => Pose::new(R, X_WJ.translation + R * axis * q[k]),
        JointKind::Spherical => Pose::new(R * rotation(&q[k..k + 4]), X_WJ.translation),
        JointKind::Planar { x, y } => {
            let shift = R * (x * q[k] + y * q[k + 1]);
            Pose::new(turn(&R, &x.cross(&y), q[k + 2]), X_WJ.translation + shift)
        }
        JointKind::Floating => {
            let p = Vector3::new(q[k], q[k + 1], q[k + 2]);
            Pose::new(R * rotation(&q[k + 3..k + 7]), X_WJ.transform_point(&p))
        }
    }
}

/// `R · Rot(axis, angle)`; cheap along the coordinate axes.
#[inline]
fn turn(R: &Matrix3, axis: &Vector3, angle: f64) -> Matrix3 {
    let (sin, cos) = angle.sin_cos();
    let (x, y, z) = (R.column(0), R.column(1), R.column(2));
    if axis.x == 0.0 && axis.y == 0.0 {
        let s = sin * axis.z;
        Matrix3::from_columns(&[x * cos + y * s, y * cos - x * s, z.into()])
    } else if axis.x == 0.0 && axis.z == 0.0 {
        let s = sin * axis.y;
        Matrix3::from_columns(&[x * cos - z * s, y.into(), z * cos + x * s])
    } else if axis.y == 0.0 && axis.z == 0.0 {
        let s = sin * axis.x;
        Matrix3::from_columns(&[x.into(), y * cos + z * s, z * cos - y * s])
    } else {
        R * Pose::from_axis_angle(axis, angle).rotation
    }
}

/// Rotation matrix of a unit quaternion `x y z w`.
#[inline]
pub(crate) fn rotation(xyzw: &[f64]) -> Matrix3 {
    let [x, y, z, w] = [xyzw[0], xyzw[1], xyzw[2], xyzw[3]];
    let unit = UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z));
    *unit.to_rotation_matrix().matrix()
}

/// The columns `S` of a joint, in world axes about O.
#[inline]
fn set_axes(joint: &Joint, R_WJ: &Matrix3, R_WB: &Matrix3, p_OB: &Vector3, S: &mut [Motion]) {
    let k = joint.v_start;
    let turning = |axis: Vector3| Motion::new(axis, p_OB.cross(&axis));
    let sliding = |axis: Vector3| Motion::new(Vector3::zeros(), axis);
    let column = |j: usize| R_WJ.column(j).into_owned();
    match joint.kind {
        JointKind::Revolute { axis } => S[k] = turning(rotate_axis(R_WB, &axis)),
        JointKind::Prismatic { axis } => S[k] = sliding(R_WJ * axis),
        JointKind::Spherical => {
            for j in 0..3 {
                S[k + j] = turning(column(j));
            }
        }
        JointKind::Planar { x, y } => {
            S[k] = sliding(R_WJ * x);
            S[k + 1] = sliding(R_WJ * y);
            S[k + 2] = turning(R_WJ * x.cross(&y));
        }
        JointKind::Floating => {
            for j in 0..3 {
                S[k + j] = sliding(column(j));
                S[k + 3 + j] = turning(column(j));
            }
        }
    }
}

/// `R · axis`; a column of R along the coordinate axes.
#[inline]
fn rotate_axis(R: &Matrix3, axis: &Vector3) -> Vector3 {
    if axis.x == 0.0 && axis.y == 0.0 {
        R.column(2) * axis.z
    } else if axis.x == 0.0 && axis.z == 0.0 {
        R.column(1) * axis.y
    } else if axis.y == 0.0 && axis.z == 0.0 {
        R.column(0) * axis.x
    } else {
        R * axis
    }
}
