//! A servo: `τ = k (q_d − q) + c (v_d − v) + τ_d`.

use std::sync::Arc;

use super::law::{MotorLaw, MotorResponse, MotorState, gain};
use crate::yaml::{Fields, Reader};

/// A linear law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Linear {
    /// Stiffness `k`. [N·m/rad or N/m]
    pub stiffness: f64,
    /// Damping `c`. [N·m·s/rad or N·s/m]
    pub damping: f64,
}

impl MotorLaw for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn respond(&self, at: &MotorState) -> MotorResponse {
        let Self { stiffness, damping } = *self;
        let effort = stiffness * (at.command.position - at.position)
            + damping * (at.command.velocity - at.velocity)
            + at.command.effort;
        // The gains are the slopes, so the linearisation of the step is exact, at any gain.
        MotorResponse { effort, stiffness, damping }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "one signature for all laws")]
pub(super) fn read(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Arc<dyn MotorLaw>> {
    let stiffness = gain(reader, fields, "stiffness", "N·m/rad or N/m");
    let damping = gain(reader, fields, "damping", "N·m·s/rad or N·s/m");
    Some(Arc::new(Linear { stiffness, damping }))
}
