//! Impulses of a solved step, where constraints and sensors find them.

use super::scratch::Pipeline;
use super::sensors::{self, Surroundings};
use crate::WorldSettings;
use crate::constraint::kind::{Solved, SolvedRow};
use crate::solver::Solution;
use crate::state::State;
use crate::state::robot::JointImpulses;
use crate::world::World;

impl World {
    /// Puts impulses where the next step finds them, and lets every kind of constraint draw its conclusions.
    pub(crate) fn keep_impulses(&mut self, solution: &Solution) {
        let Self { settings, state, constraints, pipeline, .. } = self;
        for robot in state.robots.iter_mut().flatten() {
            // Cleared first: a row that is not made in this step leaves no warm start.
            robot.impulses.fill(JointImpulses::default());
        }
        for kind in constraints.kinds_mut() {
            kind.clear_impulses(state);
        }
        for (contact, impulse) in &pipeline.bounces.impulses {
            // Of bodies that are through already: no row of theirs follows to overwrite it.
            constraints.contacts.active[*contact].impulse += impulse;
        }
        let step = solved(pipeline, settings, solution);
        let mut kinds = constraints.kinds_mut();
        for (row, block) in pipeline.rows.iter().zip(&pipeline.problem.blocks) {
            kinds[row.kind].keep_impulse(state, &SolvedRow { row, block, step });
        }
        // After all rows: conclusions take the impulses of several.
        for kind in &mut kinds {
            kind.finish_step(state, &step);
        }
    }

    pub(crate) fn read_sensors(&mut self, solution: &Solution) {
        let Self { settings, state, constraints, pipeline, .. } = self;
        let State { robots, attachments, .. } = state;
        let step = solved(pipeline, settings, solution);
        for (i, robot) in robots.iter_mut().enumerate() {
            if let Some(robot) = robot {
                sensors::read(robot, i, Surroundings { constraints, attachments }, &step);
            }
        }
    }
}

fn solved<'a>(pipeline: &'a Pipeline, settings: &WorldSettings, solution: &Solution) -> Solved<'a> {
    let Pipeline { problem, correction, .. } = pipeline;
    Solved {
        problem,
        correction,
        attained: solution.attained(settings.solver.tolerance),
        h: settings.dt,
    }
}
