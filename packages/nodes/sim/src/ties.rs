//! Services that join things while the simulation runs: attached joints, which may break or yield, and gears.

use karakuri_physics::{
    Bushing, Failure, GearDescription, GearEnd, JointDescription, Strength, World, WorldError,
};
use karakuri_ros::msg::geometry_msgs::msg::Vector3 as Axis;
use karakuri_ros::msg::karakuri_msgs::srv::{AttachGear, AttachJoint, DetachJoint};
use karakuri_ros::{FromMessage, Node, RosError};
use karakuri_spatial::{Pose, Vector3};

use crate::answer::{at, outcome};
use crate::simulation::Sim;

/// Offers the services.
pub(crate) fn offer(node: &mut Node<Sim>) -> Result<(), RosError> {
    node.service::<AttachJoint::Service>("~/attach_joint", |sim, request| {
        let (success, message) = outcome(attach_joint(sim, request));
        AttachJoint::Response { success, message }
    })?;
    node.service::<AttachGear::Service>("~/attach_gear", |sim, request| {
        let (success, message) = outcome(attach_gear(sim, request));
        AttachGear::Response { success, message }
    })?;
    node.service::<DetachJoint::Service>("~/detach_joint", |sim, request| {
        let (success, message) = outcome(detach(sim, &request.name));
        DetachJoint::Response { success, message }
    })
}

/// Upper bound, where 0 stands for none.
fn bound(key: &str, value: f64) -> Result<f64, String> {
    match value {
        0.0 => Ok(f64::INFINITY),
        value if value > 0.0 => Ok(value),
        value => Err(format!("`{key}` is {value}; give a positive number, or 0 for no bound")),
    }
}

fn attach_joint(sim: &mut Sim, request: &AttachJoint::Request) -> Result<(), String> {
    if request.name.is_empty() {
        return Err("the name is empty; give the joint a name".to_owned());
    }
    let pose_in_a = Pose::from_message(&request.frame)
        .ok_or("`frame` is not finite, or its quaternion is zero")?;
    let locked = <[bool; 6]>::try_from(request.locked.as_slice())
        .map_err(|_| "`locked` needs six values: rotation x y z, translation x y z")?;
    let world = sim.world()?;
    let a = world.find_part(&request.body_a).map_err(at("body_a"))?;
    let b = world.find_part(&request.body_b).map_err(at("body_b"))?;
    let strength = strength(request)?;
    let six = |key: &str, values: &[f64]| {
        <[f64; 6]>::try_from(values).map_err(|_| format!("`{key}` needs six values, as `locked`"))
    };
    let stiffness = six("stiffness", &request.stiffness)?;
    let bushing = Some(Bushing { stiffness, damping: six("damping", &request.damping)? });
    let description = JointDescription { a, b, pose_in_a, locked, bushing, strength };
    world.attach_joint(&request.name, description).map(|_| ()).map_err(|e| e.to_string())
}

/// Strength of a joint that may break or yield; `None` of one that does not.
fn strength(request: &AttachJoint::Request) -> Result<Option<Strength>, String> {
    let (force, torque) =
        (bound("max_force", request.max_force)?, bound("max_torque", request.max_torque)?);
    if request.failure.is_empty() {
        if force.is_finite() || torque.is_finite() {
            return Err("a strength needs `failure`: write breaks or yields".to_owned());
        }
        return Ok(None);
    }
    let Some(failure) = Failure::find(&request.failure) else {
        let known = Failure::ALL.map(Failure::name).join(" or ");
        return Err(format!("`failure` is `{}`; write {known}, or nothing", request.failure));
    };
    if force.is_infinite() && torque.is_infinite() {
        return Err("`failure` needs `max_force` or `max_torque` above 0".to_owned());
    }
    Ok(Some(Strength { force, torque, failure }))
}

fn attach_gear(sim: &mut Sim, request: &AttachGear::Request) -> Result<(), String> {
    if request.name.is_empty() {
        return Err("the name is empty; give the gear a name".to_owned());
    }
    let torque = bound("max_torque", request.max_torque)?;
    let world = sim.world()?;
    let a = gear_end(world, &request.end_a, &request.axis_a).map_err(at("end_a"))?;
    let b = gear_end(world, &request.end_b, &request.axis_b).map_err(at("end_b"))?;
    let description = GearDescription { a, b, ratio: request.ratio, torque };
    world.attach_gear(&request.name, description).map(|_| ()).map_err(|e| e.to_string())
}

fn gear_end(world: &World, name: &str, axis: &Axis) -> Result<GearEnd, WorldError> {
    let axis = Vector3::new(axis.x, axis.y, axis.z);
    if axis == Vector3::zeros() {
        world.find_robot_joint(name).map(|(robot, body)| GearEnd::Joint(robot, body))
    } else {
        world.find_part(name).map(|part| GearEnd::Turn(part, axis))
    }
}

/// Removes a joint, a gear or a spring.
fn detach(sim: &mut Sim, name: &str) -> Result<(), String> {
    let world = sim.world()?;
    if let Some(id) = world.find_joint(name) {
        world.detach_joint(id);
        return Ok(());
    }
    if let Some(id) = world.find_gear(name) {
        world.detach_gear(id);
        return Ok(());
    }
    if let Some(id) = world.find_spring(name) {
        world.remove_spring(id);
        return Ok(());
    }
    if let Some((robot, joint)) = name.split_once('/')
        && let Some(robot) = world.find_robot(robot)
    {
        return world.open_loop(robot, joint).map_err(|e| e.to_string());
    }
    let springs = world.springs().map(|(id, _)| world.spring_name(id));
    let springs = springs.filter(|name| !name.is_empty());
    let known: Vec<_> = world.joint_names().chain(world.gear_names()).chain(springs).collect();
    Err(match known.as_slice() {
        [] => format!("there is no joint `{name}`; none is attached"),
        known => format!("there is no joint `{name}`; there are: {}", known.join(", ")),
    })
}
