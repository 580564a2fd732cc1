//! Suction cups: a vacuum that presses a lip on a surface, one-sided and with friction.
//!
//! The vacuum `u` in a cup of effective area `A` pulls cup and object together with `V = u A` along the lip's normal, a
//! pair of forces. The lip is a contact with Coulomb friction: pulled outwards with `f` it presses with `N = V − f`, so
//! that a cup bears a friction cone shifted by `V` [Mahler 2018]. A stiff ring of radius `R` bears
//!
//! * a pull up to `V`;
//! * shear `t` and a moment `s` about the normal with `(t/(μN))² + (s/(μRN))² ≤ 1`, as a soft finger
//!   ([`SoftFinger`]);
//! * a moment across the normal up to `R N`, where it tips over its edge: a pull at the distance `e` from the centre up to
//!   `V/(1 + e/R)`.
//!
//! These are the rows of one contact at the lip's centre, a cone and a friction moment. What sticks keeps its place: the
//! lip's frame on the object is the anchor. A lip that opens by more than its flexion has lost its seal for good.
//!
//! The pressure itself (pump, leak, volume) is not the world's: [`World::set_suction`](crate::World::set_suction) takes the
//! force.

use karakuri_spatial::{Force, Pose, Vector3};

use super::kind::{BodyImpulse, Constraint, Solved, SolvedRow};
use super::row::{Account, Correction, GAP_RATE, Row, RowBuilder};
use crate::solver::{Admissible, Block, SoftFinger, project_on_cone};
use crate::state::body::Body;
use crate::state::collider::Attachment;
use crate::state::mover::{Mover, Owner};
use crate::state::robot::Robot;
use crate::state::{State, pose_of};

/// A cup's lip on the surface that it lies on when it is attached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SuctionDescription {
    /// What carries the lip.
    pub cup: Owner,
    /// What it holds.
    pub object: Owner,
    /// Frame of the lip on the cup: its origin is the lip's centre, its z axis points at the object.
    pub pose_in_cup: Pose,
    /// Radius `R` of the ring on which the lip rests. [m]
    pub radius: f64,
    /// Coefficient of friction `μ` of lip and surface. [-]
    pub friction: f64,
    /// Opening of the lip, by distance or tilt, above which the seal is lost. [m]
    pub flexion: f64,
}

/// Names a suction cup of a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuctionId(pub(crate) usize);

/// State of a suction cup after the last step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SuctionReport {
    /// Force `V` of the vacuum. [N]
    pub vacuum_force: f64,
    /// Mean force `N ≥ 0` of the lip on the object over the step, along the normal. [N]
    pub lip_force: f64,
    /// Mean wrench of cup and vacuum on the object over the step, about the lip's centre, in world axes. [N·m; N]
    pub wrench: Force,
    /// The lip's centre, in the world. [m] (3)
    pub position: Vector3,
    /// Largest opening between lip and surface. [m]
    pub opening: f64,
    /// Whether the lip slid or turned in the last step.
    pub slips: bool,
    /// Whether it has come off.
    pub lost: bool,
}

/// Slip above which a lip that is at its limit has moved: far above what solvers leave. [m/s]
const SLIP: f64 = 1e-5;

/// A suction cup of the world.
#[derive(Debug, Clone)]
pub(crate) struct Suction {
    pub(crate) name: String,
    pub(crate) description: SuctionDescription,
    /// Movers of cup and object.
    pub(crate) ends: [Mover; 2],
    /// The lip's frame on the mover of the cup, and its anchor on that of the object.
    pub(crate) poses: [Pose; 2],
    /// The lip's frame on the object's mover when it was attached.
    pub(crate) attached: Pose,
    /// Force `V` of the vacuum. [N]
    pub(crate) vacuum_force: f64,
    /// Impulse on the object along normal and tangents. [N·s] (3)
    pub(crate) impulse: Vector3,
    /// Impulsive moment on it about normal and tangents. [N·m·s] (3)
    pub(crate) moment: Vector3,
    /// Whether the lip slid, turned about its normal, or tipped in the last step.
    pub(crate) slips: [bool; 3],
    /// Impulse of the lip on the object in the last step, about `position`, in world axes. [N·m·s; N·s]
    pub(crate) push: Force,
    /// The lip's normal in the last step, towards the object. (3)
    pub(crate) normal: Vector3,
    pub(crate) position: Vector3,
    pub(crate) opening: f64,
    pub(crate) lost: bool,
}

