//! One time step, as a table of contents.

use karakuri_spatial::Vector3;

use super::scratch::Pipeline;
use super::sensors::{self, Surroundings};
use crate::constraint::contact::match_contacts;
use crate::constraint::kind::{Solved, SolvedRow};
use crate::constraint::row::{Correction, Row, RowBuilder};
use crate::pipeline::islands::Maker;
use crate::pipeline::operators::fill_operators;
use crate::pipeline::outcome::{Culprit, StepOutcome};
use crate::pipeline::stages::{Stage, Watch};
use crate::solver::{Solution, apply, dot};
use crate::state::State;
use crate::state::free_motion::Method;
use crate::state::mover::NO_MOVER;
use crate::state::robot::JointImpulses;
use crate::world::World;

/// Most times a step is solved again because a drive turned out to be at its limit.
const SATURATION_ROUNDS: usize = 3;
/// Most times because a motor's law is not linear; two or three are usual.
const MOTOR_ROUNDS: usize = 20;
/// Sweeps that undo penetrations; what is left is undone in the next steps.
const CORRECTION_SWEEPS: usize = 10;
/// Gap up to which contacts are found, beside what the fastest motion covers in two steps. [m]
const CONTACT_MARGIN: f64 = 1e-3;
/// Most that a correction moves a freedom in a step: its rows are linear in so much. [m or rad]
const CORRECTION_REACH: f64 = 0.02;
/// Velocities from here on count as not finite. [m/s or rad/s]
const FASTEST: f64 = 1e30;

impl World {
    /// Goes on by one time step. Allocates nothing once warm.
    pub fn step(&mut self) -> StepOutcome {
        self.step_watched(&mut ())
    }

    /// [`Self::step`], which tells `watch` of its stages.
    pub fn step_watched(&mut self, watch: &mut impl Watch) -> StepOutcome {
        if let Some(name) = self.settings.unusable() {
            self.last.outcome = StepOutcome::NonFinite(Culprit::Setting(name));
            return self.last.outcome;
        }
        watch.enter(Stage::Collision);
        self.open_ledger();
        self.push();
        self.aim_prescribed();
        self.aim_bodies();
        self.find_contacts();
        watch.enter(Stage::FreeMotion);
        let solution = match self.solve_velocities(watch) {
            Ok(solution) => solution,
            Err(culprit) => return self.refuse(culprit),
        };
        watch.enter(Stage::Integrate);
        self.correct_penetration();
        self.keep_impulses();
        self.settle_reactions();
        self.add_work();
        self.book_impulses();
        self.read_sensors();
        self.integrate();
        self.fall_asleep();
        self.close_ledger();
        self.clear_applied();
        self.finish(solution)
    }

    fn find_contacts(&mut self) {
        let h = self.settings.dt;
        let reach = self.fastest_speed() + h * self.settings.gravity.norm();
        let reach = rounded_up(CONTACT_MARGIN + 2.0 * h * reach);
        self.pipeline.reach = reach;
        self.state.collision.update(reach);
        self.wake_touched(reach);
        std::mem::swap(
            &mut self.constraints.contacts.active,
            &mut self.constraints.contacts.previous,
        );
        match_contacts(
            self.state.collision.manifolds(),
            (&self.state.attachments, &self.state.materials),
            &self.constraints.contacts.previous,
            &mut self.constraints.contacts.active,
        );
        self.constraints.drop_joined_contacts(&self.state.attachments);
    }

    /// Velocities at the end of the step into `problem.velocity`; again while drives turn out to saturate.
    fn solve_velocities(&mut self, watch: &mut impl Watch) -> Result<Solution, Culprit> {
        self.gather_velocities();
        self.choose_flights();
        self.bounce();
        let mut solution = Solution::default();
        let h = self.settings.dt;
        for robot in self.state.robots.iter_mut().flatten() {
            robot.prepare_motors(h);
        }
        for round in 1..=MOTOR_ROUNDS {
            watch.enter(Stage::FreeMotion);
            self.free_motion()?;
            // Before the contacts spread it: the culprit is who brings it.
            self.non_finite().map_or(Ok(()), Err)?;
            watch.enter(Stage::Rows);
            self.build_rows();
            watch.enter(Stage::Solve);
            let settings = &self.settings;
            solution = self.pipeline.team.solve(
                &mut self.pipeline.problem,
                &settings.solver,
                settings.threads,
            );
            // Laws of motors are asked with finite rates only.
            self.non_finite().map_or(Ok(()), Err)?;
            let saturated = round <= SATURATION_ROUNDS && self.saturate_drives();
            let adjusted = round < MOTOR_ROUNDS && self.adjust_motors(round < SATURATION_ROUNDS);
            if !adjusted && (!saturated || round == SATURATION_ROUNDS) {
                break;
            }
        }
        Ok(solution)
    }

