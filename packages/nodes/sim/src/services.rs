//! Services: the standard `simulation_interfaces` below `~/`, and snapshots. Features that are not here are not
//! offered, and not listed among the features.

use std::path::Path;

use karakuri_ros::msg::karakuri_msgs::srv::{RestoreSnapshot, SaveSnapshot};
use karakuri_ros::msg::simulation_interfaces::msg as sim_msg;
use karakuri_ros::msg::simulation_interfaces::srv;
use karakuri_ros::msg::std_msgs::msg::Header;
use karakuri_ros::{FromMessage, IntoMessage, Node, RosError, Time};
use karakuri_spatial::{Motion, Pose};

use crate::node::Sim;
use crate::spawn::{self, SpawnError};
use crate::stepping;
use crate::world::{self, Entity, Scope};

/// What `get_simulator_features` lists (`SimulatorFeatures`).
const FEATURES: [u16; 16] = [0, 1, 9, 10, 11, 12, 20, 21, 22, 23, 24, 25, 26, 31, 32, 33];

pub(crate) fn ok() -> sim_msg::Result {
    sim_msg::Result { result: sim_msg::Result::RESULT_OK as u8, error_message: String::new() }
}

pub(crate) fn failed(code: u8, message: impl Into<String>) -> sim_msg::Result {
    sim_msg::Result { result: code, error_message: message.into() }
}

const NOT_FOUND: u8 = 2;
pub(crate) const INCORRECT_STATE: u8 = 3;
pub(crate) const OPERATION_FAILED: u8 = 4;
const INVALID_POSE: u8 = 101;

/// Offers all services.
pub(crate) fn offer(node: &mut Node<Sim>) -> Result<(), RosError> {
    node.service::<srv::GetSimulatorFeatures::Service>("~/get_simulator_features", |_, _| {
        features()
    })?;
    node.service::<srv::GetSimulationState::Service>("~/get_simulation_state", |sim, _| {
        get_state(sim)
    })?;
    node.service::<srv::SetSimulationState::Service>("~/set_simulation_state", set_state)?;
    node.service_later::<srv::StepSimulation::Service>("~/step_simulation", stepping::step)?;
    node.action_server("~/simulate_steps", stepping::simulate)?;
    node.service::<srv::ResetSimulation::Service>("~/reset_simulation", reset)?;
    node.service::<srv::GetEntities::Service>("~/get_entities", get_entities)?;
    node.service::<srv::GetEntitiesStates::Service>("~/get_entities_states", get_entities_states)?;
    node.service::<srv::GetEntityState::Service>("~/get_entity_state", get_entity_state)?;
    node.service::<srv::SetEntityState::Service>("~/set_entity_state", set_entity_state)?;
    node.service::<srv::GetEntityInfo::Service>("~/get_entity_info", get_entity_info)?;
    node.service::<srv::SpawnEntity::Service>("~/spawn_entity", spawn_entity)?;
    node.service::<srv::DeleteEntity::Service>("~/delete_entity", delete)?;
    node.service::<SaveSnapshot::Service>("~/save_snapshot", save_snapshot)?;
    node.service::<RestoreSnapshot::Service>("~/restore_snapshot", restore_snapshot)?;
    crate::ties::offer(node)?;
    crate::queries::offer(node)
}

fn features() -> srv::GetSimulatorFeatures::Response {
    let features = sim_msg::SimulatorFeatures {
        features: FEATURES.to_vec(),
        spawn_formats: vec!["urdf".to_owned(), "karakuri_scene".to_owned()],
        custom_info: "karakuri: URDFs of one link and shape spawn as objects, others as robots, fixed where the root link is `world`; a scene file (YAML) of one robot or body spawns with its drives; snapshots at ~/save_snapshot, ~/restore_snapshot; joints and gears at ~/attach_joint, ~/attach_gear, ~/detach_joint; ~/push, ~/cast_ray, ~/get_distance, ~/set_surface, ~/set_surface_velocity".to_owned(),
    };
    srv::GetSimulatorFeatures::Response { features }
}

fn get_state(sim: &Sim) -> srv::GetSimulationState::Response {
    let state = if sim.cell.is_playing() { 1 } else { 2 };
    srv::GetSimulationState::Response { state: sim_msg::SimulationState { state }, result: ok() }
}

fn set_state(
    sim: &mut Sim,
    request: &srv::SetSimulationState::Request,
) -> srv::SetSimulationState::Response {
    let playing = sim.cell.is_playing();
    let result = match request.state.state {
        1 if playing => failed(101, "the simulation is playing already"),
        2 if !playing => failed(101, "the simulation is paused already"),
        1 => {
            sim.cell.set_playing(true);
            ok()
        }
        2 => {
            sim.cell.set_playing(false);
            ok()
        }
        0 => {
            sim.cell.set_playing(false);
            sim.reset(Scope { time: true, spawned: true })
                .map_or_else(|e| failed(OPERATION_FAILED, e), |()| ok())
        }
        3 => {
            sim.quit();
            ok()
        }
        other => failed(
            103,
            format!("state {other} cannot be set; 0 stopped, 1 playing, 2 paused, 3 quitting"),
        ),
    };
    srv::SetSimulationState::Response { result }
}

