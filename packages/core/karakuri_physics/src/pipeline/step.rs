//! One time step, as a table of contents.

use karakuri_collision::ColliderId;
use karakuri_spatial::Vector3;

use crate::constraint::contact::{Mover, SLIP, match_contacts};
use crate::constraint::gear::Gear;
use crate::constraint::rows::{Builder, NO_MOVER, Row, Source};
use crate::pipeline::integrators::Method;
use crate::pipeline::islands::Maker;
use crate::pipeline::operators::fill_operators;
use crate::pipeline::sensors;
use crate::pipeline::stages::{Stage, Watch};
use crate::solver::{Admissible, Block, Solution, apply, dot};
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
/// A saturated drive goes back into the operator when it asks for less than this part of its limit. [-]
const RELEASE: f64 = 0.98;

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StepOutcome {
    /// All contacts solved to the tolerance.
    Solved {
        /// Highest level of the solver ladder that an island needed.
        level: u8,
        /// Iterations of the slowest island.
        iterations: usize,
        /// Largest natural-map residual. [m/s or rad/s]
        residual: f64,
    },
    /// The iterations of all levels ran out first; the state is finite and the residual is what it is.
    MaxIterations {
        /// Highest level of the solver ladder that was tried.
        level: u8,
        /// Largest natural-map residual. [m/s or rad/s]
        residual: f64,
    },
    /// A quantity is not finite. The world stays at the state before the step.
    NonFinite(Culprit),
}

/// What was not finite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Culprit {
    /// The velocity of a freedom of a robot.
    Robot {
        /// Index of the robot.
        robot: usize,
        /// Its velocity coordinate.
        dof: usize,
    },
    /// The velocity of a body.
    Body {
        /// Index of the body.
        body: usize,
    },
    /// The mass matrix of a robot is singular at this freedom: a moving link without mass.
    MassMatrix {
        /// Index of the robot.
        robot: usize,
        /// Its velocity coordinate.
        dof: usize,
    },
    /// A setting of the world, by its name.
    Setting(&'static str),
}

impl World {
    /// Goes on by one time step. Allocates nothing once warm.
    pub fn step(&mut self) -> StepOutcome {
        self.step_watched(&mut ())
    }

