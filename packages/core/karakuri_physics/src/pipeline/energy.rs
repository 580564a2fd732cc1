//! Energies, and the ledger that books their changes by cause.
//!
//! Over a step, `ΔE = ½ v'ᵀM v' − ½ vᵀM v + (what changes with the position)`. The first part is booked by cause: the
//! velocity changes by impulses `p`, each of which works `v̄ · p` with `v̄ = ½(v + v')`. What no impulse accounts for is
//! [`Ledger::unexplained`]: round-off and solver residual, the check that impulses and velocities belong together.
//! What the position's move adds beyond the work of gravity and Coriolis forces is the method's own error,
//! [`Ledger::integration`]; the undoing of penetrations is booked apart.

use karakuri_dynamics::{kinetic_energy, potential_energy, update_velocities};
use karakuri_spatial::{Force, Vector3};

use crate::constraint::row::Account;
use crate::pipeline::ledger::{Booking, Energy, Ledger};
use crate::solver::{Block, Problem, dot};
use crate::state::robot::Robot;
use crate::world::World;

impl World {
    /// Kinetic and potential energy of all robots, bodies and springs.
    pub fn energy(&mut self) -> Energy {
        let gravity = self.settings.gravity;
        let mut energy = Energy::default();
        for robot in self.state.robots.iter_mut().flatten() {
            // Set here, as energies are asked for before the first step as well.
            robot.data.gravity = gravity;
            update_velocities(&robot.model, &mut robot.data, &robot.v);
            energy.kinetic += kinetic_energy(&robot.model, &robot.data);
            energy.kinetic +=
                // Rotors of geared drives: their inertia is in the operator's diagonal, not in that of the links.
                robot.v.iter().zip(&robot.armature).map(|(v, a)| 0.5 * a * v * v).sum::<f64>();
            energy.potential += potential_energy(&robot.model, &robot.data);
        }
        for body in self.state.bodies.iter().flatten().filter(|b| b.is_free()) {
            energy.kinetic += body.kinetic_energy();
            energy.potential -= body.description.mass * gravity.dot(&body.pose.translation);
        }
        energy.potential += self.spring_energy() + self.bushing_energy() + self.bellows_energy();
        energy
    }

    /// Changes of energy by cause, in all steps with [`crate::WorldSettings::energy_ledger`].
    pub fn ledger(&self) -> Ledger {
        self.account.booking.total
    }

    pub(crate) fn open_ledger(&mut self) {
        if self.settings.energy_ledger {
            self.account.booking.before = self.energy();
        }
    }

