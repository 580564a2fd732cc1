//! Positions at the end of a step, by the integrator of the world's settings.

use karakuri_spatial::Force;

use crate::Integrator;
use crate::constraint::kind::BodyImpulse;
use crate::state::mover::{Mover, NO_MOVER};
use crate::world::World;

impl World {
    /// Positions by the new velocity, or as the integrator of free motion found them; then the colliders.
    pub(crate) fn integrate(&mut self) {
        self.find_touched();
        let (h, integrator) = (self.settings.dt, self.settings.integrator);
        let after = &self.pipeline.problem.velocity;
        for (i, robot) in self.state.robots.iter_mut().enumerate() {
            let Some(robot) = robot else { continue };
            let run = robot.start..robot.start + robot.v.len();
            if robot.free_motion.on {
                robot.land(&after[run]);
                continue;
            }
            if integrator == Integrator::Default && robot.turns_fast(&after[run.clone()], h) {
                robot.free_motion.keeps_momentum = true;
                robot.note_momentum();
            }
            robot.v.copy_from_slice(&after[run.clone()]);
            let rates = &mut self.pipeline.before[run.clone()];
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
            if self.pipeline.touched[n_robots + i] {
                let mut rates = [0.0; 6];
                for (k, rate) in rates.iter_mut().enumerate() {
                    *rate = after[run.start + k] + self.pipeline.correction[run.start + k];
                }
                body.advance(&after[run], &rates, h);
            } else {
                body.fly(&after[run], h);
            }
        }
        self.stop_before_tunnelling();
        self.keep_momenta();
        self.bend_joints();
        self.measure_gear_slips();
        self.move_prescribed_bodies();
        self.place_colliders();
    }

    /// Marks what a row pushed or moved.
    fn find_touched(&mut self) {
        let touched = &mut self.pipeline.touched;
        touched.clear();
        touched.resize(self.state.robots.len() + self.state.bodies.len(), false);
        for (row, block) in self.pipeline.rows.iter().zip(&self.pipeline.problem.blocks) {
            if row.corrects() || block.impulse.iter().any(|&x| x != 0.0) {
                for &mover in row.movers.iter().filter(|&&m| m != NO_MOVER) {
                    touched[mover] = true;
                }
            }
        }
    }

    fn keep_momenta(&mut self) {
        let h = self.settings.dt;
        for (i, robot) in self.state.robots.iter_mut().enumerate() {
            let Some(robot) = robot.as_mut().filter(|r| r.free_motion.keeps_momentum) else {
                continue;
            };
            let mut impulse = Force::default();
            for contact in &self.constraints.contacts.active {
                for (collider, sign) in [(contact.a, -1.0), (contact.b, 1.0)] {
                    if let Some(Mover::Robot { robot, .. }) =
                        self.state.attachments[collider.0].map(|a| a.mover)
                        && robot == i
                    {
                        let push = contact.impulse * sign;
                        let moment = contact.moment * sign + contact.position.cross(&push);
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
            robot.keep_momentum(h, impulse);
        }
    }
}
