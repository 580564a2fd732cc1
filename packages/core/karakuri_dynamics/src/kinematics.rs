//! Poses, joint axes, velocities and accelerations of all bodies.
//!
//! With the axes `S_k` of every degree of freedom in world axes about the common point O, the sweeps from root to leaf are
//!
//! ```text
//! V_i = V_p + Σ S_k v_k
//! A_i = A_p + Σ S_k v̇_k + Ṡ_k v_k,    Ṡ_k = C_i × S_k + S°_k
//! ```
//!
//! where `C_i` is the velocity in which the joint's axes stand still: the parent's, plus the joint's own
//! translation (a floating or planar joint turns about a point that it carries along itself). All coordinates of
//! a joint are measured in the axes of its parent side, so no axis turns with the joint; only the columns of a custom
//! joint have a rate `S°` of their own.
//! [Featherstone 2008, §2.11, §3.5, §5.3]

use karakuri_model::{Base, Body, Joint, JointKind, JointMotion, Model};
use karakuri_spatial::{Matrix3, Motion, Pose, UnitQuaternion, Vector3};
use nalgebra::Quaternion;

use crate::Data;

/// Poses of all bodies and the axes of all degrees of freedom at the position `q`. (nq)
///
/// Fills `origin`, `pose_in_world` and `subspace`.
pub fn forward_kinematics(model: &Model, data: &mut Data, q: &[f64]) {
    debug_assert_eq!(q.len(), model.nq, "length of q");
    let bodies = model.bodies.iter().zip(&model.joints).enumerate();
    place_bodies(model, data, q, bodies.map(|(i, (body, joint))| (i, body, joint)));
}

/// As [`forward_kinematics`] for some bodies, in ascending order, where nothing else moved since.
pub fn forward_kinematics_of(model: &Model, data: &mut Data, q: &[f64], bodies: &[usize]) {
    debug_assert_eq!(q.len(), model.nq, "length of q");
    let bodies = bodies.iter().map(|&i| (i, &model.bodies[i], &model.joints[i]));
    place_bodies(model, data, q, bodies);
}

