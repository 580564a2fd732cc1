//! Velocities at the end of a step: free motion, rows and solve, again while drives, motors and stops of bellows ask for it.

use crate::pipeline::outcome::Culprit;
use crate::pipeline::scratch::Pipeline;
use crate::pipeline::stages::{Stage, StageObserver};
use crate::solver::Solution;
use crate::world::World;

/// Most times a step is solved again because a drive turned out to be at its limit.
const SATURATION_ROUNDS: usize = 3;

/// Most times a step is solved again because a motor's law is not linear; two or three are usual.
const MOTOR_ROUNDS: usize = 20;

/// Most times a step is solved again because bellows meet their stops or leave them; once is usual.
const STOP_ROUNDS: usize = 4;

/// Velocities from here on count as not finite. [m/s or rad/s]
const FASTEST: f64 = 1e30;

/// Whether a step can continue with a velocity: squares and poses of faster ones are no numbers.
fn usable(v: f64) -> bool {
    v.abs() < FASTEST
}

impl World {
    /// Velocities at the end of the step into `problem.velocity`; again while drives turn out to saturate.
    pub(crate) fn solve_velocities(
        &mut self,
        observer: &mut impl StageObserver,
    ) -> Result<Solution, Culprit> {
        self.gather_velocities();
        self.choose_free_motions();
        self.bounce();
        let mut solution = Solution::default();
        let h = self.settings.dt;
        // Once, at the state of the step's start; rounds start from the last linearisation.
        for robot in self.state.robots.iter_mut().flatten() {
            robot.prepare_motors(h);
        }
        for round in 1..=MOTOR_ROUNDS {
            observer.enter(Stage::FreeMotion);
            self.free_motion()?;
            // Before the contacts spread it: the culprit is who brings it.
            self.non_finite().map_or(Ok(()), Err)?;
            observer.enter(Stage::Rows);
            self.build_rows();
            let Pipeline { problem, before, .. } = &mut self.pipeline;
            // The change in the step says what moves, and is the scale of the relative tolerance.
            problem.start_velocity.clear();
            problem.start_velocity.extend_from_slice(before);
            let free = self.state.bodies.iter().flatten().filter(|body| body.is_free());
            problem.first_of_bodies = free.map(|body| body.start).min().unwrap_or(before.len());
            problem.is_driven.clear();
            problem.is_driven.resize(before.len(), false);
            for robot in self.state.robots.iter().flatten().filter(|robot| robot.is_driven()) {
                problem.is_driven[robot.start..robot.start + robot.v.len()].fill(true);
            }
            observer.enter(Stage::Solve);
            let impacts = self.bounce_rows()?;
            self.non_finite().map_or(Ok(()), Err)?;
            observer.problem(&self.pipeline.problem);
            let settings = &self.settings;
            solution = self.pipeline.team.solve(
                &mut self.pipeline.problem,
                &settings.solver,
                settings.threads,
            );
            solution = solution.max(impacts);
            // Laws of motors are asked with finite rates only.
            self.non_finite().map_or(Ok(()), Err)?;
            // Drives at their limit leave the operator, motors change it: then the step is solved again.
            // Few rounds of saturation: one drive at its limit may take another off it, and the two could alternate.
            let saturated = round <= SATURATION_ROUNDS && self.saturate_drives();
            let mut adjusted =
                round < MOTOR_ROUNDS && self.adjust_motors(round < SATURATION_ROUNDS);
            adjusted |= round < STOP_ROUNDS && self.meet_stops();
            if !adjusted && (!saturated || round == SATURATION_ROUNDS) {
                break;
            }
        }
        // Once, after the rounds, each of which begins with the same impacts.
        self.add_impacts();
        Ok(solution)
    }

    /// Turns drives that ask for more than their limit into rows; true if there was one.
    pub(crate) fn saturate_drives(&mut self) -> bool {
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
                // Beyond rounding: a drive exactly at its limit is in the operator.
                if demand.abs() > limit * (1.0 + 1e-9) {
                    robot.saturated[k] = true;
                    robot.impulses[k].servo = 0.0;
                    found = true;
                }
            }
        }
        found
    }

    /// Lets bellows of suction cups meet their stops or leave them; true if one did.
    fn meet_stops(&mut self) -> bool {
        let Pipeline { rows, problem, .. } = &self.pipeline;
        self.constraints.suctions.meet_stops(rows, problem, self.settings.dt)
    }

    /// Brings motors to their limits and laws; true if the step is to be solved again.
    pub(crate) fn adjust_motors(&mut self, may_saturate: bool) -> bool {
        let h = self.settings.dt;
        let mut found = false;
        for robot in self.state.robots.iter_mut().flatten().filter(|r| !r.motors.is_empty()) {
            let after = &self.pipeline.problem.velocity[robot.start..robot.start + robot.v.len()];
            found |= may_saturate && robot.saturate_motors(after);
            found |= robot.refine_motors(after, h);
        }
        found
    }

    pub(crate) fn non_finite(&self) -> Option<Culprit> {
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
}
