//! Bouncing bodies: every impact at its own time.
//!
//! An island of free bodies whose contacts are single points that bounce goes through a step from impact to impact:
//! free motion is exact for constant forces, an impact changes velocities only, by [Poisson's law](super::strikes) with
//! Coulomb friction on the impulses. The energy of an elastic island is so kept at any step. Impacts at one instant are
//! solved together, so that their order in the world does not matter. An impact slower than
//! the threshold, or too many of them (a body coming to rest), hands the island to the ordinary step.
//! [Moreau 1988]

use karakuri_collision::{ColliderId, Sweep, Swept};
use karakuri_spatial::{Motion, Pose, UnitQuaternion, Vector3};

use crate::pipeline::islands::{join_sets, root};
use crate::pipeline::scratch::Bounces;
use crate::pipeline::strikes::{Meeting, Strike, solve_strikes};
use crate::state::body::Body;
use crate::state::mover::Mover;
use crate::world::World;

/// Gap at which two bodies meet. [m]
const TOUCH: f64 = 1e-9;
/// Deeper than impacts leave two bodies: they were put into each other, and have no time of impact. [m]
const OVERLAP: f64 = 1e-6;
/// Most impacts of an island in a step, for each of its contacts.
// A ball that comes to rest bounces ever faster; where the threshold of speed does not end that, this does.
const IMPACTS_A_CONTACT: usize = 20;
/// Impacts nearer in time than this part of a step are at one instant. [-]
// Above what sweeps of symmetric pairs differ by: solved one after the other they would not bounce symmetrically.
const INSTANT: f64 = 1e-6;
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
        // Islands one after the other, contacts in their order in the world: the bits do not depend on how islands were joined.
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
            // Contacts in reach join, impact or not: within the step each may become one.
            if let Some([Mover::Body(a), Mover::Body(b)]) = self.movers_of(i) {
                join_sets(&mut bounces.parents, a, b);
            }
        }
        // A mechanism does not bounce apart.
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
            // A patch, a robot, an overlap, a prescribed surface or a contact without restitution leaves the island to rows.
            // Two contacts of a pair are a patch: it has a lever, and rocks instead of bouncing at a point.
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

    /// Takes one island from impact to impact; undone if it comes to rest before the step's end.
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
                // To be put back, should the island come to rest.
                bounces.saved.push((i, body.rotation, body.pose, body.velocity));
                bounces.times[i] = 0.0;
            }
        }
        for m in range.clone() {
            self.foresee(bounces, m, 0.0);
        }
        // Too many impacts, or one below the threshold: the island takes the step with rows.
        let mut left = IMPACTS_A_CONTACT * range.len();
        while let Some(next) = earliest(&bounces.meetings[range.clone()]) {
            let time = bounces.meetings[range.start + next].time;
            let at_once = bounces.meetings[range.clone()].iter();
            bounces.together.clear();
            // Together, as the order of simultaneous impacts would otherwise be that of the contacts in the world.
            bounces.together.extend(at_once.filter(|m| m.time <= time + INSTANT * h));
            let n_together = bounces.together.len();
            if left <= n_together || !self.collide_bodies(bounces, time) {
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
            left -= n_together;
            // The others fly on undisturbed: their times stand.
            for m in range.clone() {
                if self.shares_body(bounces, m) {
                    self.foresee(bounces, m, time);
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
        // A flight of no time is none: an impact that follows at once must not change a bit.
        if let Some(body) = self.state.bodies[body].as_mut().filter(|b| b.is_free() && dt > 0.0) {
            let mut after = [0.0; 6];
            body.free_motion(dt, &self.settings.gravity, &mut after);
            body.fly(&after, dt);
        }
    }

    /// Finds the time at which a pair next meets, not before `now`. [s]
    fn foresee(&mut self, bounces: &mut Bounces, index: usize, now: f64) {
        let h = self.settings.dt;
        let meeting = &mut bounces.meetings[index];
        meeting.time = f64::INFINITY;
        let contact = &self.constraints.contacts.active[meeting.contact];
        let colliders = [contact.a, contact.b];
        let (left, mut duration) = (h - now, h - now);
        let mut found = None;
        // Each sweep takes the mean velocity until the impact that the last one found.
        for _ in 0..CHORDS {
            let [a, b] = colliders.map(|c| self.sweep(c, &bounces.times, now, duration));
            let (Some(a), Some(b)) = (a, b) else { return };
            let a = Swept { collider: colliders[0], sweep: &a };
            let b = Swept { collider: colliders[1], sweep: &b };
            let Some(impact) = self.state.collision.time_of_impact(a, b, left, TOUCH) else {
                break;
            };
            // Without gravity the chord is the path: the first impact is found again.
            let settled = (impact.time - duration).abs() <= 1e-12 * h;
            duration = impact.time;
            found = Some(impact);
            if settled || duration <= 0.0 {
                break;
            }
        }
        // The contact acts in the middle between the points of both surfaces.
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
                // At the body's own time, not at `now`: each has flown up to its last impact only.
                // In free fall since its own last impact, and from now on by the mean velocity of the fall.
                let waited = now - times[i];
                let acceleration =
                    self.settings.gravity + body.applied.force / body.description.mass;
                let linear = body.velocity.linear + acceleration * waited;
                let shift = (body.velocity.linear + linear) * (0.5 * waited);
                // At a constant rate: precession within the rest of a step is left to the flight itself.
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

    /// Whether a body of a meeting is one of those that just met.
    fn shares_body(&self, bounces: &Bounces, meeting: usize) -> bool {
        let Some(movers) = self.movers_of(bounces.meetings[meeting].contact) else { return false };
        let moved = movers.into_iter().filter(|m| *m != Mover::Fixed);
        let met = |mover: Mover| {
            let mut together = bounces.together.iter();
            together.any(|m| self.movers_of(m.contact).is_some_and(|met| met.contains(&mover)))
        };
        moved.into_iter().any(met)
    }

    /// The impacts at one instant; false where one is too slow to bounce.
    fn collide_bodies(&mut self, bounces: &mut Bounces, time: f64) -> bool {
        bounces.strikes.clear();
        for i in 0..bounces.together.len() {
            let meeting = bounces.together[i];
            let Some(movers) = self.movers_of(meeting.contact) else { return false };
            let bodies = movers.map(|m| {
                let free = |i: &usize| self.state.bodies[*i].as_ref().is_some_and(Body::is_free);
                m.body().filter(free)
            });
            for body in bodies.into_iter().flatten() {
                self.advance_to(bounces, body, time);
            }
            let surface = self.constraints.contacts.active[meeting.contact].surface;
            bounces.strikes.push(Strike::new(&self.state, &meeting, bodies, &surface));
        }
        let slow =
            // Only what approaches: of impacts at one instant some may separate already.
            |s: &Strike| s.before.x < 0.0 && s.before.x >= -self.settings.restitution_threshold;
        if bounces.strikes.iter().any(slow) {
            return false;
        }
        if bounces.strikes.iter().any(|s| s.before.x < 0.0) {
            bounces.work += solve_strikes(&mut self.state, &mut bounces.strikes);
            let impulses = bounces.strikes.iter().map(|s| (s.contact, s.impulse()));
            bounces.impulses.extend(impulses);
        }
        true
    }
}

/// The meeting that is first, if any is left.
fn earliest(meetings: &[Meeting]) -> Option<usize> {
    let first = meetings.iter().enumerate().min_by(|a, b| a.1.time.total_cmp(&b.1.time))?;
    first.1.time.is_finite().then_some(first.0)
}
