//! Fast bodies do not pass through what is thin.
//!
//! Contacts are foreseen by their distance, so what flies straight at a wall stops there. But an impact turns a body, and what
//! turns by much in a step, or bounces off one thing into another, may reach a place that no contact of the step knows of. So where a
//! free body goes further in a step than it, and what is near, are wide, its way is swept, and it goes on only until it
//! would be deeper in something than a fraction of that width: it loses the rest of the step's time, no momentum.
//! The next step finds the contact there.

use karakuri_collision::{ColliderId, Sweep};
use karakuri_spatial::{Motion, Pose, Vector3};

use crate::body::Body;
use crate::contacts::Mover;
use crate::world::World;

/// Ways below this part of the two half widths cannot lead through. [-]
const FAST: f64 = 0.5;
/// How deep a body may come, as a part of the two half widths. [-]
const DEPTH: f64 = 0.1;
/// How much deeper, where it is so deep already. [-]
const DEEPER: f64 = 0.02;

/// How a collider goes from where the scene has it.
#[derive(Debug, Clone, Copy)]
struct Way {
    sweep: Sweep,
    /// At most so far. [m]
    length: f64,
}

impl World {
    /// After positions moved, before the colliders follow: takes bodies back to where they would pass into something.
    pub(crate) fn stop_fast_bodies(&mut self) {
        let h = self.settings.dt;
        let fast = |body: &Body| {
            let travel = h * body.velocity.linear.norm() + turn_length(body, h);
            body.is_awake() && !body.done && travel > FAST * body.extent[1]
        };
        if !self.bodies.iter().flatten().any(fast) {
            return;
        }
        let mut stops = std::mem::take(&mut self.stops);
        stops.clear();
        let until = |body: &Option<Body>| match body {
            Some(body) if fast(body) => h,
            _ => f64::INFINITY,
        };
        stops.extend(self.bodies.iter().map(until));
        let mut last = None;
        for i in 0..self.contacts.len() {
            let pair = [self.contacts[i].a, self.contacts[i].b];
            let movers = pair.map(|c| self.attachments[c.0].map_or(Mover::Fixed, |a| a.mover));
            let bodies = movers.map(|m| m.body().filter(|&b| stops[b] <= h));
            if last == Some(pair) || bodies == [None; 2] {
                continue;
            }
            last = Some(pair);
            let points = self.contacts[i..].iter().take_while(|c| [c.a, c.b] == pair);
            let deepest = points.fold(0.0, |deepest: f64, c| deepest.min(c.gap));
            let Some(time) = self.time_until(pair, movers, deepest) else { continue };
            for body in bodies.into_iter().flatten() {
                stops[body] = stops[body].min(time);
            }
        }
        for (body, &stop) in stops.iter().enumerate().filter(|(_, stop)| **stop < h) {
            self.take_back(body, stop / h);
        }
        self.stops = stops;
    }

    /// When two colliders are deeper in each other than they may come, by how deep they were. [m], [s]
    fn time_until(
        &mut self,
        pair: [ColliderId; 2],
        movers: [Mover; 2],
        deepest: f64,
    ) -> Option<f64> {
        let h = self.settings.dt;
        let half_width = |c: ColliderId| self.collision.half_width(c);
        let width = half_width(pair[0])? + half_width(pair[1])?;
        let [a, b] = [0, 1].map(|i| self.way(pair[i], movers[i]));
        let (a, b) = (a?, b?);
        if !width.is_finite() || a.length + b.length <= FAST * width {
            return None;
        }
        let touch = (-DEPTH * width).min(deepest - DEEPER * width);
        let ways = ((pair[0], &a.sweep), (pair[1], &b.sweep));
        self.collision.time_of_impact(ways.0, ways.1, h, touch).map(|impact| impact.time)
    }

    /// The way of a collider in this step, at constant velocity.
    fn way(&self, id: ColliderId, mover: Mover) -> Option<Way> {
        let (h, start) = (self.settings.dt, self.collision.pose(id)?);
        let Mover::Body(body) = mover else {
            let end = match mover {
                Mover::Robot { .. } => {
                    let on_mover = self.placements.iter().find(|(c, ..)| *c == id)?.2;
                    self.mover_pose(mover) * on_mover
                }
                _ => return Some(Way { sweep: Sweep::at_rest(start), length: 0.0 }),
            };
            let sweep = Sweep::between(&start, &end, h);
            let turn = h * sweep.velocity.angular.norm() * self.collision.radius(id)?;
            return Some(Way { sweep, length: h * sweep.velocity.linear.norm() + turn });
        };
        let body = self.bodies[body].as_ref()?;
        let velocity = motion_between(&start, body, h);
        let sweep = Sweep { start, velocity, center: body.center_of_mass };
        let length = h * velocity.linear.norm() + turn_length(body, h);
        Some(Way { sweep, length })
    }

    /// Leaves a body at a part of its way. [-]
    fn take_back(&mut self, index: usize, part: f64) {
        let Some(collider) = self.placements.iter().find(|(_, m, _)| *m == Mover::Body(index))
        else {
            return;
        };
        let Some(start) = self.collision.pose(collider.0) else { return };
        let Some(body) = &mut self.bodies[index] else { return };
        let h = self.settings.dt;
        let way =
            Sweep { start, velocity: motion_between(&start, body, h), center: body.center_of_mass };
        let shape = way.pose_at(part * h);
        let pose = Pose::new(shape.rotation, shape.transform_point(&body.center_of_mass));
        body.set_state(pose, body.velocity);
    }
}

/// How far the surface of a body goes by its spin in a step, at most. [m]
fn turn_length(body: &Body, h: f64) -> f64 {
    h * body.velocity.angular.norm() * (body.extent[0] + body.center_of_mass.norm())
}

/// Velocity of the centre of mass and spin that bring a body's shape from `start` to where it is in `h`. [s]
fn motion_between(start: &Pose, body: &Body, h: f64) -> Motion {
    let center: Vector3 = start.transform_point(&body.center_of_mass);
    let turn = body.rotation * start.quaternion().inverse();
    Motion::new(turn.scaled_axis() / h, (body.pose.translation - center) / h)
}
