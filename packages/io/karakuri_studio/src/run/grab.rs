//! Pulling a part with springs, as with a rubber band on the pointer.

use karakuri_physics::{Anchor, Owner, Spring, SpringId, World};
use karakuri_spatial::Vector3;

use crate::wire::{Code, Grab, WireError};

/// Time in which a free body follows the pointer: quick to the eye, slow to the step. [s]
const FOLLOWS_IN: f64 = 0.2;
/// Mass where nothing says one. [kg]
const SOME_MASS: f64 = 1.0;

/// Distance of the springs' far ends: so far that they stay parallel to the world's axes. [m]
const FAR: f64 = 1000.0;

/// What is pulled: by a spring along each axis of the world, so that it does not swing about the pointer.
#[derive(Debug)]
pub(super) struct Pulled([SpringId; 3]);

/// Pulls a part, or what is pulled already to another point.
pub(super) fn pull(
    world: &mut World,
    pulled: &mut Option<Pulled>,
    grab: &Grab,
) -> Result<(), WireError> {
    let finite = grab.point.iter().chain(&grab.to).chain(&grab.stiffness).all(|x| x.is_finite());
    if !finite {
        return Err(WireError::new(Code::Limit, "a number is not finite", "write one"));
    }
    let (anchor, mass) = anchor(world, grab)?;
    let stiffness = grab.stiffness.unwrap_or(mass * (std::f64::consts::TAU / FOLLOWS_IN).powi(2));
    let along = |axis: usize| Spring {
        a: Anchor::World(Vector3::from(grab.to) + Vector3::ith(axis, FAR)),
        b: anchor,
        stiffness,
        // Critical: it arrives without swinging.
        damping: 2.0 * (stiffness * mass).sqrt(),
        rest_length: FAR,
    };
    let mut add = |axis| {
        world.add_spring(along(axis)).map_err(|error| WireError::from_text(Code::Invalid, &error))
    };
    // The new ones first: what cannot be pulled there stays as it was.
    let springs = [add(0)?, add(1)?, add(2)?];
    release(world, pulled);
    *pulled = Some(Pulled(springs));
    Ok(())
}

/// Lets go.
pub(super) fn release(world: &mut World, pulled: &mut Option<Pulled>) {
    for id in pulled.take().into_iter().flat_map(|pulled| pulled.0) {
        world.remove_spring(id);
    }
}

/// Point of a part and the mass that is pulled with it. [kg]
fn anchor(world: &World, grab: &Grab) -> Result<(Anchor, f64), WireError> {
    let point = Vector3::from(grab.point);
    let part = world
        .find_part(&grab.part)
        .map_err(|error| WireError::from_text(Code::NotFound, &error))?;
    let fixed = || {
        let text = format!("`{}` does not move", grab.part);
        WireError::new(Code::State, text, "grab something that moves")
    };
    match part {
        Owner::Ground => Err(fixed()),
        Owner::Body(id) => {
            let description = world.body(id).description();
            if description.fixed {
                return Err(fixed());
            }
            Ok((Anchor::Body(id, point), description.mass))
        }
        Owner::Link { robot, frame } => {
            let model = world.robot(robot).model();
            let frame = &model.frames[frame.0];
            let body = frame.body.ok_or_else(fixed)?;
            let mass = model.mass();
            let mass = if mass > 0.0 { mass } else { SOME_MASS };
            Ok((Anchor::Link(robot, body, frame.pose_in_body.transform_point(&point)), mass))
        }
    }
}