    /// [`Self::step`], which tells `watch` of its stages.
    pub fn step_watched(&mut self, watch: &mut impl Watch) -> StepOutcome {
        if let Some(name) = self.settings.unusable() {
            self.last_outcome = StepOutcome::NonFinite(Culprit::Setting(name));
            return self.last_outcome;
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
        self.remember_impulses();
        self.settle_joints();
        self.settle_gears();
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
        self.reach = reach;
        self.collision.update(reach);
        self.wake_touched(reach);
        std::mem::swap(&mut self.contacts, &mut self.previous_contacts);
        match_contacts(
            self.collision.manifolds(),
            (&self.attachments, &self.materials),
            &self.previous_contacts,
            &mut self.contacts,
        );
        self.drop_joined_contacts();
    }

    /// Velocities at the end of the step into `problem.velocity`; again while drives turn out to saturate.
    fn solve_velocities(&mut self, watch: &mut impl Watch) -> Result<Solution, Culprit> {
        self.gather_velocities();
        self.choose_flights();
        self.bounce();
        let mut solution = Solution::default();
        let h = self.settings.dt;
        for robot in self.robots.iter_mut().flatten() {
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
            solution = self.team.solve(&mut self.problem, &settings.solver, settings.threads);
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
        for robot in self.robots.iter().flatten() {
            self.before[robot.start..robot.start + robot.v.len()].copy_from_slice(&robot.v);
        }
        for body in self.bodies.iter().flatten().filter(|b| b.is_free()) {
            let v = &mut self.before[body.start..body.start + 6];
            v[..3].copy_from_slice(body.velocity.linear.as_slice());
            v[3..].copy_from_slice(body.velocity.angular.as_slice());
        }
    }

    fn free_motion(&mut self) -> Result<(), Culprit> {
        let (h, gravity) = (self.settings.dt, self.settings.gravity);
        self.problem.velocity.resize(self.before.len(), 0.0);
        for (i, robot) in self.robots.iter_mut().enumerate() {
            let Some(robot) = robot else { continue };
            let out = &mut self.problem.velocity[robot.start..robot.start + robot.v.len()];
            let moved = match robot.flight.method {
                _ if !robot.flight.on => robot.free_motion(h, &gravity, out),
                Method::Midpoint => robot.midpoint_motion(h, &gravity, &self.springs, out),
                Method::RungeKutta4 => robot.runge_kutta_motion(h, &gravity, out),
                Method::Variational => robot.variational_motion(h, &gravity, &self.springs, out),
            };
            moved.map_err(|e| Culprit::MassMatrix { robot: i, dof: e.dof })?;
        }
        for body in self.bodies.iter().flatten().filter(|b| b.is_free()) {
            let out = &mut self.problem.velocity[body.start..body.start + 6];
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
        self.builds += 1;
        self.rows.clear();
        self.problem.island_ends.clear();
        let attachments = &self.attachments;
        let mover = |collider: ColliderId| Some(attachments[collider.0].as_ref()?.mover);
        let mut builder = Builder {
            settings: &self.settings,
            robots: &mut self.robots,
            bodies: &self.bodies,
            problem: &mut self.problem,
            rows: &mut self.rows,
            before: &self.before,
            build: self.builds,
            used: 0,
        };
        for island in self.islands.iter() {
            for (maker, _) in island {
                match *maker {
                    Maker::Robot(robot) => builder.joints(robot),
                    Maker::Spring(i) => {
                        if let Some(spring) = &self.springs[i] {
                            builder.spring(i, spring);
                        }
                    }
                    Maker::Joint(i) => {
                        if let Some(joint) = &self.joints[i] {
                            builder.attached_joint(i, joint);
                        }
                    }
                    Maker::Gear(i) => {
                        if let Some(gear) = &self.gears[i] {
                            builder.gear(i, gear);
                        }
                    }
                    Maker::Contact(i) => builder.contact(i, &mut self.contacts[i], mover),
                }
            }
            builder.end_island();
        }
        builder.finish();
        let touched = &mut self.touched;
        fill_operators(&mut self.robots, &self.bodies, &self.rows, touched, &mut self.problem);
    }

    /// Everything that may make rows, by the islands of movers that it joins.
    fn find_islands(&mut self) {
        let n_robots = self.robots.len();
        let Self { islands, robots, bodies, attachments, .. } = self;
        islands.clear(n_robots + bodies.len());
        for (i, _) in robots.iter().enumerate().filter(|(_, robot)| robot.is_some()) {
            islands.join(Maker::Robot(i), [i, NO_MOVER]);
        }
        for (i, spring) in self.springs.iter().enumerate() {
            if let Some(spring) = spring {
                islands.join(Maker::Spring(i), spring.movers(bodies).map(|m| m.index(n_robots)));
            }
        }
        for (i, joint) in self.joints.iter().enumerate() {
            if let Some(joint) = joint.as_ref().filter(|joint| !joint.is_broken()) {
                islands.join(Maker::Joint(i), joint.ends.map(|m| m.index(n_robots)));
            }
        }
        for (i, gear) in self.gears.iter().enumerate() {
            if let Some(gear) = gear {
                islands.join(Maker::Gear(i), gear.movers().map(|m| m.index(n_robots)));
            }
        }
        let mover = |id: ColliderId| attachments[id.0].map_or(Mover::Fixed, |a| a.mover);
        for (i, contact) in self.contacts.iter().enumerate() {
            let movers = [contact.a, contact.b].map(|id| mover(id).index(n_robots));
            islands.join(Maker::Contact(i), movers);
        }
        islands.sort();
    }

    /// Turns drives that ask for more than their limit into rows; true if there was one.
    fn saturate_drives(&mut self) -> bool {
        let h = self.settings.dt;
        let mut found = false;
        for robot in self.robots.iter_mut().flatten() {
            for k in 0..robot.v.len() {
                let limit = robot.drives.effort_limit[k];
                if robot.saturated[k] || !robot.drives.enabled[k] || limit.is_infinite() {
                    continue;
                }
                let demand = robot.servo_demand(k, self.problem.velocity[robot.start + k], h);
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
        for robot in self.robots.iter_mut().flatten().filter(|r| !r.motors.is_empty()) {
            let after = &self.problem.velocity[robot.start..robot.start + robot.v.len()];
            found |= may_saturate && robot.saturate_motors(after);
            found |= robot.refine_motors(after, h);
        }
        found
    }

    fn non_finite(&self) -> Option<Culprit> {
        let v = &self.problem.velocity;
        for (i, robot) in self.robots.iter().enumerate() {
            let Some(robot) = robot else { continue };
            let run = &v[robot.start..robot.start + robot.v.len()];
            if let Some(dof) = run.iter().position(|x| !usable(*x)) {
                return Some(Culprit::Robot { robot: i, dof });
            }
        }
        for (i, body) in self.bodies.iter().enumerate() {
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
        std::mem::swap(&mut self.contacts, &mut self.previous_contacts);
        self.last_outcome = StepOutcome::NonFinite(culprit);
        self.last_outcome
    }

    /// A second velocity that only moves positions, so that undoing a penetration gives no energy.
    fn correct_penetration(&mut self) {
        self.correction.clear();
        self.correction.resize(self.before.len(), 0.0);
        if self.rows.iter().all(|row| row.correction == 0.0) {
            return;
        }
        self.corrections.clear();
        self.corrections.resize(self.rows.len(), 0.0);
        for _ in 0..CORRECTION_SWEEPS {
            let rows = self.rows.iter().zip(&self.problem.blocks);
            for ((row, block), impulse) in rows.zip(&mut self.corrections) {
                let Some((lower, upper)) = correcting(row) else { continue };
                let jacobian = &self.problem.jacobian;
                let sides = block.sides.iter().filter(|s| s.len > 0);
                let u: f64 = sides
                    .map(|s| {
                        dot(
                            &jacobian[s.offset..s.offset + s.len],
                            &self.correction[s.start..s.start + s.len],
                        )
                    })
                    .sum();
                let wanted = *impulse + (row.correction - u) / block.delassus.m11;
                let next = wanted.clamp(lower, upper);
                let delta = Vector3::new(next - *impulse, 0.0, 0.0);
                *impulse = next;
                apply(&mut self.correction, &self.problem.response, block, &delta);
            }
        }
        self.limit_correction();
    }

    /// Shortens the correction of every mover that would go beyond the reach of its rows' linearisation, as a mechanism
    /// near a singular position would.
    fn limit_correction(&mut self) {
        let most = CORRECTION_REACH / self.settings.dt;
        let robots = self.robots.iter().flatten().map(|r| (r.start, r.v.len()));
        let bodies = self.bodies.iter().flatten().filter(|b| b.is_free()).map(|b| (b.start, 6));
        for (start, len) in robots.chain(bodies) {
            let run = &mut self.correction[start..start + len];
            let largest = run.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            if largest > most {
                for x in run {
                    *x *= most / largest;
                }
            }
        }
    }

    /// Puts impulses where the next step finds them, and updates drifts and drive efforts.
    fn remember_impulses(&mut self) {
        let h = self.settings.dt;
        self.forget_impulses();
        for (contact, impulse) in &self.bounces.impulses {
            self.contacts[*contact].impulse += impulse;
        }
        for (row, block) in self.rows.iter().zip(&self.problem.blocks) {
            let impulse = block.impulse;
            match row.source {
                Source::Contact(i) => {
                    let u = self.problem.velocity_of(block);
                    let contact = &mut self.contacts[i];
                    settle_contact(contact, block, &u, h);
                    contact.unsettled = block.unsettled;
                }
                Source::Turning(i) => {
                    let [t1, t2] = self.contacts[i].tangents;
                    let contact = &mut self.contacts[i];
                    contact.turning = contact.normal * impulse.x + t1 * impulse.y + t2 * impulse.z;
                }
                Source::Spring(_) => {}
                Source::Gear(i) => {
                    if let Some(gear) = &mut self.gears[i] {
                        gear.impulse = impulse.x;
                    }
                }
                Source::Motor { robot, motor } => {
                    if let Some(robot) = &mut self.robots[robot] {
                        robot.motors[motor].give(impulse.x);
                    }
                }
                Source::Cone { robot, ball, side } => {
                    if let Some(robot) = &mut self.robots[robot] {
                        robot.cones[ball].impulses[side as usize] = impulse.x;
                    }
                }
                Source::Joint { joint, axis } | Source::Bushing { joint, axis } => {
                    if let Some(joint) = &mut self.joints[joint] {
                        joint.impulses[axis] = impulse.x;
                    }
                }
                Source::Servo { robot, dof }
                | Source::Friction { robot, dof }
                | Source::Lower { robot, dof }
                | Source::Upper { robot, dof }
                | Source::Speed { robot, dof } => {
                    let Some(robot) = &mut self.robots[robot] else { continue };
                    let memory = &mut robot.impulses[dof];
                    match row.source {
                        Source::Servo { .. } => memory.servo = impulse.x,
                        Source::Friction { .. } => memory.friction = impulse.x,
                        Source::Lower { .. } => memory.lower = impulse.x,
                        Source::Upper { .. } => memory.upper = impulse.x,
                        _ => memory.speed = impulse.x,
                    }
                }
            }
        }
        self.share_impulses();
        for robot in self.robots.iter_mut().flatten() {
            for k in 0..robot.v.len() {
                let demand = robot.servo_demand(k, self.problem.velocity[robot.start + k], h);
                if robot.saturated[k] {
                    robot.efforts[k] = robot.impulses[k].servo / h + robot.drives.effort[k];
                    robot.saturated[k] = demand.abs() > RELEASE * robot.drives.effort_limit[k];
                } else {
                    robot.efforts[k] = demand;
                }
            }
            let run = robot.start..robot.start + robot.v.len();
            robot.remember_motors(&self.problem.velocity[run], h);
        }
    }

    fn forget_impulses(&mut self) {
        for robot in self.robots.iter_mut().flatten() {
            robot.impulses.fill(crate::state::robot::JointImpulses::default());
            for ball in &mut robot.cones {
                ball.impulses = [0.0; 3];
            }
            robot.motors.iter_mut().for_each(|motor| motor.give(0.0));
        }
        for contact in &mut self.contacts {
            contact.impulse = Vector3::zeros();
            contact.turning = Vector3::zeros();
        }
        for joint in self.joints.iter_mut().flatten() {
            joint.impulses = [0.0; 6];
        }
        for gear in self.gears.iter_mut().flatten() {
            gear.impulse = 0.0;
        }
    }

    /// Gives the freedoms of robots what gears and the limits of ball joints do to them.
    fn share_impulses(&mut self) {
        for (robot, body, impulse) in self.gears.iter().flatten().flat_map(Gear::joint_impulses) {
            if let Some(robot) = &mut self.robots[robot] {
                robot.impulses[robot.model.joints[body.0].v_start].other += impulse;
            }
        }
        for robot in self.robots.iter_mut().flatten() {
            for ball in &robot.cones {
                let freedoms = &mut robot.impulses[ball.first_dof..ball.first_dof + 3];
                for (memory, push) in freedoms.iter_mut().zip(&ball.push()) {
                    memory.other += push;
                }
            }
        }
    }

    fn read_sensors(&mut self) {
        let h = self.settings.dt;
        for (i, robot) in self.robots.iter_mut().enumerate() {
            let Some(robot) = robot else { continue };
            let after = &self.problem.velocity[robot.start..robot.start + robot.v.len()];
            let joints = self.joints.iter().flatten().flat_map(|j| j.pushes_on(i));
            let moments = self.gears.iter().flatten().flat_map(|g| g.moments_on(i));
            let outside = (joints, moments);
            sensors::read(robot, i, (&self.contacts, &self.attachments), outside, (after, h));
        }
    }

    fn finish(&mut self, solution: Solution) -> StepOutcome {
        self.steps += 1;
        self.last_solution = solution;
        let Solution { level, iterations, residual } = solution;
        self.last_outcome = if residual <= self.settings.solver.tolerance {
            StepOutcome::Solved { level, iterations, residual }
        } else {
            StepOutcome::MaxIterations { level, residual }
        };
        self.last_outcome
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

/// Bounds of the impulses that undo a row's position error: contacts, joint limits, attached joints.
fn correcting(row: &Row) -> Option<(f64, f64)> {
    match row.source {
        Source::Contact(_) | Source::Lower { .. } => Some((0.0, f64::INFINITY)),
        Source::Upper { .. } => Some((f64::NEG_INFINITY, 0.0)),
        Source::Joint { .. } | Source::Gear(_) => Some((f64::NEG_INFINITY, f64::INFINITY)),
        Source::Cone { side, .. } => Some(side.bounds()),
        _ => None,
    }
}

/// Impulse and drift of a contact after the solve.
fn settle_contact(
    contact: &mut crate::constraint::contact::Contact,
    block: &Block,
    u: &Vector3,
    h: f64,
) {
    let [t1, t2] = contact.tangents;
    let impulse = block.impulse;
    contact.impulse = contact.normal * impulse.x + t1 * impulse.y + t2 * impulse.z;
    let Admissible::Cone { friction } = block.admissible else { return };
    // The share of a soft finger's limit that is friction's is known as well as the solution: what slides may be below it.
    let soft = contact.surface.soft_finger;
    let inside = if soft { 1.0 - 1e-6 } else { 1.0 - 1e-9 };
    let slides = soft && (u - block.bias).yz().norm() > SLIP;
    let held = impulse.yz().norm() < friction * impulse.x * inside;
    let sticks = impulse.x > 0.0 && held && !slides;
    let mut slip = t1 * u.y + t2 * u.z - contact.conveyed;
    if contact.carried != Vector3::zeros() {
        slip -= contact.carried - contact.normal * contact.normal.dot(&contact.carried);
    }
    contact.sticks = sticks;
    contact.slips = !sticks && impulse.x > 0.0 && slip.norm() > SLIP;
    if sticks {
        contact.drift += slip * h;
    } else {
        contact.drift = Vector3::zeros();
    }
}
