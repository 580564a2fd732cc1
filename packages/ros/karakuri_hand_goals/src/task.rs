//! Picks and places.

use std::sync::Arc;

use karakuri_grasp::pick_and_place::{
    Hull, ObjectPose, ObjectShape, Part, StatedGrasp, Statement, turned,
};
use karakuri_ros::msg::geometry_msgs::msg::Point;
use karakuri_ros::msg::karakuri_msgs::action::PickAndPlace;
use karakuri_ros::msg::karakuri_msgs::msg::Grasp;
use karakuri_ros::msg::shape_msgs::msg::Mesh;
use karakuri_ros::{FromMessage, IntoMessage};
use karakuri_spatial::{Pose, Vector3};

use crate::frames::{Locate, read, written};

/// Parts of the task that goals ask for.
pub mod part {
    /// A pick and place.
    pub const WHOLE: u8 = 0;
    /// Its first part: the object is then in the hand.
    pub const PICK: u8 = 1;
    /// Its second part.
    pub const PLACE: u8 = 2;
}

/// What a goal asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// A pick and place, or the first part of one.
    Task(Box<Statement>),
    /// The second part: what is in the hand goes to a place, turned since it was picked.
    Place(ObjectPose),
}

/// What a goal asks for, poses in the model's world.
///
/// # Errors
/// When a number is not finite, or a name is not one of those that may be.
pub fn asked(goal: &PickAndPlace::Goal, frames: &impl Locate) -> Result<Asked, String> {
    let part = match goal.part {
        part::WHOLE => Part::Whole,
        part::PICK => Part::Pick,
        part::PLACE => {
            let place = turned(&read("place_pose", &goal.place_pose, frames)?);
            return place.map(Asked::Place).ok_or_else(|| {
                "place_pose turns the object over; give one that is turned about the vertical"
                    .to_owned()
            });
        }
        other => return Err(format!("part is {other}; it must be WHOLE, PICK or PLACE")),
    };
    let object = read("object_pose", &goal.object_pose, frames)?;
    let place = match part {
        Part::Whole => read("place_pose", &goal.place_pose, frames)?,
        Part::Pick => object,
    };
    Ok(Asked::Task(Box::new(statement(goal, part, object, place)?)))
}

fn statement(
    goal: &PickAndPlace::Goal,
    part: Part,
    object: Pose,
    place: Pose,
) -> Result<Statement, String> {
    let (shape, size) = shape_and_size(goal)?;
    Ok(Statement {
        part,
        shape,
        size,
        object,
        place,
        mass: goal.mass,
        friction: goal.friction,
        max_grip_force: goal.max_grip_force,
        approach_height: goal.approach_height,
        width_tolerance: goal.width_tolerance,
        speed_scale: goal.speed_scale,
        grasps: grasps(goal)?,
    })
}

fn grasps(goal: &PickAndPlace::Goal) -> Result<Vec<StatedGrasp>, String> {
    let one = |(i, message): (usize, &Grasp)| {
        let tool = Pose::from_message(&message.pose).ok_or_else(|| {
            format!("grasps[{i}]: its pose is not finite, or its quaternion is zero")
        })?;
        Ok(StatedGrasp { tool, width: message.width, score: message.score })
    };
    goal.grasps.iter().enumerate().map(one).collect()
}

/// Shape of a goal's object and the edges of its box. [m] (3)
fn shape_and_size(goal: &PickAndPlace::Goal) -> Result<(ObjectShape, Vector3), String> {
    if goal.shape == "mesh" {
        let vertices = goal.mesh.vertices.iter().map(Vector3::from_message);
        let vertices: Option<Vec<_>> = vertices.collect();
        let vertices = vertices.ok_or("a vertex of mesh is not finite; give three numbers")?;
        let hull = Hull::around(&vertices).map_err(|why| format!("mesh: {why}"))?;
        let size = hull.size();
        return Ok((ObjectShape::Hull(Arc::new(hull)), size));
    }
    let size = Vector3::from_message(&goal.object_size);
    let size = size.ok_or("object_size is not finite; give three numbers")?;
    Ok((shape(&goal.shape)?, size))
}

/// Shape of a goal's object, by its name.
fn shape(name: &str) -> Result<ObjectShape, String> {
    Ok(match name {
        "" | "box" => ObjectShape::Box,
        "cylinder" => ObjectShape::Cylinder,
        "capsule" => ObjectShape::Capsule,
        "ball" => ObjectShape::Ball,
        "cone" => ObjectShape::Cone,
        other => {
            return Err(format!(
                "shape is `{other}`; it must be mesh, cone, box, cylinder, capsule or ball (empty takes box)"
            ));
        }
    })
}

fn shape_name(shape: &ObjectShape) -> &'static str {
    match shape {
        ObjectShape::Box => "box",
        ObjectShape::Cylinder => "cylinder",
        ObjectShape::Capsule => "capsule",
        ObjectShape::Ball => "ball",
        ObjectShape::Cone => "cone",
        ObjectShape::Hull(_) => "mesh",
    }
}

/// Goal of a statement; `vertices` are those of the mesh whose hull the object is, and none of other shapes. [m] (3 each)
pub fn statement_message(stated: &Statement, vertices: &[Vector3]) -> PickAndPlace::Goal {
    let grasp = |grasp: &StatedGrasp| Grasp {
        pose: grasp.tool.to_message(),
        width: grasp.width,
        score: grasp.score,
    };
    let vertices: Vec<Point> = vertices.iter().map(IntoMessage::to_message).collect();
    PickAndPlace::Goal {
        part: match stated.part {
            Part::Whole => part::WHOLE,
            Part::Pick => part::PICK,
        },
        object_pose: written(&stated.object),
        object_size: stated.size.to_message(),
        width_tolerance: stated.width_tolerance,
        mass: stated.mass,
        friction: stated.friction,
        place_pose: written(&stated.place),
        max_grip_force: stated.max_grip_force,
        speed_scale: stated.speed_scale,
        approach_height: stated.approach_height,
        shape: shape_name(&stated.shape).to_owned(),
        mesh: Mesh { vertices, ..Mesh::default() },
        grasps: stated.grasps.iter().map(grasp).collect(),
    }
}

/// Goal that places what is in the hand, at a share of the speeds. [-]
pub fn place_message(place: &ObjectPose, speed_scale: f64) -> PickAndPlace::Goal {
    let turn = Pose::from_axis_angle(&Vector3::z(), place.yaw).rotation;
    PickAndPlace::Goal {
        part: part::PLACE,
        place_pose: written(&Pose::new(turn, place.position)),
        speed_scale,
        ..PickAndPlace::Goal::default()
    }
}
