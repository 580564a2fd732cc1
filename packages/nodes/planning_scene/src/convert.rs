//! Conversion of changes of the scene to messages of `MoveIt`.

use karakuri_grasp::scene_changes::{SceneChange, SceneObject};
use karakuri_ros::msg::karakuri_msgs::msg::ObjectStates;
use karakuri_ros::msg::moveit_msgs::msg::{
    AttachedCollisionObject, CollisionObject, PlanningScene, PlanningSceneWorld, RobotState,
};
use karakuri_ros::msg::shape_msgs::msg::SolidPrimitive;
use karakuri_ros::msg::std_msgs::msg::Header;
use karakuri_ros::{FromMessage, IntoMessage};
use karakuri_spatial::{Pose, Vector3};

/// Operations of `moveit_msgs/CollisionObject`.
mod operation {
    pub(super) const ADD: u8 = 0;
    pub(super) const REMOVE: u8 = 1;
    pub(super) const MOVE: u8 = 3;
}

/// Types of `shape_msgs/SolidPrimitive`.
mod primitive {
    pub(super) const BOX: u8 = 1;
    pub(super) const SPHERE: u8 = 2;
    pub(super) const CYLINDER: u8 = 3;
}

/// What `MoveIt` knows of the robot.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    /// Frame of poses.
    pub(crate) frame: String,
    /// Link that carries what is held.
    pub(crate) tool: String,
    /// Links that may touch it.
    pub(crate) touch_links: Vec<String>,
}

/// Objects that are seen, by the pose of their frame in that of the scene; those without a size are left out.
pub(crate) fn objects(message: &ObjectStates, world: &Pose) -> Vec<SceneObject> {
    let seen = message.objects.iter().filter_map(|object| {
        let pose = *world * Pose::from_message(&object.pose)?;
        let size = Vector3::from_message(&object.size).filter(|size| size.min() > 0.0)?;
        Some(SceneObject { name: object.name.clone(), shape: object.shape.clone(), pose, size })
    });
    seen.collect()
}

/// Messages for changes of the scene.
#[derive(Debug)]
pub(crate) enum Messages {
    /// Moves alone, which need no answer.
    Moves(Vec<CollisionObject>),
    /// One change of the scene, to be answered before the next.
    Scene(Box<PlanningScene>),
}

/// Messages for changes of the scene, in their order.
pub(crate) fn messages(changes: &[SceneChange], names: &Names) -> Messages {
    let mut objects = Vec::new();
    let mut attached = Vec::new();
    for change in changes {
        match change {
            SceneChange::Add(object) => objects.push(with_shape(object, names)),
            // With shapes it would be refused.
            SceneChange::Move(object) => {
                objects.push(collision_object(object, names, operation::MOVE));
            }
            SceneChange::Remove(name) => objects.push(named(name, names, operation::REMOVE)),
            // Without shapes it is the object of the world of this name.
            SceneChange::Attach(name) => attached.push(held(name, names, operation::ADD)),
            SceneChange::Detach(name) => attached.push(held(name, names, operation::REMOVE)),
        }
    }
    if attached.is_empty() && objects.iter().all(|o| o.operation == operation::MOVE) {
        return Messages::Moves(objects);
    }
    // MoveIt changes what is attached before it changes the world.
    Messages::Scene(Box::new(PlanningScene {
        is_diff: true,
        robot_state: RobotState {
            is_diff: true,
            attached_collision_objects: attached,
            ..RobotState::default()
        },
        world: PlanningSceneWorld { collision_objects: objects, ..PlanningSceneWorld::default() },
        ..PlanningScene::default()
    }))
}

fn named(name: &str, names: &Names, operation: u8) -> CollisionObject {
    CollisionObject {
        header: Header { frame_id: names.frame.clone(), ..Header::default() },
        id: name.to_owned(),
        operation,
        ..CollisionObject::default()
    }
}

fn held(name: &str, names: &Names, operation: u8) -> AttachedCollisionObject {
    AttachedCollisionObject {
        link_name: names.tool.clone(),
        object: named(name, names, operation),
        touch_links: names.touch_links.clone(),
        ..AttachedCollisionObject::default()
    }
}

fn collision_object(object: &SceneObject, names: &Names, operation: u8) -> CollisionObject {
    CollisionObject { pose: object.pose.to_message(), ..named(&object.name, names, operation) }
}

fn with_shape(object: &SceneObject, names: &Names) -> CollisionObject {
    CollisionObject {
        primitives: vec![solid(object)],
        primitive_poses: vec![Pose::IDENTITY.to_message()],
        ..collision_object(object, names, operation::ADD)
    }
}

/// The shape, where `MoveIt` has it; else the box around it.
fn solid(SceneObject { shape, size, .. }: &SceneObject) -> SolidPrimitive {
    let (type_, dimensions) = match shape.as_str() {
        "sphere" => (primitive::SPHERE, vec![0.5 * size.x]),
        // Height before radius.
        "cylinder" => (primitive::CYLINDER, vec![size.z, 0.5 * size.x]),
        _ => (primitive::BOX, vec![size.x, size.y, size.z]),
    };
    SolidPrimitive { type_, dimensions, ..SolidPrimitive::default() }
}
