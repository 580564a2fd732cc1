//! Islands of free bodies at rest, taken out of the step until something concerns them.
//!
//! An island (bodies joined by contacts, none of them with a robot, a spring or an attached joint) falls asleep when all
//! its bodies were slower than [`Sleeping::linear`] and [`Sleeping::angular`] for [`Sleeping::time`], are held by impulses, and
//! the residual of its rows is below that speed too. Its velocities become zero and its contacts are kept as they are, impulses
//! and drifts included, for reports and for the warm start of its waking.
//!
//! It wakes as a whole: when something awake comes near enough for a contact, when a wrench is applied, and at every change
//! from outside that could concern it: states, settings, materials, belts, springs, joints, things taken away.

use karakuri_spatial::{Motion, Vector3};

use super::scratch::Pipeline;
use crate::solver::natural_map;
use crate::state::body::Body;
use crate::state::mover::{Mover, NO_MOVER};
use crate::state::settings::Sleeping;
use crate::world::World;

impl World {
    /// Whether a body sleeps.
    pub fn is_asleep(&self, body: crate::ObjectId) -> bool {
        self.state.bodies[body.0].as_ref().is_some_and(Body::is_asleep)
    }

    /// Puts islands that have rested long enough to sleep. After the positions of the step.
    pub(crate) fn put_to_sleep(&mut self) {
        let Some(sleeping) = self.settings.sleeping else { return };
        let mut due = false;
        for body in self.state.bodies.iter_mut().flatten().filter(|b| b.is_awake()) {
            let Motion { angular, linear } = body.velocity;
            let rests = linear.norm() <= sleeping.linear && angular.norm() <= sleeping.angular;
            body.rested = if rests { body.rested + self.settings.dt } else { 0.0 };
            due |= body.rested >= sleeping.time;
        }
        if !due {
            return;
        }
        self.find_sleepy(sleeping);
        let n_robots = self.state.robots.len();
        // Whole islands fall asleep, and stop.
        for i in 0..self.state.bodies.len() {
            let island = self.pipeline.islands.first(n_robots + i);
            if let Some(body) = self.state.bodies[i].as_mut().filter(|b| b.is_awake())
                && self.pipeline.sleepy[island]
            {
                // By its first body: an island with a robot is never sleepy.
                body.island_asleep = Some(island - n_robots);
                // Zero exactly: a rest of velocity would come back, unexplained, at its waking.
                body.velocity = Motion::default();
                self.hold_colliders(i, true);
                self.state.n_asleep += 1;
            }
        }
        self.keep_contacts();
    }

    /// Marks the islands that may sleep, at their first movers.
    fn find_sleepy(&mut self, sleeping: Sleeping) {
        let n_robots = self.state.robots.len();
        let Pipeline { islands, sleepy, touched, rows, problem, .. } = &mut self.pipeline;
        sleepy.clear();
        // Every mover is in one island, so one mark at its first mover is enough.
        sleepy.resize(n_robots + self.state.bodies.len(), true);
        for robot in 0..n_robots {
            sleepy[islands.first(robot)] = false;
        }
        for (i, body) in self.state.bodies.iter().enumerate() {
            let Some(body) = body.as_ref().filter(|b| b.is_awake()) else { continue };
            // At its apex a thrown body is slow, too: only what a row holds may sleep.
            if body.rested < sleeping.time || body.done || !touched[n_robots + i] {
                sleepy[islands.first(n_robots + i)] = false;
            }
        }
        for (_, kind) in self.constraints.between_movers().filter(|(_, kind)| kind.ties()) {
            kind.visit(&mut |_, movers| {
                for body in movers.into_iter().filter_map(Mover::body) {
                    sleepy[islands.first(n_robots + body)] = false;
                }
            });
        }
        for (row, block) in rows.iter().zip(&problem.blocks) {
            let mover = if row.movers[0] == NO_MOVER { row.movers[1] } else { row.movers[0] };
            let island = islands.first(mover);
            // What is unsolved would stop with an error frozen into its contacts.
            sleepy[island] = sleepy[island] && natural_map(problem, block) <= sleeping.linear;
        }
    }

