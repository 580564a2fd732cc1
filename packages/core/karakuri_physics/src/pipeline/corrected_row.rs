//! A row whose position error is corrected.

use crate::constraint::row::Correction;
use crate::solver::{Side, dot};

/// First row of a block whose position error is corrected: what the sweeps read again and again, side by side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CorrectedRow {
    sides: [Side; 2],
    correction: Correction,
    /// First entry of the block's `J Y`. [1/kg or 1/(kg·m²)]
    delassus: f64,
    /// Impulse of the second velocity. [N·s or N·m·s]
    impulse: f64,
}

impl CorrectedRow {
    /// Row with these sides, before the first visit; `delassus` is the first entry of its block's `J Y`. [1/kg or 1/(kg·m²)]
    pub(crate) fn new(sides: [Side; 2], correction: Correction, delassus: f64) -> Self {
        Self { sides, correction, delassus, impulse: 0.0 }
    }

    /// Runs that it touches.
    pub(crate) fn sides(&self) -> &[Side; 2] {
        &self.sides
    }

    /// Size of the second velocity that is asked for.
    pub(crate) fn asked(&self) -> f64 {
        self.correction.velocity.abs()
    }

    /// Size of the change of its own velocity by so much of its impulse.
    pub(crate) fn change_by(&self, delta: f64) -> f64 {
        (self.delassus * delta).abs()
    }

    /// Velocity `J w` along the row.
    #[inline]
    fn velocity(&self, jacobian: &[f64], w: &[f64]) -> f64 {
        let each = self.sides.iter().filter(|s| s.len > 0).map(|s| {
            let (J, w) = (&jacobian[s.offset..s.offset + s.len], &w[s.start..s.start + s.len]);
            if let Some(unit) = s.unit {
                return w[unit as usize];
            }
            // A free body, its loop unrolled.
            match (<&[f64; 6]>::try_from(J), <&[f64; 6]>::try_from(w)) {
                (Ok(J), Ok(w)) => dot(J, w),
                _ => dot(J, w),
            }
        });
        each.sum()
    }

    /// One visit of projected Gauss-Seidel on `J w = (velocity)`, the impulse within its bounds; its change.
    #[inline]
    pub(crate) fn visit(&mut self, jacobian: &[f64], w: &[f64]) -> f64 {
        let Correction { velocity, lower, upper } = self.correction;
        let unbounded = self.impulse + (velocity - self.velocity(jacobian, w)) / self.delassus;
        let next = unbounded.clamp(lower, upper);
        let delta = next - self.impulse;
        // Most rows of a heap only forbid that others push them together.
        if delta != 0.0 {
            self.impulse = next;
        }
        delta
    }
}
