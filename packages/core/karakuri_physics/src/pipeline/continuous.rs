//! Continuous collision detection: fast motion does not pass through thin things.
//!
//! Contacts are found by distance before the step, so a body that flies straight at a wall stops there. An impact, though,
//! changes motion within the step: what spins by much, or bounces off one thing into another, may reach a place that no
//! contact of the step covers. Where a free body or a link moves further in a step than its own and its neighbour's half
//! widths, its motion is swept, and it goes only until it would be deeper in something than a fraction of those widths. It
//! loses the rest of the step's time but no momentum; a robot stops as a whole. The next step finds the contact there.

use karakuri_collision::{ColliderId, Sweep, Swept};
use karakuri_spatial::{Motion, Pose, Vector3};

use crate::state::body::Body;
use crate::state::mover::{Mover, NO_MOVER};
use crate::world::World;

/// Motion in a step below this part of the two half widths cannot lead through. [-]
// A body that comes from outside then still has its middle on its own side of what it meets.
const FAST: f64 = 0.5;
/// Depth that a body may reach, as a part of the two half widths. [-]
// Deep enough for the next step to find the contact, shallow enough for its normal to point to the side it came from.
const DEPTH: f64 = 0.1;
/// Depth that it may gain where it is so deep already, as a part of them. [-]
// Above 0, or what was pressed in already could not even slide along.
const DEEPER: f64 = 0.02;

/// Motion of a collider from where the scene has it.
#[derive(Debug, Clone, Copy)]
struct SweptMotion {
    sweep: Sweep,
    /// Bound of its length. [m]
    length: f64,
}

impl World {
    /// Takes back what would pass into something, after positions moved and before the colliders follow.
    pub(crate) fn stop_before_tunnelling(&mut self) {
        let h = self.settings.dt;
        let mut stop_times = std::mem::take(&mut self.pipeline.stop_times);
        self.find_fast_movers(&mut stop_times);
        // The usual step: nothing is fast, and no pair is looked at.
        if stop_times.iter().all(|stop| stop.is_infinite()) {
            self.pipeline.stop_times = stop_times;
            return;
        }
        let n_robots = self.state.robots.len();
        let mut last = None;
        // One sweep a pair: its contacts are neighbours in the list.
        for i in 0..self.constraints.contacts.active.len() {
            let pair =
                [self.constraints.contacts.active[i].a, self.constraints.contacts.active[i].b];
            let movers =
                pair.map(|c| self.state.attachments[c.0].map_or(Mover::Fixed, |a| a.mover));
            let fast = movers
                .map(|m| m.index(n_robots))
                .map(|m| (m != NO_MOVER && stop_times[m] <= h).then_some(m));
            if last == Some(pair) || fast == [None; 2] {
                continue;
            }
            last = Some(pair);
            let points =
                self.constraints.contacts.active[i..].iter().take_while(|c| [c.a, c.b] == pair);
            // How deep the pair is already: a sweep that starts in an overlap may not stop at once.
            let deepest = points.fold(0.0, |deepest: f64, c| deepest.min(c.gap));
            let Some(time) = self.time_until(pair, movers, deepest) else { continue };
            for mover in fast.into_iter().flatten() {
                stop_times[mover] = stop_times[mover].min(time);
            }
        }
        for (mover, &stop) in stop_times.iter().enumerate().filter(|(_, stop)| **stop < h) {
            if mover < n_robots {
                // By the same part of the motion for a whole tree, or its joints would come apart.
                self.state.robots[mover].iter_mut().for_each(|robot| robot.move_back(stop / h));
            } else {
                self.move_back(mover - n_robots, stop / h);
            }
        }
        self.pipeline.stop_times = stop_times;
    }

    /// Times at which movers stop: never if one is slow, else the step's end, or when it comes to where no contact was looked
    /// for, because the step made it much faster. [s]
    fn find_fast_movers(&mut self, stop_times: &mut Vec<f64>) {
        let (h, reach) = (self.settings.dt, self.pipeline.reach);
        // A contact was looked for up to `reach`: beyond it nothing is known to be free.
        let until = |travel: f64, half_width: f64| {
            if travel > FAST * half_width { h * (reach / travel).min(1.0) } else { f64::INFINITY }
        };
        stop_times.clear();
        stop_times.extend(self.state.robots.iter_mut().map(|robot| match robot {
            // A robot in free motion has no contact in reach to pass through.
            Some(robot) if !robot.free_motion.on => {
                until(h * robot.fastest_speed(h), robot.half_width())
            }
            _ => f64::INFINITY,
        }));
        stop_times.extend(self.state.bodies.iter().map(|body| match body {
            Some(body) if body.is_awake() && !body.done => {
                // By the velocity after the solve: the one before it may have been slow.
                let travel = h * body.velocity.linear.norm() + rotation_length(body, h);
                until(travel, body.extent[1])
            }
            _ => f64::INFINITY,
        }));
    }

