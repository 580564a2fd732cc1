//! Motors beside the drives, changed while the world runs.

use karakuri_model::{Motor, MotorCommand, MotorSpec};

use crate::errors::WorldError;
use crate::state::ids::RobotId;
use crate::state::motor_unit::{MotorReport, MotorUnit};
use crate::world::World;

impl World {
    /// Adds a motor to a robot, beside those of its model.
    ///
    /// # Errors
    /// When the robot has a motor of this name, the joint does not exist, has more than one degree of freedom or
    /// follows another, or the effort is negative or NaN.
    pub fn add_motor(&mut self, id: RobotId, spec: MotorSpec) -> Result<usize, WorldError> {
        let refuse = |reason| Err(WorldError::Motor { name: spec.name.clone(), reason });
        let robot = self.robot_mut(id);
        if robot.motors.iter().any(|u| u.motor.name == spec.name) {
            return refuse("the robot has a motor of this name; choose another");
        }
        let joint = robot.model.joint(&spec.joint);
        // Its effort is one number: a ball joint has three.
        let Some(joint) = joint.filter(|j| robot.model.joints[j.0].kind.single().is_some()) else {
            return refuse("it acts on no joint with one degree of freedom; name one");
        };
        if robot.model.couplings.iter().any(|c| c.follower == joint) {
            return refuse("its joint follows another; name the one that leads");
        }
        if spec.effort.is_nan() || spec.effort < 0.0 {
            return refuse("its largest effort is negative; write its magnitude");
        }
        let MotorSpec { name, law, command, effort, .. } = spec;
        let unit = MotorUnit::new(&robot.model, Motor { name, joint, law, command, effort });
        robot.motors.push(unit);
        Ok(robot.motors.len() - 1)
    }

    /// The motors of a robot, in order: those of its model first.
    ///
    /// # Panics
    /// When it was removed.
    pub fn motors(&self, id: RobotId) -> impl ExactSizeIterator<Item = (&Motor, MotorReport)> {
        self.robot_ref(id).motors.iter().map(|u| (&u.motor, u.report))
    }

    /// Commands a motor, at any time.
    ///
    /// # Panics
    /// When the robot was removed, or has no such motor.
    pub fn motor_command_mut(&mut self, id: RobotId, motor: usize) -> &mut MotorCommand {
        &mut self.robot_mut(id).motors[motor].command
    }

    /// Switches a motor on or off; one that is off gives no effort.
    ///
    /// # Panics
    /// When the robot was removed, or has no such motor.
    pub fn enable_motor(&mut self, id: RobotId, motor: usize, enabled: bool) {
        let unit = &mut self.robot_mut(id).motors[motor];
        unit.enabled = enabled;
        // What it remembers is of the time before it was switched.
        unit.forget();
    }
}
