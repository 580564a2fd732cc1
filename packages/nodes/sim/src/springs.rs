//! Services that hang springs between things, and change them.

use karakuri_physics::Spring;
use karakuri_ros::msg::karakuri_msgs::srv::{AttachSpring, SetSpring};
use karakuri_ros::{FromMessage, Node, RosError};
use karakuri_spatial::Vector3;

use crate::answer::{at, outcome};
use crate::simulation::Sim;

/// Offers the services.
pub(crate) fn offer(node: &mut Node<Sim>) -> Result<(), RosError> {
    node.service::<AttachSpring::Service>("~/attach_spring", |sim, request| {
        let (success, message) = outcome(attach(sim, request));
        AttachSpring::Response { success, message }
    })?;
    node.service::<SetSpring::Service>("~/set_spring", |sim, request| {
        let (success, message) = outcome(set(sim, request));
        SetSpring::Response { success, message }
    })
}

fn attach(sim: &mut Sim, request: &AttachSpring::Request) -> Result<(), String> {
    if request.name.is_empty() {
        return Err("the name is empty; give the spring a name".to_owned());
    }
    let point_a = Vector3::from_message(&request.point_a).ok_or("`point_a` is not finite")?;
    let point_b = Vector3::from_message(&request.point_b).ok_or("`point_b` is not finite")?;
    let world = sim.world()?;
    let a = world.find_part(&request.body_a).map_err(at("body_a"))?;
    let b = world.find_part(&request.body_b).map_err(at("body_b"))?;
    let (a, b) = (world.anchor_on(a, &point_a), world.anchor_on(b, &point_b));
    let AttachSpring::Request { stiffness, damping, rest_length, .. } = *request;
    let rest_length = if rest_length < 0.0 { world.anchor_distance(&a, &b) } else { rest_length };
    let spring = Spring { a, b, stiffness, damping, rest_length };
    world.attach_spring(&request.name, spring).map(|_| ()).map_err(|e| e.to_string())
}

fn set(sim: &mut Sim, request: &SetSpring::Request) -> Result<(), String> {
    let world = sim.world()?;
    let Some(id) = world.find_spring(&request.name) else {
        let names = world.springs().map(|(id, _)| world.spring_name(id));
        let known: Vec<_> = names.filter(|name| !name.is_empty()).collect();
        let known = if known.is_empty() { "none with a name".to_owned() } else { known.join(", ") };
        return Err(format!("there is no spring `{}`; there are: {known}", request.name));
    };
    let Some(mut spring) = world.spring(id).copied() else { return Ok(()) };
    for (now, given) in [
        (&mut spring.stiffness, request.stiffness),
        (&mut spring.damping, request.damping),
        (&mut spring.rest_length, request.rest_length),
    ] {
        // A NaN is passed on, to be refused.
        if given >= 0.0 || given.is_nan() {
            *now = given;
        }
    }
    world.set_spring(id, spring).map_err(|e| e.to_string())
}
