//! Services: the standard `simulation_interfaces` below `~/`, and snapshots. Features that are not here are not
//! offered, and not listed among the features.

use karakuri_physics::World;
use karakuri_ros::msg::karakuri_msgs::srv::{RestoreSnapshot, SaveSnapshot};
use karakuri_ros::msg::simulation_interfaces::msg as sim_msg;
use karakuri_ros::msg::simulation_interfaces::srv;
use karakuri_ros::msg::std_msgs::msg::Header;
use karakuri_ros::{FromMessage, IntoMessage, Node, RosError};
use karakuri_spatial::{Motion, Pose, Time, Vector3};

use crate::answer::{failed, ok};
use crate::codes::{self, bounds, category, result, scope, state};
use crate::simulation::Sim;
use crate::spawn::{self, SpawnError};
use crate::stepping;
use crate::world::{self, Entity, Scope};
use crate::{frames, resource};

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
    crate::springs::offer(node)?;
    crate::inertias::offer(node)?;
    crate::queries::offer(node)
}

fn features() -> srv::GetSimulatorFeatures::Response {
    let features = sim_msg::SimulatorFeatures {
        features: codes::FEATURES.to_vec(),
        spawn_formats: vec!["urdf".to_owned(), "karakuri_scene".to_owned()],
        custom_info: "karakuri: URDFs of one link and shape spawn as objects, others as robots, fixed where the root link is `world`; a scene file (YAML) of one robot or body spawns with its drives; snapshots at ~/save_snapshot, ~/restore_snapshot; joints, gears and springs at ~/attach_joint, ~/attach_gear, ~/attach_spring, ~/set_spring, ~/detach_joint; ~/set_inertia, ~/push, ~/cast_ray, ~/get_distance, ~/set_surface, ~/set_surface_velocity".to_owned(),
    };
    srv::GetSimulatorFeatures::Response { features }
}

fn get_state(sim: &Sim) -> srv::GetSimulationState::Response {
    let state = sim_msg::SimulationState { state: state_of(sim) };
    srv::GetSimulationState::Response { state, result: ok() }
}

/// State of the simulation: stopped, playing or paused.
fn state_of(sim: &Sim) -> u8 {
    match (sim.pacer.is_playing(), sim.is_stopped) {
        (true, _) => state::PLAYING,
        (false, true) => state::STOPPED,
        (false, false) => state::PAUSED,
    }
}

fn state_name(state: u8) -> &'static str {
    match state {
        state::PLAYING => "playing",
        state::STOPPED => "stopped",
        _ => "paused",
    }
}

fn set_state(
    sim: &mut Sim,
    request: &srv::SetSimulationState::Request,
) -> srv::SetSimulationState::Response {
    let result = match request.state.state {
        already if already == state_of(sim) => failed(
            result::ALREADY_IN_TARGET_STATE,
            format!("the simulation is {} already", state_name(already)),
        ),
        state::PLAYING => {
            sim.is_stopped = false;
            sim.pacer.set_playing(true);
            ok()
        }
        state::PAUSED => {
            sim.is_stopped = false;
            sim.pacer.set_playing(false);
            ok()
        }
        state::STOPPED => {
            sim.pacer.set_playing(false);
            let reset = sim.reset(Scope { time: true, spawned: true });
            sim.is_stopped = reset.is_ok();
            sim.publish();
            reset.map_or_else(|e| failed(result::STATE_TRANSITION_ERROR, e), |()| ok())
        }
        state::QUITTING => {
            sim.quit();
            ok()
        }
        other => failed(
            result::INCORRECT_TRANSITION,
            format!("state {other} cannot be set; 0 stopped, 1 playing, 2 paused, 3 quitting"),
        ),
    };
    srv::SetSimulationState::Response { result }
}

fn reset(sim: &mut Sim, request: &srv::ResetSimulation::Request) -> srv::ResetSimulation::Response {
    const EVERY: u8 = scope::TIME | scope::STATE | scope::SPAWNED;
    let asked = match request.scope {
        scope::DEFAULT | scope::ALL => EVERY,
        asked => asked,
    };
    if asked & !EVERY != 0 {
        let what = format!(
            "scope {asked} has bits that mean nothing; 1 time, 2 state, 4 spawned, 255 all"
        );
        return srv::ResetSimulation::Response {
            result: failed(result::FEATURE_UNSUPPORTED, what),
        };
    }
    let has = |bit: u8| asked & bit != 0;
    let mut result = Ok(());
    if has(scope::STATE) {
        result = sim.reset(Scope { time: has(scope::TIME), spawned: has(scope::SPAWNED) });
    } else if has(scope::TIME) {
        sim.pacer.reset_time();
    }
    if has(scope::SPAWNED) && !has(scope::STATE) {
        sim.delete_spawned();
    }
    sim.publish();
    let result = result.map_or_else(|e| failed(result::OPERATION_FAILED, e), |()| ok());
    srv::ResetSimulation::Response { result }
}

