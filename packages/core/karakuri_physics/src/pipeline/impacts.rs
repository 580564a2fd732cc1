//! Bouncing bodies: every impact at its own time.
//!
//! An island of free bodies whose contacts are single points that bounce goes through a step from impact to impact:
//! free motion is exact for constant forces, an impact changes velocities only, by Newton's law `u_n⁺ = −e u_n⁻` with
//! Coulomb friction on the impulses. The energy of an elastic island is so kept at any step. An impact slower than
//! the threshold, or too many of them (a body coming to rest), hands the island to the ordinary step.
//! [Moreau 1988]

use karakuri_collision::{ColliderId, Sweep, Swept};
use karakuri_spatial::{Force, Matrix3, Motion, Pose, UnitQuaternion, Vector3};

use crate::constraint::contact::{SLIP, tangents};
use crate::pipeline::islands::{join_sets, root};
use crate::pipeline::scratch::{Bounces, Meeting};
use crate::solver::solve_contact;
use crate::state::body::Body;
use crate::state::mover::Mover;
use crate::world::World;

/// Gap at which two bodies meet. [m]
const TOUCH: f64 = 1e-9;
/// Deeper than impacts leave two bodies: they were put into each other, and have no time of impact. [m]
const OVERLAP: f64 = 1e-6;
/// Most impacts of an island in a step, for each of its contacts.
const IMPACTS_A_CONTACT: usize = 20;
/// Rounds in which the mean velocity until the impact is found; exact after one without gravity.
const CHORDS: usize = 4;

impl World {
    /// Takes all islands that bounce through the step; their bodies are `done`.
    pub(crate) fn bounce(&mut self) {
        self.pipeline.bounces.impulses.clear();
        self.pipeline.bounces.saved.clear();
        self.pipeline.bounces.work = 0.0;
        for body in self.state.bodies.iter_mut().flatten() {
            body.done = false;
        }
        if self.constraints.contacts.active.iter().all(|c| c.surface.restitution == 0.0) {
            return;
        }
        let mut bounces = std::mem::take(&mut self.pipeline.bounces);
        self.find_bouncing(&mut bounces);
        let mut first = 0;
        bounces.meetings.sort_unstable_by_key(|m| (m.island, m.contact));
        while first < bounces.meetings.len() {
            let island = bounces.meetings[first].island;
            let len = bounces.meetings[first..].iter().take_while(|m| m.island == island).count();
            self.bounce_island(&mut bounces, first..first + len);
            first += len;
        }
        self.pipeline.bounces = bounces;
    }

    /// Puts bodies that bounced back where they were.
    pub(crate) fn undo_bounces(&mut self) {
        let saved = std::mem::take(&mut self.pipeline.bounces.saved);
        for (body, rotation, pose, velocity) in &saved {
            if let Some(body) = &mut self.state.bodies[*body] {
                body.put_back(*rotation, *pose, *velocity);
            }
        }
        self.pipeline.bounces.saved = saved;
    }

    fn movers_of(&self, contact: usize) -> Option<[Mover; 2]> {
        let c = &self.constraints.contacts.active[contact];
        Some([self.state.attachments[c.a.0]?.mover, self.state.attachments[c.b.0]?.mover])
    }

    /// Islands of free bodies, all their contacts single points with restitution; their meetings.
    fn find_bouncing(&self, bounces: &mut Bounces) {
        let n = self.state.bodies.len();
        bounces.parents.clear();
        bounces.parents.extend(0..n);
        bounces.able.clear();
        bounces.able.resize(n, true);
        for i in 0..self.constraints.contacts.active.len() {
            if let Some([Mover::Body(a), Mover::Body(b)]) = self.movers_of(i) {
                join_sets(&mut bounces.parents, a, b);
            }
        }
        for (_, kind) in self.constraints.between_movers().filter(|(_, kind)| kind.ties()) {
            kind.visit(&mut |_, movers| {
                for body in movers.into_iter().filter_map(Mover::body) {
                    bounces.able[root(&mut bounces.parents, body)] = false;
                }
            });
        }
        for (i, contact) in self.constraints.contacts.active.iter().enumerate() {
            let Some(movers) = self.movers_of(i) else { continue };
            let pair = |k: usize| self.constraints.contacts.active.get(k).map(|c| (c.a, c.b));
            let alone = pair(i + 1) != pair(i) && (i == 0 || pair(i - 1) != pair(i));
            let with_robot = movers.iter().any(|m| matches!(m, Mover::Robot { .. }));
            let overlaps = contact.gap < -OVERLAP;
            let carried = contact.carried != Vector3::zeros();
            if !alone || with_robot || overlaps || carried || contact.surface.restitution == 0.0 {
                for mover in movers {
                    if let Mover::Body(body) = mover {
                        bounces.able[root(&mut bounces.parents, body)] = false;
                    }
                }
            }
        }
        bounces.meetings.clear();
        for (i, contact) in self.constraints.contacts.active.iter().enumerate() {
            let Some(movers) = self.movers_of(i) else { continue };
            let body =
                movers.iter().find_map(|m| if let Mover::Body(b) = m { Some(*b) } else { None });
            let Some(body) = body else { continue };
            let island = root(&mut bounces.parents, body);
            if bounces.able[island] {
                let (normal, point) = (contact.normal, contact.position);
                let time = f64::INFINITY;
                bounces.meetings.push(Meeting { contact: i, island, time, normal, point });
            }
        }
    }