    fn gather_velocities(&mut self) {
        for robot in self.state.robots.iter().flatten() {
            self.pipeline.before[robot.start..robot.start + robot.v.len()]
                .copy_from_slice(&robot.v);
        }
        for body in self.state.bodies.iter().flatten().filter(|b| b.is_free()) {
            let v = &mut self.pipeline.before[body.start..body.start + 6];
            v[..3].copy_from_slice(body.velocity.linear.as_slice());
            v[3..].copy_from_slice(body.velocity.angular.as_slice());
        }
    }

    fn free_motion(&mut self) -> Result<(), Culprit> {
        let (h, gravity) = (self.settings.dt, self.settings.gravity);
        self.pipeline.problem.velocity.resize(self.pipeline.before.len(), 0.0);
        for (i, robot) in self.state.robots.iter_mut().enumerate() {
            let Some(robot) = robot else { continue };
            let out = &mut self.pipeline.problem.velocity[robot.start..robot.start + robot.v.len()];
            let moved = match robot.flight.method {
                _ if !robot.flight.on => robot.free_motion(h, &gravity, out),
                Method::Midpoint => {
                    robot.midpoint_motion(h, &gravity, &self.constraints.springs.all, out)
                }
                Method::RungeKutta4 => robot.runge_kutta_motion(h, &gravity, out),
                Method::Variational => {
                    robot.variational_motion(h, &gravity, &self.constraints.springs.all, out)
                }
            };
            moved.map_err(|e| Culprit::MassMatrix { robot: i, dof: e.dof })?;
        }
        for body in self.state.bodies.iter().flatten().filter(|b| b.is_free()) {
            let out = &mut self.pipeline.problem.velocity[body.start..body.start + 6];
            if body.is_asleep() {
                out.fill(0.0);
            } else if body.done {
                out[..3].copy_from_slice(body.velocity.linear.as_slice());
                out[3..].copy_from_slice(body.velocity.angular.as_slice());
            } else {
                body.free_motion(h, &gravity, out);
            }
        }
        Ok(())
    }

    fn build_rows(&mut self) {
        self.find_islands();
        let Self { settings, state, constraints, pipeline, .. } = self;
        let Pipeline { problem, rows, islands, before, builds, touched, .. } = pipeline;
        *builds += 1;
        rows.clear();
        problem.island_ends.clear();
        let mut builder = RowBuilder {
            settings,
            robots: &mut state.robots,
            bodies: &state.bodies,
            problem,
            rows,
            before,
            build: *builds,
            used: 0,
            kind: 0,
        };
        for island in islands.iter() {
            for (maker, _) in island {
                match *maker {
                    Maker::Robot(robot) => constraints.add_robot_rows(&mut builder, robot),
                    Maker::Constraint { kind, index } => {
                        builder.kind = kind;
                        constraints.kinds_mut()[kind].add_rows(&mut builder, index);
                    }
                }
            }
            builder.end_island();
        }
        builder.finish();
        fill_operators(&mut state.robots, &state.bodies, rows, touched, problem);
    }

    /// Everything that may make rows, by the islands of movers that it joins.
    fn find_islands(&mut self) {
        let (state, islands) = (&self.state, &mut self.pipeline.islands);
        let n_robots = state.robots.len();
        islands.clear(n_robots + state.bodies.len());
        for (i, _) in state.robots.iter().enumerate().filter(|(_, robot)| robot.is_some()) {
            islands.join(Maker::Robot(i), [i, NO_MOVER]);
        }
        for (kind, constraint) in self.constraints.between_movers() {
            constraint.visit(&mut |index, movers| {
                let maker = Maker::Constraint { kind, index };
                islands.join(maker, movers.map(|m| m.index(n_robots)));
            });
        }
        islands.sort();
    }

    /// Turns drives that ask for more than their limit into rows; true if there was one.
    fn saturate_drives(&mut self) -> bool {
        let h = self.settings.dt;
        let mut found = false;
        for robot in self.state.robots.iter_mut().flatten() {
            for k in 0..robot.v.len() {
                let limit = robot.drives.effort_limit[k];
                if robot.saturated[k] || !robot.drives.enabled[k] || limit.is_infinite() {
                    continue;
                }
                let demand =
                    robot.servo_demand(k, self.pipeline.problem.velocity[robot.start + k], h);
                if demand.abs() > limit * (1.0 + 1e-9) {
                    robot.saturated[k] = true;
                    robot.impulses[k].servo = 0.0;
                    found = true;
                }
            }
        }
        found
    }

    /// Brings motors to their limits and laws; true if the step is to be solved again.
    fn adjust_motors(&mut self, may_saturate: bool) -> bool {
        let h = self.settings.dt;
        let mut found = false;
        for robot in self.state.robots.iter_mut().flatten().filter(|r| !r.motors.is_empty()) {
            let after = &self.pipeline.problem.velocity[robot.start..robot.start + robot.v.len()];
            found |= may_saturate && robot.saturate_motors(after);
            found |= robot.refine_motors(after, h);
        }
        found
    }

