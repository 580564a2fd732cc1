//! Pose, velocity, acceleration and Jacobian of any frame (URDF link).
//!
//! `V_WE = J_WE(q) v`, `A_WE = J_WE v̇ + J̇_WE v`. Angular part first, at the frame's origin, in world axes unless
//! the name says local. Accelerations of frames are the classical ones: the second time derivative of the origin's
//! place, not the linear part of a spatial acceleration. [Featherstone 2008, §2.10, §2.11]

use karakuri_model::{FrameId, Model};
use karakuri_spatial::{Motion, Pose, Vector3};
use nalgebra::Matrix6xX;

use crate::Data;
use crate::topology::WORLD;

/// `X_WE`. Needs `forward_kinematics`.
#[inline]
pub fn frame_pose(model: &Model, data: &Data, frame: FrameId) -> Pose {
    let frame = &model.frames[frame.0];
    match frame.body {
        Some(body) => data.pose_in_world[body.0] * frame.pose_in_body,
        None => frame.pose_in_body,
    }
}

/// `X_PE` of a link in its parent link P, as publishers of transforms need it; `None` for the root. Needs
/// `forward_kinematics`, unless the joint between them is fixed.
pub fn pose_in_parent_link(model: &Model, data: &Data, frame: FrameId) -> Option<Pose> {
    let parent = model.frames[frame.0].parent.as_ref()?;
    if parent.fixed {
        return Some(parent.pose_in_parent);
    }
    Some(frame_pose(model, data, parent.frame).inverse() * frame_pose(model, data, frame))
}

/// `p_OE` and the number of the body, if the frame moves.
#[inline]
fn place(model: &Model, data: &Data, frame: FrameId) -> Option<(usize, Vector3)> {
    let body = model.frames[frame.0].body?;
    Some((body.0, frame_pose(model, data, frame).translation - data.origin))
}

/// `V_WE` at the frame's origin, in world axes. Needs `update_velocities`.
pub fn frame_velocity(model: &Model, data: &Data, frame: FrameId) -> Motion {
    let Some((body, p_OE)) = place(model, data, frame) else { return Motion::default() };
    shifted(&data.velocity[body], &p_OE)
}

/// Angular and classical linear acceleration of the frame's origin, in world axes, without gravity. Needs
/// `update_accelerations`.
pub fn frame_acceleration(model: &Model, data: &Data, frame: FrameId) -> Motion {
    let Some((body, p_OE)) = place(model, data, frame) else { return Motion::default() };
    classical(&data.velocity[body], &data.acceleration[body], &p_OE)
}

/// `J̇_WE v`: the frame's acceleration while `v̇ = 0`, in world axes. Needs `update_velocities` at `v`. (6)
pub fn frame_jacobian_rate(model: &Model, data: &Data, frame: FrameId, v: &[f64]) -> Motion {
    let Some((body, p_OE)) = place(model, data, frame) else { return Motion::default() };
    let topology = &data.topology;
    let mut A = Motion::default();
    for k in topology.chain(topology.last_dof[body]) {
        // Ṡ_k = C × S_k + S°_k, with the velocity C in which the joint's axes stand still.
        let mut S_rate = data.carrier[topology.dof_body[k]].cross_motion(&data.subspace[k]);
        if topology.is_custom[k] {
            S_rate += data.subspace_rate[k];
        }
        A += S_rate * v[k];
    }
    classical(&data.velocity[body], &A, &p_OE)
}

/// `J_WE` at the frame's origin, in world axes, written to `jacobian`. Needs `forward_kinematics`. (6 × nv)
pub fn frame_jacobian(model: &Model, data: &Data, frame: FrameId, jacobian: &mut Matrix6xX<f64>) {
    jacobian.fill(0.0);
    let Some((body, p_OE)) = place(model, data, frame) else { return };
    let mut k = data.topology.last_dof[body];
    while k != WORLD {
        // Columns are velocities at O; the Jacobian's are those of E's origin.
        let S = shifted(&data.subspace[k], &p_OE);
        jacobian.set_column(k, &S.to_vector());
        k = data.topology.dof_parent[k];
    }
}

/// `J_WE` at the frame's origin, in the frame's own axes, written to `jacobian`. Needs `forward_kinematics`. (6 × nv)
pub fn frame_jacobian_local(
    model: &Model,
    data: &Data,
    frame: FrameId,
    jacobian: &mut Matrix6xX<f64>,
) {
    frame_jacobian(model, data, frame, jacobian);
    // Only the axes change: the columns are at E's origin already, so no lever arm enters.
    let R = frame_pose(model, data, frame).rotation;
    for mut column in jacobian.column_iter_mut() {
        let (w, v) =
            (column.fixed_rows::<3>(0).into_owned(), column.fixed_rows::<3>(3).into_owned());
        column.fixed_rows_mut::<3>(0).copy_from(&R.tr_mul(&w));
        column.fixed_rows_mut::<3>(3).copy_from(&R.tr_mul(&v));
    }
}

/// The motion of the same body at another point.
#[inline]
pub(crate) fn shifted(V: &Motion, p: &Vector3) -> Motion {
    Motion::new(V.angular, V.linear + V.angular.cross(p))
}

/// Classical acceleration at a point from the spatial velocity and acceleration about O.
#[inline]
fn classical(V: &Motion, A: &Motion, p_OE: &Vector3) -> Motion {
    // Classical from spatial acceleration: a_E = A + α × p, and ω × v_E on top.
    let at_E = shifted(A, p_OE);
    let v_E = V.linear + V.angular.cross(p_OE);
    Motion::new(at_E.angular, at_E.linear + V.angular.cross(&v_E))
}