/// Names that pass the filters: pattern, categories and spheres.
fn filtered(sim: &Sim, filters: &sim_msg::EntityFilters) -> Result<Vec<String>, sim_msg::Result> {
    let Some(world) = sim.pacer.io().world() else { return Ok(Vec::new()) };
    if !filters.tags.tags.is_empty() {
        return Err(failed(
            result::FEATURE_UNSUPPORTED,
            "entities have no tags; filter by pattern, category or sphere",
        ));
    }
    let sphere = sphere(&filters.bounds)?;
    let pattern = regex_lite::Regex::new(&filters.filter).map_err(|e| {
        failed(
            result::OPERATION_FAILED,
            format!("filter `{}` is no regular expression: {e}", filters.filter),
        )
    })?;
    let is_asked_for = |name: &String| {
        let category = world::find(world, name).map(|e| category_of(sim, e));
        let of_category = filters.categories.is_empty()
            || filters.categories.iter().any(|c| Some(c.category) == category);
        let inside = sphere.is_none_or(|(center, radius)| {
            let at = world::find(world, name).map(|e| world::state(world, e).0.translation);
            at.is_some_and(|at| (at - center).norm() <= radius)
        });
        of_category && inside
    };
    Ok(world::names(world).into_iter().filter(|n| pattern.is_match(n) && is_asked_for(n)).collect())
}

/// Centre and radius [m] of a spherical filter: entities whose origin is inside pass.
fn sphere(filter: &sim_msg::Bounds) -> Result<Option<(Vector3, f64)>, sim_msg::Result> {
    match (filter.type_, filter.points.as_slice()) {
        (bounds::EMPTY, _) => Ok(None),
        (bounds::SPHERE, [center, extent]) => match (Vector3::from_message(center), extent.x) {
            (Some(center), radius) if radius >= 0.0 && radius.is_finite() => {
                Ok(Some((center, radius)))
            }
            _ => Err(failed(
                result::OPERATION_FAILED,
                "the sphere is not finite, or its radius is negative; give the centre and (radius, 0, 0)",
            )),
        },
        (bounds::SPHERE, points) => Err(failed(
            result::OPERATION_FAILED,
            format!("a sphere has 2 points, its centre and (radius, 0, 0), not {}", points.len()),
        )),
        _ => Err(failed(
            result::FEATURE_UNSUPPORTED,
            "filters by boxes and convex hulls are not supported; filter by a sphere, pattern or category",
        )),
    }
}

fn category_of(sim: &Sim, entity: Entity) -> u8 {
    match (entity, sim.pacer.io().world()) {
        (Entity::Object(id), Some(world)) if world.body(id).description().fixed => {
            category::STATIC_OBJECT
        }
        (Entity::Object(_), _) => category::DYNAMIC_OBJECT,
        (Entity::Robot(_), _) => category::ROBOT,
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
        .pacer
        .io()
        .world()
        .map_or((Pose::IDENTITY, Motion::default()), |w| world::state(w, entity));
    sim_msg::EntityState {
        header: Header {
            stamp: Time::from_nanoseconds(sim.pacer.stamp()).to_message(),
            frame_id: "world".to_owned(),
        },
        pose: pose.to_message(),
        twist: velocity.to_message(),
        ..sim_msg::EntityState::default()
    }
}

fn unknown(sim: &Sim, name: &str) -> sim_msg::Result {
    let names = sim.pacer.io().world().map(world::names).unwrap_or_default();
    failed(result::NOT_FOUND, format!("no entity `{name}`; there are: {}", names.join(", ")))
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
            result::OPERATION_FAILED,
            "a robot's base cannot be moved; reset it with the parameter `reset_posture`",
        ),
        Some(entity) => place(sim, entity, &request.state).map_or_else(|result| result, |()| ok()),
    };
    sim.show_changes();
    srv::SetEntityState::Response { result }
}

/// Moves an entity to a pose and velocity given in the frame of the header.
fn place(
    sim: &mut Sim,
    entity: Entity,
    state: &sim_msg::EntityState,
) -> Result<(), sim_msg::Result> {
    let (Some(pose), Some(velocity)) =
        (Pose::from_message(&state.pose), Motion::from_message(&state.twist))
    else {
        let what = "pose or twist is not finite, or the quaternion is zero";
        return Err(failed(result::INVALID_POSE, what));
    };
    let Some(world) = sim.pacer.io_mut().world_mut() else {
        return Err(failed(result::OPERATION_FAILED, "no world"));
    };
    let frame_pose = frames::pose_in_world(world, &state.header.frame_id)
        .map_err(|e| failed(result::INVALID_POSE, format!("header.frame_id: {e}")))?;
    let (pose, velocity) = frames::to_world(&frame_pose, &pose, &velocity);
    if frames::is_static(world, entity) && velocity != Motion::default() {
        let what = "a static object does not move; give it a twist of zero";
        return Err(failed(result::OPERATION_FAILED, what));
    }
    world::set_state(world, entity, pose, velocity).map_err(|e| failed(result::INVALID_POSE, e))
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
        category: sim_msg::EntityCategory { category: category_of(sim, entity) },
        ..sim_msg::EntityInfo::default()
    };
    srv::GetEntityInfo::Response { result: ok(), info }
}

