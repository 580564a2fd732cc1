//! Islands that have impacts, by [Poisson's law](super::restitution), and the rest of the step after them.

use karakuri_spatial::{Motion, Vector3};

use crate::constraint::contact::Contact;
use crate::constraint::row::Row;
use crate::constraint::{CONTACTS, LIMITS, limit};
use crate::pipeline::outcome::Culprit;
use crate::pipeline::restitution::RowImpacts;
use crate::pipeline::scratch::Pipeline;
use crate::solver::{Admissible, Block, Solution};
use crate::state::mover::NO_MOVER;
use crate::world::World;

impl World {
    /// Impacts of the islands whose contacts bounce: velocities without rows are those after them.
    pub(crate) fn bounce_rows(&mut self) -> Result<Solution, Culprit> {
        self.pipeline.row_impacts.clear();
        let mut contacts = self.constraints.contacts.active.iter();
        let mut robots = self.state.robots.iter().flatten();
        // Most worlds bounce nothing, and go without a copy of the rows.
        if contacts.all(|c| c.surface.restitution == 0.0)
            && robots.all(|r| r.limit_restitution.is_empty())
        {
            return Ok(Solution::default());
        }
        let mut impacts = std::mem::take(&mut self.pipeline.row_impacts);
        self.find_impacts(&mut impacts);
        if impacts.islands.is_empty() {
            self.pipeline.row_impacts = impacts;
            return Ok(Solution::default());
        }
        let solution = self.solve_impacts(&mut impacts);
        for row in impacts.places.iter().map(|&i| &self.pipeline.rows[i]) {
            if row.kind == CONTACTS {
                self.constraints.contacts.active[row.owner].struck = true;
            }
        }
        let moved = self.move_on_from(&mut impacts);
        self.pipeline.row_impacts = impacts;
        moved?;
        Ok(solution)
    }

    /// Adds the impulses of impacts to those of the step.
    pub(crate) fn add_impacts(&mut self) {
        let Pipeline { problem, row_impacts, .. } = &mut self.pipeline;
        for (&place, impulse) in row_impacts.places.iter().zip(&row_impacts.impulses) {
            problem.blocks[place].impulse += impulse;
        }
    }

    /// Islands in which a contact meets fast enough to bounce.
    fn find_impacts(&self, impacts: &mut RowImpacts) {
        let (problem, rows) = (&self.pipeline.problem, &self.pipeline.rows);
        let mut start = 0;
        for &end in &problem.island_ends {
            let island = start..end;
            start = end;
            if !island.clone().any(|i| self.bounces(&rows[i], &problem.blocks[i])) {
                continue;
            }
            for i in island.clone() {
                let (row, block) = (&rows[i], &problem.blocks[i]);
                let (seen, surface) = self.block_of_impact(row, block);
                impacts.blocks.push(seen);
                impacts.surfaces.push(surface);
                impacts.restitution.push(self.restitution_of(row));
                impacts.places.push(i);
                impacts.movers.extend(row.movers.iter().filter(|&&m| m != NO_MOVER));
            }
            impacts.island_ends.push(impacts.blocks.len());
            impacts.islands.push(island);
        }
        // A mover of several rows goes on once.
        impacts.movers.sort_unstable();
        impacts.movers.dedup();
    }

    /// Contact of a row block, if it is one.
    fn contact_of(&self, row: &Row) -> Option<&Contact> {
        let is_contact = row.kind == CONTACTS;
        is_contact.then(|| &self.constraints.contacts.active[row.owner])
    }

    /// Coefficient of restitution of a contact or of a limit. [-]
    fn restitution_of(&self, row: &Row) -> f64 {
        match self.contact_of(row) {
            Some(contact) => contact.surface.restitution,
            None if row.kind == LIMITS => limit::restitution(&self.state.robots, row),
            None => 0.0,
        }
    }

    /// Whether surfaces, or a joint and its limit, meet within this step, fast enough for a bounce.
    fn bounces(&self, row: &Row, block: &Block) -> bool {
        if self.restitution_of(row) == 0.0 {
            return false;
        }
        let (s, problem) = (&self.settings, &self.pipeline.problem);
        // Away from the limit, and what may still be closed in the step.
        let (away, surface, gap) = match (block.admissible, self.contact_of(row)) {
            (Admissible::Cone { .. }, Some(contact)) => {
                (1.0, contact.surface_velocity().x, contact.gap)
            }
            (Admissible::Interval { upper, .. }, None) => {
                let away = if upper > 0.0 { 1.0 } else { -1.0 };
                // Back from the row's `u* = ∓d/h`.
                (away, 0.0, -away * block.bias.x * s.dt)
            }
            _ => return false,
        };
        let along = |v: &[f64]| away * problem.rows_times(v, &block.sides, 1).x - surface;
        // Fast by the velocity before forces; meeting by the one that forces leave.
        along(&self.pipeline.before) < -s.restitution_threshold
            && gap + s.dt * along(&problem.velocity) <= 0.0
    }

