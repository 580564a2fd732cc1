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
//! A lip on [`Bellows`](karakuri_model::Bellows) yields before it slips: its rows have the compliance of these in series. They lie along the surface,
//! not along the cup.
//!
//! The pressure itself (pump, leak, volume) is not the world's: [`World::set_suction`](crate::World::set_suction) takes the
//! force.

use karakuri_spatial::{Force, Matrix3, Pose, Vector3};

use super::SUCTIONS;
use super::bellows::{BellowsState, Slip};
use super::kind::{BodyImpulse, Constraint, InnerWorks, Solved, SolvedRow};
use super::row::{Account, Correction, GAP_RATE, Row, RowBuilder};
use crate::solver::{Admissible, Block, Problem, SoftFinger, project_on_cone};
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
    /// Rotation vector and displacement of the lip on its bellows, along the axes of its free frame. [rad; m] (6)
    pub deflection: [f64; 6],
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
    /// What the lip is on, if it is not rigid.
    pub(crate) bellows: Option<BellowsState>,
    /// Work of slip along the rows of a lip on bellows in the last step: translation, rotation. [J] (2)
    slip_work: [f64; 2],
}

/// Rows of a lip: where they act, along what, and what they ask for; translation, then rotation.
struct LipRows {
    point: Vector3,
    /// Normal and tangents. (3)
    directions: [Vector3; 3],
    bias: [Vector3; 2],
    series: [Option<Matrix3>; 2],
    /// Depth that is undone. [m]
    depth: f64,
}

