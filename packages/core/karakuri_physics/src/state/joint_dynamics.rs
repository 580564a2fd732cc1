//! Effects of the joints of a robot on their own motion, live: `armature`, `viscous` and `friction` of the robot file.

use crate::state::robot::Robot;

/// Effects of a joint on its own motion, in one velocity coordinate of a robot.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct JointDynamics {
    /// Inertia of rotor and gear, as the joint feels it. [kg·m² or kg]
    pub armature: f64,
    /// Viscous damping: effort over velocity. [N·m·s/rad or N·s/m]
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

    pub(crate) fn set_joint_dynamics(&mut self, dof: usize, dynamics: JointDynamics) {
        self.armature[dof] = dynamics.armature;
        self.joint_damping[dof] = dynamics.viscous;
        self.friction[dof] = dynamics.friction;
        self.forget_momentum();
    }
}
