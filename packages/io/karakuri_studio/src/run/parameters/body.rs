//! Inertias and surfaces of free bodies, surfaces of fixed ones.

use karakuri_physics::{ObjectId, Owner, World, WorldError};

use super::inertia::{self, InertiaNumber};
use super::{Number, Place, surface};

/// Least mass of a body. [kg]
const LEAST: f64 = 1e-9;

/// A number of a body's inertia.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BodyNumber {
    body: ObjectId,
    what: InertiaNumber,
}

/// Lists the numbers of a body.
pub(super) fn list(world: &World, body: ObjectId, all: &mut Vec<Number>) {
    let description = world.body(body).description();
    surface::list(&description.name, Owner::Body(body), all);
    if description.fixed {
        return;
    }
    for row in inertia::rows(LEAST) {
        all.push(Number {
            name: format!("{}.{}", description.name, row.key),
            place: Place::Body(BodyNumber { body, what: row.what }),
            unit: row.unit,
            range: row.range,
            text: row.text,
        });
    }
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
