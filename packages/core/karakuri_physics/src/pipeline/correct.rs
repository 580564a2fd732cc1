//! Undoing of position errors by a second velocity, which gives no energy.

use crate::constraint::row::Row;
use crate::pipeline::corrected_row::CorrectedRow;
use crate::pipeline::scratch::Pipeline;
use crate::solver::apply_rows;
use crate::world::World;

/// Most sweeps that undo penetrations; the rest is undone in the next steps.
// At most half of an error is undone in a step: few digits of it are enough.
const CORRECTION_SWEEPS: usize = 10;

/// Change of the second velocity in a sweep, over the largest that is asked for, after which it is the last. [-]
const ENOUGH: f64 = 1e-3;

/// Most that a correction moves a degree of freedom in a step: its rows are linear in so much. [m or rad]
const CORRECTION_REACH: f64 = 0.02;

impl World {
    /// A second velocity that only moves positions, so that undoing a penetration gives no energy.
    pub(crate) fn correct_penetration(&mut self) {
        let Pipeline { correction: w, corrected_rows, rows, problem, before, .. } =
            &mut self.pipeline;
        w.clear();
        w.resize(before.len(), 0.0);
        if !rows.iter().any(Row::corrects) {
            return;
        }
        corrected_rows.clear();
        // Of a contact only the normal: a drift along its tangents is undone by their bias.
        let each = rows.iter().zip(&problem.blocks).filter_map(|(row, block)| {
            Some(CorrectedRow::new(block.sides, row.correction?, block.delassus.m11))
        });
        corrected_rows.extend(each);
        let asked =
            corrected_rows.iter().map(CorrectedRow::asked).fold(0.0, |most: f64, v| most.max(v));
        for _ in 0..CORRECTION_SWEEPS {
            let mut most = 0.0_f64;
            for row in corrected_rows.iter_mut() {
                let delta = row.visit(&problem.jacobian, w);
                if delta != 0.0 {
                    most = most.max(row.change_by(delta));
                    apply_rows(w, &problem.response, row.sides(), &[delta]);
                }
            }
            if most <= ENOUGH * asked {
                break;
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
