//! Joints that come and go while the world runs: rigid, or with freedoms, that may yield or break.
//!
//! Each locked freedom is one row `w · (V_B − V_A) = 0` with an equal and opposite impulse at one point, so a joint gives
//! no momentum: what moved apart is stopped by the inelastic impulse of its first step. Gaps are undone by the velocity
//! that only moves positions. Two things that a joint holds together do not collide with each other.
//!
//! Freedoms that are not locked may have the springs and dampers of a [`Bushing`].
//!
//! A joint with a [`Strength`] that *breaks* gives nothing from the step after its force or torque exceeded it; one that
//! *yields* gives at most this force and torque about each of its axes and keeps the shape it is bent to. Neither counts
//! in the joint's first step, whose impulse is that of an impact.

use karakuri_spatial::{Force, Pose, Vector3};

use super::bushing::{Bushing, displacement, rate_axes};
use super::contact::Contact;
use super::row::{Correction, Row, RowBuilder};
use super::spring::SoftLaw;
use super::{Account, BodyImpulse, Constraint, ConstraintSet, Solved, SolvedRow};
use crate::constraint::loops::{GAP_RATE, relative_gap};
use crate::errors::WorldError;
use crate::solver::{Block, RowSpec};
use crate::state::State;
use crate::state::body::Body;
use crate::state::mover::{Attachment, Mover, Owner};
use crate::state::robot::Robot;
use crate::world::{RobotId, World};

/// An impulse this near to its bound, relatively, is at it. [-]
const AT_BOUND: f64 = 1e-9;

/// A joint between two things in the pose they have when it is attached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointDescription {
    /// One end; [`Owner::Ground`] is the world.
    pub a: Owner,
    /// The other end.
    pub b: Owner,
    /// Pose of the joint's frame on A.
    pub pose_in_a: Pose,
    /// Which of the six relative freedoms are locked, in that frame: rotation x y z, translation x y z.
    pub locked: [bool; 6],
    /// What holds the freedoms that are not locked; `None`: nothing.
    pub bushing: Option<Bushing>,
    /// Where it gives way; `None`: nowhere.
    pub strength: Option<Strength>,
}

/// What a joint bears.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strength {
    /// Largest force: its magnitude where the joint breaks, along each axis where it yields. [N]
    pub force: f64,
    /// Largest torque, likewise. [N·m]
    pub torque: f64,
    /// What happens above.
    pub failure: Failure,
}

/// How a joint gives way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// It comes apart for good.
    Breaks,
    /// It bends at constant force and keeps its new shape.
    Yields,
}

impl Failure {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Breaks, Self::Yields];

    /// Its name in files and services.
    pub fn name(self) -> &'static str {
        match self {
            Self::Breaks => "breaks",
            Self::Yields => "yields",
        }
    }

    /// By name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|failure| failure.name() == name)
    }
}

/// Names a joint of a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JointId(usize);

/// How a joint is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointReport {
    /// Mean force and moment on B in the last step, about the joint's origin, in world axes. [N·m; N]
    pub wrench: Force,
    /// The joint's origin, in the world. [m] (3)
    pub position: Vector3,
    /// Whether it bent in the last step.
    pub yields: bool,
    /// Whether it is broken.
    pub broken: bool,
}

/// A joint of the world.
#[derive(Debug, Clone)]
pub(crate) struct AttachedJoint {
    name: String,
    description: JointDescription,
    /// What the ends move with.
    pub(crate) ends: [Mover; 2],
    /// The joint's frame on what moves the ends, or in the world.
    poses: [Pose; 2],
    /// Of the last step, along the axes of the rows. [N·m·s, N·s] (6)
    pub(crate) impulses: [f64; 6],
    /// What the bushing was bent by for good. [rad, m] (6)
    set: [f64; 6],
    /// On B in the last step, about `position`, in world axes. [N·m·s; N·s]
    pub(crate) push: Force,
    position: Vector3,
    /// Whether its first step is over.
    settled: bool,
    /// Which freedoms reached their bounds in the last step.
    yielding: [bool; 6],
    broken: bool,
}

impl AttachedJoint {
    /// Largest impulse of a row while it may yield. [N·m·s or N·s]
    fn bound(&self, axis: usize, h: f64) -> f64 {
        match self.description.strength {
            Some(s) if self.settled && s.failure == Failure::Yields => {
                h * if axis < 3 { s.torque } else { s.force }
            }
            _ => f64::INFINITY,
        }
    }

    /// The bushing of a degree of freedom that it holds.
    fn soft(&self, axis: usize) -> Option<SoftLaw> {
        let held = |b: &Bushing| !self.description.locked[axis] && b.holds(axis);
        self.description.bushing.filter(held).map(|b| b.law(axis))
    }