impl Suction {
    /// The lip's frame on the cup and its anchor on the object, in the world.
    pub(crate) fn frames(&self, robots: &[Option<Robot>], bodies: &[Option<Body>]) -> [Pose; 2] {
        [0, 1].map(|end| pose_of(self.ends[end], robots, bodies) * self.poses[end])
    }

    /// Largest distance of the ring from where it lay on the surface. [m]
    fn opening_of(&self, X_WL: &Pose, X_WO: &Pose) -> f64 {
        // The frame on the object in that of the lip: its height, and its tilt over the ring's radius.
        let X_LO = X_WL.inverse() * (*X_WO * self.attached);
        let normal = X_LO.rotation.column(2);
        X_LO.translation.z.max(0.0) + self.description.radius * normal.x.hypot(normal.y)
    }

    /// Moves the anchor along with what slipped in the last step.
    fn follow_slip(&mut self, robots: &[Option<Robot>], bodies: &[Option<Body>]) {
        let [slid, turned, tipped] = self.slips;
        let [X_WC, X_WO] = self.ends.map(|end| pose_of(end, robots, bodies));
        // From the poses of both movers: an anchor made of itself would double its rounding in each step.
        let X_OL = X_WO.inverse() * (X_WC * self.poses[0]);
        let anchor = &mut self.poses[1];
        if slid {
            // Along the surface only: the gap is no slip.
            let normal = anchor.rotation.column(2).into_owned();
            let moved = X_OL.translation - anchor.translation;
            anchor.translation += moved - normal * normal.dot(&moved);
        }
        if turned || tipped {
            anchor.rotation = X_OL.rotation;
        }
    }

    /// Whether it holds these two colliders' owners together.
    pub(crate) fn joins(&self, a: &Attachment, b: &Attachment) -> bool {
        let owners = [self.description.cup, self.description.object];
        !self.lost && Attachment::are_ends([a, b], self.ends, owners)
    }
}

/// The suction cups of a world, by id.
#[derive(Debug, Clone, Default)]
pub(crate) struct Suctions {
    pub(crate) all: Vec<Option<Suction>>,
}

/// The rows of a lip: normal and two tangents; and the moments about them, after them.
const TRANSLATION: usize = 0;
const ROTATION: usize = 1;

impl Constraint for Suctions {
    fn visit(&self, visit: &mut dyn FnMut(usize, [Mover; 2])) {
        for (i, suction) in self.all.iter().enumerate() {
            if let Some(suction) = suction.as_ref().filter(|s| !s.lost) {
                visit(i, suction.ends);
            }
        }
    }

