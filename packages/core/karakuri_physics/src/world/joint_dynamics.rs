//! Effects of the joints of robots on their own motion, changed while the world runs.

use crate::errors::WorldError;
use crate::state::ids::RobotId;
use crate::state::joint_dynamics::JointDynamics;
use crate::world::World;

impl World {
    /// Changes the effects of a joint on its own motion, from the next step on. Refused, and left as it was, where a number is
    /// negative or not finite, or where a motion would meet no inertia any more.
    ///
    /// # Errors
    /// When a number is negative or not finite, or a motion would meet no inertia any more; the joint stays as it
    /// was.
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
        // Only less inertia can make the mass matrix singular.
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