/// Poses and axes of bodies, from their parents' poses.
fn place_bodies<'m>(
    model: &Model,
    data: &mut Data,
    q: &[f64],
    bodies: impl Iterator<Item = (usize, &'m Body, &'m Joint)>,
) {
    // Most parents are the body before: its pose is at hand, and need not come back through memory.
    let (mut last, mut before) = (usize::MAX, Pose::IDENTITY);
    for (i, body, joint) in bodies {
        let X_WP = match body.parent {
            Some(p) if p.0 == last => before,
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
        // O follows a floating base: its own columns are unit vectors there, and lever arms stay as short as the robot.
        if i == 0 && matches!(model.base, Base::Floating) {
            data.origin = X_WB.translation;
        }
        let p_OB = X_WB.translation - data.origin;
        if let JointKind::Custom(motion) = &joint.kind {
            set_custom_axes(motion.as_ref(), joint, &X_WJ.rotation, &p_OB, q, data);
        } else {
            set_axes(joint, &X_WJ.rotation, &X_WB.rotation, &p_OB, &mut data.subspace);
        }
        data.com[i] = X_WB.rotation * body.inertia.com + p_OB;
        data.pose_in_world[i] = X_WB;
        (last, before) = (i, X_WB);
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
        // The axis of a hinge or slide rides on the parent; a slide moves it along itself, which changes no column `[0; e]`.
        if let JointKind::Revolute { .. } | JointKind::Prismatic { .. } = joint.kind {
            data.carrier[i] = parent;
            data.velocity[i] = parent + data.subspace[k] * v[k];
        } else {
            (data.carrier[i], data.velocity[i]) = joint_velocity(model, i, data, v, &parent);
        }
    }
}

/// Carrier and velocity of a body on a joint with several degrees of freedom, or on a custom one.
#[inline(never)]
fn joint_velocity(
    model: &Model,
    i: usize,
    data: &mut Data,
    v: &[f64],
    parent: &Motion,
) -> (Motion, Motion) {
    let (joint, parent) = (&model.joints[i], *parent);
    // A joint carries the point about which it turns along with its translations: these belong to the carrier.
    let (k, S) = (joint.v_start, &data.subspace);
    match &joint.kind {
        JointKind::Revolute { .. } | JointKind::Prismatic { .. } => (parent, parent + S[k] * v[k]),
        JointKind::Spherical => (parent, parent + sum(&S[k..k + 3], &v[k..k + 3])),
        JointKind::Planar { .. } => {
            let carrier = parent + sum(&S[k..k + 2], &v[k..k + 2]);
            (carrier, carrier + S[k + 2] * v[k + 2])
        }
        JointKind::Floating => {
            let carrier = parent + sum(&S[k..k + 3], &v[k..k + 3]);
            (carrier, carrier + sum(&S[k + 3..k + 6], &v[k + 3..k + 6]))
        }
        JointKind::Custom(motion) => {
            (parent, parent + custom_velocity(motion.as_ref(), model, i, data, v))
        }
    }
}

/// Accelerations of all bodies for the generalized accelerations `vdot` (nv), at the velocity `v` of the last
/// `update_velocities`. Gravity is not part of them.
///
/// Fills `acceleration`.
pub fn update_accelerations(model: &Model, data: &mut Data, v: &[f64], vdot: &[f64]) {
    debug_assert_eq!(vdot.len(), model.nv, "length of vdot");
    if data.topology.has_custom() {
        return update_custom_accelerations(model, data, v, vdot, 0..model.bodies.len());
    }
    for i in 0..model.bodies.len() {
        accelerate_body(model, data, i, v, vdot);
    }
}

/// As [`update_accelerations`] for some bodies, in ascending order, where all others are up to date.
pub fn update_accelerations_of(
    model: &Model,
    data: &mut Data,
    v: &[f64],
    vdot: &[f64],
    bodies: &[usize],
) {
    debug_assert_eq!(vdot.len(), model.nv, "length of vdot");
    if data.topology.has_custom() {
        return update_custom_accelerations(model, data, v, vdot, bodies.iter().copied());
    }
    for &i in bodies {
        accelerate_body(model, data, i, v, vdot);
    }
}

/// Acceleration of one body, from its parent's; not on custom joints.
#[inline]
fn accelerate_body(model: &Model, data: &mut Data, i: usize, v: &[f64], vdot: &[f64]) {
    let parent = model.bodies[i].parent;
    let A = parent.map_or(Motion::default(), |p| data.acceleration[p.0]);
    // Σ Ṡ v = C × Σ S v, and Σ S v is the velocity of the body against its parent.
    let dofs = data.topology.dofs(i);
    // Most joints have one dof and are spared the fold: 12 100 -> 11 800 instructions for inverse dynamics of arm6.
    let (A, V_rel) = if dofs.len() == 1 {
        let (S, k) = (data.subspace[dofs.start], dofs.start);
        (A + S * vdot[k], S * v[k])
    } else {
        dofs.fold((A, Motion::default()), |(A, V_rel), k| {
            let S = data.subspace[k];
            (A + S * vdot[k], V_rel + S * v[k])
        })
    };
    data.acceleration[i] = A + data.carrier[i].cross_motion(&V_rel);
}

/// Accelerations of bodies with custom joints, whose columns have a rate of their own.
#[cold]
fn update_custom_accelerations(
    model: &Model,
    data: &mut Data,
    v: &[f64],
    vdot: &[f64],
    bodies: impl Iterator<Item = usize>,
) {
    for i in bodies {
        let mut A = model.bodies[i].parent.map_or(Motion::default(), |p| data.acceleration[p.0]);
        let mut V_rel = Motion::default();
        for k in data.topology.dofs(i) {
            let S = data.subspace[k];
            A += S * vdot[k] + data.subspace_rate[k] * v[k];
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
    match &joint.kind {
        JointKind::Revolute { axis } => Pose::new(turn(&R, axis, q[k]), X_WJ.translation),
        JointKind::Prismatic { axis } => Pose::new(R, X_WJ.translation + R * axis * q[k]),
        JointKind::Spherical => Pose::new(R * rotation(&q[k..k + 4]), X_WJ.translation),
        JointKind::Planar { x, y } => {
            // The shift is along axes that do not turn with the joint: rates are in the parent's axes, as of all joints.
            let shift = R * (x * q[k] + y * q[k + 1]);
            Pose::new(turn(&R, &x.cross(y), q[k + 2]), X_WJ.translation + shift)
        }
        JointKind::Custom(motion) => X_WJ * motion.pose(&q[k..k + motion.dof_kinds().len()]),
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
    // About a coordinate axis its own column stays, and the two others turn in their plane.
    let (x, y, z) = (R.column(0), R.column(1), R.column(2));
    if axis.x == 0.0 && axis.y == 0.0 {
        // A unit axis with two exact zeros has ±1 left: the sign of the turn, which the cosine does not see.
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
    // Unchecked: `integrate` and `normalize` keep quaternions unit, so that no joint needs a root here.
    let unit = UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z));
    *unit.to_rotation_matrix().matrix()
}

/// The columns `S` of a joint, in world axes about O.
#[inline]
fn set_axes(joint: &Joint, R_WJ: &Matrix3, R_WB: &Matrix3, p_OB: &Vector3, S: &mut [Motion]) {
    let k = joint.v_start;
    // Columns about O for a unit rate: [e; p × e] of a rotation, [0; e] of a translation.
    let turning = |axis: Vector3| Motion::new(axis, p_OB.cross(&axis));
    let sliding = |axis: Vector3| Motion::new(Vector3::zeros(), axis);
    let column = |j: usize| R_WJ.column(j).into_owned();
    match &joint.kind {
        // A hinge's own turn leaves its axis: R_WB e = R_WJ e.
        JointKind::Revolute { axis } => S[k] = turning(rotate_axis(R_WB, axis)),
        JointKind::Prismatic { axis } => S[k] = sliding(R_WJ * axis),
        JointKind::Spherical => {
            for j in 0..3 {
                S[k + j] = turning(column(j));
            }
        }
        JointKind::Planar { x, y } => {
            S[k] = sliding(R_WJ * x);
            S[k + 1] = sliding(R_WJ * y);
            S[k + 2] = turning(R_WJ * x.cross(y));
        }
        JointKind::Floating => {
            for j in 0..3 {
                S[k + j] = sliding(column(j));
                S[k + 3 + j] = turning(column(j));
            }
        }
        JointKind::Custom(_) => {}
    }
}

/// The columns of a custom joint, and its coordinates for the rates to come.
#[cold]
fn set_custom_axes(
    motion: &dyn JointMotion,
    joint: &Joint,
    R_WJ: &Matrix3,
    p_OB: &Vector3,
    q: &[f64],
    data: &mut Data,
) {
    let n = motion.dof_kinds().len();
    let q = &q[joint.q_start..joint.q_start + n];
    // Kept for the columns' own rates: `update_velocities` is given velocities alone.
    data.custom_position[joint.v_start..joint.v_start + n].copy_from_slice(q);
    let columns = &mut data.subspace[joint.v_start..joint.v_start + n];
    motion.subspace(q, columns);
    for S in columns {
        let angular = R_WJ * S.angular;
        // From the joint's axes at B's origin to world axes about O.
        *S = Motion::new(angular, R_WJ * S.linear + p_OB.cross(&angular));
    }
}

/// Velocity of a custom joint's body against its parent, and the columns' own rates: those of the
/// body's origin, seen from O, which the origin moves along.
#[cold]
fn custom_velocity(
    motion: &dyn JointMotion,
    model: &Model,
    i: usize,
    data: &mut Data,
    v: &[f64],
) -> Motion {
    let (body, joint) = (&model.bodies[i], &model.joints[i]);
    let R_WP = body.parent.map_or(Matrix3::identity(), |p| data.pose_in_world[p.0].rotation);
    let R_WJ = R_WP * joint.pose_in_parent.rotation;
    let p_OB = data.pose_in_world[i].translation - data.origin;
    let own = joint.v_start..joint.v_start + motion.dof_kinds().len();
    let v = &v[own.clone()];
    let V_rel = sum(&data.subspace[own.clone()], v);
    let v_origin = V_rel.linear + V_rel.angular.cross(&p_OB);
    let rates = &mut data.subspace_rate[own.clone()];
    motion.subspace_rate(&data.custom_position[own.clone()], v, rates);
    for (rate, S) in rates.iter_mut().zip(&data.subspace[own]) {
        // Rate of a column [ω; v + p × ω] whose p = p_OB moves with v_origin.
        let angular = R_WJ * rate.angular;
        let linear = R_WJ * rate.linear + v_origin.cross(&S.angular) + p_OB.cross(&angular);
        *rate = Motion::new(angular, linear);
    }
    V_rel
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
