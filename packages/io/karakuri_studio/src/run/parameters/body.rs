//! Inertias of free bodies.

use karakuri_physics::{ObjectId, World, WorldError};

use super::inertia::{self, InertiaNumber};
use super::row::Row;

/// Least mass of a body. [kg]
const LEAST: f64 = 1e-9;

/// A number of a body's inertia.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::run) struct BodyNumber {
    body: ObjectId,
    what: InertiaNumber,
}

/// Rows of a free body's inertia; none of a fixed one.
pub(super) fn rows(world: &World, body: ObjectId) -> impl Iterator<Item = Row<BodyNumber>> {
    let description = world.body(body).description();
    let free = (!description.fixed).then(|| inertia::rows(LEAST));
    let row = move |row: Row<InertiaNumber>| {
        row.of(&description.name).at(|what| BodyNumber { body, what })
    };
    free.into_iter().flatten().map(row)
}

/// Sets numbers of one body.
pub(super) fn set(
    world: &mut World,
    numbers: impl Iterator<Item = (BodyNumber, f64)> + Clone,
) -> Result<(), WorldError> {
    let Some((BodyNumber { body, .. }, _)) = numbers.clone().next() else { return Ok(()) };
    // The mass first, as the moments follow it unless they are given.
    for (_, mass) in numbers.clone().filter(|(n, _)| n.what == InertiaNumber::Mass) {
        world.set_mass(body, mass)?;
    }
    let mut moments = *world.body(body).inertia();
    for (number, value) in numbers.clone() {
        number.what.put_moment(&mut moments, value);
    }
    if numbers.into_iter().any(|(number, _)| number.is_moment()) {
        world.set_inertia(body, moments)?;
    }
    Ok(())
}

impl BodyNumber {
    pub(super) fn get(self, world: &World) -> f64 {
        self.what.get(self.mass(world), world.body(self.body).inertia())
    }

    pub(super) fn mass(self, world: &World) -> f64 {
        world.body(self.body).description().mass
    }

    pub(super) fn is_moment(self) -> bool {
        self.what.is_moment()
    }

    /// Whether both are of one body.
    pub(super) fn is_beside(self, other: Self) -> bool {
        self.body == other.body
    }
}
