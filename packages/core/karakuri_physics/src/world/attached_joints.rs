//! Joints that come and go while the world runs.

use karakuri_spatial::{Force, Pose};

use crate::constraint::attached_joint::{
    AttachedJoint, JointDescription, JointId, JointReport, Strength,
};
use crate::constraint::bushing::Bushing;
use crate::errors::WorldError;
use crate::state::State;
use crate::state::ids::RobotId;
use crate::state::mover::{Mover, Owner};
use crate::world::World;

impl World {
    /// Joins two things in the pose they have now. Their relative velocity is stopped within the next step, by an inelastic
    /// impulse.
    ///
    /// # Errors
    /// When the name is taken, the frame, bushing or strength is out of range, it holds no degree of freedom, an end
    /// moves as prescribed, neither end can move, or both ends are one rigid body.
    pub fn attach_joint(
        &mut self,
        name: &str,
        description: JointDescription,
    ) -> Result<JointId, WorldError> {
        self.check_tie_name(name)?;
        let refuse = |reason| Err(WorldError::Joint { name: name.to_owned(), reason });
        let X_AJ = description.pose_in_a;
        if !X_AJ.translation.iter().chain(X_AJ.rotation.iter()).all(|x| x.is_finite()) {
            return refuse("its frame is not finite; give finite numbers");
        }
        check_bushing(name, &description)?;
        // Infinite will do, NaN will not: it is above nothing.
        let strong = |s: Strength| s.force > 0.0 && s.torque > 0.0;
        if !description.strength.is_none_or(strong) {
            return refuse("its strength must be positive; give a force in N and a torque in N·m");
        }
        if self.is_prescribed(description.a) || self.is_prescribed(description.b) {
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
        // What sleeps may be an end, or lean on one.
        self.wake_all();
        let ends = [mover_a, mover_b];
        // The joint's frame as it is now, on both movers.
        // B's frame is fitted to A's, so that the joint begins without a gap.
        let X_WJ = self.mover_pose(mover_a) * X_MA * X_AJ;
        let on_b = (self.mover_pose(mover_b) * X_MB).inverse() * X_WJ;
        self.constraints.joints.all.push(Some(AttachedJoint {
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
        Ok(JointId(self.constraints.joints.all.len() - 1))
    }

    /// Lets go of both ends; the id stays unused.
    pub fn detach_joint(&mut self, id: JointId) {
        self.wake_all();
        self.book_change(|world| world.constraints.joints.all[id.0] = None);
    }

    /// What a joint was attached as, with its present bushing; `None` when it was detached.
    pub fn joint_description(&self, id: JointId) -> Option<&JointDescription> {
        self.constraints.joints.all.get(id.0)?.as_ref().map(|j| &j.description)
    }

    /// Changes the springs and dampers of a joint, from the next step on; those of locked degrees of freedom do nothing. A joint
    /// that has yielded keeps its set.
    ///
    /// # Errors
    /// When there is no such joint any more, a number is negative or not finite, or the joint would hold nothing; the
    /// joint stays as it was.
    pub fn set_bushing(&mut self, id: JointId, bushing: Bushing) -> Result<(), WorldError> {
        let Some(joint) = self.constraints.joints.all.get(id.0).and_then(Option::as_ref) else {
            let known = self.joint_names().collect::<Vec<_>>().join(", ");
            return Err(WorldError::NoSuchPart { name: format!("joint {}", id.0), known });
        };
        let description = JointDescription { bushing: Some(bushing), ..joint.description };
        if description == joint.description {
            return Ok(());
        }
        check_bushing(&joint.name, &description)?;
        self.wake_all();
        self.book_change(|world| {
            if let Some(joint) = &mut world.constraints.joints.all[id.0] {
                joint.description = description;
            }
        });
        Ok(())
    }

    /// Names of joints, gears, springs and suction cups are unique among all of them.
    pub(crate) fn check_tie_name(&self, name: &str) -> Result<(), WorldError> {
        if self.find_joint(name).is_some() || self.find_gear(name).is_some() {
            return Err(WorldError::JointNameTaken { name: name.to_owned() });
        }
        if self.find_spring(name).is_some() {
            let reason = "there is one already; remove it first, or choose another name";
            return Err(WorldError::Spring { name: name.to_owned(), reason });
        }
        if self.find_suction(name).is_some() {
            let reason = "there is one already; remove it first, or choose another name";
            return Err(WorldError::Suction { name: name.to_owned(), reason });
        }
        Ok(())
    }

    /// The joint of this name, broken ones too.
    pub fn find_joint(&self, name: &str) -> Option<JointId> {
        let named = |j: &Option<AttachedJoint>| j.as_ref().is_some_and(|j| j.name == name);
        self.constraints.joints.all.iter().position(named).map(JointId)
    }

    /// Names of all attached joints.
    pub fn joint_names(&self) -> impl Iterator<Item = &str> {
        self.constraints.joints.all.iter().flatten().map(|j| j.name.as_str())
    }

    /// State of a joint after the last step; `None` when it was detached.
    pub fn joint(&self, id: JointId) -> Option<JointReport> {
        let joint = self.constraints.joints.all.get(id.0)?.as_ref()?;
        Some(JointReport {
            wrench: joint.push * (1.0 / self.settings.dt),
            position: joint.position,
            yields: joint.yielding.contains(&true),
            broken: joint.broken,
        })
    }

    /// Mover that carries an owner, and the owner's pose on it; in the world where nothing does.
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
        self.state.pose_of(mover)
    }

    /// Makes the shape that yielding joints are bent to their own.
    pub(crate) fn bend_joints(&mut self) {
        let State { robots, bodies, .. } = &self.state;
        for joint in self.constraints.joints.all.iter_mut().flatten() {
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
            // What is broken holds no energy.
            let bushing = joint.description.bushing.filter(|_| !joint.broken)?;
            let X = joint.frames(&self.state.robots, &self.state.bodies);
            Some(bushing.energy(&joint.stretch(&X)))
        };
        self.constraints.joints.all.iter().flatten().filter_map(energy).sum()
    }
}

/// Checks that a joint's bushing can be, and that the joint holds something.
fn check_bushing(name: &str, description: &JointDescription) -> Result<(), WorldError> {
    let refuse = |reason| Err(WorldError::Joint { name: name.to_owned(), reason });
    if !description.bushing.is_none_or(|b| b.is_usable()) {
        return refuse(
            "its bushing is not finite or negative; give stiffness and damping of 0 or more",
        );
    }
    let holds = |k| description.locked[k] || description.bushing.is_some_and(|b| b.holds(k));
    if !(0..6).any(holds) {
        return refuse(
            "it holds nothing; lock at least one of the six degrees of freedom, or give one a stiffness or damping",
        );
    }
    Ok(())
}
