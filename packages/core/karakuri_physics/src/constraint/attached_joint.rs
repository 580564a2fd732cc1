//! Joints that come and go while the world runs: rigid, or with degrees of freedom, that may yield or break.
//!
//! Each locked degree of freedom is one row `w · (V_B − V_A) = 0` with an equal and opposite impulse at one point, so a joint
//! gives no momentum: what moved apart is stopped by the inelastic impulse of its first step. Gaps are undone by the velocity
//! that only moves positions. Two things that a joint holds together do not collide with each other.
//!
//! Degrees of freedom that are not locked may have the springs and dampers of a [`Bushing`].
//!
//! A joint with a [`Strength`] that *breaks* gives nothing from the step after its force or torque exceeded it; one that
//! *yields* gives at most this force and torque about each of its axes and keeps the shape it is bent to. Neither counts
//! in the joint's first step, whose impulse is that of an impact.

use karakuri_dynamics::loops::relative_gap;
use karakuri_spatial::{Force, Motion, Pose, Vector3};

use super::bushing::{Bushing, displacement, rate_axes};
use super::kind::{BodyImpulse, Constraint, Solved, SolvedRow};
use super::row::{AT_BOUND, Account, Correction, GAP_RATE, Row, RowBuilder};
use super::spring::SoftLaw;
use crate::solver::{Block, RowSpec};
use crate::state::body::Body;
use crate::state::collider::Attachment;
use crate::state::mover::{Mover, Owner};
use crate::state::robot::Robot;
use crate::state::{State, pose_of};

/// A joint between two things in the pose they have when it is attached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointDescription {
    /// End A; [`Owner::Ground`] is the world.
    pub a: Owner,
    /// End B; the joint's wrench is the one on it.
    pub b: Owner,
    /// Pose of the joint's frame on A.
    pub pose_in_a: Pose,
    /// Degrees of freedom that are locked, of the six relative ones in that frame: rotation x y z, translation x y z.
    pub locked: [bool; 6],
    /// Springs and dampers of the degrees of freedom that are not locked; `None`: they are free.
    pub bushing: Option<Bushing>,
    /// Strength above which it breaks or yields; `None`: it never does.
    pub strength: Option<Strength>,
}

/// Strength of a joint: the largest force and torque that it bears.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Strength {
    /// Largest force: its magnitude where the joint breaks, along each axis where it yields. [N]
    pub force: f64,
    /// Largest torque: its magnitude where the joint breaks, about each axis where it yields. [N·m]
    pub torque: f64,
    /// Behaviour of the joint above them.
    pub failure: Failure,
}

/// Behaviour of a joint above its strength.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// It comes apart for good.
    Breaks,
    /// It bends at constant force and keeps its new shape.
    Yields,
}

impl Failure {
    /// All kinds of failure.
    pub const ALL: [Self; 2] = [Self::Breaks, Self::Yields];

    /// Name of the failure in files and services.
    pub fn name(self) -> &'static str {
        match self {
            Self::Breaks => "breaks",
            Self::Yields => "yields",
        }
    }

    /// The failure of this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|failure| failure.name() == name)
    }
}

/// Names a joint of a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JointId(pub(crate) usize);

/// State of an attached joint after the last step.
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
    pub(crate) name: String,
    pub(crate) description: JointDescription,
    /// Movers of its ends.
    pub(crate) ends: [Mover; 2],
    /// The joint's frame on the movers of the ends, or in the world.
    pub(crate) poses: [Pose; 2],
    /// Impulses of the last step along the axes of the rows. [N·m·s, N·s] (6)
    pub(crate) impulses: [f64; 6],
    /// Permanent set of the bushing. [rad, m] (6)
    pub(crate) set: [f64; 6],
    /// Impulse on B in the last step, about `position`, in world axes. [N·m·s; N·s]
    pub(crate) push: Force,
    pub(crate) position: Vector3,
    /// Whether its first step is over.
    pub(crate) settled: bool,
    /// Degrees of freedom that reached their bounds in the last step.
    pub(crate) yielding: [bool; 6],
    pub(crate) broken: bool,
}