    fn non_finite(&self) -> Option<Culprit> {
        let v = &self.pipeline.problem.velocity;
        for (i, robot) in self.state.robots.iter().enumerate() {
            let Some(robot) = robot else { continue };
            let run = &v[robot.start..robot.start + robot.v.len()];
            if let Some(dof) = run.iter().position(|x| !usable(*x)) {
                return Some(Culprit::Robot { robot: i, dof });
            }
        }
        for (i, body) in self.state.bodies.iter().enumerate() {
            let Some(body) = body.as_ref().filter(|b| b.is_free()) else { continue };
            if v[body.start..body.start + 6].iter().any(|x| !usable(*x)) {
                return Some(Culprit::Body { body: i });
            }
        }
        None
    }

    fn refuse(&mut self, culprit: Culprit) -> StepOutcome {
        self.abandon_flights();
        self.undo_bounces();
        self.clear_applied();
        std::mem::swap(
            &mut self.constraints.contacts.active,
            &mut self.constraints.contacts.previous,
        );
        self.last.outcome = StepOutcome::NonFinite(culprit);
        self.last.outcome
    }

    /// A second velocity that only moves positions, so that undoing a penetration gives no energy.
    fn correct_penetration(&mut self) {
        self.pipeline.correction.clear();
        self.pipeline.correction.resize(self.pipeline.before.len(), 0.0);
        if !self.pipeline.rows.iter().any(Row::corrects) {
            return;
        }
        self.pipeline.corrections.clear();
        self.pipeline.corrections.resize(self.pipeline.rows.len(), 0.0);
        for _ in 0..CORRECTION_SWEEPS {
            let rows = self.pipeline.rows.iter().zip(&self.pipeline.problem.blocks);
            for ((row, block), impulse) in rows.zip(&mut self.pipeline.corrections) {
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
                let unbounded = *impulse + (velocity - u) / block.delassus.m11;
                let next = unbounded.clamp(lower, upper);
                let delta = Vector3::new(next - *impulse, 0.0, 0.0);
                *impulse = next;
                apply(
                    &mut self.pipeline.correction,
                    &self.pipeline.problem.response,
                    block,
                    &delta,
                );
            }
        }
        self.limit_correction();
    }

    /// Shortens the correction of every mover that would go beyond the reach of its rows' linearisation, as a mechanism
    /// near a singular position would.
    fn limit_correction(&mut self) {
        let most = CORRECTION_REACH / self.settings.dt;
        let robots = self.state.robots.iter().flatten().map(|r| (r.start, r.v.len()));
        let bodies =
            self.state.bodies.iter().flatten().filter(|b| b.is_free()).map(|b| (b.start, 6));
        for (start, len) in robots.chain(bodies) {
            let run = &mut self.pipeline.correction[start..start + len];
            let largest = run.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            if largest > most {
                for x in run {
                    *x *= most / largest;
                }
            }
        }
    }

    /// Puts impulses where the next step finds them, and lets every kind of constraint draw its conclusions.
    fn keep_impulses(&mut self) {
        let Self { settings, state, constraints, pipeline, .. } = self;
        for robot in state.robots.iter_mut().flatten() {
            robot.impulses.fill(JointImpulses::default());
        }
        for kind in constraints.kinds_mut() {
            kind.clear_impulses(state);
        }
        for (contact, impulse) in &pipeline.bounces.impulses {
            constraints.contacts.active[*contact].impulse += impulse;
        }
        let Pipeline { problem, rows, correction, .. } = pipeline;
        let step = Solved { problem, correction, h: settings.dt };
        let mut kinds = constraints.kinds_mut();
        for (row, block) in rows.iter().zip(&problem.blocks) {
            kinds[row.kind].keep_impulse(state, &SolvedRow { row, block, step });
        }
        for kind in &mut kinds {
            kind.finish_step(state, &step);
        }
    }

    fn read_sensors(&mut self) {
        let Self { settings, state, constraints, pipeline, .. } = self;
        let State { robots, attachments, .. } = state;
        let Pipeline { problem, correction, .. } = pipeline;
        let solved = Solved { problem, correction, h: settings.dt };
        for (i, robot) in robots.iter_mut().enumerate() {
            if let Some(robot) = robot {
                sensors::read(robot, i, Surroundings { constraints, attachments }, &solved);
            }
        }
    }

    fn finish(&mut self, solution: Solution) -> StepOutcome {
        self.steps += 1;
        self.last.solution = solution;
        let Solution { level, iterations, residual } = solution;
        self.last.outcome = if residual <= self.settings.solver.tolerance {
            StepOutcome::Solved { level, iterations, residual }
        } else {
            StepOutcome::MaxIterations { level, residual }
        };
        self.last.outcome
    }
}

/// Whether a step can go on with a velocity: squares and poses of what is faster are no numbers.
fn usable(v: f64) -> bool {
    v.abs() < FASTEST
}

/// A little more, by an eighth at most: a reach that stays the same while speeds hardly change.
fn rounded_up(reach: f64) -> f64 {
    const FINE: u64 = (1 << 49) - 1; // all of the mantissa but three bits
    f64::from_bits((reach.to_bits() + FINE) & !FINE)
}
