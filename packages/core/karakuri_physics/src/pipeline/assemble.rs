//! The rows of a step, island by island.

use super::scratch::Pipeline;
use crate::constraint::ConstraintSet;
use crate::constraint::row::RowBuilder;
use crate::pipeline::islands::RowSource;
use crate::pipeline::operators::fill_operators;
use crate::solver::CROWD;
use crate::state::mover::NO_MOVER;
use crate::world::World;

impl World {
    pub(crate) fn build_rows(&mut self) {
        self.find_islands();
        // In this order: the search for swinging bodies clears the marks of both.
        self.constraints.find_swinging(&mut self.state.bodies, self.settings.dt);
        self.constraints.find_rolling(&mut self.state.bodies, self.settings.dt);
        let Self { settings, state, constraints, pipeline, .. } = self;
        let Pipeline { problem, rows, islands, before, generation, touched, .. } = pipeline;
        // Counts builds, so that rows kept from the last one are known from older ones.
        *generation += 1;
        rows.clear();
        problem.island_ends.clear();
        for robot in state.robots.iter_mut().flatten() {
            robot.shared_responses.forget();
        }
        let mut builder = RowBuilder {
            settings,
            robots: &mut state.robots,
            bodies: &state.bodies,
            problem,
            rows,
            before,
            build: *generation,
            used: 0,
            kind: 0,
            in_crowd: false,
        };
        let kinds = constraints.kinds_mut();
        // Island by island, so that the blocks of one lie side by side in memory.
        for island in islands.iter() {
            builder.in_crowd = island.len() >= CROWD;
            for (maker, _) in island {
                match *maker {
                    RowSource::Robot(robot) => {
                        ConstraintSet::add_robot_rows(&kinds, &mut builder, robot);
                    }
                    RowSource::Constraint { kind, index } => {
                        builder.kind = kind;
                        kinds[kind].add_rows(&mut builder, index);
                    }
                }
            }
            builder.end_island();
        }
        builder.finish();
        // After the rows: whether a solver needs `Â` depends on their number.
        fill_operators(&mut state.robots, &state.bodies, rows, touched, problem);
    }

    /// Sorts all sources of rows by the islands of movers that they join.
    pub(crate) fn find_islands(&mut self) {
        let (state, islands) = (&self.state, &mut self.pipeline.islands);
        let n_robots = state.robots.len();
        islands.clear(n_robots + state.bodies.len());
        // A robot is an island by itself, too: its limits and servos have rows.
        for (i, _) in state.robots.iter().enumerate().filter(|(_, robot)| robot.is_some()) {
            islands.join(RowSource::Robot(i), [i, NO_MOVER]);
        }
        for (kind, constraint) in self.constraints.between_movers() {
            constraint.visit(&mut |index, movers| {
                let maker = RowSource::Constraint { kind, index };
                islands.join(maker, movers.map(|m| m.index(n_robots)));
            });
        }
        islands.sort();
    }
}