    /// Time at which two colliders are deeper in each other than they may come, by how deep they were. [m], [s]
    fn time_until(
        &mut self,
        pair: [ColliderId; 2],
        movers: [Mover; 2],
        deepest: f64,
    ) -> Option<f64> {
        let h = self.settings.dt;
        let half_width = |c: ColliderId| self.state.collision.half_width(c);
        let width = half_width(pair[0])? + half_width(pair[1])?;
        let [a, b] = [0, 1].map(|i| self.swept_motion(pair[i], movers[i]));
        let (a, b) = (a?, b?);
        // Nothing passes through a half-space, however fast: its contacts have no far side.
        if !width.is_finite() || a.length + b.length <= FAST * width {
            return None;
        }
        // The largest overlap, as a negative gap: a tenth of the widths, or a little more than there is already.
        let touch = (-DEPTH * width).min(deepest - DEEPER * width);
        let a = Swept { collider: pair[0], sweep: &a.sweep };
        let b = Swept { collider: pair[1], sweep: &b.sweep };
        self.state.collision.time_of_impact(a, b, h, touch).map(|impact| impact.time)
    }

    /// Motion of a collider in this step, at constant velocity.
    fn swept_motion(&self, id: ColliderId, mover: Mover) -> Option<SweptMotion> {
        let (h, start) = (self.settings.dt, self.state.collision.pose(id)?);
        let Mover::Body(body) = mover else {
            let end = match mover {
                Mover::Robot { .. } => {
                    let on_mover = self.state.placements.iter().find(|(c, ..)| *c == id)?.2;
                    self.mover_pose(mover) * on_mover
                }
                _ => return Some(SweptMotion { sweep: Sweep::at_rest(start), length: 0.0 }),
            };
            // A link moves along the screw between both poses.
            let sweep = Sweep::screw(&start, &end, h);
            let reach = self.state.collision.radius(id)? + sweep.center.norm();
            // Bound by the screw's axis: the farthest point from it, times the turn.
            let turn = h * sweep.velocity.angular.norm() * reach;
            return Some(SweptMotion { sweep, length: h * sweep.velocity.linear.norm() + turn });
        };
        let body = self.state.bodies[body].as_ref()?;
        let velocity = motion_between(&start, body, h);
        let sweep = Sweep { start, velocity, center: body.center_of_mass };
        let length = h * velocity.linear.norm() + rotation_length(body, h);
        Some(SweptMotion { sweep, length })
    }

    /// Puts a body back to a part of its motion in the step. [-]
    fn move_back(&mut self, index: usize, part: f64) {
        let Some(collider) =
            self.state.placements.iter().find(|(_, m, _)| *m == Mover::Body(index))
        else {
            return;
        };
        let Some(start) = self.state.collision.pose(collider.0) else { return };
        let Some(body) = &mut self.state.bodies[index] else { return };
        let h = self.settings.dt;
        let motion =
            Sweep { start, velocity: motion_between(&start, body, h), center: body.center_of_mass };
        let shape = motion.pose_at(part * h);
        let pose = Pose::new(shape.rotation, shape.transform_point(&body.center_of_mass));
        let before = body.energy_of_rotation();
        // The velocity is kept: time is lost, but no momentum.
        body.set_state(pose, body.velocity);
        // Gyroscopic moments changed the rate for the whole rotation: in this attitude it may hold more energy.
        let after = body.energy_of_rotation();
        if after > before {
            body.velocity.angular *= (before / after).sqrt();
        }
    }
}

/// Bound of the length that the surface of a body moves by its spin in a step. [m]
fn rotation_length(body: &Body, h: f64) -> f64 {
    h * body.velocity.angular.norm() * (body.extent[0] + body.center_of_mass.norm())
}

/// Velocity of the centre of mass and spin that bring a body's shape from `start` to where it is in `h`. [s]
fn motion_between(start: &Pose, body: &Body, h: f64) -> Motion {
    let center: Vector3 = start.transform_point(&body.center_of_mass);
    // From the scene's pose, so that the correction of positions is part of the motion.
    let turn = body.rotation * start.quaternion().inverse();
    Motion::new(turn.scaled_axis() / h, (body.pose.translation - center) / h)
}