impl AttachedJoint {
    /// Largest impulse of a row while it may yield. [N·m·s or N·s]
    fn bound(&self, axis: usize, h: f64) -> f64 {
        match self.description.strength {
            // The first step's impulse stops what moved apart: an impact, which no strength is measured against.
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
    pub(crate) fn frames(&self, robots: &[Option<Robot>], bodies: &[Option<Body>]) -> [Pose; 2] {
        [0, 1].map(|end| pose_of(self.ends[end], robots, bodies) * self.poses[end])
    }

    /// Stretch of the bushing in its degrees of freedom, from the joint's frame at both ends. [rad, m] (6)
    pub(crate) fn stretch(&self, [X_WA, X_WB]: &[Pose; 2]) -> [f64; 6] {
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
        // The rates of a bushing's rotation vector are measured along the columns of `J⁻ᵀ(φ)`.
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

    /// Yielding degrees of freedom of the bushing keep what they are stretched by beyond their strength.
    pub(crate) fn bend_bushing(&mut self, X: &[Pose; 2]) {
        let stretch = self.stretch(X);
        for axis in (0..6).filter(|&k| self.yielding[k]) {
            if let Some(law) = self.soft(axis).filter(|law| law.stiffness > 0.0) {
                // The stretch beyond the elastic one stays as permanent set.
                // Elastic stretch at the strength: F_max / k.
                let elastic = self.bound(axis, 1.0) / law.stiffness;
                self.set[axis] += stretch[axis] - stretch[axis].clamp(-elastic, elastic);
            }
        }
    }

    /// Yielding locks take the pose they are bent to: all rotations, all translations.
    pub(crate) fn bend_locks(&mut self, [X_WA, X_WB]: &[Pose; 2]) {
        // As a whole, as gaps about one axis change with the pose about the others.
        let bent = |axes: std::ops::Range<usize>| {
            axes.into_iter().any(|k| self.yielding[k] && self.description.locked[k])
        };
        let [turns, moves] = [bent(0..3), bent(3..6)];
        // The frame of A in that of B: on B's own pose it closes the gap that the lock was bent to.
        let (bent, own) = (X_WB.inverse() * *X_WA, self.poses[1]);
        let moved = if moves { own.transform_point(&bent.translation) } else { own.translation };
        let turned = if turns { own.rotation * bent.rotation } else { own.rotation };
        self.poses[1] = Pose { rotation: turned, translation: moved };
    }

    /// Whether its ends go through the step by the midpoint.
    fn swings(&self, bodies: &[Option<Body>]) -> bool {
        self.ends.iter().all(|end| match end {
            Mover::Body(i) => bodies[*i].as_ref().is_some_and(|b| b.swings),
            Mover::Fixed => true,
            Mover::Robot { .. } => false,
        })
    }

    /// Rows between bodies that swing: the mean velocity of the step keeps the joint where it will be halfway, so that neither
    /// energy nor order is lost, and what velocity apart is left from the start is stopped,
    /// `J_½ (v + v') = J_0 v`. [Hairer, Lubich, Wanner 2006, §VII.1]
    fn add_halfway_rows(&self, rows: &mut RowBuilder, index: usize, X: &[Pose; 2]) {
        let s = rows.settings;
        let X_half = self.halfway(rows.bodies, s.dt);
        let gaps = relative_gap(&X[0], &X[1], self.description.locked);
        let (axes, axes_half) = (self.axes(X), self.axes(&X_half));
        let point = X[1].translation;
        // Twists of both ends at the joint's origin, at the start of the step.
        let velocity = |end: usize| match self.ends[end] {
            Mover::Body(i) => rows.bodies[i].as_ref().map(|b| {
                let arm = point - b.pose.translation;
                Motion::new(b.velocity.angular, b.velocity.linear + b.velocity.angular.cross(&arm))
            }),
            _ => None,
        };
        let [V_A, V_B] = [0, 1].map(|end| velocity(end).unwrap_or_default());
        for axis in (0..6).filter(|&axis| self.description.locked[axis]) {
            // At most so far in a step: a large gap would otherwise be closed at a speed that the linear rows do not hold for.
            let undone = (GAP_RATE * gaps[axis]).clamp(-s.penetration_step, s.penetration_step);
            let row = Row {
                kind: 0,
                owner: index,
                part: axis,
                movers: rows.indices(self.ends),
                correction: Some(Correction::both(-undone / s.dt)),
                account: Account::Loops,
                damping: None,
            };
            // About the place halfway, where the mean velocity acts.
            let sides = rows.halfway_sides(self.ends, &X_half[1].translation, &axes_half[axis]);
            // `u* = J_0 v − J_½ v`, so that `J_½ (v + v') = J_0 v`.
            let apart = (V_B - V_A).dot(&axes[axis]);
            let halfway = rows.problem.rows_times(rows.before, &sides, 1).x;
            let spec = RowSpec {
                bias: apart - halfway,
                warm_start: self.impulses[axis],
                ..RowSpec::default()
            };
            rows.push(Block::row(sides, &spec), row);
        }
    }

    /// The joint's frame as its two ends have it halfway through the step. [s]
    fn halfway(&self, bodies: &[Option<Body>], h: f64) -> [Pose; 2] {
        [0, 1].map(|end| {
            let body = self.ends[end].body().and_then(|i| bodies[i].as_ref());
            body.map_or(Pose::IDENTITY, |b| b.halfway(h).0) * self.poses[end]
        })
    }

    /// Adds the moments of its impulses to the bodies that swing on it. [s]
    fn leave_moments(&self, bodies: &mut [Option<Body>], h: f64) {
        if self.broken || !self.swings(bodies) {
            return;
        }
        let X = self.halfway(bodies, h);
        let (push, point) = (self.wrench(&X), X[1].translation);
        // The gyroscopic term of the next step takes the moment of this one, about the arm halfway.
        for (end, sign) in [(0, -1.0), (1, 1.0)] {
            if let Some(body) = self.ends[end].body().and_then(|i| bodies[i].as_mut()) {
                let arm = point - body.halfway(h).0.translation;
                body.joint_moment += (push.moment + arm.cross(&push.force)) * sign;
            }
        }
    }

    /// Whether it holds these two colliders' owners together.
    pub(crate) fn joins(&self, a: &Attachment, b: &Attachment) -> bool {
        let owners = [self.description.a, self.description.b];
        !self.broken && Attachment::are_ends([a, b], self.ends, owners)
    }
}

/// The attached joints of a world, by id.
#[derive(Debug, Clone, Default)]
pub(crate) struct AttachedJoints {
    pub(crate) all: Vec<Option<AttachedJoint>>,
}

impl Constraint for AttachedJoints {
    fn visit(&self, visit: &mut dyn FnMut(usize, [Mover; 2])) {
        for (i, joint) in self.all.iter().enumerate() {
            if let Some(joint) = joint.as_ref().filter(|joint| !joint.broken) {
                visit(i, joint.ends);
            }
        }
    }

    /// A row a locked degree of freedom, and one each that its bushing holds.
    fn add_rows(&mut self, rows: &mut RowBuilder, index: usize) {
        let Some(joint) = self.all[index].as_ref().filter(|joint| !joint.broken) else { return };
        let s = rows.settings;
        let X = joint.frames(rows.robots, rows.bodies);
        let gaps = relative_gap(&X[0], &X[1], joint.description.locked);
        if joint.swings(rows.bodies) {
            joint.add_halfway_rows(rows, index, &X);
            return;
        }
        let axes = joint.axes(&X);
        let stretch = joint.stretch(&X);
        let row = Row {
            kind: 0,
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
                // A lock undoes a part of its gap; the bushing is backward Euler of its spring and damper.
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

    fn clear_impulses(&mut self, state: &mut State) {
        for body in state.bodies.iter_mut().flatten() {
            body.joint_moment = Vector3::zeros();
        }
        // All, as a row that is not made in this step has no impulse to start from.
        self.all.iter_mut().flatten().for_each(|joint| joint.impulses = [0.0; 6]);
    }

    fn keep_impulse(&mut self, _: &mut State, solved: &SolvedRow) {
        if let Some(joint) = &mut self.all[solved.row.owner] {
            joint.impulses[solved.row.part] = solved.block.impulse.x;
        }
    }

    /// Wrenches of the joints; breaks what bore too much.
    fn finish_step(&mut self, state: &mut State, solved: &Solved) {
        let h = solved.h;
        for joint in self.all.iter().flatten() {
            joint.leave_moments(&mut state.bodies, h);
        }
        for joint in self.all.iter_mut().flatten() {
            let X = joint.frames(&state.robots, &state.bodies);
            joint.push = joint.wrench(&X);
            joint.position = X[1].translation;
            if let Some(strength) = joint.description.strength
                && joint.settled
            {
                // Rows at their bounds yield; the whole wrench above the strength breaks.
                joint.yielding = std::array::from_fn(|k| {
                    // No bound, no yielding: nothing reaches infinity.
                    joint.impulses[k].abs() >= joint.bound(k, h) * (1.0 - AT_BOUND)
                });
                joint.broken |= strength.failure == Failure::Breaks
                    && (joint.push.force.norm() > h * strength.force
                        || joint.push.moment.norm() > h * strength.torque);
            }
            joint.settled = true;
        }
    }

    fn visit_impulses_on(&self, robot: usize, visit: &mut dyn FnMut(BodyImpulse)) {
        for joint in self.all.iter().flatten() {
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

    fn remove_loose(&mut self, state: &State) {
        for joint in &mut self.all {
            let has_ends =
                |j: &AttachedJoint| state.has(j.description.a) && state.has(j.description.b);
            if joint.as_ref().is_some_and(|j| !has_ends(j)) {
                *joint = None;
            }
        }
    }
}
