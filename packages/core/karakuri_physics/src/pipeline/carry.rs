//! Bodies that stick to something that turns are carried by it.
//!
//! With the rates of a step a free body moves along its tangent, a link along the arc that its joints and loops give. So
//! a body that sticks to a link would move outwards against it by `½ h² ω² r` a step, and the slip *velocity*, which is zero,
//! would not show it. A body that sticks therefore moves relative to its carrier: with the displacement `T` of the carrier over
//! the step, its pose becomes `T exp(h (V_B − V_A)) X_WB`, which for equal twists is exact, whatever the joints between.
//!
//! A carrier is a link, a body that moves as prescribed, or a body that is carried itself (a stack on a tray). A body of
//! several carriers follows the one that presses most; against the others, what its anchors miss by is measured between
//! the material points.

use karakuri_model::BodyId as LinkBody;
use karakuri_spatial::{Motion, Pose, Vector3};

use crate::constraint::contact::Contact;
use crate::state::State;
use crate::state::collider::Attachment;
use crate::state::mover::{Mover, Owner};
use crate::world::World;

/// Carriers that turn or move by less than this a step are at rest: what sticks to them moves by the square of it. [rad or m]
const AT_REST: f64 = 1e-6;

/// Rotation against its carrier in a step above which a body rolls, and rolling goes on in the world. [rad]
const ROLLS: f64 = 1e-4;

/// Carrier of a body that sticks to it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Carrier {
    Link { robot: usize, body: LinkBody },
    Prescribed(usize),
    Free(usize),
}

impl Carrier {
    fn of(attachment: &Attachment) -> Option<Self> {
        match (attachment.mover, attachment.owner) {
            (Mover::Robot { robot, body }, _) => Some(Self::Link { robot, body }),
            (Mover::Body(body), _) => Some(Self::Free(body)),
            (Mover::Fixed, Owner::Body(id)) if attachment.carried != Motion::default() => {
                Some(Self::Prescribed(id.0))
            }
            _ => None,
        }
    }
}

/// A body that something presses on without slip.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    body: usize,
    carrier: Carrier,
    /// Sum of the impulses of the pair's contacts along their normals. [N·s]
    load: f64,
}

/// A body that is carried in this step.
#[derive(Debug, Clone, Copy)]
struct Carried {
    body: usize,
    carrier: Carrier,
    /// Pose of the carrier at the start of the step, `X_WA`.
    start: Pose,
    /// Displacement of the carrier over the step; known after it.
    displacement: Pose,
}

/// Scratch of the search for carried bodies.
#[derive(Debug, Clone, Default)]
pub(crate) struct Carry {
    candidates: Vec<Candidate>,
    /// Carried bodies, carriers before what they carry.
    carried: Vec<Carried>,
    /// Twist of every body relative to its carrier, about its centre of mass; `None`: it is not carried; empty where nothing
    /// is. [rad/s; m/s]
    pub(crate) relative: Vec<Option<Motion>>,
    /// Largest load of a carrier of every body. [N·s]
    loads: Vec<f64>,
}

impl World {
    /// Finds the bodies that are carried, by the rates of the step.
    pub(crate) fn find_carried(&mut self) {
        let carries = self.carries();
        let carry = &mut self.pipeline.carry;
        carry.carried.clear();
        carry.relative.clear();
        if !carries {
            return;
        }
        let mut carry = std::mem::take(carry);
        self.find_candidates(&mut carry.candidates);
        carry.relative.resize(self.state.bodies.len(), None);
        // Those of links first, then those of bodies that are carried, and so on.
        let mut known = usize::MAX;
        while known != carry.carried.len() && !carry.candidates.is_empty() {
            known = carry.carried.len();
            self.add_carried(&mut carry);
        }
        self.pipeline.carry = carry;
    }

    /// Whether anything moves that may carry a body.
    fn carries(&self) -> bool {
        let State { robots, bodies, .. } = &self.state;
        let least = AT_REST / self.settings.dt;
        let moves = |start: usize, len: usize| {
            let run = start..start + len;
            let rates = self.pipeline.problem.velocity[run.clone()].iter();
            // Positions move by both velocities, the solved and the correcting one.
            rates.zip(&self.pipeline.correction[run]).any(|(v, c)| (v + c).abs() > least)
        };
        // Without free bodies nothing can be carried.
        !bodies.is_empty()
            && (robots.iter().flatten().any(|r| moves(r.start, r.v.len()))
                || bodies.iter().flatten().any(|b| b.course.is_some()))
    }

