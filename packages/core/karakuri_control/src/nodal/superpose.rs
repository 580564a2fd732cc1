//! `{τ} = [L][T]{P}` by running sums: wrenches about one common point add up towards the root.
//!
//! In world axes about O, `[T]` and the turning back of `[L]` cancel, and the accumulated force `Q` of all that is
//! outboard is the running sum itself. [Isobe 2003]

use karakuri_dynamics::Data;
use karakuri_model::{BodyId, Model};
use karakuri_spatial::{Force, Vector3};

/// Efforts of all freedoms for the wrenches on the links, about O; the wrenches become those through the joints.
/// [N·m or N] (nv)
pub(crate) fn superpose(model: &Model, data: &Data, wrenches: &mut [Force], tau: &mut [f64]) {
    for (i, (body, joint)) in model.bodies.iter().zip(&model.joints).enumerate().rev() {
        let F = wrenches[i];
        let freedoms = joint.v_start..joint.v_start + joint.kind.nv();
        for (tau, S) in tau[freedoms.clone()].iter_mut().zip(&data.subspace[freedoms]) {
            *tau = S.dot(&F);
        }
        if let Some(parent) = body.parent {
            wrenches[parent.0] += F;
        }
    }
}

/// Hands `add` what a single wrench about O on a body asks of the freedoms that carry it.
pub(crate) fn add_single(
    model: &Model,
    data: &Data,
    mut body: Option<BodyId>,
    F: &Force,
    mut add: impl FnMut(usize, f64),
) {
    while let Some(b) = body {
        let joint = &model.joints[b.0];
        for k in joint.v_start..joint.v_start + joint.kind.nv() {
            add(k, data.subspace[k].dot(F));
        }
        body = model.bodies[b.0].parent;
    }
}

/// The wrench about O of a force at a point given in the world. [N·m; N]
pub(crate) fn at_point(data: &Data, p_WP: &Vector3, force: Vector3) -> Force {
    Force::new((p_WP - data.origin).cross(&force), force)
}
