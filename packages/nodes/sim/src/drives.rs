//! Live gains and limits of the joint drives, as parameters.

use std::sync::Arc;

use karakuri_hardware::{RobotIo, RobotLayout};
use karakuri_model::Model;
use karakuri_physics::{RobotId, World};
use karakuri_ros::{Node, Parameter, RosError};

use crate::node::Sim;

/// Largest gain and effort that a parameter takes.
const LARGEST: f64 = 1e9;

/// The parameters of the drives of all robots that are there.
#[derive(Debug, Default)]
pub(crate) struct DriveParameters {
    robots: Vec<RobotDrives>,
}

/// Those of a robot.
#[derive(Debug)]
struct RobotDrives {
    name: String,
    model: Arc<Model>,
    drives: Vec<DriveParameter>,
    declared: Vec<String>,
}

/// The parameters of one drive.
#[derive(Debug)]
struct DriveParameter {
    dof: usize,
    stiffness: Parameter<f64>,
    damping: Parameter<f64>,
    /// None where the drive has no limit.
    effort: Option<Parameter<f64>>,
}

impl DriveParameters {
    /// `drives.<joint>.stiffness`, `.damping` and, where there is one, `.effort`; below the robot's name where there are
    /// several robots. The defaults are the scene's.
    pub(crate) fn declare(node: &mut Node<Sim>, io: &dyn RobotIo) -> Result<Self, RosError> {
        let mut parameters = Self::default();
        let layouts = io.robots();
        for layout in layouts {
            let alone = layouts.len() == 1;
            let prefix = if alone { String::new() } else { format!("{}.", layout.name) };
            parameters.add(node, io.world(), layout, &prefix)?;
        }
        Ok(parameters)
    }

    /// After robots came or went: parameters below the name of each that came, none of those that went.
    pub(crate) fn follow(
        &mut self,
        node: &mut Node<Sim>,
        io: &dyn RobotIo,
    ) -> Result<(), RosError> {
        let gone = |robot: &mut RobotDrives| io.world().and_then(|w| robot.find(w)).is_none();
        for robot in self.robots.extract_if(.., gone) {
            for name in &robot.declared {
                node.remove_parameter(name);
            }
        }
        for (index, layout) in io.robots().iter().enumerate() {
            let known = self.robots.iter().any(|robot| robot.name == layout.name);
            if io.is_there(index) && !known {
                self.add(node, io.world(), layout, &format!("{}.", layout.name))?;
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        node: &mut Node<Sim>,
        world: Option<&World>,
        layout: &RobotLayout,
        prefix: &str,
    ) -> Result<(), RosError> {
        let Some(world) = world else { return Ok(()) };
        let Some(id) = world.find_robot(&layout.name) else { return Ok(()) };
        let gains = world.robot(id).drives();
        let (mut drives, mut declared) = (Vec::new(), Vec::new());
        for joint in layout.joints.iter().filter(|j| gains.enabled[j.v]) {
            let mut declare = |key: &str, now: f64, meaning: &str| {
                let name = format!("{prefix}drives.{}.{key}", joint.name);
                let parameter = node.parameter(&name, now).describe(meaning);
                let parameter = parameter.range(0.0..=LARGEST).declare()?;
                declared.push(name);
                Ok::<_, RosError>(parameter)
            };
            let k = joint.v;
            let limit = gains.effort_limit[k];
            let stiffness =
                declare("stiffness", gains.stiffness[k], "Of the drive. [N·m/rad or N/m]")?;
            let damping =
                declare("damping", gains.damping[k], "Of the drive. [N·m·s/rad or N·s/m]")?;
            let effort = if limit <= LARGEST {
                Some(declare("effort", limit, "Largest effort of the drive. [N·m or N]")?)
            } else {
                None
            };
            drives.push(DriveParameter { dof: k, stiffness, damping, effort });
        }
        let (name, model) = (layout.name.clone(), Arc::clone(&layout.model));
        self.robots.push(RobotDrives { name, model, drives, declared });
        Ok(())
    }

    /// Gives the drives what the parameters say.
    pub(crate) fn apply(&self, world: &mut World) {
        for robot in &self.robots {
            let Some(id) = robot.find(world) else { continue };
            let drives = world.drive_mut(id);
            for drive in &robot.drives {
                drives.stiffness[drive.dof] = drive.stiffness.get();
                drives.damping[drive.dof] = drive.damping.get();
                if let Some(effort) = &drive.effort {
                    drives.effort_limit[drive.dof] = effort.get();
                }
            }
        }
    }
}

impl RobotDrives {
    /// The robot, if it is there: another one may have taken its name.
    fn find(&self, world: &World) -> Option<RobotId> {
        world.find_robot(&self.name).filter(|&id| Arc::ptr_eq(world.robot(id).model(), &self.model))
    }
}