    /// Pairs of a free body and what presses on it without slip.
    fn find_candidates(&self, candidates: &mut Vec<Candidate>) {
        candidates.clear();
        let State { bodies, attachments, .. } = &self.state;
        let contacts = &self.constraints.contacts.active;
        for of_pair in contacts.chunk_by(|c, d| (c.a, c.b) == (d.a, d.b)) {
            let [Some(a), Some(b)] = [of_pair[0].a, of_pair[0].b].map(|c| attachments[c.0]) else {
                continue;
            };
            let load: f64 = of_pair.iter().map(|c| c.normal.dot(&c.impulse)).sum();
            // One point that slips leaves the pair without a common motion.
            if load <= 0.0 || of_pair.iter().any(Contact::slips) {
                continue;
            }
            // Which of the two carries the other depends on what else holds them.
            for (one, other) in [(&a, &b), (&b, &a)] {
                let free = |i: &usize| bodies[*i].as_ref().is_some_and(|b| b.is_awake() && !b.done);
                let Some(body) = one.mover.body().filter(free) else { continue };
                let Some(carrier) = Carrier::of(other) else { continue };
                candidates.push(Candidate { body, carrier, load });
            }
        }
        // A chain of carriers has to end at a link or a prescribed body: free bodies alone move along their tangents alike.
        if !candidates.iter().any(|c| !matches!(c.carrier, Carrier::Free(_))) {
            candidates.clear();
        }
    }

    /// Adds the bodies whose carriers are known; each body with the carrier that presses most.
    fn add_carried(&self, carry: &mut Carry) {
        let Carry { candidates, carried, relative, loads } = carry;
        let ready = |c: &Candidate, relative: &[Option<Motion>]| {
            relative[c.body].is_none()
                && match c.carrier {
                    Carrier::Free(other) => relative[other].is_some(),
                    _ => true,
                }
        };
        loads.clear();
        loads.resize(self.state.bodies.len(), 0.0);
        // First the largest load of each body, then who has it: the order of the candidates does not decide.
        for c in candidates.iter().filter(|c| ready(c, relative)) {
            loads[c.body] = loads[c.body].max(c.load);
        }
        for c in candidates {
            // Of equal loads the first: the second finds the body taken.
            if !ready(c, relative) || c.load < loads[c.body] {
                continue;
            }
            let Some((twist, start)) = self.twist_of(c.carrier) else { continue };
            let Some(against) = self.relative_twist(c.body, &twist) else { continue };
            let displacement = Pose::IDENTITY;
            carried.push(Carried { body: c.body, carrier: c.carrier, start, displacement });
            relative[c.body] = Some(against);
        }
    }

    /// Twist of a carrier by the rates of the step, about the world's origin, and its pose; `None` if it rests.
    fn twist_of(&self, carrier: Carrier) -> Option<(Motion, Pose)> {
        let (h, bodies) = (self.settings.dt, &self.state.bodies);
        let rate = |k: usize| self.pipeline.problem.velocity[k] + self.pipeline.correction[k];
        let (twist, start) = match carrier {
            Carrier::Link { robot, body } => {
                let r = self.state.robots[robot].as_ref()?;
                // `V_A = Σ S_k v_k`, moved from the tree's origin to that of the world.
                let columns = r.chains.of(body).iter();
                let about_origin = columns.fold(Motion::default(), |sum, &k| {
                    sum + r.data.subspace[k] * rate(r.start + k)
                });
                let Motion { angular, linear } = about_origin;
                // From the tree's origin to the world's: v_W = v_O − ω × p_WO.
                let twist = Motion::new(angular, linear - angular.cross(&r.data.origin));
                (twist, r.data.pose_in_world[body.0])
            }
            Carrier::Prescribed(i) => {
                let body = bodies[i].as_ref()?;
                let end = body.course.as_ref()?.end.0;
                // The mean twist from the present pose to that of the table.
                let turned =
                    Pose::new(end.rotation * body.pose.rotation.transpose(), Vector3::zeros());
                let angular = turned.quaternion().scaled_axis() / h;
                let linear = (end.translation - body.pose.translation) / h;
                (Motion::new(angular, linear - angular.cross(&body.pose.translation)), body.pose)
            }
            Carrier::Free(i) => {
                let body = bodies[i].as_ref()?;
                let [linear, angular] =
                    [0, 3].map(|first| Vector3::from_fn(|axis, _| rate(body.start + first + axis)));
                (Motion::new(angular, linear - angular.cross(&body.pose.translation)), body.pose)
            }
        };
        // By the carrier's own origin: a hinge through the world's origin would have no velocity there.
        let at_start = twist.linear + twist.angular.cross(&start.translation);
        let moves = h * twist.angular.norm() > AT_REST || h * at_start.norm() > AT_REST;
        moves.then_some((twist, start))
    }

