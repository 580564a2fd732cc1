//! Contacts with a memory: points of this step matched to those of the last.
//!
//! A contact keeps its impulse (the warm start) and its drift, the tangential slip summed up since it began to
//! stick. The drift is pulled back inside the friction cone, so that solver residuals do not add up to creep; it is
//! measured as slip, not as a distance of material points, so that rolling is free. The drifts of a patch are those of a
//! rigid motion in its plane; those that contradict each other around a loop of bodies are forgotten
//! (docs/theory/contact-solvers.md, "Drifts around loops").

mod matching;

use karakuri_collision::{ColliderId, ContactPoint};
use karakuri_model::Bumper;
use karakuri_spatial::{Matrix3, Motion, Vector3};

use super::kind::{Constraint, Solved, SolvedRow};
use super::row::{Account, Correction, GAP_RATE, Row, RowBuilder};
use super::spring::SoftLaw;
use crate::solver::{Admissible, Block, Side, SoftFinger};
use crate::state::State;
use crate::state::body::Body;
use crate::state::materials::Surface;
use crate::state::mover::{Mover, Owner};

pub(crate) use matching::match_contacts;

/// Speed along a surface above which a contact slips: far above what solvers leave, far below what matters. [m/s]
pub(crate) const SLIP: f64 = 1e-5;
/// Slip above which a contact was solved as sliding: above what solvers leave of sticking. [m/s]
const SLID: f64 = 1e-8;

/// Drift up to which contacts of a crowd are left as they are. [m]
// Undoing a fifth of it a step asks for velocities that fall by a fifth a step, down to the last digits: sixty steps of Newton's method
// on all of a heap, in which other drifts begin. A single body trembles at the tolerance where none is undone.
const CROWD_DRIFT: f64 = 1e-6;

/// Change of a rolling body's rate in a step, relative to the rate, from which on it is that of an impact. [-]
const SMOOTH: f64 = 0.1;

/// A contact point with its memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contact {
    pub(crate) a: ColliderId,
    pub(crate) b: ColliderId,
    /// Movers of a and b.
    pub(crate) movers: [Mover; 2],
    feature: u64,
    pub(crate) position: Vector3,
    pub(crate) normal: Vector3,
    /// Tangents by [`karakuri_spatial::tangent_frame`], in the world. (2 × 3)
    pub(crate) tangents: [Vector3; 2],
    pub(crate) gap: f64,
    /// Number of points of its patch, which share the spring and damper of the surfaces.
    pub(crate) sharers: usize,
    /// Material law of the two surfaces together.
    pub(crate) surface: Surface,
    /// Tangential velocity of b against a at which nothing slips: zero but on belts. [m/s] (3)
    pub(crate) belt_velocity: Vector3,
    /// Velocity of b against a at which nothing closes or slips: zero but on bodies that move as prescribed. [m/s] (3)
    pub(crate) carried: Vector3,
    /// Impulse on b, in the world. [N·s] (3)
    pub(crate) impulse: Vector3,
    /// Impulsive moment on b against rolling and spinning, in the world. [N·m·s] (3)
    pub(crate) moment: Vector3,
    /// Tangential slip since it began to stick, in the world. [m] (3)
    pub(crate) drift: Vector3,
    /// Whether it stuck in the last step; then the drift counts.
    pub(crate) sticks: bool,
    /// Speed at which it was solved as sliding in the last step; 0 where it stuck. [m/s]
    slip_speed: f64,
    /// Turn of its normal in the last step; the rows of the step's start miss some of the motion that goes with it. [rad]
    turn: f64,
    /// Largest component of the impulse from which the solver begins; zero of a new contact. [N·s]
    pub(crate) warm_start: f64,
    /// Whether it takes part in an impact of the step.
    pub(crate) struck: bool,
    /// Whether the last step's impulses had to be solved for.
    pub(crate) unsettled: bool,
    /// Lever arm from the centre of mass of the one body that moves at it; zero where both sides may move. [m] (3)
    arm: Vector3,
    /// Change of the arm in half of the last step, if it stuck there and goes on along the same plane. [m] (3)
    advance: Option<Vector3>,
    /// Rows halfway through the step, where they are made there.
    halfway: Option<Halfway>,
    /// Build in which its rows were made last, and its place among the blocks; none once a side moved.
    pub(crate) made: Option<(u64, usize)>,
}

