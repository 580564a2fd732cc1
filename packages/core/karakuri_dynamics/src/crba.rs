//! Mass matrix by the composite-rigid-body algorithm: `M_jk = S_j · I^C_k S_k` for j on the path from k to the
//! root, zero elsewhere. Inertias are in world axes about O, where composites are plain sums.
//! [Featherstone 2008, §6.2]
//!
//! Limits: rigid bodies only; the armature of the joints is not in here.

use karakuri_model::Model;
use nalgebra::DMatrix;

use crate::inertia::RigidInertia;
use crate::topology::WORLD;
use crate::{Data, forward_kinematics};

/// Mass matrix `M(q)`, symmetric. (nv × nv)
#[doc(alias = "joint-space inertia matrix")]
pub fn crba<'a>(model: &Model, data: &'a mut Data, q: &[f64]) -> &'a DMatrix<f64> {
    forward_kinematics(model, data, q);
    crba_at_position(model, data)
}

/// As [`crba`], at the position of the last `forward_kinematics`.
pub fn crba_at_position<'a>(model: &Model, data: &'a mut Data) -> &'a DMatrix<f64> {
    update_composites(model, data);
    let Data { mass_matrix: M, topology, composite, subspace, .. } = data;
    let nv = model.nv;
    // Column-major, as nalgebra stores it: M_jk is at j + k·nv.
    let M = M.as_mut_slice();
    for k in 0..nv {
        // F = I^C_k S_k, then M_jk = S_j · F for every j from k to the root.
        let F = composite[topology.dof_body[k]].mul(&subspace[k]);
        let mut j = k;
        // The base is on every path to the root; its six entries need no products, see below.
        while j != WORLD && j >= topology.n_base {
            let entry = subspace[j].dot(&F);
            M[j + k * nv] = entry;
            M[k + j * nv] = entry;
            j = topology.dof_parent[j];
        }
        if topology.n_base > 0 {
            // S_j of the base are unit vectors: the products are the components of F.
            let [f, n] = [&F.force, &F.moment];
            for (j, entry) in [f.x, f.y, f.z, n.x, n.y, n.z].into_iter().enumerate() {
                M[j + k * nv] = entry;
                M[k + j * nv] = entry;
            }
        }
    }
    &data.mass_matrix
}

/// Inertia about O of each body alone.
pub(crate) fn update_inertias(model: &Model, data: &mut Data) {
    for (i, body) in model.bodies.iter().enumerate() {
        data.composite[i] = RigidInertia::of_body(body, &data.pose_in_world[i], &data.com[i]);
    }
}

/// Inertia about O of each body with its subtree.
pub(crate) fn update_composites(model: &Model, data: &mut Data) {
    update_inertias(model, data);
    for (i, body) in model.bodies.iter().enumerate().rev() {
        // I^C_p ← I^C_p + I^C_i: about one common point composites are plain sums.
        if let Some(p) = body.parent {
            let whole = data.composite[i];
            data.composite[p.0].add(&whole);
        }
    }
}
