//! Live gains and limits of the joint drives, inertia, friction and limits of the joints, as parameters.

use std::sync::Arc;

use karakuri_hardware::{JointLayout, RobotIo, RobotLayout};
use karakuri_model::Model;
use karakuri_physics::{JointDynamics, JointLimits, RobotId, World, WorldError};
use karakuri_ros::{Node, Parameter, RosError};

use crate::backend::Backend;

/// Largest gain, effort, inertia and friction that a parameter takes.
const LARGEST: f64 = 1e9;

/// Least and largest value that a parameter takes.
#[derive(Debug, Clone, Copy)]
struct Range(f64, f64);

const FROM_ZERO: Range = Range(0.0, LARGEST);
const EITHER_SIGN: Range = Range(-LARGEST, LARGEST);

/// Parameters of the joints of all present robots.
#[derive(Debug, Default)]
pub(crate) struct JointParameters {
    robots: Vec<RobotJoints>,
}

/// Parameters of the joints of one robot.
#[derive(Debug)]
struct RobotJoints {
    name: String,
    /// Prefix of its parameters.
    prefix: String,
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
    limits: LimitParameters,
}

/// Limits of one joint; none where the joint has none.
#[derive(Debug)]
struct LimitParameters {
    lower: Option<Parameter<f64>>,
    upper: Option<Parameter<f64>>,
    velocity: Option<Parameter<f64>>,
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
    /// `.viscous`, `.friction` and, where there are limits, `.lower`, `.upper` and `.velocity`; below the robot's name where there are several robots. The defaults are the scene's.
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

    /// Declares the parameters of robots that came, below their names, and removes those of robots that went. A robot whose model was
    /// exchanged keeps its prefix.
    pub(crate) fn follow<S: 'static>(
        &mut self,
        node: &mut Node<S>,
        io: &Backend,
    ) -> Result<(), RosError> {
        let gone = |robot: &mut RobotJoints| io.world().and_then(|w| robot.find(w)).is_none();
        let gone: Vec<RobotJoints> = self.robots.extract_if(.., gone).collect();
        for name in gone.iter().flat_map(|robot| &robot.declared) {
            node.remove_parameter(name);
        }
        for (index, layout) in io.robots().iter().enumerate() {
            let known = self.robots.iter().any(|robot| robot.name == layout.name);
            if io.is_present(index) && !known {
                let before = gone.iter().find(|robot| robot.name == layout.name);
                let below = || format!("{}.", layout.name);
                let prefix = before.map_or_else(below, |robot| robot.prefix.clone());
                self.add(node, io.world(), layout, &prefix)?;
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
            let mut declare = |key: &str, now: f64, range: Range, meaning: &str| {
                let name = format!("{prefix}{key}");
                let parameter = node.parameter(&name, now).describe(meaning);
                let parameter = parameter.range(range.0..=range.1).declare()?;
                declared.push(name);
                Ok(parameter)
            };
            joints.push(JointParameter::new(world, id, joint, &mut declare)?);
        }
        let (name, model) = (layout.name.clone(), Arc::clone(&layout.model));
        let prefix = prefix.to_owned();
        self.robots.push(RobotJoints { name, prefix, model, joints, declared });
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
                let limits = joint.limits.over(world.robot(id).joint_limits(joint.dof));
                refused = refused.and(world.set_joint_limits(id, joint.dof, limits));
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
        declare: &mut impl FnMut(&str, f64, Range, &str) -> Result<Parameter<f64>, RosError>,
    ) -> Result<Self, RosError> {
        let (name, dof) = (&joint.name, joint.v);
        let (drives, now) = (world.robot(id).drives(), world.robot(id).joint_dynamics(dof));
        let drive = if drives.enabled[dof] {
            let mut gain = |key: &str, now: f64, meaning: &str| {
                declare(&format!("drives.{name}.{key}"), now, FROM_ZERO, meaning)
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
            declare(&format!("joints.{name}.{key}"), now, FROM_ZERO, meaning)
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
            limits: LimitParameters::new(name, world.robot(id).joint_limits(dof), declare)?,
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

impl LimitParameters {
    fn new(
        joint: &str,
        now: JointLimits,
        declare: &mut impl FnMut(&str, f64, Range, &str) -> Result<Parameter<f64>, RosError>,
    ) -> Result<Self, RosError> {
        let mut limit = |key: &str, now: f64, range: Range, meaning: &str| {
            let is_there = now.abs() <= LARGEST;
            let name = format!("joints.{joint}.{key}");
            is_there.then(|| declare(&name, now, range, meaning)).transpose()
        };
        Ok(Self {
            lower: limit("lower", now.lower, EITHER_SIGN, "Lower limit of position. [rad or m]")?,
            upper: limit("upper", now.upper, EITHER_SIGN, "Upper limit of position. [rad or m]")?,
            velocity: limit("velocity", now.velocity, FROM_ZERO, "Largest speed. [rad/s or m/s]")?,
        })
    }

    /// Limits as the parameters have them, and those of the world where there is no parameter.
    fn over(&self, now: JointLimits) -> JointLimits {
        let get = |parameter: &Option<Parameter<f64>>, now| {
            parameter.as_ref().map_or(now, Parameter::get)
        };
        JointLimits {
            lower: get(&self.lower, now.lower),
            upper: get(&self.upper, now.upper),
            velocity: get(&self.velocity, now.velocity),
        }
    }
}

impl RobotJoints {
    /// Robot of these parameters, if it is still there: another one may have taken its name.
    fn find(&self, world: &World) -> Option<RobotId> {
        world
            .find_robot(&self.name)
            .filter(|&id| Arc::ptr_eq(world.robot(id).original_model(), &self.model))
    }
}
