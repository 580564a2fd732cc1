//! Drives, limits and own dynamics of robots' joints.

use karakuri_physics::{JointDynamics, JointLimits, RobotId, World, WorldError};

use super::{LARGEST, Number, Place};

/// A number of a joint's drive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DriveNumber {
    robot: RobotId,
    dof: usize,
    what: OfDrive,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum OfDrive {
    Stiffness,
    Damping,
    Effort,
}

/// A number of a joint's own dynamics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct JointNumber {
    robot: RobotId,
    dof: usize,
    what: OfJoint,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum OfJoint {
    Armature,
    Viscous,
    Friction,
}

/// A limit of a joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LimitNumber {
    robot: RobotId,
    dof: usize,
    what: OfLimits,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum OfLimits {
    Lower,
    Upper,
    Velocity,
}

/// Lists the numbers of a robot's joints with one degree of freedom.
pub(super) fn list(world: &World, robot: RobotId, all: &mut Vec<Number>) {
    let view = world.robot(robot);
    for joint in view.model().joints.iter().filter(|j| j.kind.single().is_some()) {
        let dof = joint.v_start;
        let mut add = |group: &str, row: Row| {
            let name = format!("{}.{group}.{}.{}", view.name(), joint.name, row.key);
            let Row { place, unit, range, text, .. } = row;
            all.push(Number { name, place, unit, range, text });
        };
        if view.drives().enabled[dof] {
            let limited = view.drives().effort_limit[dof] <= LARGEST;
            drive_rows(robot, dof, limited).for_each(|row| add("drives", row));
        }
        for row in dynamics_rows(robot, dof) {
            add("joints", row);
        }
        limit_rows(robot, dof, view.joint_limits(dof)).for_each(|row| add("joints", row));
    }
}

/// A row of the list.
struct Row {
    key: &'static str,
    place: Place,
    unit: &'static str,
    range: (f64, f64),
    text: &'static str,
}

const FROM_ZERO: (f64, f64) = (0.0, LARGEST);

fn drive_rows(robot: RobotId, dof: usize, limited: bool) -> impl Iterator<Item = Row> {
    let row = |key, what, unit, text| {
        let place = Place::Drive(DriveNumber { robot, dof, what });
        Row { key, place, unit, range: FROM_ZERO, text }
    };
    let effort = row("effort", OfDrive::Effort, "N·m or N", "Largest effort of the drive.");
    [
        row("stiffness", OfDrive::Stiffness, "N·m/rad or N/m", "Of the drive."),
        row("damping", OfDrive::Damping, "N·m·s/rad or N·s/m", "Of the drive."),
    ]
    .into_iter()
    .chain(limited.then_some(effort))
}

fn dynamics_rows(robot: RobotId, dof: usize) -> [Row; 3] {
    let row = |key, what, unit, text| {
        let place = Place::Joint(JointNumber { robot, dof, what });
        Row { key, place, unit, range: FROM_ZERO, text }
    };
    let armature = "Inertia of rotor and gear, as the joint feels it.";
    [
        row("armature", OfJoint::Armature, "kg·m² or kg", armature),
        row("viscous", OfJoint::Viscous, "N·m·s/rad or N·s/m", "Effort over velocity."),
        row("friction", OfJoint::Friction, "N·m or N", "Dry friction."),
    ]
}

/// Rows of the limits that a joint has.
fn limit_rows(robot: RobotId, dof: usize, now: JointLimits) -> impl Iterator<Item = Row> {
    let row = |key, what, unit, range, text| {
        let place = Place::Limit(LimitNumber { robot, dof, what });
        Row { key, place, unit, range, text }
    };
    let either = (-LARGEST, LARGEST);
    let lower = row("lower", OfLimits::Lower, "rad or m", either, "Lower limit of position.");
    let upper = row("upper", OfLimits::Upper, "rad or m", either, "Upper limit of position.");
    let velocity = row("velocity", OfLimits::Velocity, "rad/s or m/s", FROM_ZERO, "Largest speed.");
    [(lower, now.lower), (upper, now.upper), (velocity, now.velocity)]
        .into_iter()
        .filter(|(_, value)| value.abs() <= LARGEST)
        .map(|(row, _)| row)
}

impl DriveNumber {
    pub(super) fn get(self, world: &World) -> f64 {
        let drives = world.robot(self.robot).drives();
        match self.what {
            OfDrive::Stiffness => drives.stiffness[self.dof],
            OfDrive::Damping => drives.damping[self.dof],
            OfDrive::Effort => drives.effort_limit[self.dof],
        }
    }

    pub(super) fn set(self, world: &mut World, value: f64) {
        let drives = world.drive_mut(self.robot);
        match self.what {
            OfDrive::Stiffness => drives.stiffness[self.dof] = value,
            OfDrive::Damping => drives.damping[self.dof] = value,
            OfDrive::Effort => drives.effort_limit[self.dof] = value,
        }
    }
}

impl JointNumber {
    pub(super) fn get(self, world: &World) -> f64 {
        let JointDynamics { armature, viscous, friction } =
            world.robot(self.robot).joint_dynamics(self.dof);
        match self.what {
            OfJoint::Armature => armature,
            OfJoint::Viscous => viscous,
            OfJoint::Friction => friction,
        }
    }

    pub(super) fn set(self, world: &mut World, value: f64) -> Result<(), WorldError> {
        let mut dynamics = world.robot(self.robot).joint_dynamics(self.dof);
        match self.what {
            OfJoint::Armature => dynamics.armature = value,
            OfJoint::Viscous => dynamics.viscous = value,
            OfJoint::Friction => dynamics.friction = value,
        }
        world.set_joint_dynamics(self.robot, self.dof, dynamics)
    }
}

/// Sets limits of one joint.
pub(super) fn set_limits(
    world: &mut World,
    mut numbers: impl Iterator<Item = (LimitNumber, f64)> + Clone,
) -> Result<(), WorldError> {
    let Some((LimitNumber { robot, dof, .. }, _)) = numbers.clone().next() else { return Ok(()) };
    let mut limits = world.robot(robot).joint_limits(dof);
    numbers.by_ref().for_each(|(number, value)| match number.what {
        OfLimits::Lower => limits.lower = value,
        OfLimits::Upper => limits.upper = value,
        OfLimits::Velocity => limits.velocity = value,
    });
    world.set_joint_limits(robot, dof, limits)
}

impl LimitNumber {
    pub(super) fn get(self, world: &World) -> f64 {
        let JointLimits { lower, upper, velocity } = world.robot(self.robot).joint_limits(self.dof);
        match self.what {
            OfLimits::Lower => lower,
            OfLimits::Upper => upper,
            OfLimits::Velocity => velocity,
        }
    }

    /// Whether both are of one joint.
    pub(super) fn is_beside(self, other: Self) -> bool {
        (self.robot, self.dof) == (other.robot, other.dof)
    }
}