/// Rows of a contact where it will be halfway through the step.
#[derive(Debug, Clone, Copy)]
struct Halfway {
    /// Lever arm from the body's centre of mass, in the world. [m] (3)
    arm: Vector3,
    /// Velocity at the start of the step by its rows there less that by these, along normal and tangents. [m/s] (3)
    shift: Vector3,
}

/// A contact of the last step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactReport {
    /// Owner of the first side.
    pub a: Owner,
    /// Owner of the second side.
    pub b: Owner,
    /// Position of the contact point in the world. [m] (3)
    pub position: Vector3,
    /// Unit normal from a to b, in the world. (3)
    pub normal: Vector3,
    /// Signed distance at the start of the step. [m]
    pub gap: f64,
    /// Mean force on b over the step, in the world. [N] (3)
    pub force: Vector3,
    /// Mean moment on b over the step against rolling and spinning, in the world. [N·m] (3)
    pub moment: Vector3,
}

/// Surfaces nearer than this touch, and nothing closes the rest: the corners of two faces are never at the same gap to the
/// last nanometre, and rigid faces that had to close each of theirs would put the load on one corner. [m]
const TOUCH: f64 = 1e-6;

/// A contact that closes a larger gap than this in a step is an impact, not a rest. [m]
const ACROSS: f64 = 1e-5;

/// Turn of a normal in a step from which a penetration is undone faster: above what rests or rolls has. [rad]
const TURNING: f64 = 5e-3;

/// Factor of the part of a penetration that is undone a step, where the normal turns. A ball on a face that turns at 45 rad/s sinks by
/// 0.08 mm a step, which the rate of what rests balances at a depth of 0.4 mm. [-]
const TURNING_RATE: f64 = 3.0;

/// The contacts of a world.
#[derive(Debug, Clone, Default)]
pub(crate) struct Contacts {
    /// Contacts of the step.
    pub(crate) active: Vec<Contact>,
    /// Contacts of the last step.
    pub(crate) previous: Vec<Contact>,
    /// Contacts of what sleeps.
    pub(crate) asleep: Vec<Contact>,
    /// Contacts of the last step that the points of a pair continue, by their places in the pair.
    counterparts: Vec<Option<usize>>,
}

/// The rows of a contact: normal and two tangents; and those against spinning and rolling, after them.
const TRANSLATION: usize = 0;
const ROTATION: usize = 1;

impl Constraint for Contacts {
    fn visit(&self, visit: &mut dyn FnMut(usize, [Mover; 2])) {
        for (i, contact) in self.active.iter().enumerate() {
            visit(i, contact.movers);
        }
    }

    // What only touches falls asleep and bounces apart by itself.
    fn ties(&self) -> bool {
        false
    }

    fn add_rows(&mut self, rows: &mut RowBuilder, index: usize) {
        rows.contact(index, &mut self.active[index]);
    }

    fn clear_impulses(&mut self, _: &mut State) {
        for contact in &mut self.active {
            contact.impulse = Vector3::zeros();
            contact.moment = Vector3::zeros();
        }
    }

    fn finish_step(&mut self, state: &mut State, _: &Solved) {
        for contact in &self.active {
            let Some(Halfway { arm, .. }) = contact.halfway else { continue };
            for (end, sign) in [(0, -1.0), (1, 1.0)] {
                let body = contact.movers[end].body().and_then(|i| state.bodies[i].as_mut());
                if let Some(body) = body {
                    // The impulse at the place halfway, whose moment turns the body in the next step's gyroscopic term.
                    let moment = arm.cross(&contact.impulse) * sign;
                    let change = body.inverse_inertia_world * moment;
                    // That of an impact does not come again.
                    if change.norm() <= SMOOTH * body.velocity.angular.norm() {
                        body.joint_moment += moment;
                    }
                }
            }
        }
    }