    /// The joint's frame as its two ends have it, in the world.
    fn frames(&self, robots: &[Option<Robot>], bodies: &[Option<Body>]) -> [Pose; 2] {
        [0, 1].map(|end| self.ends[end].pose(robots, bodies) * self.poses[end])
    }

    /// How far the freedoms are from what the bushing rests in; of its frame at both ends. [rad, m] (6)
    fn stretch(&self, [X_WA, X_WB]: &[Pose; 2]) -> [f64; 6] {
        if self.description.bushing.is_none() {
            return [0.0; 6];
        }
        let displacement = displacement(X_WA, X_WB);
        std::array::from_fn(|k| match self.soft(k) {
            Some(_) => displacement[k] - self.set[k],
            None => 0.0,
        })
    }

    /// Unit wrenches of the rows, in world axes. (6)
    fn axes(&self, [X_WA, X_WB]: &[Pose; 2]) -> [Force; 6] {
        let rates = || rate_axes(&(X_WA.inverse() * *X_WB).quaternion().scaled_axis());
        let rates = self.description.bushing.map(|_| rates());
        std::array::from_fn(|axis| {
            let e = X_WA.rotation.column(axis % 3).into_owned();
            match (axis < 3, rates.filter(|_| self.soft(axis).is_some())) {
                (true, Some(rates)) => {
                    Force::new(X_WA.rotation * rates.column(axis), Vector3::zeros())
                }
                (true, None) => Force::new(e, Vector3::zeros()),
                (false, _) => Force::new(Vector3::zeros(), e),
            }
        })
    }

    /// Impulse on B about its own frame's origin, in world axes. [N·m·s; N·s]
    fn wrench(&self, X: &[Pose; 2]) -> Force {
        let parts = self.axes(X).into_iter().zip(self.impulses);
        parts.fold(Force::default(), |sum, (axis, impulse)| sum + axis * impulse)
    }

    /// Yielding freedoms of the bushing keep what they are stretched by beyond their strength.
    fn bend_bushing(&mut self, X: &[Pose; 2]) {
        let stretch = self.stretch(X);
        for axis in (0..6).filter(|&k| self.yielding[k]) {
            if let Some(law) = self.soft(axis).filter(|law| law.stiffness > 0.0) {
                let elastic = self.bound(axis, 1.0) / law.stiffness;
                self.set[axis] += stretch[axis] - stretch[axis].clamp(-elastic, elastic);
            }
        }
    }

    /// Yielding locks take the pose they are bent to: all rotations, all translations.
    fn bend_locks(&mut self, [X_WA, X_WB]: &[Pose; 2]) {
        let bent = |axes: std::ops::Range<usize>| {
            axes.into_iter().any(|k| self.yielding[k] && self.description.locked[k])
        };
        let [turns, moves] = [bent(0..3), bent(3..6)];
        let (bent, own) = (X_WB.inverse() * *X_WA, self.poses[1]);
        let moved = if moves { own.transform_point(&bent.translation) } else { own.translation };
        let turned = if turns { own.rotation * bent.rotation } else { own.rotation };
        self.poses[1] = Pose { rotation: turned, translation: moved };
    }

    /// Whether it holds these two colliders' owners together.
    fn joins(&self, a: &Attachment, b: &Attachment) -> bool {
        let matches = |end: usize, x: &Attachment| match self.ends[end] {
            Mover::Fixed => x.owner == [self.description.a, self.description.b][end],
            mover => x.mover == mover,
        };
        !self.broken && ((matches(0, a) && matches(1, b)) || (matches(0, b) && matches(1, a)))
    }
}

