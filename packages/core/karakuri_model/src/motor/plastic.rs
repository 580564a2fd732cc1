//! A spring that yields: elastic up to a yield effort; beyond it the rest position flows and stays.
//!
//! Rate-independent plasticity with linear kinematic hardening. With the rest at `q_d + s`, the spring gives
//! `k (q_d + s − q)`, and its effort less the back effort `−η s` stays within `±Y`. At the end of a step, by return mapping from
//! the trial effort `t`:
//!
//! ```text
//! ξ = t + η s,   |ξ| ≤ Y: τ' = t, s' = s,   else: s' = s − (|ξ| − Y)/(k + η) sgn ξ,   τ' = k (q_d + s' − q')
//! ```
//!
//! A damper beside it, `c (v_d − v)`, does not yield. [Hasegawa et al., Springhead: yield stress with hysteresis;
//! Simo, Hughes, Computational Inelasticity, §1.2]

use std::sync::Arc;

use super::law::{MotorLaw, MotorResponse, MotorState, gain, positive};
use crate::yaml::{Fields, Reader};

/// An elastoplastic law, whose memory is the plastic displacement `s`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plastic {
    /// Stiffness `k` of the spring. [N·m/rad or N/m]
    pub stiffness: f64,
    /// Damping `c` of the damper beside it. [N·m·s/rad or N·s/m]
    pub damping: f64,
    /// Yield effort `Y`, up to which it is elastic. [N·m or N]
    pub yield_effort: f64,
    /// Hardening `η`: back effort for a unit of plastic displacement. [N·m/rad or N/m]
    pub hardening: f64,
}

impl Plastic {
    /// Effort of the spring, its slope, and the plastic displacement, after the return mapping.
    fn bend(&self, at: &MotorState) -> (f64, f64, f64) {
        // By the position at the step's end (backward Euler), at which the effort is on the yield surface exactly.
        let (k, bent) = (self.stiffness, at.memory);
        // Trial effort t, and ξ = t + η s against the yield effort.
        let trial = k * (at.command.position + bent - at.position);
        let beyond = trial + self.hardening * bent;
        let excess = beyond.abs() - self.yield_effort;
        if excess <= 0.0 {
            // Elastic: the spring gives back all that it took.
            return (trial, k, bent);
        }
        // Return mapping: s flows by −(|ξ| − Y)/(k + η) sgn ξ; the slope on the yield surface is k η/(k + η).
        let sum = k + self.hardening;
        let flow = -beyond.signum() * excess / sum;
        (trial + k * flow, k * self.hardening / sum, bent + flow)
    }
}

impl MotorLaw for Plastic {
    fn name(&self) -> &'static str {
        "plastic"
    }

    fn respond(&self, at: &MotorState) -> MotorResponse {
        let (effort, stiffness, _) = self.bend(at);
        let damper = self.damping * (at.command.velocity - at.velocity);
        MotorResponse { effort: effort + damper, stiffness, damping: self.damping }
    }

    fn remember(&self, at: &MotorState) -> f64 {
        self.bend(at).2
    }
}

pub(super) fn read(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Arc<dyn MotorLaw>> {
    let stiffness = positive(reader, fields, "stiffness", "N·m/rad or N/m");
    let damping = gain(reader, fields, "damping", "N·m·s/rad or N·s/m");
    let yield_effort = positive(reader, fields, "yield", "N·m or N");
    let hardening = gain(reader, fields, "hardening", "N·m/rad or N/m");
    // Only now: each number that is missing or wrong is reported.
    let (stiffness, yield_effort) = (stiffness?, yield_effort?);
    Some(Arc::new(Plastic { stiffness, damping, yield_effort, hardening }))
}
