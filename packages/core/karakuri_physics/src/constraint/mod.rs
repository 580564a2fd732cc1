//! Constraints, a file a kind, and the set of them, which is their registry.
//!
//! In every step a constraint may add row blocks to the problem that the solver sees: `u = J v`, bounds on the impulse,
//! a desired velocity, a compliance. Its kind says which movers it joins, how its rows are made, what is kept of their
//! impulses (the warm start, what reports and sensors read), how far a row may undo a position error, and where its
//! work is booked. The stages of a step go over the kinds and over rows, and know no kind by name.
//!
//! Loop joints, mimic joints and prescribed joints are no rows: [`karakuri_dynamics::loops::LoopProjection`] eliminates them
//! inside the robots' operators.

pub(crate) mod attached_joint;
pub(crate) mod ball_limit;
pub(crate) mod bellows;
pub(crate) mod bushing;
pub(crate) mod contact;
pub(crate) mod friction;
pub(crate) mod gear;
pub(crate) mod kind;
pub(crate) mod limit;
pub(crate) mod motor;
pub(crate) mod row;
pub(crate) mod servo;
pub(crate) mod spring;
pub(crate) mod suction;

pub use self::attached_joint::{Failure, JointDescription, JointId, JointReport, Strength};
pub use self::bushing::Bushing;
pub use self::contact::ContactReport;
pub use self::gear::{GearDescription, GearEnd, GearId, GearReport};
pub use self::spring::{Anchor, Spring, SpringId};
pub use self::suction::{SuctionDescription, SuctionId, SuctionReport};

use karakuri_collision::ColliderId;

use self::attached_joint::AttachedJoints;
use self::ball_limit::BallLimits;
use self::contact::Contacts;
use self::friction::DryFriction;
use self::gear::Gears;
use self::kind::Constraint;
use self::limit::Limits;
use self::motor::Motors;
use self::row::{BETWEEN_MOVERS, RowBuilder};
use self::servo::Servos;
use self::spring::Springs;
use self::suction::Suctions;
use crate::state::body::Body;
use crate::state::collider::Attachment;
use crate::state::mover::Mover;

/// All constraints of a world, a field a kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConstraintSet {
    pub(crate) servos: Servos,
    pub(crate) dry_friction: DryFriction,
    pub(crate) limits: Limits,
    pub(crate) motors: Motors,
    pub(crate) ball_limits: BallLimits,
    pub(crate) springs: Springs,
    pub(crate) joints: AttachedJoints,
    pub(crate) gears: Gears,
    pub(crate) suctions: Suctions,
    pub(crate) contacts: Contacts,
}

/// Number of kinds of constraints.
const N: usize = 10;
/// Index of the limits of single joints.
pub(crate) const LIMITS: usize = 2;
/// Index of the suction cups.
pub(crate) const SUCTIONS: usize = 8;
/// Index of the contacts.
pub(crate) const CONTACTS: usize = 9;
/// First of the kinds that act on robots, not on single joints of theirs.
const ON_ROBOTS: usize = 3;
/// Rotation in a step below which a body rests, and keeps the rows of the step's start. [rad]
const ROLLS: f64 = 1e-4;
/// Rotation in a step from which on rows halfway through it gain energy, where those at its start lose some. [rad]
const FAST: f64 = 1.0;

impl ConstraintSet {
    /// All kinds, in the order in which the rows of an island come. [`Row::kind`](row::Row::kind) is an index into it.
    pub(crate) fn kinds(&self) -> [&dyn Constraint; N] {
        [
            &self.servos,
            &self.dry_friction,
            &self.limits,
            &self.motors,
            &self.ball_limits,
            &self.springs,
            &self.joints,
            &self.gears,
            &self.suctions,
            &self.contacts,
        ]
    }

    /// [`Self::kinds`], to be changed.
    pub(crate) fn kinds_mut(&mut self) -> [&mut dyn Constraint; N] {
        [
            &mut self.servos,
            &mut self.dry_friction,
            &mut self.limits,
            &mut self.motors,
            &mut self.ball_limits,
            &mut self.springs,
            &mut self.joints,
            &mut self.gears,
            &mut self.suctions,
            &mut self.contacts,
        ]
    }

    /// Kinds that act between movers, with their indices.
    pub(crate) fn between_movers(&self) -> impl Iterator<Item = (usize, &dyn Constraint)> {
        self.kinds().into_iter().enumerate().skip(BETWEEN_MOVERS)
    }

    /// Adds the rows of a robot's own joints, unless it is in free motion: joint by joint, then those of no single joint.
    pub(crate) fn add_robot_rows(
        kinds: &[&mut dyn Constraint; N],
        rows: &mut RowBuilder,
        robot: usize,
    ) {
        let Some(r) = rows.robots[robot].as_ref().filter(|r| !r.free_motion.on) else { return };
        let acts: [bool; ON_ROBOTS] = std::array::from_fn(|i| kinds[i].acts_on_joints(r));
        // A share of the model, as rows borrow the robots while joints are gone through.
        let model = std::sync::Arc::clone(&r.model);
        // By joint first, then by kind: the order of rows is that of sweeps, and so part of the bits.
        for joint in &model.joints {
            for (i, kind) in kinds[..ON_ROBOTS].iter().enumerate().filter(|(i, _)| acts[*i]) {
                rows.kind = i;
                kind.add_joint_rows(rows, robot, joint);
            }
        }
        for (i, kind) in kinds.iter().enumerate().take(BETWEEN_MOVERS).skip(ON_ROBOTS) {
            rows.kind = i;
            kind.add_robot_rows(rows, robot);
        }
    }

