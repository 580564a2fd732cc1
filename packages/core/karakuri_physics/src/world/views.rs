//! Robots and bodies of a world, to look at.

use std::sync::Arc;

use karakuri_dynamics::Data;
use karakuri_model::{Base, Model};
use karakuri_spatial::{Matrix3, Motion, Pose, Vector3};

use super::{Named, World};
use crate::state::body::Body;
use crate::state::ids::{BodyId, RobotId};
use crate::state::robot::Robot;
use crate::{BodyDescription, Drives, JointDynamics, JointLimits};

/// A robot to look at.
#[derive(Debug, Clone, Copy)]
pub struct RobotView<'a>(&'a Robot);

/// A body to look at.
#[derive(Debug, Clone, Copy)]
pub struct BodyView<'a>(&'a Body);

impl<'a> RobotView<'a> {
    /// Name of the robot.
    pub fn name(self) -> &'a str {
        &self.0.name
    }
    /// The robot's model, with its present inertias ([`World::set_link_inertia`]); of gains, joint dynamics and limits
    /// it has those that the robot came with.
    pub fn model(self) -> &'a Arc<Model> {
        &self.0.model
    }
    /// Model that it came with, before inertias changed and loops opened: by it a robot is known from one that took its
    /// name and id.
    pub fn original_model(self) -> &'a Arc<Model> {
        &self.0.original
    }
    /// Configuration `q` of the robot. (nq)
    pub fn q(self) -> &'a [f64] {
        &self.0.q
    }
    /// Generalized velocity `v` of the robot. (nv)
    pub fn v(self) -> &'a [f64] {
        &self.0.v
    }
    /// Efforts that drives and motors gave in the last step, and what prescribed joints needed. [N·m or N] (nv)
    pub fn efforts(self) -> &'a [f64] {
        &self.0.efforts
    }
    /// Effort of a joint's motor as its current tells it: that of the drive in the last step, less what the back-EMF takes at the
    /// present velocity. [N·m or N]
    ///
    /// # Panics
    /// When there is no velocity coordinate `dof`.
    pub fn motor_effort(self, dof: usize) -> f64 {
        self.0.efforts[dof] - self.0.back_emf[dof] * self.0.v[dof]
    }
    /// Effort of a joint's drive in the last step, without the motors beside it; 0 where it is off. [N·m or N]
    ///
    /// # Panics
    /// When there is no velocity coordinate `dof`.
    pub fn drive_effort(self, dof: usize) -> f64 {
        if !self.0.drives.enabled[dof] {
            return 0.0;
        }
        let beside = self.0.motors.iter().filter(|unit| unit.dof == dof);
        self.0.efforts[dof] - beside.map(|unit| unit.report.effort).sum::<f64>()
    }
    /// Targets and gains of its drives. (nv each)
    pub fn drives(self) -> &'a Drives {
        &self.0.drives
    }
    /// Effects of a joint on its own motion; see [`World::set_joint_dynamics`].
    ///
    /// # Panics
    /// When there is no velocity coordinate `dof`.
    pub fn joint_dynamics(self, dof: usize) -> JointDynamics {
        self.0.joint_dynamics(dof)
    }
    /// Limits of a joint with one degree of freedom, infinite for other joints; see [`World::set_joint_limits`].
    ///
    /// # Panics
    /// When there is no velocity coordinate `dof`.
    pub fn joint_limits(self, dof: usize) -> JointLimits {
        self.0.limits[dof]
    }
    /// Velocity of the root body at its origin, in world axes; zero on a fixed base. [rad/s; m/s]
    pub fn base_velocity(self) -> Motion {
        match (self.0.model.base, self.0.v.as_slice()) {
            (Base::Floating, [x, y, z, wx, wy, wz, ..]) => {
                Motion::new(Vector3::new(*wx, *wy, *wz), Vector3::new(*x, *y, *z))
            }
            _ => Motion::default(),
        }
    }
    /// Kinematics of the present position: poses of bodies in the world.
    pub fn data(self) -> &'a Data {
        &self.0.data
    }
}

impl<'a> BodyView<'a> {
    /// Description of the body.
    pub fn description(self) -> &'a BodyDescription {
        &self.0.description
    }
    /// Inertia about the centre of mass in the body's axes; zero of a fixed body. [kg·m²] (3×3)
    pub fn inertia(self) -> &'a Matrix3 {
        &self.0.inertia
    }
    /// Pose `X_WB` of the body in the world.
    pub fn pose(self) -> Pose {
        self.0.pose
    }
    /// Pose `X_WS` of the shape; see [`World::set_center_of_mass`].
    pub fn shape_pose(self) -> Pose {
        self.0.shape_pose()
    }
    /// Angular and linear velocity at the centre of mass, in world axes. [rad/s; m/s]
    pub fn velocity(self) -> Motion {
        self.0.velocity
    }
}

impl World {
    /// Ids of the robots that are there.
    pub fn robot_ids(&self) -> impl Iterator<Item = RobotId> + '_ {
        self.state.robots.iter().enumerate().filter(|(_, r)| r.is_some()).map(|(i, _)| RobotId(i))
    }

    /// Ids of the bodies that are there, fixed ones too.
    pub fn body_ids(&self) -> impl Iterator<Item = BodyId> + '_ {
        self.state.bodies.iter().enumerate().filter(|(_, b)| b.is_some()).map(|(i, _)| BodyId(i))
    }

    /// The robot of this name.
    pub fn find_robot(&self, name: &str) -> Option<RobotId> {
        match self.names.get(name) {
            Some(&Named::Robot(id)) => Some(id),
            _ => None,
        }
    }

    /// The body of this name.
    pub fn find_body(&self, name: &str) -> Option<BodyId> {
        match self.names.get(name) {
            Some(&Named::Body(id)) => Some(id),
            _ => None,
        }
    }

    /// View of a robot.
    ///
    /// # Panics
    /// When it was removed.
    pub fn robot(&self, id: RobotId) -> RobotView<'_> {
        RobotView(self.robot_ref(id))
    }

    pub(crate) fn robot_ref(&self, id: RobotId) -> &Robot {
        self.state.robots[id.0]
            .as_ref()
            .unwrap_or_else(|| unreachable!("robot {} was removed", id.0))
    }

    pub(crate) fn robot_mut(&mut self, id: RobotId) -> &mut Robot {
        self.state.robots[id.0]
            .as_mut()
            .unwrap_or_else(|| unreachable!("robot {} was removed", id.0))
    }

    /// View of a body.
    ///
    /// # Panics
    /// When it was removed.
    pub fn body(&self, id: BodyId) -> BodyView<'_> {
        BodyView(
            self.state.bodies[id.0]
                .as_ref()
                .unwrap_or_else(|| unreachable!("body {} was removed", id.0)),
        )
    }

    /// Targets and gains of a robot's drives.
    ///
    /// # Panics
    /// When it was removed.
    pub fn drive_mut(&mut self, id: RobotId) -> &mut Drives {
        &mut self.robot_mut(id).drives
    }
}