    /// One island from impact to impact; undone if it comes to rest on the way.
    fn bounce_island(&mut self, bounces: &mut Bounces, range: std::ops::Range<usize>) {
        let h = self.settings.dt;
        let (first_saved, first_impulse) = (bounces.saved.len(), bounces.impulses.len());
        let work = bounces.work;
        let island = bounces.meetings[range.start].island;
        bounces.times.resize(self.state.bodies.len(), 0.0);
        for i in 0..self.state.bodies.len() {
            if root(&mut bounces.parents, i) == island
                && let Some(body) = self.state.bodies[i].as_ref().filter(|b| b.is_free())
            {
                bounces.saved.push((i, body.rotation, body.pose, body.velocity));
                bounces.times[i] = 0.0;
            }
        }
        for m in range.clone() {
            self.foresee(bounces, m, 0.0);
        }
        let mut left = IMPACTS_A_CONTACT * range.len();
        while let Some(next) = earliest(&bounces.meetings[range.clone()]) {
            let meeting = bounces.meetings[range.start + next];
            left -= 1;
            if left == 0 || !self.collide_bodies(bounces, &meeting) {
                for (body, rotation, pose, velocity) in &bounces.saved[first_saved..] {
                    if let Some(body) = &mut self.state.bodies[*body] {
                        body.put_back(*rotation, *pose, *velocity);
                    }
                }
                bounces.saved.truncate(first_saved);
                bounces.impulses.truncate(first_impulse);
                bounces.work = work;
                return;
            }
            let met = self.movers_of(meeting.contact);
            for m in range.clone() {
                let other = self.movers_of(bounces.meetings[m].contact);
                let shares =
                    |x: &Mover| *x != Mover::Fixed && met.is_some_and(|met| met.contains(x));
                if other.is_some_and(|movers| movers.iter().any(shares)) {
                    self.foresee(bounces, m, meeting.time);
                }
            }
        }
        for s in first_saved..bounces.saved.len() {
            let i = bounces.saved[s].0;
            self.advance_to(bounces, i, h);
            if let Some(body) = &mut self.state.bodies[i] {
                body.done = true;
            }
        }
    }

    /// Flies a body to a time of the step.
    fn advance_to(&mut self, bounces: &mut Bounces, body: usize, time: f64) {
        let dt = time - bounces.times[body];
        bounces.times[body] = time;
        if let Some(body) = self.state.bodies[body].as_mut().filter(|b| b.is_free() && dt > 0.0) {
            let mut after = [0.0; 6];
            body.free_motion(dt, &self.settings.gravity, &mut after);
            body.fly(&after, dt);
        }
    }

    /// When a pair next meets, not before `now`.
    fn foresee(&mut self, bounces: &mut Bounces, index: usize, now: f64) {
        let h = self.settings.dt;
        let meeting = &mut bounces.meetings[index];
        meeting.time = f64::INFINITY;
        let contact = &self.constraints.contacts.active[meeting.contact];
        let colliders = [contact.a, contact.b];
        let (left, mut duration) = (h - now, h - now);
        let mut found = None;
        for _ in 0..CHORDS {
            let [a, b] = colliders.map(|c| self.sweep(c, &bounces.times, now, duration));
            let (Some(a), Some(b)) = (a, b) else { return };
            let a = Swept { collider: colliders[0], sweep: &a };
            let b = Swept { collider: colliders[1], sweep: &b };
            let Some(impact) = self.state.collision.time_of_impact(a, b, left, TOUCH) else {
                break;
            };
            let settled = (impact.time - duration).abs() <= 1e-12 * h;
            duration = impact.time;
            found = Some(impact);
            if settled || duration <= 0.0 {
                break;
            }
        }
        if let Some(impact) = found {
            meeting.time = now + impact.time;
            meeting.normal = impact.normal;
            meeting.point = (impact.points[0] + impact.points[1]) * 0.5;
        }
    }

