//! Drives, limits and own dynamics of robots' joints.

use karakuri_model::Joint;
use karakuri_physics::{RobotId, World, WorldError};

use super::row::{FROM_ZERO, LARGEST, Range, Row};

/// A number of a joint with one degree of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::run) struct JointNumber {
    robot: RobotId,
    dof: usize,
    what: OfJoint,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum OfJoint {
    Stiffness,
    Damping,
    Effort,
    Armature,
    Viscous,
    Friction,
    Lower,
    Upper,
    Velocity,
}

/// Rows of a robot's joints with one degree of freedom.
pub(super) fn rows(world: &World, robot: RobotId) -> impl Iterator<Item = Row<JointNumber>> {
    let joints = world.robot(robot).model().joints.iter();
    joints.filter(|j| j.kind.single().is_some()).flat_map(move |j| rows_of(world, robot, j))
}

fn rows_of(world: &World, robot: RobotId, joint: &Joint) -> impl Iterator<Item = Row<JointNumber>> {
    let (view, dof) = (world.robot(robot), joint.v_start);
    let row = move |group: &str, key: &str, what, unit, text| Row {
        name: format!("{}.{group}.{}.{key}", view.name(), joint.name),
        place: JointNumber { robot, dof, what },
        unit,
        range: match what {
            OfJoint::Lower | OfJoint::Upper => Range::within(LARGEST),
            _ => FROM_ZERO,
        },
        text,
    };
    let drives = [
        ("stiffness", OfJoint::Stiffness, "N·m/rad or N/m", "Of the drive."),
        ("damping", OfJoint::Damping, "N·m·s/rad or N·s/m", "Of the drive."),
        ("effort", OfJoint::Effort, "N·m or N", "Largest effort of the drive."),
    ];
    let own = [
        (
            "armature",
            OfJoint::Armature,
            "kg·m² or kg",
            "Inertia of rotor and gear, as the joint feels it.",
        ),
        ("viscous", OfJoint::Viscous, "N·m·s/rad or N·s/m", "Effort over velocity."),
        ("friction", OfJoint::Friction, "N·m or N", "Dry friction."),
        ("lower", OfJoint::Lower, "rad or m", "Lower limit of position."),
        ("upper", OfJoint::Upper, "rad or m", "Upper limit of position."),
        ("velocity", OfJoint::Velocity, "rad/s or m/s", "Largest speed."),
    ];
    let is_driven = view.drives().enabled[dof];
    let drives = drives.into_iter().filter(move |_| is_driven);
    let all = drives.map(|row| ("drives", row)).chain(own.map(|row| ("joints", row)));
    all.map(move |(group, (key, what, unit, text))| row(group, key, what, unit, text))
        // A limit that a joint does not have is infinite.
        .filter(move |row| !row.place.is_bound() || row.place.get(world).abs() <= LARGEST)
}

/// Sets numbers of one joint.
pub(super) fn set(
    world: &mut World,
    numbers: impl Iterator<Item = (JointNumber, f64)> + Clone,
) -> Result<(), WorldError> {
    let Some((JointNumber { robot, dof, .. }, _)) = numbers.clone().next() else { return Ok(()) };
    let mut limits = world.robot(robot).joint_limits(dof);
    let mut dynamics = world.robot(robot).joint_dynamics(dof);
    for (number, value) in numbers {
        match number.what {
            OfJoint::Stiffness => world.drive_mut(robot).stiffness[dof] = value,
            OfJoint::Damping => world.drive_mut(robot).damping[dof] = value,
            OfJoint::Effort => world.drive_mut(robot).effort_limit[dof] = value,
            OfJoint::Armature => dynamics.armature = value,
            OfJoint::Viscous => dynamics.viscous = value,
            OfJoint::Friction => dynamics.friction = value,
            OfJoint::Lower => limits.lower = value,
            OfJoint::Upper => limits.upper = value,
            OfJoint::Velocity => limits.velocity = value,
        }
    }
    if dynamics != world.robot(robot).joint_dynamics(dof) {
        world.set_joint_dynamics(robot, dof, dynamics)?;
    }
    world.set_joint_limits(robot, dof, limits)
}

impl JointNumber {
    pub(super) fn get(self, world: &World) -> f64 {
        let (robot, dof) = (world.robot(self.robot), self.dof);
        match self.what {
            OfJoint::Stiffness => robot.drives().stiffness[dof],
            OfJoint::Damping => robot.drives().damping[dof],
            OfJoint::Effort => robot.drives().effort_limit[dof],
            OfJoint::Armature => robot.joint_dynamics(dof).armature,
            OfJoint::Viscous => robot.joint_dynamics(dof).viscous,
            OfJoint::Friction => robot.joint_dynamics(dof).friction,
            OfJoint::Lower => robot.joint_limits(dof).lower,
            OfJoint::Upper => robot.joint_limits(dof).upper,
            OfJoint::Velocity => robot.joint_limits(dof).velocity,
        }
    }

    /// Whether it is infinite where the joint does not have it.
    fn is_bound(self) -> bool {
        self.what == OfJoint::Effort || self.is_limit()
    }

    fn is_limit(self) -> bool {
        matches!(self.what, OfJoint::Lower | OfJoint::Upper | OfJoint::Velocity)
    }

    /// Whether both are limits of one joint.
    pub(super) fn is_limit_beside(self, other: Self) -> bool {
        let is_same_joint = (self.robot, self.dof) == (other.robot, other.dof);
        is_same_joint && self.is_limit() && other.is_limit()
    }
}