fn spawn_entity(sim: &mut Sim, request: &srv::SpawnEntity::Request) -> srv::SpawnEntity::Response {
    sim.show_changes();
    match try_spawn(sim, request) {
        Ok(entity_name) => srv::SpawnEntity::Response { result: ok(), entity_name },
        Err((code, message)) => {
            srv::SpawnEntity::Response { result: failed(code, message), entity_name: String::new() }
        }
    }
}

/// Spawns the requested entity; the name that it got.
fn try_spawn(
    sim: &mut Sim,
    request: &srv::SpawnEntity::Request,
) -> Result<String, resource::Refusal> {
    resource::check_namespace(&request.entity_namespace)?;
    if !request.name.is_empty() {
        resource::check_name(&request.name)?;
    }
    let folders =
        resource::folders(&sim.parameters.scene.get(), &sim.parameters.model_folders.get());
    let found = resource::read(&request.uri, &request.resource_string, &folders)?;
    let world =
        sim.pacer.io_mut().world_mut().ok_or((result::OPERATION_FAILED, "no world".to_owned()))?;
    let pose = Pose::from_message(&request.initial_pose.pose)
        .ok_or("initial_pose is not finite, or its quaternion is zero".to_owned())
        .and_then(|pose| {
            let frame = &request.initial_pose.header.frame_id;
            let frame_pose = frames::pose_in_world(world, frame);
            frame_pose.map(|frame_pose| frame_pose * pose).map_err(|e| format!("initial_pose: {e}"))
        })
        .map_err(|e| (codes::spawn::INVALID_POSE, e))?;
    let own = || resource::own_name(&found.text);
    let name = if request.name.is_empty() { own() } else { request.name.clone() };
    let name = free_name(world, &name, request.allow_renaming)?;
    let entity = spawn::spawn(world, &name, &found, pose).map_err(|e| match e {
        SpawnError::Parse(e) => (codes::spawn::RESOURCE_PARSE_ERROR, e),
        SpawnError::MissingAssets(e) => (codes::spawn::MISSING_ASSETS, e),
        SpawnError::UnsupportedAssets(e) => (codes::spawn::UNSUPPORTED_ASSETS, e),
        SpawnError::Refused(e) => (result::OPERATION_FAILED, e),
    })?;
    if let Entity::Robot(id) = entity {
        let namespace = &request.entity_namespace;
        let prefix = if namespace.is_empty() { &name } else { namespace };
        sim.adopt(id, prefix.trim_end_matches('/'));
    }
    sim.is_stopped = false;
    Ok(name)
}

/// The name itself, or followed by a number where it is taken and may be changed.
fn free_name(world: &World, name: &str, may_change: bool) -> Result<String, resource::Refusal> {
    if world::find(world, name).is_none() {
        return Ok(name.to_owned());
    }
    let numbered = || (1..=u32::MAX).map(|i| format!("{name}_{i}"));
    let free = may_change
        .then(numbered)
        .and_then(|mut names| names.find(|n| world::find(world, n).is_none()));
    free.ok_or_else(|| {
        (
            codes::spawn::NAME_NOT_UNIQUE,
            format!("`{name}` is taken; choose another name or allow renaming"),
        )
    })
}

fn delete(sim: &mut Sim, request: &srv::DeleteEntity::Request) -> srv::DeleteEntity::Response {
    let result = match sim.entity(&request.entity) {
        None => unknown(sim, &request.entity),
        Some(Entity::Robot(id)) if !sim.is_spawned(id) => {
            failed(result::OPERATION_FAILED, "robots of the scene cannot be deleted")
        }
        Some(entity) => {
            if let Some(world) = sim.pacer.io_mut().world_mut() {
                match entity {
                    Entity::Robot(id) => world.remove_robot(id),
                    Entity::Object(id) => world.remove_body(id),
                }
            }
            sim.follow_robots();
            sim.show_changes();
            ok()
        }
    };
    srv::DeleteEntity::Response { result }
}

fn save_snapshot(sim: &mut Sim, request: &SaveSnapshot::Request) -> SaveSnapshot::Response {
    let stamp = sim.pacer.stamp();
    let time = Time::from_nanoseconds(stamp).to_message();
    let (Some(simulated), false) = (sim.pacer.io().simulated(), request.name.is_empty()) else {
        let message = "the name is empty; give the snapshot a name".to_owned();
        return SaveSnapshot::Response { success: false, message, stamp: time, digest: 0 };
    };
    let digest = sim.keeper.save(&request.name, simulated, stamp);
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
