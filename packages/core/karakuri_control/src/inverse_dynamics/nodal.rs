//! Inverse dynamics by the parallel scheme: nodal forces, `{τ} = [L][T]{P}`, forces across the cuts of loops.
//!
//! See [`crate::nodal`] and docs/theory/parallel-inverse-dynamics.md. An instant is three neighbouring positions of the
//! nodes; between updates only the place of closed loops is kept. Units: SI.

use karakuri_model::Model;
use karakuri_spatial::Vector3;

use super::completed::CompletedMotion;
use super::{DesiredMotion, InverseDynamics, Realised};
use crate::nodal::{Cuts, Drives, Rule, Stencil};

/// The method `nodal`; see the module.
#[derive(Debug, Clone)]
pub struct Nodal {
    stencil: Stencil,
    cuts: Cuts,
    completed: CompletedMotion,
    nowhere: Vec<bool>,
}

impl Nodal {
    /// Scratch for a model, under the earth's gravity along −Z by default.
    pub fn new(model: &Model) -> Self {
        let completed = CompletedMotion::new(model);
        Self {
            stencil: Stencil::new(model, completed.data.gravity),
            cuts: Cuts::new(model),
            completed,
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
        self.completed.constraints.restart();
    }

    fn efforts(&mut self, model: &Model, motion: &DesiredMotion<'_>, tau: &mut [f64]) -> Realised {
        let driven = motion.driven;
        let loop_gap = self.completed.follow(model, motion);
        let mut realised = Realised { loop_gap, ..Realised::default() };
        let state = [&self.completed.q[..], &self.completed.v, &self.completed.vdot];
        // After the loops are closed: the differences are of the mechanism as it moves, not of its target.
        self.stencil.efforts(model, state, motion.external, tau);
        // Before the reduction: a rotor on a passive or dependent joint loads the drives as well.
        self.completed.add_rotors(model, tau);
        if self.completed.constraints.is_exactly_driven(driven) {
            // The forces across the cuts are unique, and the elimination that completed the motion holds them.
            self.completed.constraints.reduce_effort(tau);
            return realised;
        }
        // Nothing is supported here: what no drive gives is reported as missing.
        let drives = Drives { driven, supported: &self.nowhere };
        let closure = self.cuts.close(model, &self.completed.data, drives, &Rule::LeastNorm, tau);
        realised.missing_effort = closure.missing.0;
        realised
    }
}
