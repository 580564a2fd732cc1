//! A direct-current motor at a part `u` of its full voltage: `τ = τ_stall (u − v/v_no_load)`.
//!
//! `u` is the command's effort, held between −1 and 1.

use std::sync::Arc;

use super::law::{MotorLaw, MotorResponse, MotorState, positive};
use crate::yaml::{Fields, Reader};

/// A speed-torque line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedTorque {
    /// Effort at standstill and full voltage. [N·m or N]
    pub stall: f64,
    /// Speed without load at full voltage. [rad/s or m/s]
    pub no_load: f64,
}

impl MotorLaw for SpeedTorque {
    fn name(&self) -> &'static str {
        "speed_torque"
    }

    fn respond(&self, at: &MotorState) -> MotorResponse {
        // The back-EMF acts as a damper, the part of the voltage as an offset: both are linear, and implicit.
        let damping = self.stall / self.no_load;
        let effort = self.stall * at.command.effort.clamp(-1.0, 1.0) - damping * at.velocity;
        MotorResponse { effort, stiffness: 0.0, damping }
    }
}

pub(super) fn read(reader: &mut Reader<'_>, fields: &Fields<'_>) -> Option<Arc<dyn MotorLaw>> {
    let stall = positive(reader, fields, "stall", "N·m or N")?;
    let no_load = positive(reader, fields, "no_load", "rad/s or m/s")?;
    Some(Arc::new(SpeedTorque { stall, no_load }))
}
