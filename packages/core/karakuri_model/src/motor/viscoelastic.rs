//! A spring and damper in parallel, in series with a second damper that yields for good: a joint that can be bent.
//!
//! With the second damper at `x`, `τ = k (q_d + x − q) + c₁ (v_d + ẋ − v)` and `τ = −c₂ ẋ`. Eliminated at the end of a
//! step, with `γ = (h k + c₁)/c₂`:
//!
//! ```text
//! τ' = (k (q_d + x − q') + c₁ (v_d − v'))/(1 + γ),   x' = x − h τ'/c₂
//! ```
//!
//! [Hasegawa et al., Springhead: the three-element joint model]

use std::sync::Arc;

use super::law::{MotorLaw, MotorResponse, MotorState, gain, positive};
use crate::yaml::{Fields, Reader};

/// A three-element law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Viscoelastic {
    /// Stiffness `k` of the spring. [N·m/rad or N/m]
    pub stiffness: f64,
    /// Damping `c₁` of the damper beside it. [N·m·s/rad or N·s/m]
    pub damping: f64,
    /// Damping `c₂` of the damper behind both. [N·m·s/rad or N·s/m]
    pub second_damping: f64,
}

impl MotorLaw for Viscoelastic {
    fn name(&self) -> &'static str {
        "viscoelastic"
    }

    fn respond(&self, at: &MotorState) -> MotorResponse {
        // γ = (h k + c₁)/c₂: the second damper, eliminated at the end of the step, softens spring and damper by 1 + γ.
        let yielding = (at.dt * self.stiffness + self.damping) / self.second_damping;
        let (stiffness, damping) =
            (self.stiffness / (1.0 + yielding), self.damping / (1.0 + yielding));
        // `dt` stands in the law because the damper's own motion within the step is part of it.
        let effort = stiffness * (at.command.position + at.memory - at.position)
            + damping * (at.command.velocity - at.velocity);
        MotorResponse { effort, stiffness, damping }
    }

    fn remember(&self, at: &MotorState) -> f64 {
        // With the effort at the end of the step: an explicit one would be unstable for a soft second damper.
        at.memory - at.dt * self.respond(at).effort / self.second_damping
    }
}

pub(super) fn read(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Arc<dyn MotorLaw>> {
    let stiffness = gain(reader, fields, "stiffness", "N·m/rad or N/m");
    let damping = gain(reader, fields, "damping", "N·m·s/rad or N·s/m");
    let second_damping = positive(reader, fields, "second_damping", "N·m·s/rad or N·s/m")?;
    Some(Arc::new(Viscoelastic { stiffness, damping, second_damping }))
}
