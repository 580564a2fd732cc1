//! Positions at the end of a step, by the integrator of the world's settings.

use karakuri_spatial::{Force, Motion};

use crate::constraint::kind::BodyImpulse;
use crate::state::mover::{Mover, NO_MOVER};
use crate::world::World;
use crate::{Integrator, WorldSettings};

impl World {
    /// Positions by the new velocity, or as the integrator of free motion found them; then the colliders.
    pub(crate) fn integrate(&mut self) {
        self.find_touched();
        self.find_carried();
        let (h, integrator) = (self.settings.dt, self.settings.integrator);
        let after = &self.pipeline.problem.velocity;
        for (i, robot) in self.state.robots.iter_mut().enumerate() {
            let Some(robot) = robot else { continue };
            let run = robot.start..robot.start + robot.v.len();
            if robot.free_motion.on {
                robot.land(&after[run], h);
                continue;
            }
            robot.free_motion.n_recent = 0;
            // `default` corrects momentum only where a large move changes the inertia that it was solved with.
            if integrator == Integrator::Default
                && !robot.free_motion.keeps_momentum
                && robot.turns_fast(&after[run.clone()], h)
            {
                robot.free_motion.keeps_momentum = true;
                robot.note_momentum();
            }
            if robot.energy_guard.is_on {
                robot.guard_solved(&after[run.clone()]);
            }
            // Before positions move: the correction `w` is no part of the velocity that the robot keeps.
            robot.v.copy_from_slice(&after[run.clone()]);
            // In the memory of the velocities before the step, which nothing reads from here on.
            let rates = &mut self.pipeline.before[run.clone()];
            // The translation of a floating base that no row touches moves by `h (v + v')/2`, exact at constant acceleration.
            // Only its translation: rotations of the base change the directions of its joints' rates.
            let n_ballistic = if self.pipeline.touched[i] { 0 } else { robot.n_ballistic() };
            for (k, rate) in rates.iter_mut().enumerate() {
                let v = after[run.start + k];
                let mean = if k < n_ballistic { 0.5 * (*rate + v) } else { v };
                *rate = mean + self.pipeline.correction[run.start + k];
            }
            robot.advance(rates, h);
        }
        let n_robots = self.state.robots.len();
        for (i, body) in self.state.bodies.iter_mut().enumerate() {
            let Some(body) = body.as_mut().filter(|b| b.is_awake() && !b.done) else { continue };
            let run = body.start..body.start + 6;
            // Free of rows, or by the midpoint: mean velocity and Cayley map. Else by the new velocity, or against the carrier.
            if body.swings {
                body.fly(&after[run.clone()], h);
                let shift = &self.pipeline.correction[run];
                // Positions only, after the symmetric motion, which it must not disturb.
                if shift.iter().any(|x| *x != 0.0) {
                    body.shift(&std::array::from_fn(|k| shift[k] * h));
                }
            } else if self.pipeline.touched[n_robots + i] {
                let mut rates = [0.0; 6];
                for (k, rate) in rates.iter_mut().enumerate() {
                    *rate = after[run.start + k] + self.pipeline.correction[run.start + k];
                }
                if let Some(Some(Motion { angular, linear })) = self.pipeline.carry.relative.get(i)
                {
                    rates[..3].copy_from_slice(linear.as_slice());
                    rates[3..].copy_from_slice(angular.as_slice());
                }
                body.advance(&after[run], &rates, h);
            } else {
                body.fly(&after[run], h);
            }
        }
        // After all carriers have moved, and before anything asks where bodies are.
        self.carry_bodies();
        // Of the motions as they are now: carrying may be what leads through.
        self.stop_before_tunnelling();
        // At the new configuration, where momentum is to be kept.
        self.keep_momenta();
        for (i, robot) in self.state.robots.iter_mut().enumerate() {
            if let Some(robot) = robot.as_mut().filter(|robot| robot.energy_guard.is_on) {
                robot.guard_end(self.pipeline.touched[i]);
            }
        }
        // By the frames of the step's end: the permanent set is where the joint is now.
        self.bend_joints();
        self.measure_gear_slips();
        self.move_prescribed_bodies();
        // Last, as carrying and sweeps compare with where the colliders were.
        self.place_colliders();
    }

    /// Marks what a row pushed or moved.
    fn find_touched(&mut self) {
        let touched = &mut self.pipeline.touched;
        touched.clear();
        touched.resize(self.state.robots.len() + self.state.bodies.len(), false);
        for (row, block) in self.pipeline.rows.iter().zip(&self.pipeline.problem.blocks) {
            if row.acts(block) {
                for &mover in row.movers.iter().filter(|&&m| m != NO_MOVER) {
                    touched[mover] = true;
                }
            }
        }
    }

    fn keep_momenta(&mut self) {
        let WorldSettings { dt: h, integrator, .. } = self.settings;
        for (i, robot) in self.state.robots.iter_mut().enumerate() {
            let Some(robot) = robot.as_mut().filter(|r| r.free_motion.keeps_momentum) else {
                continue;
            };
            // Impulses from outside on the robot, about the world's origin.
            let mut impulse = Force::default();
            for contact in &self.constraints.contacts.active {
                for (collider, sign) in [(contact.a, -1.0), (contact.b, 1.0)] {
                    if let Some(Mover::Robot { robot, .. }) =
                        self.state.attachments[collider.0].map(|a| a.mover)
                        && robot == i
                    {
                        let push = contact.impulse * sign;
                        let moment = contact.moment * sign + contact.point().cross(&push);
                        impulse += Force::new(moment, push);
                    }
                }
            }
            for (_, kind) in self.constraints.between_movers() {
                kind.visit_impulses_on(i, &mut |on_body| {
                    let BodyImpulse { point, impulse: F, .. } = on_body;
                    impulse += Force::new(F.moment + point.cross(&F.force), F.force);
                });
            }
            let mut rows = self.pipeline.rows.iter().zip(&self.pipeline.problem.blocks);
            // In flight the path of the centre of mass is kept as well; in contact only the momentum.
            let keeps_path = integrator != Integrator::Default || robot.energy_guard.is_strict;
            let flies = keeps_path
                && impulse == Force::default()
                && !rows.any(|(row, block)| row.is_from_outside(i) && row.acts(block));
            if flies {
                robot.keep_flight(h);
            } else {
                robot.keep_momentum(h, impulse);
            }
        }
    }
}
