//! Undoing of position errors by a second velocity, which gives no energy.

use crate::WorldSettings;
use crate::constraint::row::{Account, Row};
use crate::pipeline::corrected_row::CorrectedRow;
use crate::pipeline::scratch::Pipeline;
use crate::solver::Solution;
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
    pub(crate) fn correct_penetration(&mut self, solution: &Solution) {
        self.add_shortfalls(solution);
        let Pipeline { correction: w, corrected_rows, rows, problem, before, .. } =
            &mut self.pipeline;
        w.clear();
        w.resize(before.len(), 0.0);
        if !rows.iter().any(Row::corrects) {
            return;
        }
        // Of a contact only the normal: a drift along its tangents is undone by their bias.
        let each = rows.iter().zip(&problem.blocks);
        let each = each.filter_map(|(row, block)| Some((block, row.correction?)));
        let count = each.clone().count();
        corrected_rows.resize(count, CorrectedRow::default());
        for (corrected, (block, correction)) in corrected_rows.iter_mut().zip(each) {
            corrected.set(problem, block, correction);
        }
        let asked =
            corrected_rows.iter().map(CorrectedRow::asked).fold(0.0, |most: f64, v| most.max(v));
        for _ in 0..CORRECTION_SWEEPS {
            let mut most = 0.0_f64;
            for row in corrected_rows.iter_mut() {
                most = most.max(row.visit(problem, w));
            }
            if most <= ENOUGH * asked {
                break;
            }
        }
        self.limit_correction();
    }

    /// Adds what contacts of free bodies will be deeper by after the step because it was not solved to the end, so that a crowd whose
    /// sweeps are cut short still keeps its bodies apart; their velocities are left to the next steps.
    fn add_shortfalls(&mut self, solution: &Solution) {
        let WorldSettings { dt: h, penetration_slop: slop, penetration_step, .. } = self.settings;
        let most = penetration_step / h;
        // A contact is off by little more than the residual.
        if !solution.is_unsolved || solution.residual * h <= slop {
            return;
        }
        let Pipeline { rows, problem, .. } = &mut self.pipeline;
        for (row, block) in rows.iter_mut().zip(&problem.blocks) {
            let is_of_bodies = || block.sides.iter().all(|side| problem.is_of_body(side));
            if row.account == Account::Contacts
                && let Some(correction) = &mut row.correction
                && correction.upper.is_infinite()
                && block.compliance == 0.0
                && is_of_bodies()
            {
                let shortfall = block.bias.x - problem.velocity_of(block).x;
                let deeper = (shortfall - slop / h).max(0.0);
                // Together not more than the most that is undone in a step.
                correction.velocity =
                    correction.velocity.max((correction.velocity + deeper).min(most));
            }
        }
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
