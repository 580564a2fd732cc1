//! Inverse dynamics by the parallel scheme: nodal forces, `{τ} = [L][T]{P}`, forces across the cuts of loops.
//!
//! See [`crate::nodal`] and docs/theory/parallel-inverse-dynamics.md. An instant is three neighbouring positions of the
//! nodes; between updates only the place of closed loops is kept. Units: SI.

use karakuri_dynamics::Data;
use karakuri_dynamics::loops::{ConstraintEmbedding, MotionMut};
use karakuri_model::Model;
use karakuri_spatial::Vector3;

use super::{InverseDynamics, Motion, Realised};
use crate::nodal::{Cuts, Drives, Rule, Stencil};

/// See the module.
#[derive(Debug, Clone)]
pub struct Nodal {
    stencil: Stencil,
    cuts: Cuts,
    data: Data,
    constraints: ConstraintEmbedding,
    q: Vec<f64>,
    v: Vec<f64>,
    vdot: Vec<f64>,
    nowhere: Vec<bool>,
}

impl Nodal {
    /// Scratch for a model, under the earth's gravity along −Z by default.
    pub fn new(model: &Model) -> Self {
        let data = Data::new(model);
        Self {
            stencil: Stencil::new(model, data.gravity),
            cuts: Cuts::new(model),
            data,
            constraints: ConstraintEmbedding::new(model),
            q: model.neutral_position(),
            v: vec![0.0; model.nv],
            vdot: vec![0.0; model.nv],
            nowhere: vec![false; model.nv],
        }
    }
}

impl InverseDynamics for Nodal {
    fn name(&self) -> &'static str {
        "nodal"
    }

    fn set_gravity(&mut self, gravity: &Vector3) {
        self.stencil.set_gravity(gravity);
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
        let state = [&self.q[..], &self.v, &self.vdot];
        self.stencil.efforts(model, state, motion.external, tau);
        for joint in &model.joints {
            let dofs = joint.v_start..joint.v_start + joint.kind.nv();
            for k in dofs {
                tau[k] += joint.armature * self.vdot[k] + joint.damping * self.v[k];
            }
        }
        if self.constraints.is_exactly_driven(driven) {
            // The forces across the cuts are unique, and the elimination that completed the motion holds them.
            self.constraints.reduce_effort(tau);
            return realised;
        }
        let drives = Drives { driven, supported: &self.nowhere };
        let closure = self.cuts.close(model, &self.data, drives, &Rule::LeastNorm, tau);
        realised.missing_effort = closure.missing.0;
        realised
    }
}
