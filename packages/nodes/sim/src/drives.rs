//! Live gains and limits of the joint drives, as parameters.

use karakuri_hardware::RobotLayout;
use karakuri_physics::World;
use karakuri_ros::{Node, Parameter, RosError};

use crate::node::Sim;

/// Largest gain and effort that a parameter takes.
const LARGEST: f64 = 1e9;

/// The parameters of all drives of the scene's robots.
#[derive(Debug, Default)]
pub(crate) struct DriveParameters {
    drives: Vec<DriveParameter>,
}

/// The parameters of one drive.
#[derive(Debug)]
struct DriveParameter {
    robot: String,
    dof: usize,
    stiffness: Parameter<f64>,
    damping: Parameter<f64>,
    /// None where the drive has no limit.
    effort: Option<Parameter<f64>>,
}

impl DriveParameters {
    /// `drives.<joint>.stiffness`, `.damping` and, where there is one, `.effort`; below the robot's name where there are
    /// several robots. The defaults are the scene's.
    pub(crate) fn declare(
        node: &mut Node<Sim>,
        layouts: &[RobotLayout],
        world: &World,
    ) -> Result<Self, RosError> {
        let mut drives = Vec::new();
        for layout in layouts {
            let Some(id) = world.find_robot(&layout.name) else { continue };
            let gains = world.robot(id).drives();
            let alone = layouts.len() == 1;
            let prefix = if alone { String::new() } else { format!("{}.", layout.name) };
            for joint in layout.joints.iter().filter(|j| gains.enabled[j.v]) {
                let mut declare = |key: &str, now: f64, meaning: &str| {
                    node.parameter(&format!("{prefix}drives.{}.{key}", joint.name), now)
                        .describe(meaning)
                        .range(0.0..=LARGEST)
                        .declare()
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
                let robot = layout.name.clone();
                drives.push(DriveParameter { robot, dof: k, stiffness, damping, effort });
            }
        }
        Ok(Self { drives })
    }

    /// Gives the drives what the parameters say.
    pub(crate) fn apply(&self, world: &mut World) {
        for drive in &self.drives {
            let Some(id) = world.find_robot(&drive.robot) else { continue };
            let (k, drives) = (drive.dof, world.drive_mut(id));
            drives.stiffness[k] = drive.stiffness.get();
            drives.damping[k] = drive.damping.get();
            if let Some(effort) = &drive.effort {
                drives.effort_limit[k] = effort.get();
            }
        }
    }
}