    /// The motion of a collider from `now` on by its mean velocity over `duration`.
    fn sweep(&self, id: ColliderId, times: &[f64], now: f64, duration: f64) -> Option<Sweep> {
        match self.state.attachments[id.0]?.mover {
            Mover::Body(i) => {
                let body = self.state.bodies[i].as_ref()?;
                if !body.is_free() {
                    return Some(Sweep::at_rest(body.shape_pose()));
                }
                let waited = now - times[i];
                let acceleration =
                    self.settings.gravity + body.applied.force / body.description.mass;
                let linear = body.velocity.linear + acceleration * waited;
                let shift = (body.velocity.linear + linear) * (0.5 * waited);
                let turn = UnitQuaternion::from_scaled_axis(body.velocity.angular * waited);
                let center = body.center_of_mass;
                let mut start =
                    Pose::from_quaternion(&(turn * body.rotation), body.pose.translation + shift);
                start.translation -= start.rotation * center;
                let mean = linear + acceleration * (0.5 * duration);
                Some(Sweep { start, velocity: Motion::new(body.velocity.angular, mean), center })
            }
            Mover::Fixed => self.state.collision.pose(id).map(Sweep::at_rest),
            Mover::Robot { .. } => None,
        }
    }

    /// The impact of a pair; false where it is too slow to bounce.
    fn collide_bodies(&mut self, bounces: &mut Bounces, meeting: &Meeting) -> bool {
        let Some(movers) = self.movers_of(meeting.contact) else { return false };
        let movers = movers.map(|m| match m {
            Mover::Body(i) if self.state.bodies[i].as_ref().is_some_and(Body::is_free) => Some(i),
            _ => None,
        });
        for body in movers.into_iter().flatten() {
            self.advance_to(bounces, body, meeting.time);
        }
        let contact = &self.constraints.contacts.active[meeting.contact];
        let [t1, t2] = tangents(&meeting.normal);
        let R = Matrix3::from_columns(&[meeting.normal, t1, t2]);
        let (mut G, mut u) = (Matrix3::zeros(), Vector3::zeros());
        for (sign, body) in [-1.0, 1.0].into_iter().zip(movers) {
            let Some(body) = body.and_then(|i| self.state.bodies[i].as_ref()) else { continue };
            let arm = meeting.point - body.pose.translation;
            let turn = karakuri_spatial::skew(&arm);
            u += (body.velocity.linear + body.velocity.angular.cross(&arm)) * sign;
            G += Matrix3::identity() / body.description.mass
                - turn * body.inverse_inertia_world * turn;
        }
        let (G, u) = (R.tr_mul(&(G * R)), R.tr_mul(&u));
        if u.x >= -self.settings.restitution_threshold {
            return u.x >= 0.0;
        }
        let surface = contact.surface;
        let friction =
            if u.yz().norm() > SLIP { surface.dynamic_friction } else { surface.friction };
        let impulse = bounce_impulse(&G, &u, surface.restitution, friction);
        let push = R * impulse;
        bounces.work += impulse.dot(&(u + G * impulse * 0.5));
        for (sign, body) in [-1.0, 1.0].into_iter().zip(movers) {
            if let Some(body) = body.and_then(|i| self.state.bodies[i].as_mut()) {
                let arm = meeting.point - body.pose.translation;
                body.kick(&Force::new(arm.cross(&(push * sign)), push * sign));
            }
        }
        bounces.impulses.push((meeting.contact, push));
        true
    }
}

/// Newton's law with friction; without restitution where that would add energy (friction can make it so). [N·s] (3)
fn bounce_impulse(G: &Matrix3, u: &Vector3, restitution: f64, friction: f64) -> Vector3 {
    let at = |e: f64| solve_contact(G, &Vector3::new(u.x * (1.0 + e), u.y, u.z), friction);
    let impulse = at(restitution);
    let gain = impulse.dot(&(u + G * impulse * 0.5));
    if gain > 1e-12 * u.norm_squared() / G.trace() { at(0.0) } else { impulse }
}

/// The meeting that is first, if any is left.
fn earliest(meetings: &[Meeting]) -> Option<usize> {
    let first = meetings.iter().enumerate().min_by(|a, b| a.1.time.total_cmp(&b.1.time))?;
    first.1.time.is_finite().then_some(first.0)
}