    fn keep_impulse(&mut self, _: &mut State, solved: &SolvedRow) {
        let SolvedRow { row, block, step } = solved;
        let contact = &mut self.active[row.owner];
        if row.part == ROTATION {
            contact.moment = contact.in_world(&block.impulse);
        } else {
            contact.settle(block, &step.problem.velocity_of(block), step.attained, step.h);
            contact.unsettled = block.unsettled;
        }
    }

    /// Work of running belts and of surfaces that move as prescribed. [J]
    fn outside_work(&self, row: &Row, block: &Block) -> f64 {
        let contact = &self.active[row.owner];
        let mut work = 0.0;
        if row.part == ROTATION {
            return work;
        }
        if contact.belt_velocity != Vector3::zeros() {
            let [t1, t2] = contact.tangents;
            let pull = t1 * block.impulse.y + t2 * block.impulse.z;
            work += pull.dot(&contact.belt_velocity);
        }
        if contact.carried != Vector3::zeros() {
            work += contact.in_world(&block.impulse).dot(&contact.carried);
        }
        work
    }
}

/// Law of a contact along its normal.
struct NormalLaw {
    /// Least velocity along the normal. [m/s]
    target: f64,
    /// Compliance `R` of the normal. [1/kg]
    compliance: f64,
    /// Velocity that undoes a penetration. [m/s]
    undo: f64,
}

impl Contact {
    /// Point of application of its impulse in the world. [m] (3)
    ///
    /// Across a gap it acts at the end of the gap: the moving side carries its own surface there, with the lever arm that it has
    /// now. Between two that move it is the middle, which keeps their angular momentum.
    pub(crate) fn point(&self) -> Vector3 {
        let half = self.normal * (0.5 * self.gap);
        match self.movers {
            _ if self.gap <= ACROSS => self.position,
            [Mover::Fixed, _] => self.position + half,
            [_, Mover::Fixed] => self.position - half,
            _ => self.position,
        }
    }

    /// Half of the change of its arm to a point of the next step, if rows halfway may be made there. [m] (3)
    fn advance_to(&self, next: &ContactPoint, normal: &Vector3, arm: &Vector3) -> Option<Vector3> {
        // Only in touch: across a gap the change of the arm is no motion of the surface.
        let touched = self.gap.max(next.gap) <= ACROSS;
        // Equal bits of the normal: on a curved or tessellated surface the arm also changes by another face.
        let goes_on = self.sticks && self.feature == next.feature && self.normal == *normal;
        (touched && goes_on).then(|| (arm - self.arm) * 0.5)
    }

    /// Whether a free body cannot meet it within the step: its own rows will not act. [s]
    pub(crate) fn is_out_of_reach(&self, body: &Body, h: f64) -> bool {
        let Motion { angular, linear } = body.velocity;
        // Twice its motion, as the step may make it faster; the rows have no say before contact.
        let speed = (linear + angular.cross(&(self.position - body.pose.translation))).norm();
        self.impulse == Vector3::zeros() && self.gap > ACROSS + 2.0 * h * speed
    }

    /// Body that may roll here through the step by its midpoint: on a side that does not move, without moments against rolling.
    pub(crate) fn rolling_body(&self) -> Option<usize> {
        let ([Mover::Fixed, Mover::Body(body)] | [Mover::Body(body), Mover::Fixed]) = self.movers
        else {
            return None;
        };
        let Surface { rolling, spinning, .. } = self.surface;
        let plain = rolling == 0.0 && spinning == 0.0 && !self.is_soft();
        let still = self.surface_velocity() == Vector3::zeros();
        (self.advance.is_some() && plain && still).then_some(body)
    }

    /// Whether the surface is soft, which takes impacts by its spring.
    pub(crate) fn is_soft(&self) -> bool {
        self.surface.bumper.is_some()
    }

    /// Velocity of the surfaces themselves along normal and tangents, of b against a. [m/s] (3)
    pub(crate) fn surface_velocity(&self) -> Vector3 {
        let [t1, t2] = self.tangents;
        let moved = self.belt_velocity + self.carried;
        Vector3::new(self.normal.dot(&moved), t1.dot(&moved), t2.dot(&moved))
    }

