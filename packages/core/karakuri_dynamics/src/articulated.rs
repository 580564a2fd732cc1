//! The articulated-body factor of the mass matrix: a factorisation in O(n) that can be applied again and again.
//!
//! Leaf to root, degree of freedom by degree of freedom (a joint with six is six in a row):
//!
//! ```text
//! U_k = I^A S_k,   D_k = S_k · U_k + extra_k,   I^A ← I^A − U_k D_k⁻¹ U_kᵀ
//! ```
//!
//! `S`, `U` and `D⁻¹`, in world axes about O, are the factor. `M̂⁻¹ τ` is then one sweep to the root and one back, and the
//! response to a wrench on one body only climbs that body's chain before it spreads. The diagonal `extra` carries
//! what acts implicitly in joint space: armature, and `h B + h² K` of dampers and servos.
//! [Featherstone 2008, §7.3; Jain 2011, §7.2]

mod factorize;

use karakuri_model::{BodyId, Model};
use karakuri_spatial::{Force, Motion, Vector3};

use crate::inertia::ArticulatedInertia;
use crate::topology::Topology;

/// `M̂ = M + diag(extra)`, factorised.
#[derive(Debug, Clone)]
pub struct Articulated {
    /// Factor of every degree of freedom. (nv)
    dofs: Vec<DofFactor>,
    /// Scratch: what is left of the inertia, body by body. (n bodies)
    inertia: Vec<ArticulatedInertia>,
    /// `p_OB` of every body. [m] (n bodies)
    body_offset: Vec<Vector3>,
    topology: Topology,
    /// Scratch: what passes to the parent. (n bodies)
    force: Vec<Force>,
    /// Scratch: what comes from the parent. (n bodies)
    motion: Vec<Motion>,
    /// Scratch: the acceleration of each degree of freedom on its own. (nv)
    share: Vec<f64>,
    /// Scratch: degrees of freedom from a body to the root. (≤ nv)
    path: Vec<usize>,
}

/// The factor of one degree of freedom.
#[derive(Debug, Clone, Copy)]
struct DofFactor {
    S: Motion,
    U: Force,
    inverse_pivot: f64,
}

impl Articulated {
    /// Allocates for a model; nothing is factorised yet.
    pub fn new(model: &Model) -> Self {
        // NaN, so that a solve before the first `factorize` returns NaN and not a plausible answer.
        let empty =
            DofFactor { S: Motion::default(), U: Force::default(), inverse_pivot: f64::NAN };
        let n = model.bodies.len();
        Self {
            dofs: vec![empty; model.nv],
            inertia: vec![ArticulatedInertia::ZERO; n],
            body_offset: vec![Vector3::zeros(); n],
            topology: Topology::new(model),
            force: vec![Force::default(); n],
            motion: vec![Motion::default(); n],
            share: vec![0.0; model.nv],
            path: Vec::with_capacity(model.nv),
        }
    }

    /// `x ← M̂⁻¹ x`, in place: efforts become accelerations, impulses become velocity changes. (nv)
    pub fn apply_inverse(&mut self, model: &Model, x: &mut [f64]) {
        // The bias is taken off the efforts before, so p^A starts from zero and both sweeps are linear in x.
        self.force.fill(Force::default());
        for (i, body) in model.bodies.iter().enumerate().rev() {
            let mut F = self.force[i];
            for k in self.topology.dofs(i).rev() {
                let f = &self.dofs[k];
                // `u_k / D_k` of the articulated-body algorithm, with F = p^A: the wrench that the subtree needs.
                // [Featherstone 2008, §7.3, eq. 7.45]
                x[k] = (x[k] - f.S.dot(&F)) * f.inverse_pivot;
                F += f.U * x[k];
            }
            if let Some(p) = body.parent {
                self.force[p.0] += F;
            }
        }
        self.spread(model, x);
    }

    /// Velocity change `M̂⁻¹ Jᵀ F` for an impulse on one body, written to `dv`. (nv)
    ///
    /// `impulse`: at the body frame's origin, in world axes. [N·m·s; N·s]
    pub fn impulse_response(
        &mut self,
        model: &Model,
        body: BodyId,
        impulse: &Force,
        dv: &mut [f64],
    ) {
        let mut F = self.about_origin(body, impulse);
        dv.fill(0.0);
        for k in self.topology.chain(self.topology.last_dof[body.0]) {
            // The joint yields by S · F / D; the rest of the impulse passes on towards the root.
            let f = &self.dofs[k];
            dv[k] = f.S.dot(&F) * f.inverse_pivot;
            F -= f.U * dv[k];
        }
        self.spread(model, dv);
    }

    /// Velocity change of `target` at its frame's origin, in world axes, for an impulse on `body`, as for
    /// [`Articulated::impulse_response`]. Costs the depth of the two bodies, not the size of the tree.
    pub fn body_response(&mut self, body: BodyId, impulse: &Force, target: BodyId) -> Motion {
        self.path.clear();
        for k in self.topology.chain(self.topology.last_dof[target.0]) {
            self.path.push(k);
            // Off the path of the impulse no joint yields by itself; it only follows what the path up to it does.
            self.share[k] = 0.0;
        }
        let mut F = self.about_origin(body, impulse);
        // Ancestors of both bodies are on both paths: their zero is overwritten. Those of `body` alone are never read again.
        for k in self.topology.chain(self.topology.last_dof[body.0]) {
            let f = &self.dofs[k];
            self.share[k] = f.S.dot(&F) * f.inverse_pivot;
            F -= f.U * self.share[k];
        }
        // Root to target: v_k = share_k − D_k⁻¹ U_kᵀ V, then V ← V + S_k v_k.
        let mut V = Motion::default();
        for &k in self.path.iter().rev() {
            let f = &self.dofs[k];
            V += f.S * (self.share[k] - V.dot(&f.U) * f.inverse_pivot);
        }
        // From O to the target's origin.
        V.linear += V.angular.cross(&self.body_offset[target.0]);
        V
    }

    /// Moves a wrench from a body's origin to O.
    #[inline]
    fn about_origin(&self, body: BodyId, at_body: &Force) -> Force {
        let p_OB = self.body_offset[body.0];
        Force::new(at_body.moment + p_OB.cross(&at_body.force), at_body.force)
    }

    /// Root to leaf: `q̈_k = D_k⁻¹ (u_k − U_kᵀ A_p)`, with the acceleration A that the tree up to there has.
    fn spread(&mut self, model: &Model, x: &mut [f64]) {
        for (i, body) in model.bodies.iter().enumerate() {
            let mut A = body.parent.map_or(Motion::default(), |p| self.motion[p.0]);
            for k in self.topology.dofs(i) {
                let f = &self.dofs[k];
                // `x` holds u_k/D_k from the sweep to the root; what is missing is −D_k⁻¹ U_kᵀ A_p. [Featherstone 2008, Table 7.1]
                x[k] -= A.dot(&f.U) * f.inverse_pivot;
                A += f.S * x[k];
            }
            self.motion[i] = A;
        }
    }
}
