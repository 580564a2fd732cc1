//! Inverse dynamics by the recursive Newton-Euler algorithm, with loops and couplings.
//!
//! `τ = RNEA(q, v, v̇) + armature·v̇ + damping·v` for the tree with its loops cut; with `v = N v_i` the drives must give
//! `Nᵀ B τ_d = Nᵀ τ`. Where every drive is independent that is `τ_d` itself; where several drives act on one degree of
//! freedom (over-actuated) the least-norm solution `τ_d = Mᵀ (M Mᵀ)⁻¹ Nᵀ τ`, `M = Nᵀ B`, is taken.
//! [Featherstone 2008, §5.3, §8.12]. Units: SI.

use karakuri_dynamics::{rnea, rnea_at_velocity};
use karakuri_model::Model;
use karakuri_spatial::Vector3;

use super::completed::CompletedMotion;
use super::{DesiredMotion, InverseDynamics, Realised};

/// The method `recursive`; see the module.
#[derive(Debug, Clone)]
pub struct Recursive {
    completed: CompletedMotion,
}

impl Recursive {
    /// Scratch for a model.
    pub fn new(model: &Model) -> Self {
        Self { completed: CompletedMotion::new(model) }
    }
}

impl InverseDynamics for Recursive {
    fn name(&self) -> &'static str {
        "recursive"
    }

    fn set_gravity(&mut self, gravity: &Vector3) {
        self.completed.data.gravity = *gravity;
    }

    fn restart(&mut self) {
        self.completed.constraints.restart();
    }

    fn efforts(&mut self, model: &Model, motion: &DesiredMotion<'_>, tau: &mut [f64]) -> Realised {
        let driven = motion.driven;
        let loop_gap = self.completed.follow(model, motion);
        let mut realised = Realised { loop_gap, ..Realised::default() };
        let CompletedMotion { data, constraints, q, v, vdot } = &mut self.completed;
        // Closing the loops has left poses and velocities in `data`.
        tau.copy_from_slice(if constraints.moves() {
            rnea_at_velocity(model, data, v, vdot, motion.external)
        } else {
            rnea(model, data, q, v, vdot, motion.external)
        });
        // Before the reduction: a rotor on a passive or dependent joint loads the drives as well.
        self.completed.add_rotors(model, tau);
        // τ_i = Nᵀ τ for the independent coordinates, then the shares of the drives.
        self.completed.constraints.reduce_effort(tau);
        realised.missing_effort = self.completed.constraints.distribute_effort(driven, tau);
        realised
    }
}