    /// Books the impulses of a step; needs the dynamics of the step's start, before positions move.
    pub(crate) fn book_impulses(&mut self) {
        if !self.settings.energy_ledger {
            return;
        }
        let h = self.settings.dt;
        // The articulated-body factor of long chains makes no mass matrix; `v̄ᵀ M (v' − v)` needs one.
        for robot in self.state.robots.iter_mut().flatten().filter(|robot| !robot.free_motion.on) {
            robot.complete_mass_matrix();
        }
        let mut booking = std::mem::take(&mut self.account.booking);
        booking.step = Ledger::default();
        booking.mean.clear();
        let after = &self.pipeline.problem.velocity;
        // ½ v'ᵀ M v' − ½ vᵀ M v = v̄ᵀ M (v' − v): the mean makes the work of every impulse exact.
        booking.mean.extend(self.pipeline.before.iter().zip(after).map(|(a, b)| 0.5 * (a + b)));
        // Change of kinetic energy at the old position, less the work of all that is booked.
        let mut left = 0.0;
        left -= self.book_rows(&mut booking);
        for robot in self.state.robots.iter_mut().flatten() {
            let run = robot.start..robot.start + robot.v.len();
            let works = robot.works(&after[run.clone()], &booking.mean[run.clone()], h);
            booking.step.servos += works.servos;
            booking.step.external += works.external;
            booking.step.dampers += works.dampers;
            if robot.free_motion.on {
                // Springs within a flying tree are no rows: their dampers are booked here.
                booking.step.dampers +=
                    robot.spring_dissipation(&self.constraints.springs.all, &after[run], h);
                // A whole-step motion has no balance at one position: what it misses is booked as the integration's error.
                continue;
            }
            left += works.change - works.servos - works.external - works.dampers - works.bias;
            if !robot.loops.is_empty() {
                // The impulses that no row or drive accounts for are those of the loops.
                robot.unexplained(&after[run.clone()], h);
                let rows = self.pipeline.rows.iter().zip(&self.pipeline.problem.blocks);
                for (_, block) in rows.filter(|(row, _)| row.account != Account::Drive) {
                    take_impulses(&self.pipeline.problem, block, robot.start, &mut robot.residual);
                }
                let work = robot.loop_work(&booking.mean[run]);
                booking.step.loops += work;
                left -= work;
            }
        }
        for body in self.state.bodies.iter().flatten().filter(|b| b.is_awake() && !b.done) {
            let run = body.start..body.start + 6;
            let mut turning = body.velocity.angular;
            // From the rate after the impact: gyroscopic moments act once it has happened.
            if let Some(struck) = self.pipeline.row_impacts.velocity() {
                turning.copy_from_slice(&struck[run.clone()][3..]);
            }
            // Change of the rate by the gyroscopic moment alone.
            let turned = if body.swings || body.turns_on_joints {
                // With moments of joints, also of the last step, the gyroscopic change is what the free velocity has beside the applied moment.
                let free = &self.pipeline.problem.free_velocity[run.clone()][3..];
                Vector3::from_row_slice(free)
                    - body.inverse_inertia_world * body.applied.moment * h
                    - turning
            } else {
                body.turn_freely(&turning, h) - turning
            };
            let gravity = self.settings.gravity;
            let works = body.works(&after[run.clone()], &booking.mean[run], &turned, h, &gravity);
            booking.step.external += works.external;
            left += works.change - works.external - works.bias;
        }
        // Bouncing islands have no rows: their impulses have worked already.
        booking.step.contacts += self.pipeline.bounces.work;
        booking.step.unexplained = left;
        booking.step.stabilisation = self.stabilisation_work();
        self.account.booking = booking;
    }

    /// Books the works of the rows; their sum, drives apart. [J]
    fn book_rows(&self, booking: &mut Booking) -> f64 {
        let h = self.settings.dt;
        let after = &self.pipeline.problem.velocity;
        let mut booked_rows = 0.0;
        let kinds = self.constraints.kinds();
        for (row, block) in self.pipeline.rows.iter().zip(&self.pipeline.problem.blocks) {
            let work = row_work(&self.pipeline.problem, block, &booking.mean);
            match row.account {
                Account::Drive | Account::Spring => {}
                Account::Friction => booking.step.friction += work,
                Account::Limits => booking.step.limits += work,
                Account::Contacts => booking.step.contacts += work,
                Account::Loops => booking.step.loops += work,
            }
            // A saturated servo is booked with its drive.
            if row.account != Account::Drive {
                booked_rows += work;
            }
            if block.series.is_some() {
                let mean = self.pipeline.problem.jacobian_times(&booking.mean, block);
                let works = kinds[row.kind].inner_works(row, &mean);
                booking.step.contacts += works.contacts;
                booking.step.dampers += works.dampers;
                booking.step.external += kinds[row.kind].outside_work(row, block);
            }
            // The damper's impulse `−h c u'` at the mean rate; what the spring holds is potential energy.
            if let Some(damping) = row.damping {
                let rates = |v: &[f64]| row_rate(&self.pipeline.problem, block, v);
                booking.step.dampers -= h * damping * rates(after) * rates(&booking.mean);
            }
        }
        booked_rows
    }