impl World {
    /// Joins two things in the pose they have now. What moves apart is stopped within the next step, by an inelastic
    /// impulse.
    pub fn attach_joint(
        &mut self,
        name: &str,
        description: JointDescription,
    ) -> Result<JointId, WorldError> {
        if self.find_joint(name).is_some() || self.find_gear(name).is_some() {
            return Err(WorldError::JointNameTaken { name: name.to_owned() });
        }
        let refuse = |reason| Err(WorldError::Joint { name: name.to_owned(), reason });
        let X_AJ = description.pose_in_a;
        if !X_AJ.translation.iter().chain(X_AJ.rotation.iter()).all(|x| x.is_finite()) {
            return refuse("its frame is not finite; give finite numbers");
        }
        if !description.bushing.is_none_or(|b| b.is_usable()) {
            return refuse(
                "its bushing is not finite or negative; give stiffness and damping of 0 or more",
            );
        }
        let holds = |k| description.locked[k] || description.bushing.is_some_and(|b| b.holds(k));
        if !(0..6).any(holds) {
            return refuse(
                "it holds nothing; lock at least one of the six freedoms, or give one a stiffness or damping",
            );
        }
        let strong = |s: Strength| s.force > 0.0 && s.torque > 0.0;
        if !description.strength.is_none_or(strong) {
            return refuse("its strength must be positive; give a force in N and a torque in N·m");
        }
        if self.is_carried(description.a) || self.is_carried(description.b) {
            return refuse(
                "an end is a body that moves as prescribed; attach to a link of a robot whose joints do",
            );
        }
        let [(mover_a, X_MA), (mover_b, X_MB)] =
            [description.a, description.b].map(|end| self.carrier(end));
        if mover_a == Mover::Fixed && mover_b == Mover::Fixed {
            return refuse("neither end can move; join something that moves");
        }
        if mover_a == mover_b {
            return refuse("both ends are one rigid body; join two that move apart");
        }
        self.wake_all();
        let ends = [mover_a, mover_b];
        let X_WJ = self.mover_pose(mover_a) * X_MA * X_AJ;
        let on_b = (self.mover_pose(mover_b) * X_MB).inverse() * X_WJ;
        self.constraints.joints.push(Some(AttachedJoint {
            name: name.to_owned(),
            description,
            ends,
            poses: [X_MA * X_AJ, X_MB * on_b],
            impulses: [0.0; 6],
            set: [0.0; 6],
            push: Force::default(),
            position: X_WJ.translation,
            settled: false,
            yielding: [false; 6],
            broken: false,
        }));
        Ok(JointId(self.constraints.joints.len() - 1))
    }

    /// Lets go; the id stays unused.
    pub fn detach_joint(&mut self, id: JointId) {
        self.wake_all();
        self.constraints.joints[id.0] = None;
    }

    /// The joint of this name, broken ones too.
    pub fn find_joint(&self, name: &str) -> Option<JointId> {
        let named = |j: &Option<AttachedJoint>| j.as_ref().is_some_and(|j| j.name == name);
        self.constraints.joints.iter().position(named).map(JointId)
    }

    /// Names of all attached joints.
    pub fn joint_names(&self) -> impl Iterator<Item = &str> {
        self.constraints.joints.iter().flatten().map(|j| j.name.as_str())
    }

    /// How a joint is; `None` when it was detached.
    pub fn joint(&self, id: JointId) -> Option<JointReport> {
        let joint = self.constraints.joints.get(id.0)?.as_ref()?;
        Some(JointReport {
            wrench: joint.push * (1.0 / self.settings.dt),
            position: joint.position,
            yields: joint.yielding.contains(&true),
            broken: joint.broken,
        })
    }

    /// What carries an owner, and the owner's pose on it; in the world where nothing does.
    pub(crate) fn carrier(&self, owner: Owner) -> (Mover, Pose) {
        match owner {
            Owner::Ground => (Mover::Fixed, Pose::IDENTITY),
            Owner::Link { robot: RobotId(robot), frame } => {
                let Some(r) = &self.state.robots[robot] else {
                    return (Mover::Fixed, Pose::IDENTITY);
                };
                let frame = &r.model.frames[frame.0];
                let mover = frame.body.map_or(Mover::Fixed, |body| Mover::Robot { robot, body });
                (mover, frame.pose_in_body)
            }
            Owner::Body(id) => match &self.state.bodies[id.0] {
                Some(body) if body.is_free() => (Mover::Body(id.0), Pose::IDENTITY),
                Some(body) => (Mover::Fixed, body.pose),
                None => (Mover::Fixed, Pose::IDENTITY),
            },
        }
    }

    pub(crate) fn mover_pose(&self, mover: Mover) -> Pose {
        mover.pose(&self.state.robots, &self.state.bodies)
    }

    /// Takes contacts away between things that a joint holds together.
    pub(crate) fn drop_joined_contacts(&mut self) {
        if self.constraints.joints.iter().flatten().next().is_none() {
            return;
        }
        let (joints, attachments) = (&self.constraints.joints, &self.state.attachments);
        self.constraints.contacts.retain(|c: &Contact| {
            match (attachments[c.a.0], attachments[c.b.0]) {
                (Some(a), Some(b)) => !joints.iter().flatten().any(|j| j.joins(&a, &b)),
                _ => true,
            }
        });
    }

    /// Takes the shape that yielding joints are bent to for their own.
    pub(crate) fn rest_joints(&mut self) {
        let State { robots, bodies, .. } = &self.state;
        for joint in self.constraints.joints.iter_mut().flatten() {
            if joint.yielding.contains(&true) {
                let X = joint.frames(robots, bodies);
                joint.bend_bushing(&X);
                joint.bend_locks(&X);
            }
        }
    }