    /// Twist of a body against its carrier, about its centre of mass; `None` if it rolls.
    fn relative_twist(&self, body: usize, carrier: &Motion) -> Option<Motion> {
        let b = self.state.bodies[body].as_ref()?;
        let rate = |k: usize| self.pipeline.problem.velocity[k] + self.pipeline.correction[k];
        let [linear, angular] =
            [0, 3].map(|first| Vector3::from_fn(|axis, _| rate(b.start + first + axis)));
        let angular = angular - carrier.angular;
        // `V_B − V_A`, at the body's centre of mass.
        let linear = linear - carrier.linear - carrier.angular.cross(&b.pose.translation);
        (self.settings.dt * angular.norm() < ROLLS).then_some(Motion::new(angular, linear))
    }

    /// Takes every carried body along, after links and bodies moved, and corrects what its anchors remember.
    pub(crate) fn carry_bodies(&mut self) {
        let mut carry = std::mem::take(&mut self.pipeline.carry);
        // Carriers come before what they carry, so the pose of a carried carrier is final here.
        for carried in &mut carry.carried {
            let end = match carried.carrier {
                Carrier::Link { robot, body } => {
                    self.state.robots[robot].as_ref().map(|r| r.data.pose_in_world[body.0])
                }
                Carrier::Prescribed(i) => {
                    let body = self.state.bodies[i].as_ref();
                    body.and_then(|b| b.course.as_ref()).map(|course| course.end.0)
                }
                Carrier::Free(i) => self.state.bodies[i].as_ref().map(|b| b.pose),
            };
            let (Some(end), Some(body)) = (end, &mut self.state.bodies[carried.body]) else {
                continue;
            };
            // `T = X_WA' X_WA⁻¹`; the body has moved by `exp(h (V_B − V_A))` already.
            carried.displacement = end * carried.start.inverse();
            body.carry(&carried.displacement);
        }
        if !carry.carried.is_empty() {
            self.carry_anchors(&carry.carried);
        }
        self.pipeline.carry = carry;
    }

    /// Turns the drifts of carried bodies' contacts with their carriers; adds to those with others what the slip velocity missed.
    fn carry_anchors(&mut self, carried: &[Carried]) {
        let State { robots, bodies, attachments, collision, placements, .. } = &self.state;
        // The scene has the poses of the step's start: colliders are placed last.
        let displacement = |contact: &Contact, side: usize| {
            let collider = [contact.a, contact.b][side];
            let placement = placements.iter().find(|(c, ..)| *c == collider)?;
            let end = crate::state::pose_of(placement.1, robots, bodies) * placement.2;
            Some(end * collision.pose(collider)?.inverse())
        };
        for contact in &mut self.constraints.contacts.active {
            let [Some(a), Some(b)] = [contact.a, contact.b].map(|c| attachments[c.0]) else {
                continue;
            };
            let of = |one: &Attachment, other: &Attachment| {
                let body = one.mover.body()?;
                let found = carried.iter().find(|c| c.body == body)?;
                Some((Carrier::of(other) == Some(found.carrier)).then_some(found.displacement))
            };
            let Some(along) = of(&a, &b).or_else(|| of(&b, &a)) else { continue };
            if let Some(displacement) = along {
                // The drift is fixed to the carrier's surface, so it turns with it.
                contact.drift = displacement.rotation * contact.drift;
                continue;
            }
            if !contact.sticks {
                continue;
            }
            let Some(block) = contact.made.and_then(|(_, i)| self.pipeline.problem.blocks.get(i))
            else {
                continue;
            };
            // Between material points of other contacts: their distance, less what the slip velocity shows.
            let u = self.pipeline.problem.velocity_of(block);
            let T = [0, 1].map(|side| displacement(contact, side).unwrap_or(Pose::IDENTITY));
            let moved = T.map(|T| T.transform_point(&contact.position));
            contact.add_missed_slip(&(moved[1] - moved[0]), &u, self.settings.dt);
        }
    }
}