    /// An impulse along normal and tangents, in the world. (3)
    fn in_world(&self, impulse: &Vector3) -> Vector3 {
        let [t1, t2] = self.tangents;
        self.normal * impulse.x + t1 * impulse.y + t2 * impulse.z
    }

    /// Keeps the impulse of its rows and what it slipped in the step. The rows leave the velocity `u`, which may be off by `attained`.
    /// [m/s] (3); [m/s]; [s]
    fn settle(&mut self, block: &Block, u: &Vector3, attained: f64, h: f64) {
        let [t1, t2] = self.tangents;
        // Rows halfway: `u − shift = J_½ (v + v') − J_0 v`, zero where what rolls sticks.
        let u = &(u - self.halfway.map_or_else(Vector3::zeros, |halfway| halfway.shift));
        let impulse = block.impulse;
        self.impulse = self.in_world(&impulse);
        let Admissible::Cone { friction } = block.admissible else { return };
        // A soft finger's split is known only as well as the solution: a contact that slides may be below its limit.
        let soft = self.surface.soft_finger;
        let inside = if soft { 1.0 - 1e-6 } else { 1.0 - 1e-9 };
        let slips_softly = soft && (u - block.bias).yz().norm() > SLIP;
        // Strictly inside the cone: on its surface a contact slides, or is about to.
        let held = impulse.yz().norm() < friction * impulse.x * inside;
        let mut surface = self.belt_velocity;
        if self.carried != Vector3::zeros() {
            surface += self.carried - self.normal * self.normal.dot(&self.carried);
        }
        let slip = t1 * u.y + t2 * u.z - surface;
        // A contact that stuck in an impact may slip at its end, by the restitution of others.
        let bounced = self.struck && slip.norm() > SLIP;
        let sticks = impulse.x > 0.0 && held && !slips_softly && !bounced;
        self.sticks = sticks;
        // A contact without load has no friction that its slip could be solved for.
        self.slip_speed = if sticks || impulse.x <= 0.0 { 0.0 } else { slip.norm() };
        // Only a contact that sticks accumulates slip, which its rows undo.
        if sticks && self.halfway.is_none() {
            let asked = (t1 * block.bias.y + t2 * block.bias.z - surface).norm_squared();
            // Asked for in vain: others around a loop forbid it, and would be pressed against in every step, up to the cones.
            let is_in_vain = asked > attained * attained && slip.norm_squared() < 0.25 * asked;
            if is_in_vain && self.between_bodies() {
                self.drift *= 0.5;
            }
            self.drift += slip * h;
        } else {
            self.drift = Vector3::zeros();
        }
    }

    /// Whether no joint of a robot gives way at it.
    fn between_bodies(&self) -> bool {
        self.movers.iter().all(|mover| !matches!(mover, Mover::Robot { .. }))
    }

    /// Whether it slipped in the last step, so that the dynamic friction holds.
    pub(crate) fn slips(&self) -> bool {
        self.slip_speed > SLIP
    }

    /// Adds to the drift what its material points moved apart by in a step and the velocity `u` does not show. [m] (3);
    /// [m/s] (3); [s]
    pub(crate) fn add_missed_slip(&mut self, apart: &Vector3, u: &Vector3, h: f64) {
        let [t1, t2] = self.tangents;
        // Tangential only: the normal's gap is measured by the collision, not summed up.
        self.drift += apart - self.normal * self.normal.dot(apart) - (t1 * u.y + t2 * u.z) * h;
    }
}

