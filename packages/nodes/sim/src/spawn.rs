//! What comes while the simulation runs: a URDF of one link with one shape is an object, any other a robot of its own.

use std::sync::Arc;

use karakuri_model::{Base, Model, Shape, Source};
use karakuri_physics::{BodyDescription, World, WorldError};
use karakuri_spatial::{Motion, Pose};

use crate::world::Entity;

/// Root link that stands for the world itself: what hangs on it does not float.
const WORLD_LINK: &str = "world";

/// Why something cannot be spawned.
#[derive(Debug)]
pub(crate) enum SpawnError {
    Parse(String),
    Refused(WorldError),
}

/// Spawns a URDF with its root link at a pose. A robot's base floats, unless the root link is `world`; its joints are at
/// zero, without drives.
pub(crate) fn spawn(
    world: &mut World,
    name: &str,
    urdf: &str,
    pose: Pose,
) -> Result<Entity, SpawnError> {
    let fixed = load(urdf, Base::Fixed(pose));
    let stands = fixed
        .as_ref()
        .is_ok_and(|model| model.frames.iter().any(|f| f.parent.is_none() && f.name == WORLD_LINK));
    let model = if stands { fixed } else { load(urdf, Base::Floating) };
    let model = model.map_err(SpawnError::Parse)?;
    if let Some(description) = object_of(&model, name, pose) {
        return world.add_body(description).map(Entity::Object).map_err(SpawnError::Refused);
    }
    let mut q = model.neutral_position();
    if let Base::Floating = model.base {
        q[..3].copy_from_slice(pose.translation.as_slice());
        q[3..7].copy_from_slice(pose.quaternion().coords.as_slice());
    }
    let id = world.add_robot(name, Arc::new(model), &q).map_err(SpawnError::Refused)?;
    if let Err(error) = world.check_inertia(id) {
        world.remove_robot(id);
        return Err(SpawnError::Refused(error));
    }
    Ok(Entity::Robot(id))
}

fn load(urdf: &str, base: Base) -> Result<Model, String> {
    let source = Source::urdf("resource_string", urdf).with_base(base);
    let mut assets = karakuri_files::FileAssets::from_env();
    karakuri_model::load(&source, &mut assets).map(|l| l.model).map_err(|e| e.to_string())
}

/// A floating model of one link with one collision shape about its centre of mass, as a body.
fn object_of(model: &Model, name: &str, pose: Pose) -> Option<BodyDescription> {
    let ([body], [geometry], Base::Floating) =
        (model.bodies.as_slice(), model.collisions.as_slice(), model.base)
    else {
        return None;
    };
    let at_com = (geometry.pose_in_body.translation - body.inertia.com).norm() < 1e-9;
    let unturned = (geometry.pose_in_body.rotation - Pose::IDENTITY.rotation).norm() < 1e-9;
    (at_com && unturned).then(|| BodyDescription {
        name: name.to_owned(),
        shape: Shape::clone(&geometry.shape),
        mass: body.inertia.mass,
        inertia: Some(body.inertia.about_com),
        pose: pose * Pose::from_translation(body.inertia.com),
        velocity: Motion::default(),
        friction: geometry.friction,
        restitution: geometry.restitution,
        fixed: false,
        color: geometry.color,
    })
}