fn reset(sim: &mut Sim, request: &srv::ResetSimulation::Request) -> srv::ResetSimulation::Response {
    let scope = if matches!(request.scope, 0 | 255) { 7 } else { request.scope };
    let mut result = Ok(());
    if scope & 2 != 0 {
        result = sim.reset(Scope { time: scope & 1 != 0, spawned: scope & 4 != 0 });
    } else if scope & 1 != 0 {
        sim.cell.reset_time();
    }
    if scope & 6 == 4 {
        sim.delete_spawned();
    }
    sim.publish();
    let result = result.map_or_else(|e| failed(OPERATION_FAILED, e), |()| ok());
    srv::ResetSimulation::Response { result }
}

/// Names that pass the filters; only the pattern and the categories are known here.
fn filtered(sim: &Sim, filters: &sim_msg::EntityFilters) -> Result<Vec<String>, sim_msg::Result> {
    let Some(world) = sim.cell.io().world() else { return Ok(Vec::new()) };
    if !filters.tags.tags.is_empty() || filters.bounds.type_ != 0 {
        return Err(failed(
            0,
            "filters by tags and bounds are not supported; filter by pattern or category",
        ));
    }
    let pattern = regex_lite::Regex::new(&filters.filter).map_err(|e| {
        failed(
            OPERATION_FAILED,
            format!("filter `{}` is no regular expression: {e}", filters.filter),
        )
    })?;
    let wanted = |name: &String| {
        let category = world::find(world, name).map(|e| category(sim, e));
        filters.categories.is_empty()
            || filters.categories.iter().any(|c| Some(c.category) == category)
    };
    Ok(world::names(world).into_iter().filter(|n| pattern.is_match(n) && wanted(n)).collect())
}

/// `EntityCategory`: robot 1, dynamic object 4, static object 5.
fn category(sim: &Sim, entity: Entity) -> u8 {
    match (entity, sim.cell.io().world()) {
        (Entity::Object(id), Some(world)) if world.body(id).description().fixed => 5,
        (Entity::Object(_), _) => 4,
        (Entity::Robot(_), _) => 1,
    }
}

fn get_entities(sim: &mut Sim, request: &srv::GetEntities::Request) -> srv::GetEntities::Response {
    match filtered(sim, &request.filters) {
        Ok(entities) => srv::GetEntities::Response { result: ok(), entities },
        Err(result) => srv::GetEntities::Response { result, entities: Vec::new() },
    }
}

fn get_entities_states(
    sim: &mut Sim,
    request: &srv::GetEntitiesStates::Request,
) -> srv::GetEntitiesStates::Response {
    match filtered(sim, &request.filters) {
        Ok(entities) => {
            let states = entities
                .iter()
                .filter_map(|name| sim.entity(name).map(|e| entity_state(sim, e)))
                .collect();
            srv::GetEntitiesStates::Response { result: ok(), entities, states }
        }
        Err(result) => srv::GetEntitiesStates::Response { result, ..Default::default() },
    }
}

fn entity_state(sim: &Sim, entity: Entity) -> sim_msg::EntityState {
    let (pose, velocity) = sim
        .cell
        .io()
        .world()
        .map_or((Pose::IDENTITY, Motion::default()), |w| world::state(w, entity));
    sim_msg::EntityState {
        header: Header {
            stamp: Time::from_nanoseconds(sim.cell.stamp()).to_message(),
            frame_id: "world".to_owned(),
        },
        pose: pose.to_message(),
        twist: velocity.to_message(),
        ..sim_msg::EntityState::default()
    }
}

fn unknown(sim: &Sim, name: &str) -> sim_msg::Result {
    let names = sim.cell.io().world().map(world::names).unwrap_or_default();
    failed(NOT_FOUND, format!("no entity `{name}`; there are: {}", names.join(", ")))
}

fn get_entity_state(
    sim: &mut Sim,
    request: &srv::GetEntityState::Request,
) -> srv::GetEntityState::Response {
    match sim.entity(&request.entity) {
        Some(entity) => {
            srv::GetEntityState::Response { result: ok(), state: entity_state(sim, entity) }
        }
        None => srv::GetEntityState::Response {
            result: unknown(sim, &request.entity),
            ..Default::default()
        },
    }
}