    /// Work of the undoing of penetrations against gravity. [J]
    fn stabilisation_work(&self) -> f64 {
        let (h, gravity) = (self.settings.dt, self.settings.gravity);
        let mut work = 0.0;
        for robot in self.state.robots.iter().flatten().filter(|r| !r.free_motion.on) {
            let run = robot.start..robot.start + robot.v.len();
            work += h * robot.lifting_power(&gravity, &self.pipeline.correction[run]);
        }
        for body in self.state.bodies.iter().flatten().filter(|b| b.is_free() && !b.done) {
            let moved = &self.pipeline.correction[body.start..body.start + 3];
            // Kinetic energy has no part of `w`: it moves positions only, so its work is that against gravity.
            work -= h * body.description.mass * dot(gravity.as_slice(), moved);
        }
        work
    }

    pub(crate) fn close_ledger(&mut self) {
        if !self.settings.energy_ledger {
            return;
        }
        let after = self.energy();
        let Booking { before, step, total, .. } = &mut self.account.booking;
        step.kinetic = after.kinetic - before.kinetic;
        step.potential = after.potential - before.potential;
        // The method's error is what the change of energy has beyond all that is booked.
        let change = step.kinetic + step.potential;
        step.integration = change - step.booked();
        *total = total.plus(step);
    }
}

/// Works on one mover in a step. [J]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Works {
    /// Change of the kinetic energy at the old position.
    change: f64,
    servos: f64,
    external: f64,
    dampers: f64,
    /// Work of gravity, Coriolis and gyroscopic forces.
    bias: f64,
}

impl Robot {
    /// Works in a step that ends with the rates `after`. (nv)
    fn works(&self, after: &[f64], mean: &[f64], h: f64) -> Works {
        let mut works = Works::default();
        for (body, F) in self.applied.iter().enumerate() {
            // Applied wrenches are about their bodies' origins, the subspace is about the tree's.
            let arm = self.data.pose_in_world[body].translation - self.data.origin;
            let about_origin = Force::new(F.moment + arm.cross(&F.force), F.force);
            for &k in self.chains.of(karakuri_model::BodyId(body)) {
                works.external += h * mean[k] * self.data.subspace[k].dot(&about_origin);
            }
        }
        // `v̄ₖ` times each impulse on the coordinate, and `v̄ₖ [M (v' − v)]ₖ`.
        let M = &self.data.mass_matrix;
        for (k, mean) in mean.iter().enumerate() {
            works.servos += h * mean * self.efforts[k];
            // A damper's effort is that of the end of the step, and works at the mean rate.
            works.dampers -= h * mean * self.joint_damping[k] * after[k];
            if self.free_motion.on {
                continue;
            }
            works.bias -= h * mean * self.data.effort[k];
            let column = M.column(k);
            let momentum = column.iter().zip(after).zip(&self.v).map(|((m, b), a)| m * (b - a));
            let momentum = momentum.sum::<f64>() + self.armature[k] * (after[k] - self.v[k]);
            works.change += mean * momentum;
        }
        // The bias of the inverse dynamics has the applied wrenches in it.
        works.bias -= if self.free_motion.on { 0.0 } else { works.external };
        works
    }

    /// The generalized impulses of a step that ends with the rates `after` but for drives, dampers and what `effort` holds, into
    /// `residual`. (nv)
    pub(crate) fn unexplained(&mut self, after: &[f64], h: f64) {
        let M = &self.data.mass_matrix;
        // `(M + diag(armature)) (v' − v) + h (B v' + c − τ)`.
        for (k, residual) in self.residual.iter_mut().enumerate() {
            let column = M.column(k);
            let momentum = column.iter().zip(after).zip(&self.v).map(|((m, b), a)| m * (b - a));
            *residual = momentum.sum::<f64>()
                + self.armature[k] * (after[k] - self.v[k])
                + h * (self.joint_damping[k] * after[k] + self.data.effort[k] - self.efforts[k]);
        }
    }