    /// A block as an impact sees it, and the velocity of its surfaces: forces have no time to act, so soft and bounded rows
    /// give nothing.
    fn block_of_impact(&self, row: &Row, block: &Block) -> (Block, Vector3) {
        let nothing =
            Admissible::FrictionMoment { spinning: 0.0, rolling: 0.0, load: 0.0, soft: None };
        let mut seen = Block {
            bias: Vector3::zeros(),
            // Rigid, as forces of springs and dampers vanish beside an impact's.
            compliance: 0.0,
            series: None,
            impulse: Vector3::zeros(),
            unsettled: false,
            slid: false,
            ..*block
        };
        let mut surface = Vector3::zeros();
        if let Some(contact) = self.contact_of(row) {
            if contact.is_soft() {
                seen.admissible = nothing;
            } else if matches!(block.admissible, Admissible::Cone { .. }) {
                surface = contact.surface_velocity();
                seen.bias = surface;
                if !self.bounces(row, block) {
                    // A contact that does not bounce may close its gap.
                    seen.bias.x = block.bias.x;
                }
            }
            return (seen, surface);
        }
        if block.series.is_some() {
            seen.admissible = nothing;
            return (seen, surface);
        }
        // An equality holds in the impact, a limit is rigid, a bounded row has no time to act.
        let Admissible::Interval { lower, upper } = block.admissible else {
            return (seen, surface);
        };
        let rigid = block.compliance == 0.0;
        if rigid && lower == f64::NEG_INFINITY && upper == f64::INFINITY {
            seen.bias = block.bias;
            surface = block.bias;
        } else if rigid
            && [(0.0, f64::INFINITY), (f64::NEG_INFINITY, 0.0)].contains(&(lower, upper))
        {
            // A joint that does not bounce may move up to its limit.
            seen.bias.x = if self.bounces(row, block) { 0.0 } else { block.bias.x };
        } else {
            // Zero bounds: friction, motors and clutches give `h τ`, which is nothing in no time.
            seen.admissible = Admissible::Interval { lower: 0.0, upper: 0.0 };
        }
        (seen, surface)
    }

    /// Impulses of the impacts, and the velocity after them.
    fn solve_impacts(&mut self, impacts: &mut RowImpacts) -> Solution {
        let threshold = self.settings.restitution_threshold;
        let Self { settings, pipeline, .. } = self;
        let Pipeline { problem, team, before, .. } = pipeline;
        // Compression from the velocity before the step, restitution, separation, certificate.
        impacts.velocity.clone_from(before);
        impacts.swap_with(problem);
        let compression = team.solve(problem, &settings.solver, settings.threads);
        impacts.compressed.clone_from(&problem.velocity);
        // Taken before restitution clears them.
        impacts.impulses.extend(problem.blocks.iter().map(|b| b.impulse));
        impacts.give_back(problem, before, threshold);
        // Pushed together by what others returned, contacts are separated by the same law, from zero.
        let restitution = team.solve(problem, &settings.solver, settings.threads);
        impacts.certify(problem, before);
        impacts.swap_with(problem);
        compression.max(restitution)
    }

    /// Velocities without rows of what impacts moved, from the velocity after them.
    fn move_on_from(&mut self, impacts: &mut RowImpacts) -> Result<(), Culprit> {
        let (h, gravity) = (self.settings.dt, self.settings.gravity);
        let n_robots = self.state.robots.len();
        for &mover in &impacts.movers {
            if mover < n_robots {
                let Some(robot) = &mut self.state.robots[mover] else { continue };
                let run = robot.start..robot.start + robot.v.len();
                let out = &mut self.pipeline.problem.velocity[run.clone()];
                robot
                    .free_motion_after_impact(h, &gravity, &mut impacts.velocity[run], out)
                    .map_err(|e| Culprit::MassMatrix { robot: mover, dof: e.dof })?;
            } else if let Some(body) = &mut self.state.bodies[mover - n_robots] {
                let run = body.start..body.start + 6;
                let v = &impacts.velocity[run.clone()];
                // The body's rule reads its velocity: for a moment it has that after the impact.
                let before = body.velocity;
                body.velocity =
                    Motion::new(Vector3::new(v[3], v[4], v[5]), Vector3::new(v[0], v[1], v[2]));
                body.free_motion(h, &gravity, &mut self.pipeline.problem.velocity[run]);
                body.velocity = before;
            }
        }
        Ok(())
    }
}
