//! Services that push things, look up their poses, and change their surfaces.

use karakuri_model::Bumper;
use karakuri_physics::{Owner, Push as Pushed, Surface};
use karakuri_ros::msg::karakuri_msgs::srv::{
    CastRay, GetDistance, Push, SetSurface, SetSurfaceVelocity,
};
use karakuri_ros::{FromMessage, IntoMessage, Node, RosError};
use karakuri_spatial::{Force, Vector3};

use crate::answer::{at, outcome};
use crate::simulation::Sim;

/// Offers the services.
pub(crate) fn offer(node: &mut Node<Sim>) -> Result<(), RosError> {
    node.service::<Push::Service>("~/push", |sim, request| {
        let (success, message) = outcome(push(sim, request));
        Push::Response { success, message }
    })?;
    node.service::<CastRay::Service>("~/cast_ray", |sim, request| {
        let refused = |message| CastRay::Response { message, ..CastRay::Response::default() };
        cast_ray(sim, request).unwrap_or_else(refused)
    })?;
    node.service::<GetDistance::Service>("~/get_distance", |sim, request| {
        let refused =
            |message| GetDistance::Response { message, ..GetDistance::Response::default() };
        distance(sim, request).unwrap_or_else(refused)
    })?;
    node.service::<SetSurface::Service>("~/set_surface", |sim, request| {
        let (success, message) = outcome(set_surface(sim, request));
        SetSurface::Response { success, message }
    })?;
    node.service::<SetSurfaceVelocity::Service>("~/set_surface_velocity", |sim, request| {
        let (success, message) = outcome(set_surface_velocity(sim, request));
        SetSurfaceVelocity::Response { success, message }
    })
}

/// Part by the name that a request has under `key`.
fn part(sim: &mut Sim, key: &str, name: &str) -> Result<Owner, String> {
    sim.world()?.find_part(name).map_err(at(key))
}

fn push(sim: &mut Sim, request: &Push::Request) -> Result<(), String> {
    let part = part(sim, "body", &request.body)?;
    let point = Vector3::from_message(&request.point).ok_or("`point` is not finite")?;
    let wrench = Force::from_message(&request.wrench).ok_or("`wrench` is not finite")?;
    let duration = request.duration;
    if !(duration > 0.0 && duration.is_finite()) {
        return Err(format!("`duration` is {duration}; give a time above 0 s"));
    }
    let world = sim.world()?;
    let from = world.time();
    let push = Pushed { part, point, wrench, from, until: from + duration };
    world.add_push(push).map(|_| ()).map_err(|e| e.to_string())
}

fn cast_ray(sim: &mut Sim, request: &CastRay::Request) -> Result<CastRay::Response, String> {
    let origin = Vector3::from_message(&request.origin).ok_or("`origin` is not finite")?;
    let direction = Vector3::from_message(&request.direction)
        .and_then(|direction| direction.try_normalize(1e-12))
        .ok_or("`direction` is not finite or has no length")?;
    if !(request.range > 0.0 && request.range.is_finite()) {
        return Err(format!("`range` is {}; give a distance above 0 m", request.range));
    }
    let world = sim.world()?;
    let found = CastRay::Response { success: true, ..CastRay::Response::default() };
    let Some(hit) = world.cast_ray(&origin, &direction, request.range) else { return Ok(found) };
    Ok(CastRay::Response {
        hit: true,
        body: world.part_name(hit.part),
        distance: hit.distance,
        normal: hit.normal.to_message(),
        ..found
    })
}

fn distance(
    sim: &mut Sim,
    request: &GetDistance::Request,
) -> Result<GetDistance::Response, String> {
    let a = part(sim, "body_a", &request.body_a)?;
    let b = part(sim, "body_b", &request.body_b)?;
    let nearest = sim.world()?.closest(a, b);
    let nearest = nearest.ok_or("one of the two has no shape to touch with")?;
    Ok(GetDistance::Response {
        success: true,
        message: String::new(),
        distance: nearest.gap,
        point_a: nearest.points[0].to_message(),
        point_b: nearest.points[1].to_message(),
    })
}

fn set_surface(sim: &mut Sim, request: &SetSurface::Request) -> Result<(), String> {
    let part = part(sim, "body", &request.body)?;
    let world = sim.world()?;
    let now = world.surface(part).ok_or("it has no shape to touch with")?;
    let given = |value: f64, now: f64| if value < 0.0 { now } else { value };
    let sliding = given(request.friction, now.dynamic_friction);
    let surface = Surface {
        friction: given(request.friction, now.friction),
        dynamic_friction: given(request.dynamic_friction, sliding),
        restitution: given(request.restitution, now.restitution),
        rolling: given(request.rolling, now.rolling),
        spinning: given(request.spinning, now.spinning),
        soft_finger: now.soft_finger,
        bumper: bumper(now.bumper, request)?,
    };
    world.set_surface(part, surface).map_err(|e| e.to_string())
}

/// Spring and damper that a request asks for, on top of the present ones.
fn bumper(now: Option<Bumper>, request: &SetSurface::Request) -> Result<Option<Bumper>, String> {
    let now = now.unwrap_or(Bumper { stiffness: 0.0, damping: 0.0 });
    let given = |value: f64, now: f64| if value < 0.0 { now } else { value };
    let stiffness = given(request.stiffness, now.stiffness);
    let damping = given(request.damping, if stiffness > 0.0 { now.damping } else { 0.0 });
    if stiffness == 0.0 && damping > 0.0 {
        return Err("a rigid surface has no damper; give `stiffness`, too".to_owned());
    }
    Ok((stiffness != 0.0).then_some(Bumper { stiffness, damping }))
}

fn set_surface_velocity(
    sim: &mut Sim,
    request: &SetSurfaceVelocity::Request,
) -> Result<(), String> {
    let part = part(sim, "body", &request.body)?;
    let velocity = Vector3::from_message(&request.velocity).ok_or("`velocity` is not finite")?;
    sim.world()?.set_surface_velocity(part, velocity).map_err(|e| e.to_string())
}
