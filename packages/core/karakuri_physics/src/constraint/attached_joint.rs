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

use karakuri_model::BodyId as LinkBody;
use karakuri_spatial::{Force, Pose, Vector3};

use crate::constraint::bushing::{Bushing, displacement, rate_axes};
use crate::constraint::contact::{Attachment, Contact, Mover, Owner};
use crate::constraint::loops::{GAP_RATE, relative_gap};
use crate::constraint::rows::{Builder, NO_MOVER, Source};
use crate::constraint::spring::soft_row;
use crate::errors::WorldError;
use crate::solver::{Block, Side};
use crate::state::body::Body;
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

    /// The bushing of a freedom that it holds.
    pub(crate) fn soft(&self, axis: usize) -> Option<Bushing> {
        self.description.bushing.filter(|b| !self.description.locked[axis] && b.holds(axis))
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
            if let Some(bushing) = self.soft(axis).filter(|b| b.stiffness[axis] > 0.0) {
                let elastic = self.bound(axis, 1.0) / bushing.stiffness[axis];
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

    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    /// What a whole joint holds.
    pub(crate) fn movers(&self) -> impl Iterator<Item = Mover> {
        self.ends.into_iter().filter(|_| !self.broken)
    }

    /// Wrenches of the last step on the bodies of a robot: body, point, wrench about it. [m; N·m·s; N·s]
    pub(crate) fn pushes_on(
        &self,
        robot: usize,
    ) -> impl Iterator<Item = (LinkBody, Vector3, Force)> + '_ {
        [(0, -1.0), (1, 1.0)].into_iter().filter_map(move |(end, sign)| match self.ends[end] {
            Mover::Robot { robot: r, body } if r == robot => {
                Some((body, self.position, self.push * sign))
            }
            _ => None,
        })
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
        self.joints.push(Some(AttachedJoint {
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
        Ok(JointId(self.joints.len() - 1))
    }

    /// Lets go; the id stays unused.
    pub fn detach_joint(&mut self, id: JointId) {
        self.wake_all();
        self.joints[id.0] = None;
    }

    /// The joint of this name, broken ones too.
    pub fn find_joint(&self, name: &str) -> Option<JointId> {
        let named = |j: &Option<AttachedJoint>| j.as_ref().is_some_and(|j| j.name == name);
        self.joints.iter().position(named).map(JointId)
    }

    /// Names of all attached joints.
    pub fn joint_names(&self) -> impl Iterator<Item = &str> {
        self.joints.iter().flatten().map(|j| j.name.as_str())
    }

    /// How a joint is; `None` when it was detached.
    pub fn joint(&self, id: JointId) -> Option<JointReport> {
        let joint = self.joints.get(id.0)?.as_ref()?;
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
                let Some(r) = &self.robots[robot] else { return (Mover::Fixed, Pose::IDENTITY) };
                let frame = &r.model.frames[frame.0];
                let mover = frame.body.map_or(Mover::Fixed, |body| Mover::Robot { robot, body });
                (mover, frame.pose_in_body)
            }
            Owner::Body(id) => match &self.bodies[id.0] {
                Some(body) if body.is_free() => (Mover::Body(id.0), Pose::IDENTITY),
                Some(body) => (Mover::Fixed, body.pose),
                None => (Mover::Fixed, Pose::IDENTITY),
            },
        }
    }

    pub(crate) fn mover_pose(&self, mover: Mover) -> Pose {
        mover.pose(&self.robots, &self.bodies)
    }

    /// Takes joints away whose ends are gone.
    pub(crate) fn remove_loose_joints(&mut self) {
        let (robots, bodies) = (&self.robots, &self.bodies);
        let gone = |owner: Owner| match owner {
            Owner::Ground => false,
            Owner::Link { robot, .. } => robots[robot.0].is_none(),
            Owner::Body(body) => bodies[body.0].is_none(),
        };
        for joint in &mut self.joints {
            if joint.as_ref().is_some_and(|j| gone(j.description.a) || gone(j.description.b)) {
                *joint = None;
            }
        }
    }

    /// Takes contacts away between things that a joint holds together.
    pub(crate) fn drop_joined_contacts(&mut self) {
        if self.joints.iter().flatten().next().is_none() {
            return;
        }
        let (joints, attachments) = (&self.joints, &self.attachments);
        self.contacts.retain(|c: &Contact| match (attachments[c.a.0], attachments[c.b.0]) {
            (Some(a), Some(b)) => !joints.iter().flatten().any(|j| j.joins(&a, &b)),
            _ => true,
        });
    }

    /// Forces of the joints after a step's impulses are known; breaks what bore too much.
    pub(crate) fn settle_joints(&mut self) {
        let h = self.settings.dt;
        for i in 0..self.joints.len() {
            let Some(X) = self.joint_poses(i) else { continue };
            let Some(joint) = &mut self.joints[i] else { continue };
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

    /// Takes the shape that yielding joints are bent to for their own.
    pub(crate) fn rest_joints(&mut self) {
        for i in 0..self.joints.len() {
            let yields = |j: &AttachedJoint| j.yielding.contains(&true);
            if !self.joints[i].as_ref().is_some_and(yields) {
                continue;
            }
            let Some(X) = self.joint_poses(i) else { continue };
            if let Some(joint) = &mut self.joints[i] {
                joint.bend_bushing(&X);
                joint.bend_locks(&X);
            }
        }
    }

    /// The joint's frame as its two ends have it, in the world.
    fn joint_poses(&self, joint: usize) -> Option<[Pose; 2]> {
        let joint = self.joints[joint].as_ref()?;
        Some([0, 1].map(|end| self.mover_pose(joint.ends[end]) * joint.poses[end]))
    }

    /// Energy in the bushings. [J]
    pub(crate) fn bushing_energy(&self) -> f64 {
        let energy = |i: usize| {
            let joint = self.joints[i].as_ref().filter(|j| !j.broken)?;
            let bushing = joint.description.bushing?;
            Some(bushing.energy(&joint.stretch(&self.joint_poses(i)?)))
        };
        (0..self.joints.len()).filter_map(energy).sum()
    }
}

impl Builder<'_> {
    /// The rows of a joint.
    pub(crate) fn attached_joint(&mut self, index: usize, joint: &AttachedJoint) {
        if joint.broken {
            return;
        }
        let s = self.settings;
        let [X_WA, X_WB] =
            [0, 1].map(|end| joint.ends[end].pose(self.robots, self.bodies) * joint.poses[end]);
        let gaps = relative_gap(&X_WA, &X_WB, joint.description.locked);
        let n_robots = self.robots.len();
        let movers = joint.ends.map(|m| m.index(n_robots));
        let axes = joint.axes(&[X_WA, X_WB]);
        let stretch = joint.stretch(&[X_WA, X_WB]);
        for axis in 0..6 {
            let (wanted, compliance, correction, source) = if joint.description.locked[axis] {
                let undone = (GAP_RATE * gaps[axis]).clamp(-s.penetration_step, s.penetration_step);
                (0.0, 0.0, -undone / s.dt, Source::Joint { joint: index, axis })
            } else if let Some(bushing) = joint.soft(axis) {
                let law = (bushing.stiffness[axis], bushing.damping[axis]);
                let row = soft_row(law, stretch[axis], s.dt);
                (row.wanted, row.compliance, 0.0, Source::Bushing { joint: index, axis })
            } else {
                continue;
            };
            let bound = joint.bound(axis, s.dt);
            let sides = self.wrench_sides(joint.ends, &X_WB.translation, &axes[axis]);
            let warm = joint.impulses[axis];
            let block = Block::row((-bound, bound), sides, wanted, compliance, warm);
            self.push(block, source, movers, correction);
        }
    }

    /// One row: the unit wrench `F` about `point` on B, its opposite on A.
    fn wrench_sides(&mut self, [a, b]: [Mover; 2], point: &Vector3, F: &Force) -> [Side; 2] {
        if let (Mover::Robot { robot, body: body_a }, Mover::Robot { robot: other, body: body_b }) =
            (a, b)
            && robot == other
        {
            let parts = [(-1.0, body_a), (1.0, body_b)];
            return [self.wrench_on_robot(robot, &parts, point, F), Side::default()];
        }
        [(-1.0, a), (1.0, b)].map(|(sign, mover)| match mover {
            Mover::Robot { robot, body } => self.wrench_on_robot(robot, &[(sign, body)], point, F),
            Mover::Body(body) => self.wrench_on_body(body, point, &(*F * sign)),
            Mover::Fixed => Side::default(),
        })
    }

    fn wrench_on_robot(
        &mut self,
        robot: usize,
        parts: &[(f64, LinkBody)],
        point: &Vector3,
        F: &Force,
    ) -> Side {
        self.side_of_robot(robot, |r, row| {
            let F_O = Force::new(F.moment + (point - r.data.origin).cross(&F.force), F.force);
            for &(sign, body) in parts {
                for &k in r.chains.of(body) {
                    row[k] += sign * r.data.subspace[k].dot(&F_O);
                }
            }
        })
    }

    fn wrench_on_body(&mut self, body: usize, point: &Vector3, F: &Force) -> Side {
        self.side_of_body(body, |b| {
            [(F.force, F.moment + (point - b.pose.translation).cross(&F.force))]
        })
    }
}

impl Mover {
    /// In the world, at the last kinematics.
    fn pose(self, robots: &[Option<Robot>], bodies: &[Option<Body>]) -> Pose {
        let pose = match self {
            Self::Robot { robot, body } => {
                robots[robot].as_ref().map(|r| r.data.pose_in_world[body.0])
            }
            Self::Body(body) => bodies[body].as_ref().map(|b| b.pose),
            Self::Fixed => None,
        };
        pose.unwrap_or(Pose::IDENTITY)
    }

    /// Place among all movers, robots first.
    pub(crate) fn index(self, n_robots: usize) -> usize {
        match self {
            Mover::Robot { robot, .. } => robot,
            Mover::Body(body) => n_robots + body,
            Mover::Fixed => NO_MOVER,
        }
    }
}
