//! Live gains and limits of the joint drives, inertia and friction of the joints, as parameters.

use std::sync::Arc;

use karakuri_hardware::{JointLayout, RobotIo, RobotLayout};
use karakuri_model::Model;
use karakuri_physics::{JointDynamics, RobotId, World, WorldError};
use karakuri_ros::{Node, Parameter, RosError};

use crate::backend::Backend;

/// Largest gain, effort, inertia and friction that a parameter takes.
const LARGEST: f64 = 1e9;

/// Parameters of the joints of all present robots.
#[derive(Debug, Default)]
pub(crate) struct JointParameters {
    robots: Vec<RobotJoints>,
}

/// Parameters of the joints of one robot.
#[derive(Debug)]
struct RobotJoints {
    name: String,
    model: Arc<Model>,
    joints: Vec<JointParameter>,
    declared: Vec<String>,
}

/// Parameters of one joint.
#[derive(Debug)]
struct JointParameter {
    dof: usize,
    /// Parameters of its drive; none where nothing drives it.
    drive: Option<DriveParameter>,
    armature: Parameter<f64>,
    viscous: Parameter<f64>,
    friction: Parameter<f64>,
}

/// Parameters of one drive.
#[derive(Debug)]
struct DriveParameter {
    stiffness: Parameter<f64>,
    damping: Parameter<f64>,
    /// Largest effort; none where the drive has no limit.
    effort: Option<Parameter<f64>>,
}

impl JointParameters {
    /// Declares `drives.<joint>.stiffness`, `.damping` and, where there is one, `.effort`; `joints.<joint>.armature`,
    /// `.viscous` and `.friction`; below the robot's name where there are several robots. The defaults are the scene's.
    pub(crate) fn declare<S: 'static>(node: &mut Node<S>, io: &Backend) -> Result<Self, RosError> {
        let mut parameters = Self::default();
        let layouts = io.robots();
        for layout in layouts {
            let alone = layouts.len() == 1;
            let prefix = if alone { String::new() } else { format!("{}.", layout.name) };
            parameters.add(node, io.world(), layout, &prefix)?;
        }
        Ok(parameters)
    }

    /// Declares the parameters of robots that came, below their names, and removes those of robots that went.
    pub(crate) fn follow<S: 'static>(
        &mut self,
        node: &mut Node<S>,
        io: &Backend,
    ) -> Result<(), RosError> {
        let gone = |robot: &mut RobotJoints| io.world().and_then(|w| robot.find(w)).is_none();
        for robot in self.robots.extract_if(.., gone) {
            for name in &robot.declared {
                node.remove_parameter(name);
            }
        }
        for (index, layout) in io.robots().iter().enumerate() {
            let known = self.robots.iter().any(|robot| robot.name == layout.name);
            if io.is_present(index) && !known {
                self.add(node, io.world(), layout, &format!("{}.", layout.name))?;
            }
        }
        Ok(())
    }

    fn add<S: 'static>(
        &mut self,
        node: &mut Node<S>,
        world: Option<&World>,
        layout: &RobotLayout,
        prefix: &str,
    ) -> Result<(), RosError> {
        let Some(world) = world else { return Ok(()) };
        let Some(id) = world.find_robot(&layout.name) else { return Ok(()) };
        let (mut joints, mut declared) = (Vec::new(), Vec::new());
        for joint in &layout.joints {
            let mut declare = |key: &str, now: f64, meaning: &str| {
                let name = format!("{prefix}{key}");
                let parameter = node.parameter(&name, now).describe(meaning);
                let parameter = parameter.range(0.0..=LARGEST).declare()?;
                declared.push(name);
                Ok(parameter)
            };
            joints.push(JointParameter::new(world, id, joint, &mut declare)?);
        }
        let (name, model) = (layout.name.clone(), Arc::clone(&layout.model));
        self.robots.push(RobotJoints { name, model, joints, declared });
        Ok(())
    }

    /// Applies the parameters to the joints; the error is what the world refuses.
    pub(crate) fn apply(&self, world: &mut World) -> Result<(), WorldError> {
        let mut refused = Ok(());
        for robot in &self.robots {
            let Some(id) = robot.find(world) else { continue };
            for joint in &robot.joints {
                joint.apply_drive(world, id);
                refused = refused.and(world.set_joint_dynamics(id, joint.dof, joint.dynamics()));
            }
        }
        refused
    }
}

impl JointParameter {
    fn new(
        world: &World,
        id: RobotId,
        joint: &JointLayout,
        declare: &mut impl FnMut(&str, f64, &str) -> Result<Parameter<f64>, RosError>,
    ) -> Result<Self, RosError> {
        let (name, dof) = (&joint.name, joint.v);
        let (drives, now) = (world.robot(id).drives(), world.robot(id).joint_dynamics(dof));
        let drive = if drives.enabled[dof] {
            let mut gain = |key: &str, now: f64, meaning: &str| {
                declare(&format!("drives.{name}.{key}"), now, meaning)
            };
            let limit = drives.effort_limit[dof];
            let effort = "Largest effort of the drive. [N·m or N]";
            Some(DriveParameter {
                stiffness: gain(
                    "stiffness",
                    drives.stiffness[dof],
                    "Of the drive. [N·m/rad or N/m]",
                )?,
                damping: gain(
                    "damping",
                    drives.damping[dof],
                    "Of the drive. [N·m·s/rad or N·s/m]",
                )?,
                effort: (limit <= LARGEST).then(|| gain("effort", limit, effort)).transpose()?,
            })
        } else {
            None
        };
        let mut own = |key: &str, now: f64, meaning: &str| {
            declare(&format!("joints.{name}.{key}"), now, meaning)
        };
        Ok(Self {
            dof,
            drive,
            armature: own(
                "armature",
                now.armature,
                "Inertia of rotor and gear, as the joint feels it. [kg·m² or kg]",
            )?,
            viscous: own("viscous", now.viscous, "Effort over velocity. [N·m·s/rad or N·s/m]")?,
            friction: own("friction", now.friction, "Dry friction. [N·m or N]")?,
        })
    }

    fn apply_drive(&self, world: &mut World, id: RobotId) {
        let Some(drive) = &self.drive else { return };
        let drives = world.drive_mut(id);
        drives.stiffness[self.dof] = drive.stiffness.get();
        drives.damping[self.dof] = drive.damping.get();
        if let Some(effort) = &drive.effort {
            drives.effort_limit[self.dof] = effort.get();
        }
    }

    fn dynamics(&self) -> JointDynamics {
        JointDynamics {
            armature: self.armature.get(),
            viscous: self.viscous.get(),
            friction: self.friction.get(),
        }
    }
}

impl RobotJoints {
    /// Robot of these parameters, if it is still there: another one may have taken its name.
    fn find(&self, world: &World) -> Option<RobotId> {
        world.find_robot(&self.name).filter(|&id| Arc::ptr_eq(world.robot(id).model(), &self.model))
    }
}
