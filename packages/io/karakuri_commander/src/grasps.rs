//! Which hands of a robot hold what is seen.

use std::collections::BTreeMap;

use karakuri_commands::{Limits, is_name};
use karakuri_grasp::pick_and_place::{KnownObject, PickAndPlace};
use karakuri_rehearsal::Cell;

use crate::order::{picked, strength};

/// Names of the hands that hold each object, or each of these names, as it lies, gripped within the limits: tools that the robot changes, or the kind of
/// its only hand. Reach and what stands in the way are left out: they are what rehearsals find.
pub(crate) fn graspable_by(
    cell: &Cell,
    limits: &Limits,
    names: Option<&[String]>,
) -> BTreeMap<String, Vec<String>> {
    let world = cell.io.world();
    let is_loose = |object: &KnownObject| {
        names.map_or_else(|| is_name(&object.name), |names| names.contains(&object.name))
            && world.find_body(&object.name).is_some_and(|id| !world.body(id).description().fixed)
    };
    // A hand that cannot be made takes nothing.
    let machines = cell.machines().unwrap_or_default();
    let objects = cell.objects().into_iter().filter(is_loose);
    let hands = objects.map(|object| {
        let holds = |(name, machine): &(String, PickAndPlace)| {
            holds(cell, limits, machine, &object).then(|| name.clone())
        };
        let hands = machines.iter().filter_map(holds).collect();
        (object.name, hands)
    });
    hands.collect()
}

fn holds(cell: &Cell, limits: &Limits, machine: &PickAndPlace, object: &KnownObject) -> bool {
    let defaults = cell.tuning().hand.unstated.of(machine);
    let stated = picked(cell, object, strength(machine, limits, None));
    let goal = stated.ok().and_then(|stated| stated.goal(defaults).ok());
    goal.is_some_and(|goal| machine.check_hold(&goal).is_ok())
}