impl Suction {
    /// A lip that is attached with this anchor, without a vacuum yet.
    pub(crate) fn new(
        name: &str,
        description: SuctionDescription,
        ends: [Mover; 2],
        poses: [Pose; 2],
        bellows: Option<BellowsState>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            description,
            ends,
            poses,
            attached: poses[1],
            vacuum_force: 0.0,
            impulse: Vector3::zeros(),
            moment: Vector3::zeros(),
            slips: [false; 3],
            push: Force::default(),
            normal: Vector3::zeros(),
            position: Vector3::zeros(),
            opening: 0.0,
            lost: false,
            bellows,
            slip_work: [0.0; 2],
        }
    }

    /// The lip's frame on the cup and its anchor on the object, in the world.
    pub(crate) fn frames(&self, robots: &[Option<Robot>], bodies: &[Option<Body>]) -> [Pose; 2] {
        [0, 1].map(|end| pose_of(self.ends[end], robots, bodies) * self.poses[end])
    }

    /// The lip, with the frames of free lip and anchor. In the world.
    pub(crate) fn lip(&self, X: &[Pose; 2]) -> Pose {
        let X_CA = X[0].inverse() * X[1];
        let deflected = |bellows: &BellowsState| bellows.deflection_at(&X_CA, self.slip()).0.pose();
        self.bellows.as_ref().map_or(X[0], |bellows| X[0] * deflected(bellows))
    }

    fn slip(&self) -> Slip {
        let [slid, turned, tipped] = self.slips;
        Slip { slid, turned: turned || tipped }
    }

    /// Energy of the bellows. [J]
    pub(crate) fn bellows_energy(&self, robots: &[Option<Robot>], bodies: &[Option<Body>]) -> f64 {
        let Some(bellows) = self.bellows.as_ref().filter(|_| !self.lost) else { return 0.0 };
        let X = self.frames(robots, bodies);
        bellows.energy_at(&(X[0].inverse() * X[1]), self.slip())
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
        // From the poses of both movers: an anchor made of itself would double its rounding in each step.
        let X_WL = self.lip(&self.frames(robots, bodies));
        let X_OL = pose_of(self.ends[1], robots, bodies).inverse() * X_WL;
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

    /// Rows of a lip that is rigid on its cup. Their velocities are those of the time step `h` [s], by the `rate` at which a lip goes
    /// back to its anchor [1/s].
    fn rigid_rows(X: &[Pose; 2], h: f64, rate: f64) -> LipRows {
        let X_LO = X[0].inverse() * X[1];
        let (p, turn) = (X_LO.translation, X_LO.quaternion().scaled_axis());
        // A gap may be closed within the step; along the surface the lip goes back to its anchor.
        let moving = Vector3::new(-p.z.max(0.0) / h, -rate * p.x, -rate * p.y);
        LipRows {
            point: X[0].translation,
            directions: [2, 0, 1].map(|k| X[0].rotation.column(k).into_owned()),
            bias: [moving, Vector3::new(-rate * turn.z, -rate * turn.x, -rate * turn.y)],
            series: [None; 2],
            // A lip that is pressed in is lifted as everything else.
            depth: (-p.z).max(0.0),
        }
    }

    /// Rows of the lip, with the frames of free lip and anchor.
    fn lip_rows(&mut self, X: &[Pose; 2], h: f64, rate: f64) -> LipRows {
        let (slip, vacuum) = (self.slip(), self.vacuum_force);
        let Some(bellows) = &mut self.bellows else { return Self::rigid_rows(X, h, rate) };
        let yielding = bellows.begin(&(X[0].inverse() * X[1]), slip, vacuum, h);
        LipRows {
            point: X[1].translation,
            directions: [2, 0, 1].map(|k| X[1].rotation.column(k).into_owned()),
            bias: yielding.map(|part| part.bias),
            series: yielding.map(|part| Some(part.series)),
            depth: bellows.beyond_stop(),
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

impl Suctions {
    /// Lets bellows meet their stops or leave them, by the impulses of a step; true if one did. [s]
    pub(crate) fn meet_stops(&mut self, rows: &[Row], problem: &Problem, h: f64) -> bool {
        // Most worlds have none, and are spared the search.
        if !self.all.iter().flatten().any(|suction| suction.bellows.is_some()) {
            return false;
        }
        let mut found = false;
        for (row, block) in rows.iter().zip(&problem.blocks) {
            if row.kind == SUCTIONS
                && row.part == TRANSLATION
                && let Some(bellows) = self.all[row.owner].as_mut().and_then(|s| s.bellows.as_mut())
            {
                found |= bellows.meet_stop(&block.impulse, h);
            }
        }
        found
    }
}

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
        let SuctionDescription { friction, radius, .. } = suction.description;
        let h = rows.settings.dt;
        let LipRows { point, directions, bias, series, depth } =
            suction.lip_rows(&X, h, rows.settings.anchor_rate / h);
        let lift = (GAP_RATE * depth).min(rows.settings.penetration_step) / h;
        // What bellows hold is potential energy, and what they lose is booked apart.
        let account =
            if series[TRANSLATION].is_some() { Account::Spring } else { Account::Contacts };
        let row = Row {
            kind: 0,
            owner: index,
            part: TRANSLATION,
            movers: rows.indices(suction.ends),
            correction: Some(Correction::push(lift)),
            account,
            damping: None,
        };
        let place = rows.rows.len();
        let block = Block {
            admissible: Admissible::Cone { friction },
            sides: rows.contact_sides(suction.ends, Some(&point), &directions),
            bias: bias[TRANSLATION],
            compliance: 0.0,
            series: series[TRANSLATION],
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
            bias: bias[ROTATION],
            series: series[ROTATION],
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
        let Some(bellows) = &mut suction.bellows else { return };
        if row.part == ROTATION {
            bellows.end_rotation(&block.impulse, step.h);
        } else {
            bellows.end_translation(&block.impulse, step.h);
        }
        suction.slip_work[row.part] = block.impulse.dot(&u);
    }

    /// Wrenches on the objects; takes off what opened too far.
    fn finish_step(&mut self, state: &mut State, _: &Solved) {
        for suction in self.all.iter_mut().flatten() {
            let X = suction.frames(&state.robots, &state.bodies);
            // As it was when the rows were made.
            let X_WL = suction.bellows.as_ref().map_or(X[0], |b| X[0] * b.deflection().pose());
            let along = |v: &Vector3| X_WL.rotation * Vector3::new(v.y, v.z, v.x);
            suction.push = Force::new(along(&suction.moment), along(&suction.impulse));
            (suction.position, suction.normal) =
                (X_WL.translation, X_WL.rotation.column(2).into_owned());
            let X_WO = pose_of(suction.ends[1], &state.robots, &state.bodies);
            suction.opening = suction.opening_of(&X_WL, &X_WO);
            if suction.opening > suction.description.flexion {
                (suction.lost, suction.vacuum_force) = (true, 0.0);
                if let Some(bellows) = &mut suction.bellows {
                    bellows.let_go();
                }
            }
        }
    }

    /// Of the vacuum on a lip that is tilted.
    fn outside_work(&self, row: &Row, block: &Block) -> f64 {
        let bellows = self.all[row.owner].as_ref().and_then(|suction| suction.bellows.as_ref());
        let bellows = bellows.filter(|_| row.part == TRANSLATION);
        bellows.map_or(0.0, |bellows| bellows.wall_work(&block.impulse))
    }

    fn inner_works(&self, row: &Row, mean: &Vector3) -> InnerWorks {
        let Some(suction) = &self.all[row.owner] else { return InnerWorks::default() };
        let Some(bellows) = &suction.bellows else { return InnerWorks::default() };
        let slip = suction.slip_work[row.part];
        if row.part == ROTATION {
            InnerWorks { contacts: slip, dampers: bellows.damper_works[ROTATION] }
        } else {
            let contacts = slip + bellows.stop_work(mean);
            InnerWorks { contacts, dampers: bellows.damper_works[TRANSLATION] }
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
