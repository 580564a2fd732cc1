//! What the joints of a robot do to their own motion, live: `armature`, `viscous` and `friction` of the robot file.

use crate::errors::WorldError;
use crate::state::robot::Robot;
use crate::world::{RobotId, World};

/// Of one velocity coordinate of a robot.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct JointDynamics {
    /// Inertia of rotor and gear, as the joint feels it. [kg·m² or kg]
    pub armature: f64,
    /// Effort over velocity. [N·m·s/rad or N·s/m]
    pub viscous: f64,
    /// Dry friction: the largest effort that it bears. [N·m or N]
    pub friction: f64,
}

impl Robot {
    pub(crate) fn joint_dynamics(&self, dof: usize) -> JointDynamics {
        JointDynamics {
            armature: self.armature[dof],
            viscous: self.joint_damping[dof],
            friction: self.friction[dof],
        }
    }

    fn set_joint_dynamics(&mut self, dof: usize, dynamics: JointDynamics) {
        self.armature[dof] = dynamics.armature;
        self.joint_damping[dof] = dynamics.viscous;
        self.friction[dof] = dynamics.friction;
    }
}

impl World {
    /// Changes what a joint does to its own motion, from the next step on. Refused, and left as it was, where a number is
    /// negative or not finite, or where a motion would meet no inertia any more.
    ///
    /// # Panics
    /// When the robot was removed, or has no velocity coordinate `dof`.
    pub fn set_joint_dynamics(
        &mut self,
        id: RobotId,
        dof: usize,
        dynamics: JointDynamics,
    ) -> Result<(), WorldError> {
        let before = self.robot(id).joint_dynamics(dof);
        if dynamics == before {
            return Ok(());
        }
        let JointDynamics { armature, viscous, friction } = dynamics;
        if ![armature, viscous, friction].iter().all(|x| x.is_finite() && *x >= 0.0) {
            return Err(WorldError::Joint {
                name: self.robot(id).model().joint_name_of(dof).to_owned(),
                reason: "its armature, viscous or dry friction is negative or not finite; give numbers from 0",
            });
        }
        self.robot_mut(id).set_joint_dynamics(dof, dynamics);
        if armature < before.armature
            && let Err(e) = self.check_inertia(id)
        {
            self.robot_mut(id).set_joint_dynamics(dof, before);
            return Err(e);
        }
        self.wake_all();
        Ok(())
    }
}