impl RowBuilder<'_> {
    /// The rows of a contact.
    fn contact(&mut self, index: usize, contact: &mut Contact) {
        // Bodies that bounced through the step have moved already.
        let done = |m: &Mover| matches!(m, Mover::Body(i) if self.bodies[*i].as_ref().is_some_and(|b| b.done));
        contact.struck = false;
        contact.halfway = None;
        if contact.movers.iter().any(done) {
            return;
        }
        let [t1, t2] = contact.tangents;
        let directions = [contact.normal, t1, t2];
        // Where its block will be, and was if nothing changed.
        let place = self.rows.len();
        // Rows of the last step where nothing moved, halfway rows of what rolls, or new ones.
        let kept = self.kept(contact);
        let rolling = contact.rolling_body().filter(|&i| kept.is_none() && self.swings(i));
        let sides = match (kept, rolling) {
            (Some(kept), _) => kept,
            (None, Some(body)) => self.halfway_contact(body, contact, &directions),
            (None, None) => self.contact_sides(contact.movers, Some(&contact.point()), &directions),
        };
        let components = |v: &Vector3| Vector3::new(contact.normal.dot(v), t1.dot(v), t2.dot(v));
        let friction = self.friction_of(contact, &sides, components);
        let NormalLaw { target, compliance, undo } = self.normal_law(contact);
        // `u*`: the law of the normal and the belt's velocity, less `β/h` of the slip accumulated while sticking.
        let mut bias = Vector3::new(target, 0.0, 0.0) + components(&contact.belt_velocity)
            - components(&self.undone_drift(contact))
                * (self.settings.anchor_rate / self.settings.dt);
        if contact.carried != Vector3::zeros() {
            bias += components(&contact.carried);
        }
        let mut correction = Correction::push(undo);
        if let Some(Halfway { shift, .. }) = contact.halfway {
            bias = shift;
            // A gap is closed without velocity; what is too deep is lifted as everywhere.
            if contact.gap > 0.0 {
                let undone = (GAP_RATE * contact.gap).min(self.settings.penetration_step);
                correction = Correction::both(-undone / self.settings.dt);
            }
        }
        // Friction may have become less since: outside of the cone the old impulse is no feasible guess.
        let impulse = crate::solver::project_on_cone(&components(&contact.impulse), friction);
        let row = Row {
            kind: 0,
            owner: index,
            part: TRANSLATION,
            movers: self.indices(contact.movers),
            correction: Some(correction),
            account: Account::Contacts,
            damping: None,
        };
        let (admissible, unsettled) = (Admissible::Cone { friction }, contact.unsettled);
        let slid = contact.slip_speed > SLID;
        if kept.is_some() {
            let block = &mut self.problem.blocks[place];
            *block = Block { admissible, bias, compliance, impulse, unsettled, slid, ..*block };
            self.push_row(row);
        } else {
            let delassus = Matrix3::zeros();
            let series = None;
            let block = Block {
                admissible,
                sides,
                bias,
                compliance,
                series,
                delassus,
                impulse,
                unsettled,
                slid,
            };
            self.push(block, row);
        }
        // Where nothing can move along it there is no block, and none to be kept.
        if self.rows.len() > place {
            contact.made = Some((self.build, place));
            self.rotational(contact, &directions);
        }
    }

    /// Drift that is pulled back: in a crowd of bodies none that nobody sees. [m] (3)
    fn undone_drift(&self, contact: &Contact) -> Vector3 {
        let is_small = contact.drift.norm_squared() <= CROWD_DRIFT * CROWD_DRIFT;
        if self.in_crowd && is_small && contact.between_bodies() {
            return Vector3::zeros();
        }
        contact.drift
    }

    fn swings(&self, body: usize) -> bool {
        self.bodies[body].as_ref().is_some_and(|b| b.swings)
    }

    /// The sides of a contact on which a body rolls, where it will be halfway through the step: the mean velocity of the step
    /// rolls there, `J_½ (v + v') = J_0 v`, as that of a body on attached joints.
    fn halfway_contact(
        &mut self,
        body: usize,
        contact: &mut Contact,
        directions: &[Vector3; 3],
    ) -> [Side; 2] {
        let Some(b) = &self.bodies[body] else { return [Side::default(); 2] };
        // Normals point from a to b; a row is the velocity of b against a.
        let sign = if contact.movers[0] == Mover::Fixed { 1.0 } else { -1.0 };
        // Half of what the arm changed by in the last step: that of this one to second order.
        let half_arm = contact.arm + contact.advance.unwrap_or_default();
        // `J_0 v`, by the arm of the step's start.
        let apart = b.velocity.linear + b.velocity.angular.cross(&contact.arm);
        let mut apart = Vector3::from(directions.map(|d| sign * d.dot(&apart)));
        // What opens is not pushed to go on opening.
        apart.x = apart.x.min(0.0);
        let h = self.settings.dt;
        let (_, half_turn) = b.halfway(h);
        // Rates are those of the step's start: moments are turned back by the half turn.
        let side = self.side_of_body(body, |_| {
            directions.map(|direction| {
                let along = direction * sign;
                (along, half_turn.inverse() * half_arm.cross(&along))
            })
        });
        let sides = if sign > 0.0 { [Side::default(), side] } else { [side, Side::default()] };
        let shift = apart - self.problem.rows_times(self.before, &sides, 3);
        contact.halfway = Some(Halfway { arm: half_arm, shift });
        sides
    }

    /// The rows of a contact, whose others are the last made, against spinning and rolling.
    fn rotational(&mut self, contact: &Contact, directions: &[Vector3; 3]) {
        let crate::Surface { rolling, spinning, .. } = contact.surface;
        if rolling == 0.0 && spinning == 0.0 {
            return;
        }
        // Right after the contact: solvers take the load of a friction moment from the block before it.
        let last = self.rows.len() - 1;
        let (block, row) = (self.problem.blocks[last], self.rows[last]);
        let soft = match block.admissible {
            Admissible::Cone { friction }
                if contact.surface.soft_finger && friction > 0.0 && spinning > 0.0 =>
            {
                Some(SoftFinger::new(friction, spinning))
            }
            _ => None,
        };
        let admissible =
            Admissible::FrictionMoment { spinning, rolling, load: block.impulse.x, soft };
        let warm = Vector3::from(directions.map(|d| d.dot(&contact.moment)));
        let turning = Block {
            admissible,
            sides: self.contact_sides(contact.movers, None, directions),
            bias: Vector3::zeros(),
            compliance: 0.0,
            impulse: admissible.project(&warm),
            ..block
        };
        self.push(turning, Row { part: ROTATION, correction: None, ..row });
    }

    /// The sides of a contact between bodies that did not move, if its rows were made the last time too, and where they
    /// would be made now.
    fn kept(&mut self, contact: &Contact) -> Option<[Side; 2]> {
        let (build, place) = contact.made?;
        // One build later at the same place: otherwise its numbers in J and Y have been written over.
        if (build + 1, place) != (self.build, self.rows.len()) {
            return None;
        }
        let block = self.problem.blocks.get(place)?;
        let mut offset = self.used;
        for (side, end) in block.sides.iter().zip(&contact.movers) {
            let start = match end {
                // A robot's Â changes with its configuration.
                Mover::Robot { .. } => return None,
                Mover::Body(body) => self.bodies[*body].as_ref().filter(|b| b.is_free())?.start,
                Mover::Fixed => continue,
            };
            // Kept only where the rows before it have the same lengths, too.
            if (side.start, side.offset) != (start, offset) {
                return None;
            }
            offset += 3 * side.len;
        }
        self.used = offset;
        Some(block.sides)
    }

    /// Coefficient of friction: the dynamic one of a contact that slipped in the last step, or that is new and moves.
    fn friction_of(
        &self,
        contact: &Contact,
        sides: &[Side; 2],
        components: impl Fn(&Vector3) -> Vector3,
    ) -> f64 {
        let crate::Surface { friction, dynamic_friction, .. } = contact.surface;
        if dynamic_friction >= friction {
            return friction;
        }
        let moves = || {
            let u = self.problem.rows_times(self.before, sides, 3);
            (u - components(&contact.belt_velocity) - components(&contact.carried)).yz().norm()
                > SLIP
        };
        // A new contact has no slip of a last step; its rows tell whether it moves.
        let slips = contact.slips() || (contact.impulse == Vector3::zeros() && moves());
        if slips { dynamic_friction } else { friction }
    }

    /// Law of the normal: to stay open or close no further, or a bumper. Restitution is a stage of its own, see
    /// `pipeline::restitution`.
    fn normal_law(&self, contact: &Contact) -> NormalLaw {
        let s = self.settings;
        if let Some(Bumper { stiffness, damping }) = contact.surface.bumper {
            // The `n` points of a patch share its spring and damper.
            let n = contact.sharers as f64;
            let share = Bumper { stiffness: stiffness / n, damping: damping / n };
            let row = SoftLaw::bumper_row(share, contact.gap, s.dt);
            return NormalLaw { target: row.target, compliance: row.compliance, undo: 0.0 };
        }
        // `u* = −g/h` lets a body reach the surface but not pass it; a penetration is undone without velocity.
        let depth = -contact.gap - s.penetration_slop;
        // Not where joints give way: a hand keeps its hold.
        let turns = contact.turn > TURNING && contact.between_bodies();
        let rate = s.penetration_rate * if turns { TURNING_RATE } else { 1.0 };
        let undo = (rate.min(1.0) * depth.max(0.0)).min(s.penetration_step) / s.dt;
        let open = if contact.gap > TOUCH { contact.gap } else { 0.0 };
        NormalLaw { target: -open / s.dt, compliance: 0.0, undo }
    }

    /// Rows of the relative velocity of `b` at a point, or without one of its relative rate, along three directions.
    pub(crate) fn contact_sides(
        &mut self,
        [a, b]: [Mover; 2],
        point: Option<&Vector3>,
        directions: &[Vector3; 3],
    ) -> [Side; 2] {
        if let (Mover::Robot { robot, body: body_a }, Mover::Robot { robot: other, body: body_b }) =
            (a, b)
            && robot == other
        {
            let parts = [(-1.0, body_a), (1.0, body_b)];
            // One side for both links: two over the same velocities would lack the coupling `J_A Â⁻¹ J_Bᵀ`.
            return [self.robot_side(robot, &parts, point, directions), Side::default()];
        }
        [(-1.0, a), (1.0, b)].map(|(sign, mover)| match mover {
            Mover::Robot { robot, body } => {
                self.robot_side(robot, &[(sign, body)], point, directions)
            }
            Mover::Body(body) => self.body_side(body, sign, point, directions),
            Mover::Fixed => Side::default(),
        })
    }

    fn robot_side(
        &mut self,
        robot: usize,
        parts: &[(f64, karakuri_model::BodyId)],
        point: Option<&Vector3>,
        directions: &[Vector3; 3],
    ) -> Side {
        let Some(nv) = self.robots[robot].as_ref().map(|r| r.v.len()) else {
            return Side::default();
        };
        let offset = self.reserve(3 * nv);
        let Some(r) = &mut self.robots[robot] else { return Side::default() };
        let jacobian = &mut self.problem.jacobian[offset..offset + 3 * nv];
        jacobian.fill(0.0);
        // `J`: what each degree of freedom between the base and the body moves at the point, along the directions; then `Â⁻¹ Jᵀ`.
        let p_OC = point.map(|p| p - r.data.origin);
        for &(sign, body) in parts {
            for &k in r.chains.of(body) {
                let S = &r.data.subspace[k];
                let velocity = p_OC.map_or(S.angular, |p| S.linear + S.angular.cross(&p)) * sign;
                for (row, direction) in directions.iter().enumerate() {
                    jacobian[row * nv + k] += direction.dot(&velocity);
                }
            }
        }
        r.respond_to_contact(jacobian, &mut self.problem.response[offset..offset + 3 * nv]);
        Side::new(r.start, nv, offset)
    }

    fn body_side(
        &mut self,
        body: usize,
        sign: f64,
        point: Option<&Vector3>,
        directions: &[Vector3; 3],
    ) -> Side {
        self.side_of_body(body, |b| {
            let arm = point.map(|p| p - b.pose.translation);
            directions.map(|direction| {
                let along = direction * sign;
                // Without a point the direction is an axis of rotation, and no force.
                arm.map_or((Vector3::zeros(), along), |arm| (along, arm.cross(&along)))
            })
        })
    }
}

#[cfg(test)]
mod tests;
