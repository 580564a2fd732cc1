//! Undoing of position errors by a second velocity, which gives no energy.

use crate::WorldSettings;
use crate::constraint::row::{Account, Correction, Row};
use crate::pipeline::corrected_row::CorrectedRow;
use crate::pipeline::scratch::Pipeline;
use crate::solver::Solution;
use crate::state::State;
use crate::state::collider::prescribed_velocity_at;
use crate::state::mover::Mover;
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
        // A contact is off by little more than the residual.
        let is_cut_short = solution.is_unsolved
            && solution.residual * self.settings.dt > self.settings.penetration_slop;
        if is_cut_short {
            self.add_shortfalls();
        }
        let Self { pipeline, state, settings, .. } = self;
        let Pipeline { correction: w, corrected_rows, rows, problem, before, .. } = pipeline;
        w.clear();
        w.resize(before.len(), 0.0);
        let mut left_out = left_out_points(state, settings, &problem.velocity).peekable();
        if left_out.peek().is_none() && !rows.iter().any(Row::corrects) {
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
        corrected_rows.extend(left_out);
        // Where the velocities are not solved to the end, overlaps need not be either.
        let left = if is_cut_short { settings.penetration_slop / settings.dt } else { 0.0 };
        let asked =
            corrected_rows.iter().map(CorrectedRow::asked).fold(0.0, |most: f64, v| most.max(v));
        for _ in 0..CORRECTION_SWEEPS {
            let mut most = 0.0_f64;
            for row in corrected_rows.iter_mut().filter(|row| !(is_cut_short && row.is_at_wall())) {
                most = most.max(row.visit(problem, w));
            }
            // In a crowd walls have the last word, as ten sweeps do not finish what lies beneath a thousand times its mass.
            for row in corrected_rows.iter_mut().filter(|row| is_cut_short && row.is_at_wall()) {
                most = most.max(row.visit(problem, w));
            }
            if most <= left.max(ENOUGH * asked) {
                break;
            }
        }
        self.limit_correction();
    }

    /// Adds what contacts of free bodies will be deeper by after the step because it was not solved to the end, so that a crowd whose
    /// sweeps are cut short still keeps its bodies apart; their velocities are left to the next steps.
    fn add_shortfalls(&mut self) {
        let WorldSettings { dt: h, penetration_slop: slop, penetration_step, .. } = self.settings;
        let most = penetration_step / h;
        let Pipeline { rows, problem, .. } = &mut self.pipeline;
        for (row, block) in rows.iter_mut().zip(&problem.blocks) {
            if row.account == Account::Contacts
                && let Some(correction) = &mut row.correction
                && correction.upper.is_infinite()
                && block.compliance == 0.0
                && problem.is_of_bodies(block)
            {
                let shortfall = block.bias.x - problem.velocity_of(block).x;
                let deeper = (shortfall - slop / h).max(0.0);
                // Together not more than the most that is undone in a step.
                correction.velocity = (correction.velocity + deeper).min(most);
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

/// Rows of points of free bodies that [carry no load](karakuri_collision::Manifold::left_out) and would be deep after the step: corners of faces that lay on
/// each other until a blow turned them within it. In the next step they are contacts.
fn left_out_points<'a>(
    state: &'a State,
    settings: &WorldSettings,
    velocity: &'a [f64],
) -> impl Iterator<Item = CorrectedRow> + 'a {
    let WorldSettings { dt: h, penetration_slop: slop, penetration_step, .. } = *settings;
    let of_pairs = state.collision.manifolds().iter().filter(|m| !m.left_out().is_empty());
    let of_pairs = of_pairs.filter_map(move |manifold| {
        let a = state.attachments[manifold.a.0].as_ref()?;
        let b = state.attachments[manifold.b.0].as_ref()?;
        let is_robot = |mover: Mover| matches!(mover, Mover::Robot { .. });
        let is_soft = state.materials.between(a, b).bumper.is_some();
        (!is_soft && !is_robot(a.mover) && !is_robot(b.mover)).then_some((manifold, a, b))
    });
    of_pairs.flat_map(move |(manifold, a, b)| {
        let moving = |mover: Mover| {
            state.bodies[mover.body()?].as_ref().filter(|body| body.is_awake() && !body.done)
        };
        let bodies = [moving(a.mover), moving(b.mover)];
        manifold.left_out().iter().filter_map(move |point| {
            let (position, normal) = (&point.position, &manifold.normal);
            let (row, closing) = CorrectedRow::between(bodies, position, normal, velocity)?;
            let closing = closing - normal.dot(&prescribed_velocity_at(a, b, position));
            // As of contacts: what was deep before is undone by its neighbours.
            let deeper = point.gap.min(0.0) - (point.gap + h * closing);
            let undone = (deeper - slop).min(penetration_step);
            (undone > 0.0).then(|| row.with(Correction::push(undone / h)))
        })
    })
}