    /// Takes the contacts of what sleeps out of the step.
    fn keep_contacts(&mut self) {
        let (bodies, attachments, asleep) =
            (&self.state.bodies, &self.state.attachments, &mut self.constraints.contacts.asleep);
        let sleeps = |mover| match mover {
            Mover::Body(i) => bodies[i].as_ref().is_some_and(Body::is_asleep),
            Mover::Robot { .. } | Mover::Fixed => false,
        };
        self.constraints.contacts.active.retain(|c| {
            let ends = [c.a, c.b].map(|id| attachments[id.0].map_or(Mover::Fixed, |a| a.mover));
            let kept = ends.into_iter().any(sleeps);
            if kept {
                asleep.push(*c);
            }
            !kept
        });
    }

    /// Wakes islands that something awake is near, and finds the contacts of what woke.
    pub(crate) fn wake_touched(&mut self, reach: f64) {
        // Again, as an island that woke may touch the next.
        while self.state.n_asleep > 0 {
            let before = self.state.n_asleep;
            for k in 0..self.state.collision.manifolds().len() {
                let manifold = &self.state.collision.manifolds()[k];
                let ends = [manifold.a, manifold.b]
                    .map(|id| self.state.attachments[id.0].map_or(Mover::Fixed, |a| a.mover));
                if ends.into_iter().any(|mover| self.moves(mover)) {
                    ends.into_iter().filter_map(Mover::body).for_each(|body| self.wake(body));
                }
            }
            if self.state.n_asleep == before {
                return;
            }
            // Sleepers count as fixed, and fixed colliders are not paired: the pairs of those that woke are missing.
            self.state.collision.update_again(reach);
        }
    }

    fn moves(&self, mover: Mover) -> bool {
        match mover {
            Mover::Robot { .. } => true,
            Mover::Body(i) => self.state.bodies[i].as_ref().is_some_and(Body::is_awake),
            Mover::Fixed => false,
        }
    }

    /// Wakes the island of a body, if it sleeps.
    pub(crate) fn wake(&mut self, body: usize) {
        let Some(island) = self.state.bodies[body].as_ref().and_then(|b| b.island_asleep) else {
            return;
        };
        for i in 0..self.state.bodies.len() {
            if let Some(body) = &mut self.state.bodies[i]
                && body.island_asleep == Some(island)
            {
                (body.island_asleep, body.rested) = (None, 0.0);
                self.hold_colliders(i, false);
                self.state.n_asleep -= 1;
            }
        }
        let (bodies, attachments, contacts) =
            (&self.state.bodies, &self.state.attachments, &mut self.constraints.contacts.active);
        self.constraints.contacts.asleep.retain(|c| {
            let ends = [c.a, c.b].map(|id| attachments[id.0].map_or(Mover::Fixed, |a| a.mover));
            let mut ends = ends.into_iter().filter_map(Mover::body);
            let woken = ends.any(|i| bodies[i].as_ref().is_some_and(Body::is_awake));
            if woken {
                contacts.push(*c);
            }
            !woken
        });
        // In the order of pairs that matching walks through.
        self.constraints.contacts.active.sort_unstable_by_key(|c| (c.a, c.b));
    }

    /// Wakes all that sleeps.
    pub(crate) fn wake_all(&mut self) {
        for body in 0..self.state.bodies.len() {
            if self.state.n_asleep == 0 {
                return;
            }
            self.wake(body);
        }
    }

    /// Whether the colliders of a body stand still: those of sleepers are not paired with each other, nor with the ground.
    fn hold_colliders(&mut self, body: usize, still: bool) {
        for &(collider, mover, _) in &self.state.placements {
            if mover == Mover::Body(body) {
                self.state.collision.set_fixed(collider, still);
            }
        }
    }

    /// Contacts that carry force: of the last step, and of what sleeps.
    pub(crate) fn loaded_contacts(
        &self,
    ) -> impl Iterator<Item = &crate::constraint::contact::Contact> {
        let all = self.constraints.contacts.active.iter().chain(&self.constraints.contacts.asleep);
        all.filter(|c| c.impulse != Vector3::zeros())
    }
}