fn set_entity_state(
    sim: &mut Sim,
    request: &srv::SetEntityState::Request,
) -> srv::SetEntityState::Response {
    let result = match sim.entity(&request.entity) {
        None => unknown(sim, &request.entity),
        Some(Entity::Robot(id)) if !sim.is_spawned(id) => failed(
            OPERATION_FAILED,
            "a robot's base cannot be moved; reset it with the parameter `reset_posture`",
        ),
        Some(entity) => {
            let pose = Pose::from_message(&request.state.pose);
            let velocity = Motion::from_message(&request.state.twist);
            match (pose, velocity, sim.cell.io_mut().world_mut()) {
                (Some(pose), Some(velocity), Some(world)) => {
                    world::set_state(world, entity, pose, velocity)
                        .map_or_else(|e| failed(INVALID_POSE, e), |()| ok())
                }
                _ => failed(INVALID_POSE, "pose or twist is not finite, or the quaternion is zero"),
            }
        }
    };
    srv::SetEntityState::Response { result }
}

fn get_entity_info(
    sim: &mut Sim,
    request: &srv::GetEntityInfo::Request,
) -> srv::GetEntityInfo::Response {
    let Some(entity) = sim.entity(&request.entity) else {
        return srv::GetEntityInfo::Response {
            result: unknown(sim, &request.entity),
            ..Default::default()
        };
    };
    let info = sim_msg::EntityInfo {
        category: sim_msg::EntityCategory { category: category(sim, entity) },
        ..sim_msg::EntityInfo::default()
    };
    srv::GetEntityInfo::Response { result: ok(), info }
}

fn spawn_entity(sim: &mut Sim, request: &srv::SpawnEntity::Request) -> srv::SpawnEntity::Response {
    let refuse = |result| srv::SpawnEntity::Response { result, entity_name: String::new() };
    let mut path = Path::new("resource_string");
    let text = if request.resource_string.is_empty() {
        path = Path::new(request.uri.strip_prefix("file://").unwrap_or(&request.uri));
        match karakuri_files::read_text(path) {
            Ok(text) => text,
            Err(e) => return refuse(failed(104, format!("no resource: {e}"))),
        }
    } else {
        request.resource_string.clone()
    };
    let Some(pose) = Pose::from_message(&request.initial_pose.pose) else {
        return refuse(failed(109, "initial_pose is not finite, or its quaternion is zero"));
    };
    let Some(world) = sim.cell.io_mut().world_mut() else {
        return refuse(failed(OPERATION_FAILED, "no world"));
    };
    let mut name = if request.name.is_empty() { "object".to_owned() } else { request.name.clone() };
    if world::find(world, &name).is_some() {
        if !request.allow_renaming {
            return refuse(failed(
                101,
                format!("`{name}` is taken; choose another name or allow renaming"),
            ));
        }
        let free =
            (1..=u32::MAX).map(|i| format!("{name}_{i}")).find(|n| world::find(world, n).is_none());
        name = free.unwrap_or(name);
    }
    match spawn::spawn(world, &name, (&text, path), pose) {
        Ok(entity) => {
            if let Entity::Robot(id) = entity {
                let prefix = if request.entity_namespace.is_empty() {
                    &name
                } else {
                    &request.entity_namespace
                };
                sim.adopt(id, prefix.trim_end_matches('/'));
            }
            srv::SpawnEntity::Response { result: ok(), entity_name: name }
        }
        Err(SpawnError::Parse(e)) => refuse(failed(106, e)),
        Err(SpawnError::Refused(e)) => refuse(failed(OPERATION_FAILED, e)),
    }
}

fn delete(sim: &mut Sim, request: &srv::DeleteEntity::Request) -> srv::DeleteEntity::Response {
    let result = match sim.entity(&request.entity) {
        None => unknown(sim, &request.entity),
        Some(Entity::Robot(id)) if !sim.is_spawned(id) => {
            failed(OPERATION_FAILED, "robots of the scene cannot be deleted")
        }
        Some(entity) => {
            if let Some(world) = sim.cell.io_mut().world_mut() {
                match entity {
                    Entity::Robot(id) => world.remove_robot(id),
                    Entity::Object(id) => world.remove_body(id),
                }
            }
            sim.follow_robots();
            ok()
        }
    };
    srv::DeleteEntity::Response { result }
}

fn save_snapshot(sim: &mut Sim, request: &SaveSnapshot::Request) -> SaveSnapshot::Response {
    let stamp = sim.cell.stamp();
    let time = Time::from_nanoseconds(stamp).to_message();
    let (Some(world), false) = (sim.cell.io().world(), request.name.is_empty()) else {
        let message = "the name is empty; give the snapshot a name".to_owned();
        return SaveSnapshot::Response { success: false, message, stamp: time, digest: 0 };
    };
    let digest = sim.keeper.save(&request.name, world, stamp);
    SaveSnapshot::Response { success: true, message: String::new(), stamp: time, digest }
}

fn restore_snapshot(
    sim: &mut Sim,
    request: &RestoreSnapshot::Request,
) -> RestoreSnapshot::Response {
    match sim.restore(&request.name) {
        Ok((stamp, digest)) => RestoreSnapshot::Response {
            success: true,
            message: String::new(),
            stamp: Time::from_nanoseconds(stamp).to_message(),
            digest,
        },
        Err(message) => RestoreSnapshot::Response { success: false, message, ..Default::default() },
    }
}
