//! Pulling a part with a spring, as with a rubber band on the pointer.

use karakuri_physics::{Anchor, Owner, Spring, SpringId, World};
use karakuri_spatial::Vector3;

use crate::wire::{Code, Grab, WireError};

/// Time in which a free body follows the pointer: quick to the eye, slow to the step. [s]
const FOLLOWS_IN: f64 = 0.2;
/// Mass where nothing says one. [kg]
const SOME_MASS: f64 = 1.0;

/// What is pulled.
#[derive(Debug)]
pub(super) struct Pulled {
    id: SpringId,
}

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
    let spring = Spring {
        a: Anchor::World(grab.to.into()),
        b: anchor,
        stiffness,
        // Critical: no swinging on the pointer.
        damping: 2.0 * (stiffness * mass).sqrt(),
        rest_length: 0.0,
    };
    let invalid = |error| WireError::from_text(Code::Invalid, &error);
    let id = world.add_spring(spring).map_err(invalid)?;
    // The new one first: what cannot be pulled there stays as it was.
    release(world, pulled);
    *pulled = Some(Pulled { id });
    Ok(())
}

/// Lets go.
pub(super) fn release(world: &mut World, pulled: &mut Option<Pulled>) {
    if let Some(pulled) = pulled.take() {
        world.remove_spring(pulled.id);
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
