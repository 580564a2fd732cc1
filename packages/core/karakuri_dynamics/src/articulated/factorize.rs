//! The leaf-to-root sweep that computes the articulated-body factor. [Featherstone 2008, §7.3, Table 7.1]

use karakuri_model::Model;

use super::{Articulated, DofFactor};
use crate::crba::update_inertias;
use crate::inertia::ArticulatedInertia;
use crate::topology::WORLD;
use crate::{Data, SingularInertia};

impl Articulated {
    /// Factorises at the position of the last `forward_kinematics` on `data`. `extra`: (nv), or empty.
    ///
    /// # Errors
    ///
    /// If a degree of freedom moves no inertia.
    pub fn factorize(
        &mut self,
        model: &Model,
        data: &mut Data,
        extra: &[f64],
    ) -> Result<(), SingularInertia> {
        update_inertias(model, data);
        // A tip's articulated inertia is its rigid one; the sweep adds to all others what the joints of their children leave.
        for (i, inertia) in self.inertia.iter_mut().enumerate() {
            *inertia = ArticulatedInertia::of_rigid(&data.composite[i]);
            // Kept with the factor: impulses come at bodies' origins, and may come when `data` is at another position.
            self.body_offset[i] = data.pose_in_world[i].translation - data.origin;
        }
        for (i, body) in model.bodies.iter().enumerate().rev() {
            let mut inertia = self.inertia[i];
            // The last dof of a joint is next to the body and is eliminated first; those before it move what it leaves.
            for k in self.topology.dofs(i).rev() {
                let S = data.subspace[k];
                // Those of a floating base, which is at O, are unit vectors.
                let U = if k < self.topology.n_base { inertia.column(k) } else { inertia.mul(&S) };
                // D = S · U + extra.
                let pivot = S.dot(&U) + extra.get(k).copied().unwrap_or(0.0);
                SingularInertia::check(k, pivot)?;
                let inverse_pivot = 1.0 / pivot;
                // I^A ← I^A − U D⁻¹ Uᵀ; at the root nobody needs it.
                if self.topology.dof_parent[k] != WORLD {
                    inertia.add_outer(-inverse_pivot, &U);
                }
                self.dofs[k] = DofFactor { S, U, inverse_pivot };
            }
            // I^A_p ← I^A_p + I^A: the inertia that the joint leaves moves with the parent.
            if let Some(p) = body.parent {
                self.inertia[p.0].add(&inertia);
            }
        }
        Ok(())
    }
}
