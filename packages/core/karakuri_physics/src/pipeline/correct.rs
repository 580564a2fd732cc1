//! Undoing of position errors by a second velocity, which gives no energy.

use crate::constraint::row::{Correction, Row};
use crate::solver::{apply_rows, dot};
use crate::world::World;

/// Sweeps that undo penetrations; the rest is undone in the next steps.
// At most half of an error is undone in a step: few digits of it are enough.
const CORRECTION_SWEEPS: usize = 10;

/// Most that a correction moves a degree of freedom in a step: its rows are linear in so much. [m or rad]
const CORRECTION_REACH: f64 = 0.02;

impl World {
    /// A second velocity that only moves positions, so that undoing a penetration gives no energy.
    pub(crate) fn correct_penetration(&mut self) {
        self.pipeline.correction.clear();
        self.pipeline.correction.resize(self.pipeline.before.len(), 0.0);
        if !self.pipeline.rows.iter().any(Row::corrects) {
            return;
        }
        self.pipeline.correction_impulses.clear();
        self.pipeline.correction_impulses.resize(self.pipeline.rows.len(), 0.0);
        for _ in 0..CORRECTION_SWEEPS {
            let rows = self.pipeline.rows.iter().zip(&self.pipeline.problem.blocks);
            for ((row, block), impulse) in rows.zip(&mut self.pipeline.correction_impulses) {
                // Of a contact only the normal: a drift along its tangents is undone by their bias.
                let Some(Correction { velocity, lower, upper }) = row.correction else { continue };
                let jacobian = &self.pipeline.problem.jacobian;
                let sides = block.sides.iter().filter(|s| s.len > 0);
                let u: f64 = sides
                    .map(|s| {
                        dot(
                            &jacobian[s.offset..s.offset + s.len],
                            &self.pipeline.correction[s.start..s.start + s.len],
                        )
                    })
                    .sum();
                // Projected Gauss-Seidel on `J w = (velocity)`, the impulse within its bounds.
                let unbounded = *impulse + (velocity - u) / block.delassus.m11;
                let next = unbounded.clamp(lower, upper);
                let delta = next - *impulse;
                // Most rows of a heap only forbid that others push them together.
                if delta == 0.0 {
                    continue;
                }
                *impulse = next;
                apply_rows(
                    &mut self.pipeline.correction,
                    &self.pipeline.problem.response,
                    &block.sides,
                    &[delta],
                );
            }
        }
        self.limit_correction();
    }

    /// Shortens the correction of every mover that would go beyond the reach of its rows' linearisation, as a mechanism
    /// near a singular position would.
    pub(crate) fn limit_correction(&mut self) {
        let most = CORRECTION_REACH / self.settings.dt;
        let robots = self.state.robots.iter().flatten().map(|r| (r.start, r.v.len()));
        let bodies =
            self.state.bodies.iter().flatten().filter(|b| b.is_free()).map(|b| (b.start, 6));
        for (start, len) in robots.chain(bodies) {
            let run = &mut self.pipeline.correction[start..start + len];
            let largest = run.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            if largest > most {
                // All of it by one factor: the direction stays the one that undoes the errors.
                for x in run {
                    *x *= most / largest;
                }
            }
        }
    }
}
