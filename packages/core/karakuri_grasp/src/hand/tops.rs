//! Tops of objects that stand or lie, with room for the lips of cups: flat ones, and crests of what is round.
//!
//! Units: m.

use super::facets::EDGE;
use super::lips::Place;
use crate::pick_and_place::PlanError;
use crate::pick_and_place::types::{PickAndPlaceGoal, Profile};
use crate::suction::seal::sagitta;

/// Largest distance of lips from a crest. [m]
const CREST: f64 = 1e-3;

/// Place of a tool with cups on the top of an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct On {
    /// Yaw of the tool against the object. [rad]
    pub(super) turn: f64,
    /// Whether the tool's y is along the object's y, not its x.
    pub(super) is_along: bool,
    /// Place of the tool along the object's x, from its middle. [m]
    pub(super) along: f64,
}

/// Distance of the lips from the object's top, on the mean over their rings [m], where all of them find room.
pub(super) fn sink(places: &[Place], goal: &PickAndPlaceGoal, on: On) -> Option<f64> {
    let On { is_along, along, .. } = on;
    // Places in the object's axes: along its x and its y.
    let places_on = || {
        places.iter().map(|place| {
            let (y, z) = (place.center.y, place.center.z);
            let [x, y] = if is_along { [z, y] } else { [y, z] };
            (place, [x.abs() + along.abs(), y])
        })
    };
    let radius = 0.5 * goal.size.z;
    // A lip on a crest lies on a round face; beside it, it would not lie at all.
    let bears = |place: &Place, off: f64| off.abs() < CREST && place.least_radius <= radius;
    let room = |off: f64, place: &Place, edge: f64| off.abs() + place.radius + EDGE <= 0.5 * edge;
    let sagittas =
        |radius: f64| places.iter().map(|p| sagitta(radius, p.radius)).fold(0.0, f64::max);
    let (has_room, sink) = match goal.profile {
        Profile::Box => {
            let fits = |(place, [x, y]): (&Place, [f64; 2])| {
                room(x, place, goal.size.x) && room(y, place, goal.size.y)
            };
            (places_on().all(fits), 0.0)
        }
        Profile::Standing { has_flat_ends: true, .. } => {
            let fits = |(place, [x, y]): (&Place, [f64; 2])| room(x.hypot(y), place, goal.size.x);
            (places_on().all(fits), 0.0)
        }
        Profile::Lying { straight } => {
            let fits =
                |(place, [x, y]): (&Place, [f64; 2])| bears(place, y) && room(x, place, straight);
            // Over the circle a cylinder is on the mean half as far below as at its sides.
            (places_on().all(fits), 0.5 * sagittas(radius))
        }
        // There is no room on a point, and hulls have ways of their own.
        Profile::Cone | Profile::Hull(_) => (false, 0.0),
        Profile::Ball | Profile::Standing { .. } => {
            // The half-ball of a capsule that stands is as wide as the capsule.
            let radius = 0.5 * goal.size.x;
            let fits = |(place, [x, y]): (&Place, [f64; 2])| {
                x.hypot(y) < CREST && place.least_radius <= radius
            };
            (places_on().all(fits), sagittas(radius))
        }
    };
    has_room.then_some(sink)
}

/// Refusal of an object that has no room for the lips.
pub(super) fn no_room(places: &[Place], goal: &PickAndPlaceGoal) -> PlanError {
    let [across, along] = room(places);
    let least = places.iter().map(|place| place.least_radius).fold(0.0, f64::max);
    let (value, range) = match goal.profile {
        Profile::Box | Profile::Standing { has_flat_ends: true, .. } => (
            goal.size.x.min(goal.size.y),
            format!(
                "such that {across:.4} by {along:.4} m fit on the top: the lips, with {EDGE} m to its edge"
            ),
        ),
        _ if places.len() > 1 => (
            goal.size.y,
            "that of a flat top: lips side by side do not lie on a round one".to_owned(),
        ),
        _ => (
            goal.size.y,
            format!("at least {:.4}, for a radius of {least} m, and {along:.4} long", 2.0 * least),
        ),
    };
    PlanError::Range { what: "object_size, the narrow side of its top [m],", value, range }
}

/// Room that the lips need along the tool's y and z, with their distance from the edge. [m] (2)
pub(super) fn room(places: &[Place]) -> [f64; 2] {
    let reach = |of: fn(&Place) -> f64| {
        let each = places.iter().map(|place| of(place).abs() + place.radius + EDGE);
        each.fold(0.0, f64::max)
    };
    [2.0 * reach(|p| p.center.y), 2.0 * reach(|p| p.center.z)]
}
