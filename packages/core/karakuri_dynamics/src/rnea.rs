//! Inverse dynamics by the recursive Newton-Euler algorithm: `τ = M v̇ + c(q, v) − Σ Jᵀ F_ext`.
//!
//! `F_i = I_i A_i + V_i ×* I_i V_i` with Newton and Euler taken at each body's centre of mass; then the joint
//! wrenches add up towards the root, `F_p += F_i`, `τ_k = S_k · F_i`. World axes about O throughout.
//! [Featherstone 2008, §5.3, Table 5.1]
//!
//! Limits: rigid bodies only. Armature, damping and friction of the joints are not in here; add
//! `armature · v̇ + damping · v + …` to the result where they are needed.

use karakuri_model::{BodyId, Model};
use karakuri_spatial::{Force, Vector3};

use crate::{Data, forward_kinematics, update_accelerations, update_velocities};

/// Generalized efforts that give the accelerations `vdot`. [N·m or N] (nv)
///
/// `external`: wrench on every body at its frame's origin, in world axes, or empty. [N·m; N] (n bodies)
#[doc(alias = "inverse dynamics")]
pub fn rnea<'a>(
    model: &Model,
    data: &'a mut Data,
    q: &[f64],
    v: &[f64],
    vdot: &[f64],
    external: &[Force],
) -> &'a [f64] {
    forward_kinematics(model, data, q);
    update_velocities(model, data, v);
    rnea_at_velocity(model, data, v, vdot, external)
}

/// As [`rnea`], at the position and velocity of the last `forward_kinematics` and `update_velocities`.
pub fn rnea_at_velocity<'a>(
    model: &Model,
    data: &'a mut Data,
    v: &[f64],
    vdot: &[f64],
    external: &[Force],
) -> &'a [f64] {
    update_accelerations(model, data, v, vdot);
    for i in 0..model.bodies.len() {
        data.joint_force[i] = body_force(model, data, i);
    }
    collect_efforts(model, data, external);
    &data.effort
}

/// Subtracts the part of a wrench on a body from the efforts of the last `rnea`: `τ −= Jᵀ F`. The wrench is about the
/// reference point O, in world axes.
pub fn take_off_wrench(data: &mut Data, body: BodyId, F_O: &Force) {
    let Data { effort, subspace, topology, .. } = data;
    // Only the joints between the body and the root bear the wrench: the cost is the body's depth.
    for k in topology.chain(topology.last_dof[body.0]) {
        effort[k] -= subspace[k].dot(F_O);
    }
}

/// Coriolis, centrifugal and gravity efforts `c(q, v)`. [N·m or N] (nv)
#[doc(alias = "nonlinear effects")]
pub fn bias<'a>(model: &Model, data: &'a mut Data, q: &[f64], v: &[f64]) -> &'a [f64] {
    forward_kinematics(model, data, q);
    update_velocities(model, data, v);
    bias_at_velocity(model, data, v, &[])
}

/// As [`rnea_at_velocity`] with `v̇ = 0`.
pub(crate) fn bias_at_velocity<'a>(
    model: &Model,
    data: &'a mut Data,
    v: &[f64],
    external: &[Force],
) -> &'a [f64] {
    // Taken out, so that it can be read while the rest of the workspace is written.
    let zeros = std::mem::take(&mut data.zeros);
    rnea_at_velocity(model, data, v, &zeros, external);
    data.zeros = zeros;
    &data.effort
}

/// Efforts that hold the robot still against gravity. [N·m or N] (nv)
pub fn gravity_effort<'a>(model: &Model, data: &'a mut Data, q: &[f64]) -> &'a [f64] {
    forward_kinematics(model, data, q);
    // With v = v̇ = 0 nothing but the weight is left of Newton-Euler: no sweep from the root is needed.
    for (i, body) in model.bodies.iter().enumerate() {
        // −m g at the centre of mass bears the weight.
        let force = data.gravity * -body.inertia.mass;
        data.joint_force[i] = Force::new(data.com[i].cross(&force), force);
    }
    collect_efforts(model, data, &[]);
    &data.effort
}

/// Wrench about O that moves body `i` as it moves, gravity included.
#[inline]
fn body_force(model: &Model, data: &Data, i: usize) -> Force {
    let inertia = &model.bodies[i].inertia;
    let (V, A, c) = (&data.velocity[i], &data.acceleration[i], &data.com[i]);
    let R = &data.pose_in_world[i].rotation;
    // Newton's equation at the centre of mass: f = m (a − g) with the classical acceleration a there.
    let v_com = V.linear + V.angular.cross(c);
    let a_com = A.linear + A.angular.cross(c) + V.angular.cross(&v_com);
    // Gravity enters here and not as an acceleration −g of the base, so `data.acceleration` is what an observer sees.
    let force = (a_com - data.gravity) * inertia.mass;
    // Euler's equation in the body's axes, where the inertia is constant.
    let (w, alpha): (Vector3, Vector3) = (R.tr_mul(&V.angular), R.tr_mul(&A.angular));
    let moment = R * (inertia.about_com * alpha + w.cross(&(inertia.about_com * w)));
    Force::new(moment + c.cross(&force), force)
}

/// Takes the external wrenches off the body wrenches and adds all up towards the root.
fn collect_efforts(model: &Model, data: &mut Data, external: &[Force]) {
    for (i, F) in external.iter().enumerate() {
        // F_i ← F_i − F_ext, moved from the body's origin to O.
        let p_OB = data.pose_in_world[i].translation - data.origin;
        data.joint_force[i] -= Force::new(F.moment + p_OB.cross(&F.force), F.force);
    }
    for (i, body) in model.bodies.iter().enumerate().rev() {
        // τ_k = S_k · F_i, then F_p ← F_p + F_i.
        let F = data.joint_force[i];
        for k in data.topology.dofs(i) {
            data.effort[k] = data.subspace[k].dot(&F);
        }
        if let Some(p) = body.parent {
            data.joint_force[p.0] += F;
        }
    }
}
