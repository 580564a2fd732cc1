//! Effects of the joints of robots on their own motion, and their limits, changed while the world runs.

use crate::errors::WorldError;
use crate::state::ids::RobotId;
use crate::state::joint_dynamics::JointDynamics;
use crate::state::joint_limits::JointLimits;
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
        self.book_change(|world| {
            world.robot_mut(id).set_joint_dynamics(dof, dynamics);
            // Only less inertia can make the mass matrix singular.
            if armature < before.armature
                && let Err(e) = world.check_inertia(id)
            {
                world.robot_mut(id).set_joint_dynamics(dof, before);
                return Err(e);
            }
            Ok(())
        })?;
        self.wake_all();
        Ok(())
    }

    /// Changes the limits of a joint with one degree of freedom, from the next step on. A joint that is beyond its new limits
    /// is brought back as one that was put beyond them: its position by at most [`penetration_rate`](crate::WorldSettings::penetration_rate) of the
    /// way a step, without a velocity; by the force of its spring, where a limit has one.
    ///
    /// # Errors
    /// When the joint has several degrees of freedom, a limit is NaN, the lower one is above the upper one, or the speed
    /// is negative; the joint stays as it was.
    ///
    /// # Panics
    /// When the robot was removed, or has no velocity coordinate `dof`.
    pub fn set_joint_limits(
        &mut self,
        id: RobotId,
        dof: usize,
        limits: JointLimits,
    ) -> Result<(), WorldError> {
        let robot = self.robot_ref(id);
        if limits == robot.limits[dof] {
            return Ok(());
        }
        let name = || robot.model.joint_name_of(dof).to_owned();
        if robot.position_index[dof].is_none() {
            let reason =
                "its limits are not two numbers; set those of a joint with one degree of freedom";
            return Err(WorldError::Joint { name: name(), reason });
        }
        let JointLimits { lower, upper, velocity } = limits;
        if lower.is_nan() || upper.is_nan() {
            let reason =
                "a limit of position is no number; give two numbers, infinite for no limit";
            return Err(WorldError::Joint { name: name(), reason });
        }
        if lower > upper {
            return Err(WorldError::Limits { name: name(), lower, upper });
        }
        if velocity.is_nan() || velocity < 0.0 {
            let reason =
                "its largest speed is negative; give a speed from 0, infinite for no limit";
            return Err(WorldError::Joint { name: name(), reason });
        }
        self.robot_mut(id).limits[dof] = limits;
        self.wake_all();
        Ok(())
    }
}
