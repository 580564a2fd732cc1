//! Inverse dynamics by the recursive Newton-Euler algorithm, with loops and couplings.
//!
//! `τ = RNEA(q, v, v̇) + armature·v̇ + damping·v` for the tree with its loops cut; with `v = N v_i` the drives must give
//! `Nᵀ B τ_d = Nᵀ τ`. Where every drive is independent that is `τ_d` itself; where several drives act on one degree of freedom (over-actuated)
//! the least-norm solution `τ_d = Mᵀ (M Mᵀ)⁻¹ Nᵀ τ`, `M = Nᵀ B`, is taken.
//! [Featherstone 2008, §5.3, §8.12]. Units: SI.

use karakuri_dynamics::loops::{ConstraintEmbedding, MotionMut};
use karakuri_dynamics::{Data, rnea, rnea_at_velocity};
use karakuri_model::Model;
use karakuri_spatial::Vector3;

use super::{InverseDynamics, Motion, Realised};

/// See the module.
#[derive(Debug, Clone)]
pub struct Recursive {
    data: Data,
    constraints: ConstraintEmbedding,
    q: Vec<f64>,
    v: Vec<f64>,
    vdot: Vec<f64>,
}

impl Recursive {
    /// Scratch for a model.
    pub fn new(model: &Model) -> Self {
        let nv = model.nv;
        Self {
            data: Data::new(model),
            constraints: ConstraintEmbedding::new(model),
            q: model.neutral_position(),
            v: vec![0.0; nv],
            vdot: vec![0.0; nv],
        }
    }
}

impl InverseDynamics for Recursive {
    fn name(&self) -> &'static str {
        "recursive"
    }

    fn set_gravity(&mut self, gravity: &Vector3) {
        self.data.gravity = *gravity;
    }

    fn restart(&mut self) {
        self.constraints.restart();
    }

    fn efforts(&mut self, model: &Model, motion: &Motion<'_>, tau: &mut [f64]) -> Realised {
        let driven = motion.driven;
        let mut realised = Realised::default();
        self.q.copy_from_slice(motion.q);
        self.v.copy_from_slice(motion.v);
        self.vdot.copy_from_slice(motion.vdot);
        let moved = MotionMut { q: &mut self.q, v: &mut self.v, vdot: &mut self.vdot };
        realised.loop_gap = self.constraints.follow(model, &mut self.data, driven, moved);
        let (q, v, vdot) = (&self.q, &self.v, &self.vdot);
        let data = &mut self.data;
        tau.copy_from_slice(if self.constraints.moves() {
            rnea_at_velocity(model, data, v, vdot, motion.external)
        } else {
            rnea(model, data, q, v, vdot, motion.external)
        });
        for joint in &model.joints {
            let dofs = joint.v_start..joint.v_start + joint.kind.nv();
            let rates = self.vdot[dofs.clone()].iter().zip(&self.v[dofs.clone()]);
            for (tau, (vdot, v)) in tau[dofs].iter_mut().zip(rates) {
                *tau += joint.armature * vdot + joint.damping * v;
            }
        }
        self.constraints.reduce_effort(tau);
        realised.missing_effort = self.constraints.distribute_effort(driven, tau);
        realised
    }
}
