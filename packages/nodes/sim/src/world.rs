//! What services do to the simulated world: reset, snapshots, objects that come and go.

use std::collections::BTreeMap;

use karakuri_hardware::RobotIo;
use karakuri_model::{Model, Shape, Source};
use karakuri_physics::{BodyDescription, ObjectId, RobotId, Snapshot, World, WorldError};
use karakuri_spatial::{Motion, Pose};

/// Names that a reset comes back to, and what was saved.
#[derive(Debug)]
pub(crate) struct WorldKeeper {
    initial: Option<Snapshot>,
    saved: BTreeMap<String, (Snapshot, i64)>,
}

/// What a reset of states takes along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scope {
    /// Time begins anew.
    pub(crate) time: bool,
    /// What was spawned goes, what was deleted comes back.
    pub(crate) spawned: bool,
}

/// A robot or an object, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entity {
    Robot(RobotId),
    Object(ObjectId),
}

/// Why an object cannot be spawned.
#[derive(Debug)]
pub(crate) enum SpawnError {
    Format(String),
    Parse(String),
    Refused(WorldError),
}

impl WorldKeeper {
    pub(crate) fn new(initial: Option<Snapshot>) -> Self {
        Self { initial, saved: BTreeMap::new() }
    }

    /// Back to the start: everything, or only where the things of the start are while spawned ones stay. Robots take
    /// the posture of this name, if it is not empty.
    pub(crate) fn reset(
        &self,
        io: &mut dyn RobotIo,
        scope: Scope,
        posture: &str,
    ) -> Result<(), String> {
        let (Some(initial), Some(world)) = (&self.initial, io.world_mut()) else { return Ok(()) };
        if scope.spawned {
            world.restore(initial);
        } else {
            world.restore_states(initial);
        }
        if posture.is_empty() {
            return Ok(());
        }
        let robots: Vec<RobotId> = world.robot_ids().collect();
        for id in robots {
            take_posture(world, id, posture)?;
        }
        Ok(())
    }

    /// Takes away the objects that were not there at the start.
    pub(crate) fn delete_spawned(&self, world: &mut World) {
        let Some(initial) = &self.initial else { return };
        let ids: Vec<ObjectId> = world.body_ids().filter(|&id| !initial.has_body(id)).collect();
        for id in ids {
            world.remove_body(id);
        }
    }

    /// Keeps the present state under a name.
    pub(crate) fn save(&mut self, name: &str, world: &World, stamp: i64) -> u64 {
        self.saved.insert(name.to_owned(), (world.snapshot(), stamp));
        world.state_hash()
    }

    /// Goes back to a kept state; its stamp. [ns]
    pub(crate) fn restore(&self, name: &str, world: &mut World) -> Result<(i64, u64), String> {
        let Some((snapshot, stamp)) = self.saved.get(name) else {
            let names: Vec<&str> = self.saved.keys().map(String::as_str).collect();
            return Err(format!("no snapshot `{name}`; there are: {}", names.join(", ")));
        };
        world.restore(snapshot);
        Ok((*stamp, world.state_hash()))
    }
}

fn take_posture(world: &mut World, id: RobotId, name: &str) -> Result<(), String> {
    let robot = world.robot(id);
    let model = robot.model().clone();
    let Some(posture) = model.postures.iter().find(|p| p.name == name) else {
        let names: Vec<&str> = model.postures.iter().map(|p| p.name.as_str()).collect();
        return Err(format!(
            "robot `{}` has no posture `{name}`; it has: {}",
            robot.name(),
            names.join(", ")
        ));
    };
    let mut q = robot.q().to_vec();
    for &(joint, position) in &posture.positions {
        q[model.joints[joint.0].q_start] = position;
    }
    let still = vec![0.0; model.nv];
    world.set_robot_state(id, &q, &still).map_err(|e| e.to_string())
}

/// The robot or object of this name.
pub(crate) fn find(world: &World, name: &str) -> Option<Entity> {
    let robot = world.find_robot(name).map(Entity::Robot);
    robot.or_else(|| world.find_body(name).map(Entity::Object))
}

/// All names, robots first.
pub(crate) fn names(world: &World) -> Vec<String> {
    let robots = world.robot_ids().map(|id| world.robot(id).name().to_owned());
    robots.chain(world.body_ids().map(|id| world.body(id).description().name.clone())).collect()
}

/// Pose and velocity of a robot's root link or an object, in the world.
pub(crate) fn state(world: &World, entity: Entity) -> (Pose, Motion) {
    match entity {
        Entity::Object(id) => (world.body(id).pose(), world.body(id).velocity()),
        Entity::Robot(id) => {
            let robot = world.robot(id);
            let root = &robot.model().frames[0];
            match root.body {
                Some(body) => {
                    (robot.data().pose_in_world[body.0] * root.pose_in_body, robot.base_velocity())
                }
                None => (root.pose_in_body, Motion::default()),
            }
        }
    }
}

/// Spawns the one link of a URDF as an object.
pub(crate) fn spawn(
    world: &mut World,
    name: &str,
    urdf: &str,
    pose: Pose,
) -> Result<ObjectId, SpawnError> {
    let source = Source::urdf("resource_string", urdf).with_base(karakuri_model::Base::Floating);
    let mut assets = karakuri_files::FileAssets::from_env();
    let loaded =
        karakuri_model::load(&source, &mut assets).map_err(|e| SpawnError::Parse(e.to_string()))?;
    let description = object_of(&loaded.model, name, pose).map_err(SpawnError::Format)?;
    world.add_body(description).map_err(SpawnError::Refused)
}

/// A single-link model with one collision shape as a body.
fn object_of(model: &Model, name: &str, pose: Pose) -> Result<BodyDescription, String> {
    let [body] = model.bodies.as_slice() else {
        return Err(format!(
            "the URDF has {} moving bodies; only objects of one link can be spawned",
            model.bodies.len()
        ));
    };
    let [geometry] = model.collisions.as_slice() else {
        return Err(format!(
            "the URDF has {} collision shapes; an object needs exactly one",
            model.collisions.len()
        ));
    };
    let at_com = (geometry.pose_in_body.translation - body.inertia.com).norm() < 1e-9;
    let unturned = (geometry.pose_in_body.rotation - Pose::IDENTITY.rotation).norm() < 1e-9;
    if !at_com || !unturned {
        return Err(
            "the collision shape is not centred on the centre of mass; move its `origin` there"
                .to_owned(),
        );
    }
    Ok(BodyDescription {
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
