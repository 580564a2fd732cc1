//! The start that all methods share: the desired motion with its dependent coordinates completed.

use karakuri_dynamics::Data;
use karakuri_dynamics::loops::{ConstraintEmbedding, MotionMut};
use karakuri_model::Model;

use super::DesiredMotion;

/// A sample of a motion whose loops and couplings are closed.
#[derive(Debug, Clone)]
pub(super) struct CompletedMotion {
    /// Kinematics of the sample: with loops, its poses and velocities.
    pub(super) data: Data,
    pub(super) constraints: ConstraintEmbedding,
    /// Positions with the loops closed. [rad or m] (nq)
    pub(super) q: Vec<f64>,
    /// Velocities that keep them closed. [rad/s or m/s] (nv)
    pub(super) v: Vec<f64>,
    /// Accelerations that keep them closed. [rad/s² or m/s²] (nv)
    pub(super) vdot: Vec<f64>,
}

impl CompletedMotion {
    /// Scratch for a model.
    pub(super) fn new(model: &Model) -> Self {
        Self {
            data: Data::new(model),
            constraints: ConstraintEmbedding::new(model),
            q: model.neutral_position(),
            v: vec![0.0; model.nv],
            vdot: vec![0.0; model.nv],
        }
    }

    /// Takes the next sample of a motion; returns the largest gap left in a loop. [m or rad]
    pub(super) fn follow(&mut self, model: &Model, motion: &DesiredMotion<'_>) -> f64 {
        // Copies, because dependent entries are overwritten and the desired motion is the caller's.
        self.q.copy_from_slice(motion.q);
        self.v.copy_from_slice(motion.v);
        self.vdot.copy_from_slice(motion.vdot);
        let parts = MotionMut { q: &mut self.q, v: &mut self.v, vdot: &mut self.vdot };
        self.constraints.follow(model, &mut self.data, motion.driven, parts)
    }

    /// Adds `armature · v̇ + damping · v`, which rigid-body dynamics leaves out. [N·m or N] (nv)
    pub(super) fn add_rotors(&self, model: &Model, tau: &mut [f64]) {
        for joint in &model.joints {
            let dofs = joint.v_start..joint.v_start + joint.kind.nv();
            let rates = self.vdot[dofs.clone()].iter().zip(&self.v[dofs.clone()]);
            // The rotor's inertia at the joint's side of the gear; its gyroscopic moment on the link is left out, as is usual.
            for (tau, (vdot, v)) in tau[dofs].iter_mut().zip(rates) {
                *tau += joint.armature * vdot + joint.damping * v;
            }
        }
    }
}
