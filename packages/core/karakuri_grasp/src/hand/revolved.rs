//! Objects of all profiles as convex polyhedra, for grasps that are stated on any of them.
//!
//! What is round has so many sides that they are within what pads yield by. Units: m; the object's upright frame.

use core::f64::consts::{FRAC_PI_2, TAU};
use std::sync::Arc;

use karakuri_collision::ShapeError;
use karakuri_spatial::Vector3;

use crate::hull::Hull;
use crate::pick_and_place::PlanError;
use crate::pick_and_place::types::{ObjectShape, PickAndPlaceGoal, Profile};

/// Sides of what is round: of a radius of 40 mm they are 0.09 mm nearer to the axis than the round side.
const SIDES: u16 = 48;
/// Rings of a half-ball.
const RINGS: u16 = 12;

/// Angle between neighbouring faces of the hull of an object, below which they stand for one round side; 0 where none do. [rad]
pub(super) fn facet(profile: &Profile) -> f64 {
    match profile {
        Profile::Box | Profile::Hull(_) => 0.0,
        // A little more than between two sides, or two rings of a half-ball.
        _ => 1.1 * TAU / f64::from(SIDES),
    }
}

/// The goal's object as a hull.
pub(super) fn as_hull(goal: &PickAndPlaceGoal) -> Result<Arc<Hull>, PlanError> {
    if let Profile::Hull(hull) = &goal.profile {
        return Ok(Arc::clone(hull));
    }
    let hull = Hull::around(&vertices(&goal.profile, &goal.size));
    hull.map(Arc::new).map_err(|why| PlanError::NoGrip { why: why.to_string() })
}

/// An object with its box's edges along its own axes as a hull in that frame: what leans is one. [m] (3)
pub(crate) fn hull_of(shape: &ObjectShape, size: &Vector3) -> Result<Arc<Hull>, ShapeError> {
    let profile = match shape {
        ObjectShape::Hull(hull) => return Ok(Arc::clone(hull)),
        ObjectShape::Box => Profile::Box,
        ObjectShape::Ball => Profile::Ball,
        ObjectShape::Cone => Profile::Cone,
        ObjectShape::Cylinder => Profile::Standing { straight: size.z, has_flat_ends: true },
        ObjectShape::Capsule => {
            Profile::Standing { straight: (size.z - size.x).max(0.0), has_flat_ends: false }
        }
    };
    Hull::around(&vertices(&profile, size)).map(Arc::new)
}

/// Corners of the object. [m] (n × 3)
fn vertices(profile: &Profile, size: &Vector3) -> Vec<Vector3> {
    let half = size * 0.5;
    let up = |radius: f64, z: f64| ring(radius).map(move |[x, y]| Vector3::new(x, y, z));
    let along = |radius: f64, x: f64| ring(radius).map(move |[y, z]| Vector3::new(x, y, z));
    match *profile {
        Profile::Box | Profile::Hull(_) => {
            let corner = |i: u8| {
                let side = |bit: u8| if i & bit == 0 { -1.0 } else { 1.0 };
                half.component_mul(&Vector3::new(side(1), side(2), side(4)))
            };
            (0..8).map(corner).collect()
        }
        Profile::Standing { straight, has_flat_ends } => {
            let rings = if has_flat_ends {
                ends(half.x, half.z, half.z)
            } else {
                ends(half.x, 0.5 * straight, half.z)
            };
            rings.into_iter().flat_map(|[radius, z]| up(radius, z)).collect()
        }
        Profile::Lying { straight } => {
            let rings = ends(half.y, 0.5 * straight, half.x);
            rings.into_iter().flat_map(|[radius, x]| along(radius, x)).collect()
        }
        Profile::Ball => {
            ends(half.x, 0.0, half.x).into_iter().flat_map(|[radius, z]| up(radius, z)).collect()
        }
        Profile::Cone => up(half.x, -half.z).chain([Vector3::z() * half.z]).collect(),
    }
}

/// Radii and places along the axis of the rings at both ends: flat where the straight part is all, else half-balls. [m] (2 each)
fn ends(radius: f64, straight: f64, half: f64) -> Vec<[f64; 2]> {
    let ring = |i: u16| {
        let (sin, cos) = (FRAC_PI_2 * f64::from(i) / f64::from(RINGS)).sin_cos();
        [radius * cos, straight + (half - straight) * sin]
    };
    let n = if half > straight { RINGS } else { 1 };
    (0..n)
        .map(ring)
        .chain((half > straight).then_some([0.0, half]))
        .flat_map(|[r, x]| [[r, x], [r, -x]])
        .collect()
}

/// Points of a circle, or its middle where it has no radius. [m] (2 each)
fn ring(radius: f64) -> impl Iterator<Item = [f64; 2]> {
    let n = if radius > 0.0 { SIDES } else { 1 };
    (0..n).map(move |i| {
        let (sin, cos) = (TAU * f64::from(i) / f64::from(SIDES)).sin_cos();
        [radius * cos, radius * sin]
    })
}
