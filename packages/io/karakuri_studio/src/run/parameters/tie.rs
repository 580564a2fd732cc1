//! Springs between points, and the springs and dampers of attached joints.

use karakuri_physics::{Bushing, JointId, SpringId, World, WorldError};

use super::row::{FROM_ZERO, Row};

/// A number of a spring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::run) struct SpringNumber {
    spring: SpringId,
    what: OfSpring,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum OfSpring {
    Stiffness,
    Damping,
    RestLength,
}

/// A number of the springs and dampers of an attached joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::run) struct BushingNumber {
    joint: JointId,
    /// Rotation x y z, translation x y z.
    axis: usize,
    damps: bool,
}

/// Rows of springs.
pub(super) fn springs(world: &World) -> impl Iterator<Item = Row<SpringNumber>> {
    world.springs().enumerate().flat_map(|(i, (spring, _))| {
        let name = match world.spring_name(spring) {
            "" => crate::session::unnamed_spring(i),
            name => name.to_owned(),
        };
        [
            ("stiffness", OfSpring::Stiffness, "N/m", "Force over stretch."),
            ("damping", OfSpring::Damping, "N·s/m", "Force over the rate of its length."),
            ("rest_length", OfSpring::RestLength, "m", "Length without force."),
        ]
        .map(|(key, what, unit, text)| {
            let (name, place) = (format!("springs.{name}.{key}"), SpringNumber { spring, what });
            Row { name, place, unit, range: FROM_ZERO, text }
        })
    })
}

/// Rows of joints that leave a degree of freedom.
pub(super) fn bushings(world: &World) -> Vec<Row<BushingNumber>> {
    let mut all = Vec::new();
    for name in world.joint_names() {
        let Some(joint) = world.find_joint(name) else { continue };
        let Some(description) = world.joint_description(joint) else { continue };
        for axis in (0..6).filter(|&axis| !description.locked[axis]) {
            let (turning, xyz) = (axis < 3, ["x", "y", "z"][axis % 3]);
            for damps in [false, true] {
                let (key, unit) = match (turning, damps) {
                    (true, false) => ("angular_stiffness", "N·m/rad"),
                    (true, true) => ("angular_damping", "N·m·s/rad"),
                    (false, false) => ("linear_stiffness", "N/m"),
                    (false, true) => ("linear_damping", "N·s/m"),
                };
                all.push(Row {
                    name: format!("joints.{name}.{key}.{xyz}"),
                    place: BushingNumber { joint, axis, damps },
                    unit,
                    range: FROM_ZERO,
                    text: "Along an axis of the joint's frame.",
                });
            }
        }
    }
    all
}

impl SpringNumber {
    pub(super) fn get(self, world: &World) -> Option<f64> {
        let spring = world.spring(self.spring)?;
        Some(match self.what {
            OfSpring::Stiffness => spring.stiffness,
            OfSpring::Damping => spring.damping,
            OfSpring::RestLength => spring.rest_length,
        })
    }

    pub(super) fn set(self, world: &mut World, value: f64) -> Result<(), WorldError> {
        let Some(mut spring) = world.spring(self.spring).copied() else { return Ok(()) };
        match self.what {
            OfSpring::Stiffness => spring.stiffness = value,
            OfSpring::Damping => spring.damping = value,
            OfSpring::RestLength => spring.rest_length = value,
        }
        world.set_spring(self.spring, spring)
    }
}

impl BushingNumber {
    fn bushing(self, world: &World) -> Option<Bushing> {
        world.joint_description(self.joint).map(|joint| joint.bushing.unwrap_or_default())
    }

    pub(super) fn get(self, world: &World) -> Option<f64> {
        let bushing = self.bushing(world)?;
        let of = if self.damps { bushing.damping } else { bushing.stiffness };
        Some(of[self.axis])
    }

    pub(super) fn set(self, world: &mut World, value: f64) -> Result<(), WorldError> {
        let Some(mut bushing) = self.bushing(world) else { return Ok(()) };
        let of = if self.damps { &mut bushing.damping } else { &mut bushing.stiffness };
        of[self.axis] = value;
        world.set_bushing(self.joint, bushing)
    }
}
