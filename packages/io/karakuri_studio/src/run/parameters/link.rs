//! Inertias of robots' links.

use karakuri_model::BodyId;
use karakuri_physics::{RobotId, World, WorldError};
use karakuri_spatial::Inertia;

use super::inertia::{self, InertiaNumber};
use super::row::Row;

/// A number of a link's inertia.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::run) struct LinkNumber {
    robot: RobotId,
    body: BodyId,
    what: InertiaNumber,
}

/// Rows of the inertias of a robot's links, each with what is fixed to it.
pub(super) fn rows(world: &World, robot: RobotId) -> impl Iterator<Item = Row<LinkNumber>> {
    let view = world.robot(robot);
    view.model().bodies.iter().enumerate().flat_map(move |(i, link)| {
        let name = format!("{}.links.{}", view.name(), link.name);
        let body = BodyId(i);
        inertia::rows(0.0).map(move |row| row.of(&name).at(|what| LinkNumber { robot, body, what }))
    })
}

/// Sets numbers of one link.
pub(super) fn set(
    world: &mut World,
    numbers: impl Iterator<Item = (LinkNumber, f64)> + Clone,
) -> Result<(), WorldError> {
    let Some((link, _)) = numbers.clone().next() else { return Ok(()) };
    let mut inertia = *link.inertia(world);
    let original = world.robot(link.robot).original_model().bodies[link.body.0].inertia;
    // The mass first, as the moments follow it unless they are given.
    for (_, mass) in numbers.clone().filter(|(n, _)| n.what == InertiaNumber::Mass) {
        inertia = inertia::at_mass(&inertia, &original, mass);
    }
    for (number, value) in numbers {
        number.what.put_moment(&mut inertia.about_com, value);
    }
    world.set_link_inertia(link.robot, link.body, inertia)
}

impl LinkNumber {
    fn inertia(self, world: &World) -> &Inertia {
        &world.robot(self.robot).model().bodies[self.body.0].inertia
    }

    pub(super) fn get(self, world: &World) -> f64 {
        let inertia = self.inertia(world);
        self.what.get(inertia.mass, &inertia.about_com)
    }

    pub(super) fn mass(self, world: &World) -> f64 {
        self.inertia(world).mass
    }

    pub(super) fn is_moment(self) -> bool {
        self.what.is_moment()
    }

    /// Whether both are of one link.
    pub(super) fn is_beside(self, other: Self) -> bool {
        (self.robot, self.body) == (other.robot, other.body)
    }
}
