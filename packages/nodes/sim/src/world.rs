//! Changes of the simulated world by services: reset, snapshots, objects that come and go.

use std::collections::BTreeMap;

use karakuri_model::Base;
use karakuri_physics::{ObjectId, RobotId, World};
use karakuri_simulation::{SimulatedState, SimulatedWorld};
use karakuri_spatial::{Motion, Pose};

use crate::backend::Backend;

/// Initial state for resets, and saved snapshots by name.
#[derive(Debug)]
pub(crate) struct WorldKeeper {
    initial: Option<SimulatedState>,
    saved: BTreeMap<String, (SimulatedState, i64)>,
}

/// Scope of a reset of states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scope {
    /// Whether time begins at zero again.
    pub(crate) time: bool,
    /// Whether spawned entities are deleted, and deleted ones come back.
    pub(crate) spawned: bool,
}

/// A robot or an object, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entity {
    Robot(RobotId),
    Object(ObjectId),
}

impl WorldKeeper {
    pub(crate) fn new(initial: Option<SimulatedState>) -> Self {
        Self { initial, saved: BTreeMap::new() }
    }

    /// Resets to the start: everything, or only the states of initial entities while spawned ones stay. Robots take the posture
    /// of this name, if it is not empty.
    pub(crate) fn reset(
        &self,
        io: &mut Backend,
        scope: Scope,
        posture: &str,
    ) -> Result<(), String> {
        let (Some(initial), Some(simulated)) = (&self.initial, io.simulated_mut()) else {
            return Ok(());
        };
        if scope.spawned {
            simulated.restore(initial);
        } else {
            simulated.restore_states(initial);
        }
        let world = simulated.world_mut();
        if posture.is_empty() {
            return Ok(());
        }
        let robots: Vec<RobotId> =
            world.robot_ids().filter(|&id| initial.world.has_robot(id)).collect();
        for id in robots {
            take_posture(world, id, posture)?;
        }
        Ok(())
    }

    /// Deletes the objects and robots that were not there at the start.
    pub(crate) fn delete_spawned(&self, world: &mut World) {
        let Some(initial) = &self.initial else { return };
        let ids: Vec<ObjectId> =
            world.body_ids().filter(|&id| !initial.world.has_body(id)).collect();
        for id in ids {
            world.remove_body(id);
        }
        let ids: Vec<RobotId> =
            world.robot_ids().filter(|&id| !initial.world.has_robot(id)).collect();
        for id in ids {
            world.remove_robot(id);
        }
    }

    /// Whether a robot was not there at the start.
    pub(crate) fn is_spawned(&self, id: RobotId) -> bool {
        self.initial.as_ref().is_some_and(|initial| !initial.world.has_robot(id))
    }

    /// Keeps the present state under a name.
    pub(crate) fn save(&mut self, name: &str, simulated: &SimulatedWorld, stamp: i64) -> u64 {
        self.saved.insert(name.to_owned(), (simulated.save(), stamp));
        simulated.world().state_hash()
    }

    /// Goes back to a kept state; its stamp. [ns]
    pub(crate) fn restore(
        &self,
        name: &str,
        simulated: &mut SimulatedWorld,
    ) -> Result<(i64, u64), String> {
        let Some((snapshot, stamp)) = self.saved.get(name) else {
            let names: Vec<&str> = self.saved.keys().map(String::as_str).collect();
            return Err(format!("no snapshot `{name}`; there are: {}", names.join(", ")));
        };
        simulated.restore(snapshot);
        Ok((*stamp, simulated.world().state_hash()))
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

/// Moves an object, or the base of a robot that floats; a robot's joints keep their positions, with zero velocity.
pub(crate) fn set_state(
    world: &mut World,
    entity: Entity,
    pose: Pose,
    velocity: Motion,
) -> Result<(), String> {
    let id = match entity {
        Entity::Object(id) => {
            return world.set_body_state(id, pose, velocity).map_err(|e| e.to_string());
        }
        Entity::Robot(id) => id,
    };
    let model = world.robot(id).model().clone();
    if let Base::Fixed(_) = model.base {
        return Err("the robot's base is fixed; delete it and spawn it elsewhere".to_owned());
    }
    let (mut q, mut v) = (world.robot(id).q().to_vec(), vec![0.0; model.nv]);
    q[..3].copy_from_slice(pose.translation.as_slice());
    q[3..7].copy_from_slice(pose.quaternion().coords.as_slice());
    v[..3].copy_from_slice(velocity.linear.as_slice());
    v[3..6].copy_from_slice(velocity.angular.as_slice());
    world.set_robot_state(id, &q, &v).map_err(|e| e.to_string())
}
