//! Monitor of a grip over its reports.

use crate::grip_force::{GripState, GripTask};

/// Relative closing rate of the opening that counts as slipping while holding. [m/s]
// A quarter of the touch speed, with which fingers close on an object.
const SLIP_SPEED: f64 = 0.002;

/// Monitor of a grip from report to report.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GripMonitor {
    /// Opening at the last report. [m]
    opening: f64,
}

/// State of a grip between two reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GripTrend {
    /// Mean rate of the opening since the last report. [m/s]
    pub speed: f64,
    /// Desired force of each finger; 0 where it is not to press. [N]
    pub target_force: f64,
    /// Whether an object is held.
    pub holding: bool,
    /// Whether the held object slips or yields: the fingers close.
    pub slipping: bool,
}

impl GripMonitor {
    /// Takes up the grip now, `elapsed` after the last report [s]. `carries` is whether a pick and place carries an object.
    pub fn report(
        &mut self,
        state: &GripState,
        task: GripTask,
        carries: bool,
        elapsed: f64,
    ) -> GripTrend {
        // A difference over the report's period: the velocity of blocked fingers chatters.
        let speed = (state.opening - self.opening) / elapsed;
        self.opening = state.opening;
        let target_force = match task {
            GripTask::Close { force, .. } => force,
            GripTask::Stay | GripTask::MoveTo { .. } => 0.0,
        };
        GripTrend {
            speed,
            target_force,
            holding: carries || (state.gripped && target_force > 0.0),
            // Fingers that close on a held object: it slips out, or it yields.
            slipping: carries && speed < -SLIP_SPEED,
        }
    }
}

#[cfg(test)]
mod tests;