    /// Work of the loops at the rates `v`, by the impulses left in `residual`. [J] (nv)
    fn loop_work(&mut self, v: &[f64]) -> f64 {
        let Self { loops, factor, residual, model, .. } = self;
        loops.work(model, factor, residual, v)
    }

    /// Power against gravity of the rates `v`. [W] (nv)
    pub(crate) fn lifting_power(&self, gravity: &Vector3, v: &[f64]) -> f64 {
        let mut power = 0.0;
        for (i, body) in self.model.bodies.iter().enumerate() {
            let com = self.data.pose_in_world[i].transform_point(&body.inertia.com);
            let arm = com - self.data.origin;
            // `−m g · ċ`, by the velocity `S_lin + S_ang × p` that each joint gives the centre of mass.
            for &k in self.chains.of(karakuri_model::BodyId(i)) {
                let S = &self.data.subspace[k];
                let rate = S.linear + S.angular.cross(&arm);
                power -= v[k] * body.inertia.mass * gravity.dot(&rate);
            }
        }
        power
    }
}

impl crate::state::body::Body {
    /// Works in a step that ends with the velocity `after`, in which gyroscopic moments change the rate by `turned`. (6)
    fn works(
        &self,
        after: &[f64],
        mean: &[f64],
        turned: &Vector3,
        h: f64,
        gravity: &Vector3,
    ) -> Works {
        let three = |x: &[f64]| Vector3::new(x[0], x[1], x[2]);
        let (v_mean, w_mean) = (three(&mean[..3]), three(&mean[3..6]));
        let R = &self.pose.rotation;
        // `½(v + v')ᵀ M (v' − v)`, linear and angular; the gyroscopic moment is part of the bias.
        let spin = |w: Vector3| R * (self.inertia * R.tr_mul(&w));
        let change = three(&after[3..6]) - self.velocity.angular;
        let pushed = (three(&after[..3]) - self.velocity.linear) * self.description.mass;
        let gyroscopic = spin(*turned);
        Works {
            change: v_mean.dot(&pushed) + w_mean.dot(&spin(change)),
            external: h * (v_mean.dot(&self.applied.force) + w_mean.dot(&self.applied.moment)),
            bias: h * self.description.mass * v_mean.dot(gravity) + w_mean.dot(&gyroscopic),
            ..Works::default()
        }
    }
}

/// Velocity of a one-row block. [m/s or rad/s]
fn row_rate(problem: &Problem, block: &Block, v: &[f64]) -> f64 {
    let rate = |s: &crate::solver::Side| {
        dot(&problem.jacobian[s.offset..s.offset + s.len], &v[s.start..s.start + s.len])
    };
    block.sides.iter().filter(|s| s.len > 0).map(rate).sum()
}

/// Work of a block's impulse at the velocity `v`. [J]
fn row_work(problem: &Problem, block: &Block, v: &[f64]) -> f64 {
    let mut work = 0.0;
    for side in block.sides.iter().filter(|s| s.len > 0) {
        let v = &v[side.start..side.start + side.len];
        for (row, impulse) in block.impulse.iter().enumerate().take(block.rows()) {
            let at = side.offset + row * side.len;
            work += impulse * dot(&problem.jacobian[at..at + side.len], v);
        }
    }
    work
}

/// Takes a block's impulse on the mover whose rates begin at `start` away from `residual`.
pub(crate) fn take_impulses(problem: &Problem, block: &Block, start: usize, residual: &mut [f64]) {
    for side in block.sides.iter().filter(|s| s.len > 0 && s.start == start) {
        for (row, impulse) in block.impulse.iter().enumerate().take(block.rows()) {
            let at = side.offset + row * side.len;
            for (r, j) in residual.iter_mut().zip(&problem.jacobian[at..at + side.len]) {
                *r -= impulse * j;
            }
        }
    }
}
