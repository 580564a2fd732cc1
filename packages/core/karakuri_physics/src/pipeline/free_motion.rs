//! Velocities at the end of a step without rows.

use karakuri_dynamics::forward_kinematics;
use karakuri_spatial::Vector3;

use crate::pipeline::outcome::Culprit;
use crate::state::free_motion::Method;
use crate::state::ids::RobotId;
use crate::world::World;
use crate::{Integrator, WorldSettings};

impl World {
    /// The integrator of a robot's free motion: `rk4` takes no loops, mimic joints or prescribed joints, and is the default
    /// there.
    pub fn integrator_of(&self, robot: RobotId) -> Integrator {
        let integrator = self.settings.integrator;
        let loops = self.state.robots[robot.0].as_ref().is_some_and(|r| !r.loops.is_empty());
        if integrator == Integrator::RungeKutta4 && loops {
            Integrator::Default
        } else {
            integrator
        }
    }

    /// Decides which robots go through this step as a whole, without rows.
    pub(crate) fn choose_free_motions(&mut self) {
        let WorldSettings { dt: h, integrator, gravity, .. } = self.settings;
        for robot in self.state.robots.iter_mut().flatten() {
            // Kept for the warning that a step is too long.
            let turn = robot.turn_in_step(h);
            if turn.angle > robot.longest_turn.angle {
                robot.longest_turn = turn;
            }
            robot.set_energy_guard(turn, integrator == Integrator::Momentum);
            // Where it is strict, the guard needs the implicit step, whose Coriolis forces it can hold back.
            robot.free_motion.on = !robot.energy_guard.is_strict;
        }
        // Before the method is chosen: only a robot without rows from outside may fly.
        for (_, kind) in self.constraints.between_movers() {
            kind.end_free_motion(&mut self.state.robots);
        }
        for robot in self.state.robots.iter_mut().flatten() {
            let method = match integrator {
                Integrator::RungeKutta4 => Method::RungeKutta4,
                Integrator::Variational => Method::Variational,
                Integrator::Default | Integrator::Momentum => Method::Midpoint,
            };
            // Runge-Kutta stages leave loops open, as they keep no closure between them.
            let open = method != Method::RungeKutta4 || robot.loops.is_empty();
            let soft =
                robot.free_motion.on && method != Method::Midpoint && open && robot.moves_softly(h);
            robot.free_motion.method = if soft { method } else { Method::Midpoint };
            // Soft servos are forces of the stages; for the midpoint any servo ends free motion.
            robot.free_motion.on &= soft || robot.moves_freely(h);
            let keeping = matches!(integrator, Integrator::Momentum | Integrator::Variational);
            robot.note_energy(&gravity, h);
            robot.energy_guard.keeps_spin = keeping && robot.floats();
            let keeping = keeping || robot.energy_guard.is_strict;
            robot.free_motion.keeps_momentum = keeping && robot.floats();
            if robot.free_motion.keeps_momentum {
                robot.note_momentum();
                robot.note_flight();
            }
        }
    }

    /// Restores the kinematics of the step's start.
    pub(crate) fn abandon_free_motions(&mut self) {
        // Stages leave the kinematics at their own positions, while `q` is still that of the start.
        for robot in self.state.robots.iter_mut().flatten().filter(|r| r.free_motion.on) {
            forward_kinematics(&robot.model, &mut robot.data, &robot.q);
        }
    }

    pub(crate) fn gather_velocities(&mut self) {
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

    pub(crate) fn free_motion(&mut self) -> Result<(), Culprit> {
        let (h, gravity) = (self.settings.dt, self.settings.gravity);
        self.pipeline.problem.velocity.resize(self.pipeline.before.len(), 0.0);
        for (i, robot) in self.state.robots.iter_mut().enumerate() {
            let Some(robot) = robot else { continue };
            let out = &mut self.pipeline.problem.velocity[robot.start..robot.start + robot.v.len()];
            let energy = robot.energy_before_flight();
            let moved = match robot.free_motion.method {
                _ if !robot.free_motion.on => robot.free_motion(h, &gravity, out),
                Method::Midpoint => {
                    robot.midpoint_motion(h, &gravity, &self.constraints.springs.all, out)
                }
                Method::RungeKutta4 => robot.runge_kutta_motion(h, &gravity, out),
                Method::Variational => {
                    robot.variational_motion(h, &gravity, &self.constraints.springs.all, out)
                }
            };
            let singular = |e: karakuri_dynamics::SingularInertia| Culprit::MassMatrix {
                robot: i,
                dof: e.dof,
            };
            moved.map_err(singular)?;
            // A free motion that gave too much energy is replaced by the implicit step, from the same start.
            if robot.leaves_free_motion(energy, out) {
                robot.free_motion(h, &gravity, out).map_err(singular)?;
            }
        }
        for body in self.state.bodies.iter_mut().flatten().filter(|b| b.is_free()) {
            body.turns_on_joints = body.joint_moment != Vector3::zeros();
            let out = &mut self.pipeline.problem.velocity[body.start..body.start + 6];
            if body.is_asleep() {
                out.fill(0.0);
            } else if body.done {
                // Taken as it is after the impacts, so that no row moves it once more.
                out[..3].copy_from_slice(body.velocity.linear.as_slice());
                out[3..].copy_from_slice(body.velocity.angular.as_slice());
            } else {
                body.free_motion(h, &gravity, out);
            }
        }
        Ok(())
    }
}