    fn add_rows(&mut self, rows: &mut RowBuilder, index: usize) {
        let Some(suction) = self.all[index].as_mut().filter(|s| !s.lost) else { return };
        if suction.slips.contains(&true) {
            suction.follow_slip(rows.robots, rows.bodies);
        }
        let X = suction.frames(rows.robots, rows.bodies);
        let X_LO = X[0].inverse() * X[1];
        let (p, turn) = (X_LO.translation, X_LO.quaternion().scaled_axis());
        let directions = [2, 0, 1].map(|k| X[0].rotation.column(k).into_owned());
        let SuctionDescription { friction, radius, .. } = suction.description;
        let h = rows.settings.dt;
        let rate = rows.settings.anchor_rate / h;
        // A lip that is pressed in is lifted as everything else.
        let lift = (GAP_RATE * (-p.z).max(0.0)).min(rows.settings.penetration_step) / h;
        let row = Row {
            kind: 0,
            owner: index,
            part: TRANSLATION,
            movers: rows.indices(suction.ends),
            correction: Some(Correction::push(lift)),
            account: Account::Contacts,
            damping: None,
        };
        // A gap may be closed within the step; along the surface the lip goes back to its anchor.
        let bias = Vector3::new(-p.z.max(0.0) / h, -rate * p.x, -rate * p.y);
        let place = rows.rows.len();
        let block = Block {
            admissible: Admissible::Cone { friction },
            sides: rows.contact_sides(suction.ends, Some(&X[0].translation), &directions),
            bias,
            compliance: 0.0,
            delassus: nalgebra::Matrix3::zeros(),
            impulse: project_on_cone(&suction.impulse, friction),
            unsettled: false,
            slid: suction.slips[0],
        };
        rows.push(block, row);
        if rows.rows.len() == place {
            return;
        }
        // Right after the contact: solvers take the load of a friction moment from the block before it.
        let spinning = friction * radius;
        let admissible = Admissible::FrictionMoment {
            spinning,
            rolling: radius,
            load: block.impulse.x,
            soft: (spinning > 0.0).then(|| SoftFinger::new(friction, spinning)),
        };
        let turning = Block {
            admissible,
            sides: rows.contact_sides(suction.ends, None, &directions),
            bias: Vector3::new(-rate * turn.z, -rate * turn.x, -rate * turn.y),
            impulse: admissible.project(&suction.moment),
            ..block
        };
        rows.push(turning, Row { part: ROTATION, correction: None, ..row });
    }

    fn clear_impulses(&mut self, _: &mut State) {
        for suction in self.all.iter_mut().flatten() {
            suction.impulse = Vector3::zeros();
            suction.moment = Vector3::zeros();
        }
    }

    fn keep_impulse(&mut self, _: &mut State, solved: &SolvedRow) {
        let SolvedRow { row, block, step } = solved;
        let Some(suction) = &mut self.all[row.owner] else { return };
        let u = step.problem.velocity_of(block) - block.bias;
        if row.part == ROTATION {
            suction.moment = block.impulse;
            suction.slips[1] = u.x.abs() > SLIP;
            suction.slips[2] = u.yz().norm() > SLIP;
        } else {
            suction.impulse = block.impulse;
            suction.slips[0] = u.yz().norm() > SLIP;
        }
    }

    /// Wrenches on the objects; takes off what opened too far.
    fn finish_step(&mut self, state: &mut State, _: &Solved) {
        for suction in self.all.iter_mut().flatten() {
            let X = suction.frames(&state.robots, &state.bodies);
            let along = |v: &Vector3| X[0].rotation * Vector3::new(v.y, v.z, v.x);
            suction.push = Force::new(along(&suction.moment), along(&suction.impulse));
            (suction.position, suction.normal) =
                (X[0].translation, X[0].rotation.column(2).into_owned());
            let X_WO = pose_of(suction.ends[1], &state.robots, &state.bodies);
            suction.opening = suction.opening_of(&X[0], &X_WO);
            if suction.opening > suction.description.flexion {
                (suction.lost, suction.vacuum_force) = (true, 0.0);
            }
        }
    }

    fn visit_impulses_on(&self, robot: usize, visit: &mut dyn FnMut(BodyImpulse)) {
        for suction in self.all.iter().flatten() {
            // Of the lip alone: the vacuum is among the applied wrenches.
            for (end, sign) in [(0, -1.0), (1, 1.0)] {
                if let Mover::Robot { robot: r, body } = suction.ends[end]
                    && r == robot
                {
                    let (point, impulse) = (suction.position, suction.push * sign);
                    visit(BodyImpulse { body, point, impulse });
                }
            }
        }
    }

    fn remove_loose(&mut self, state: &State) {
        for suction in &mut self.all {
            let has_ends =
                |s: &Suction| state.has(s.description.cup) && state.has(s.description.object);
            if suction.as_ref().is_some_and(|s| !has_ends(s)) {
                *suction = None;
            }
        }
    }
}