    /// Energy in the bushings. [J]
    pub(crate) fn bushing_energy(&self) -> f64 {
        let energy = |joint: &AttachedJoint| {
            let bushing = joint.description.bushing.filter(|_| !joint.broken)?;
            let X = joint.frames(&self.state.robots, &self.state.bodies);
            Some(bushing.energy(&joint.stretch(&X)))
        };
        self.constraints.joints.iter().flatten().filter_map(energy).sum()
    }
}

/// The kind of this file.
#[derive(Debug)]
pub(crate) struct AttachedJoints;

impl Constraint for AttachedJoints {
    fn visit(&self, set: &ConstraintSet, visit: &mut dyn FnMut(usize, [Mover; 2])) {
        for (i, joint) in set.joints.iter().enumerate() {
            if let Some(joint) = joint.as_ref().filter(|joint| !joint.broken) {
                visit(i, joint.ends);
            }
        }
    }

    /// A row a locked degree of freedom, and one each that its bushing holds.
    fn add_rows(&self, rows: &mut RowBuilder, set: &mut ConstraintSet, index: usize) {
        let Some(joint) = set.joints[index].as_ref().filter(|joint| !joint.broken) else { return };
        let s = rows.settings;
        let X = joint.frames(rows.robots, rows.bodies);
        let gaps = relative_gap(&X[0], &X[1], joint.description.locked);
        let axes = joint.axes(&X);
        let stretch = joint.stretch(&X);
        let row = Row {
            kind: &AttachedJoints,
            owner: index,
            part: 0,
            movers: rows.indices(joint.ends),
            correction: None,
            account: Account::Loops,
            damping: None,
        };
        for axis in 0..6 {
            let mut row = Row { part: axis, ..row };
            let mut spec = RowSpec { warm_start: joint.impulses[axis], ..RowSpec::default() };
            if joint.description.locked[axis] {
                let undone = (GAP_RATE * gaps[axis]).clamp(-s.penetration_step, s.penetration_step);
                row.correction = Some(Correction::both(-undone / s.dt));
            } else if let Some(law) = joint.soft(axis) {
                let soft = law.row(stretch[axis], s.dt);
                (spec.bias, spec.compliance) = (soft.target, soft.compliance);
                (row.account, row.damping) = (Account::Spring, Some(law.damping));
            } else {
                continue;
            }
            let bound = joint.bound(axis, s.dt);
            (spec.lower, spec.upper) = (-bound, bound);
            let sides = rows.wrench_sides(joint.ends, &X[1].translation, &axes[axis]);
            rows.push(Block::row(sides, &spec), row);
        }
    }

    fn clear_impulses(&self, _: &mut State, set: &mut ConstraintSet) {
        set.joints.iter_mut().flatten().for_each(|joint| joint.impulses = [0.0; 6]);
    }

    fn keep_impulse(&self, _: &mut State, set: &mut ConstraintSet, solved: &SolvedRow) {
        if let Some(joint) = &mut set.joints[solved.row.owner] {
            joint.impulses[solved.row.part] = solved.block.impulse.x;
        }
    }

    /// Wrenches of the joints; breaks what bore too much.
    fn finish_step(&self, state: &mut State, set: &mut ConstraintSet, solved: &Solved) {
        let h = solved.h;
        for joint in set.joints.iter_mut().flatten() {
            let X = joint.frames(&state.robots, &state.bodies);
            joint.push = joint.wrench(&X);
            joint.position = X[1].translation;
            if let Some(strength) = joint.description.strength
                && joint.settled
            {
                joint.yielding = std::array::from_fn(|k| {
                    joint.impulses[k].abs() >= joint.bound(k, h) * (1.0 - AT_BOUND)
                });
                joint.broken |= strength.failure == Failure::Breaks
                    && (joint.push.force.norm() > h * strength.force
                        || joint.push.moment.norm() > h * strength.torque);
            }
            joint.settled = true;
        }
    }

    fn visit_impulses_on(
        &self,
        robot: usize,
        set: &ConstraintSet,
        visit: &mut dyn FnMut(BodyImpulse),
    ) {
        for joint in set.joints.iter().flatten() {
            for (end, sign) in [(0, -1.0), (1, 1.0)] {
                if let Mover::Robot { robot: r, body } = joint.ends[end]
                    && r == robot
                {
                    let (point, impulse) = (joint.position, joint.push * sign);
                    visit(BodyImpulse { body, point, impulse });
                }
            }
        }
    }

    fn remove_loose(&self, set: &mut ConstraintSet, state: &State) {
        for joint in &mut set.joints {
            let has_ends =
                |j: &AttachedJoint| state.has(j.description.a) && state.has(j.description.b);
            if joint.as_ref().is_some_and(|j| !has_ends(j)) {
                *joint = None;
            }
        }
    }
}
