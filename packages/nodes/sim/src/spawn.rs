//! Spawning of entities while the simulation runs: a URDF of one link with one shape is an object, any other a robot; a scene
//! of one robot or body is spawned as it describes it.

use std::sync::Arc;

use karakuri_files::FileAssets;
use karakuri_model::{Asset, AssetError, Assets, Base, Model, Shape, Source, decode_mesh};
use karakuri_physics::{BodyDescription, RobotId, Scene, World};
use karakuri_ros::warn;
use karakuri_simulation::fill_scene;
use karakuri_spatial::{Motion, Pose};

use crate::{resource::Resource, world::Entity};

/// Root link that stands for the world itself: a robot with it does not float.
const WORLD_LINK: &str = "world";

/// Reason why an entity cannot be spawned.
#[derive(Debug)]
pub(crate) enum SpawnError {
    Parse(String),
    /// Files that the model names and that do not exist.
    MissingAssets(String),
    /// Files that the model names and that are of no known format.
    UnsupportedAssets(String),
    Refused(String),
}

/// Spawns a resource at a pose: a URDF, or a scene of one robot or body, whose own pose is then relative to this one.
pub(crate) fn spawn(
    world: &mut World,
    name: &str,
    resource: &Resource,
    pose: Pose,
) -> Result<Entity, SpawnError> {
    if resource.text.trim_start().starts_with('<') {
        spawn_urdf(world, name, resource, pose)
    } else {
        spawn_scene(world, name, resource, pose)
    }
}

/// Spawns a URDF with its root link at a pose. A robot's base floats, unless the root link is `world`; its joints are at zero,
/// without drives.
fn spawn_urdf(
    world: &mut World,
    name: &str,
    urdf: &Resource,
    pose: Pose,
) -> Result<Entity, SpawnError> {
    let fixed = load(urdf, Base::Fixed(pose));
    let stands = fixed
        .as_ref()
        .is_ok_and(|model| model.frames.iter().any(|f| f.parent.is_none() && f.name == WORLD_LINK));
    let model = if stands { fixed } else { load(urdf, Base::Floating) };
    let model = model?;
    if let Some(description) = object_of(&model, name, pose) {
        let added = world.add_body(description);
        return added.map(Entity::Object).map_err(|e| SpawnError::Refused(e.to_string()));
    }
    let mut q = model.default_position();
    if let Base::Floating = model.base {
        q[..3].copy_from_slice(pose.translation.as_slice());
        q[3..7].copy_from_slice(pose.quaternion().coords.as_slice());
    }
    let id = world
        .add_robot(name, Arc::new(model), &q)
        .map_err(|e| SpawnError::Refused(e.to_string()))?;
    movable(world, id)
}

/// Spawns a scene of one robot or body, with its drives, motors, posture and materials.
fn spawn_scene(
    world: &mut World,
    name: &str,
    Resource { text, path }: &Resource,
    pose: Pose,
) -> Result<Entity, SpawnError> {
    let parse = |e: &dyn std::fmt::Display| SpawnError::Parse(e.to_string());
    let mut scene = Scene::parse(text, &path.display().to_string()).map_err(|e| parse(&e))?;
    let tied = !(scene.springs.is_empty()
        && scene.joints.is_empty()
        && scene.gears.is_empty()
        && scene.pushes.is_empty()
        && scene.ignored.is_empty());
    match (scene.robots.as_mut_slice(), scene.bodies.as_mut_slice()) {
        ([robot], []) if !tied => {
            name.clone_into(&mut robot.name);
            robot.pose = pose * robot.pose;
        }
        ([], [body]) if !tied => {
            name.clone_into(&mut body.description.name);
            body.description.pose = pose * body.description.pose;
        }
        _ => {
            let why = "a scene to spawn has one robot or one body, and no springs, joints, gears, pushes or ignored pairs";
            return Err(SpawnError::Parse(why.to_owned()));
        }
    }
    let loaded = fill_scene(scene, path).map_err(|e| parse(&e))?;
    for warning in &loaded.warnings {
        warn!("{warning}");
    }
    world
        .add_scene(&loaded.scene, &loaded.models)
        .map_err(|e| SpawnError::Refused(e.to_string()))?;
    if let Some(id) = world.find_body(name) {
        return Ok(Entity::Object(id));
    }
    let id = world.find_robot(name).ok_or_else(|| SpawnError::Refused("it vanished".to_owned()))?;
    movable(world, id)
}

/// The robot, unless its model cannot be stepped, in which case it is removed.
fn movable(world: &mut World, id: RobotId) -> Result<Entity, SpawnError> {
    if let Err(error) = world.check_inertia(id) {
        world.remove_robot(id);
        return Err(SpawnError::Refused(error.to_string()));
    }
    if let Some(warning) = world.overlap_warning(id) {
        warn!("{warning}");
    }
    Ok(Entity::Robot(id))
}

/// Loads a model; a missing mesh is an error here, as without it a robot would pass through things.
fn load(urdf: &Resource, base: Base) -> Result<Model, SpawnError> {
    let name = urdf.path.display().to_string();
    let source = Source::urdf(&name, &urdf.text).with_base(base);
    let mut assets = Watched { files: FileAssets::from_env(), missing: None, unsupported: None };
    let loaded = karakuri_model::load(&source, &mut assets);
    if let Some(missing) = assets.missing {
        return Err(SpawnError::MissingAssets(missing));
    }
    if let Some(unsupported) = assets.unsupported {
        return Err(SpawnError::UnsupportedAssets(unsupported));
    }
    loaded.map(|l| l.model).map_err(|e| SpawnError::Parse(e.to_string()))
}

/// Files on disk, with the first that is missing and the first of an unknown format.
struct Watched {
    files: FileAssets,
    missing: Option<String>,
    unsupported: Option<String>,
}

impl Assets for Watched {
    fn read(&mut self, uri: &str, named_in: &str) -> Result<Asset, AssetError> {
        let asset = self.files.read(uri, named_in).inspect_err(|e| {
            self.missing.get_or_insert_with(|| format!("mesh `{uri}`: {e}"));
        })?;
        if let Err(e) = decode_mesh(&asset) {
            self.unsupported.get_or_insert_with(|| format!("mesh `{uri}`: {e}"));
        }
        Ok(asset)
    }
}

/// Body of a floating model of one link with one collision shape about its centre of mass; `None` of any other model.
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