    /// Marks the bodies that rigid attached joints, and nothing else, act on, and that turn little in a step. [s]
    pub(crate) fn find_swinging(&self, bodies: &mut [Option<Body>], h: f64) {
        let joints = || self.joints.all.iter().flatten().filter(|joint| !joint.broken);
        // All of them first: marks are of one step.
        for body in bodies.iter_mut().flatten() {
            body.swings = false;
        }
        // Most worlds have no joints, and are spared the searches below.
        if joints().next().is_none() {
            return;
        }
        let body_of = |mover: Mover| mover.body();
        for joint in joints() {
            for end in joint.ends.into_iter().filter_map(body_of) {
                if let Some(body) = &mut bodies[end] {
                    let slow = h * body.velocity.angular.norm() < FAST;
                    body.swings = body.is_awake() && !body.done && slow;
                }
            }
        }
        // Their rows are those of the step's start: one body cannot have rows of two instants.
        let others: [&dyn Constraint; 4] =
            [&self.springs, &self.gears, &self.suctions, &self.contacts];
        for kind in others {
            kind.visit(&mut |_, movers| {
                for end in movers.into_iter().filter_map(body_of) {
                    if let Some(body) = &mut bodies[end] {
                        body.swings = false;
                    }
                }
            });
        }
        // A body that does not swing keeps its neighbours from it.
        let mut changed = true;
        while changed {
            changed = false;
            for joint in joints() {
                // A joint's first step is an impact of what moved apart; a strength asks for forces at the start.
                let rigid = joint.settled
                    && joint.description.bushing.is_none()
                    && joint.description.strength.is_none();
                let swings = |mover: Mover| match mover {
                    Mover::Body(i) => bodies[i].as_ref().is_some_and(|b| b.swings),
                    Mover::Fixed => true,
                    Mover::Robot { .. } => false,
                };
                if rigid && joint.ends.into_iter().all(swings) {
                    continue;
                }
                for end in joint.ends.into_iter().filter_map(body_of) {
                    if let Some(body) = bodies[end].as_mut().filter(|b| b.swings) {
                        body.swings = false;
                        changed = true;
                    }
                }
            }
        }
    }

    /// Marks the bodies that roll on one contact, and that nothing else acts on: they go through the step by the midpoint, too.
    /// [s]
    pub(crate) fn find_rolling(&self, bodies: &mut [Option<Body>], h: f64) {
        let may_roll = |body: &Body| {
            let turn = h * body.velocity.angular.norm();
            turn > ROLLS && turn < FAST && body.is_awake() && !body.done
        };
        // Most bodies rest or slide, and their contacts are spared the search.
        if !bodies.iter().flatten().any(|body| body.swings || may_roll(body)) {
            return;
        }
        for body in bodies.iter_mut().flatten() {
            body.n_contacts = 0;
        }
        let ends = |movers: [Mover; 2]| movers.into_iter().filter_map(Mover::body);
        for contact in &self.contacts.active {
            for end in ends(contact.movers) {
                if let Some(body) = &mut bodies[end]
                    && !contact.is_out_of_reach(body, h)
                {
                    body.n_contacts += 1;
                }
            }
        }
        for contact in &self.contacts.active {
            let Some(body) = contact.rolling_body().and_then(|i| bodies[i].as_mut()) else {
                continue;
            };
            // On one contact alone: several hold a body by rows of the step's start.
            body.swings = body.n_contacts == 1 && may_roll(body);
        }
        // As for bodies that swing: other constraints have their rows at the step's start.
        let others: [&dyn Constraint; 4] =
            [&self.springs, &self.joints, &self.gears, &self.suctions];
        for kind in others {
            kind.visit(&mut |_, movers| {
                for end in ends(movers) {
                    if let Some(body) = bodies[end].as_mut().filter(|b| b.n_contacts > 0) {
                        body.swings = false;
                    }
                }
            });
        }
    }

    /// Removes the contacts between things that a joint or a suction cup holds together.
    pub(crate) fn drop_joined_contacts(&mut self, attachments: &[Option<Attachment>]) {
        let joints = || self.joints.all.iter().flatten();
        let suctions = || self.suctions.all.iter().flatten();
        if joints().next().is_none() && suctions().next().is_none() {
            return;
        }
        let attachment = |id: ColliderId| attachments[id.0];
        self.contacts.active.retain(|c| match (attachment(c.a), attachment(c.b)) {
            (Some(a), Some(b)) => {
                !joints().any(|j| j.joins(&a, &b)) && !suctions().any(|s| s.joins(&a, &b))
            }
            _ => true,
        });
    }
}
