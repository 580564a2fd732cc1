//! Conversion of `pick_and_place` between messages and the machine.

use std::sync::Arc;

use karakuri_grasp::pick_and_place::{
    Failure, Feedback, Hull, KnownObject, ObjectPose, ObjectShape, Part, PickAndPlaceResult,
    PlanError, StatedGrasp, Statement, turned,
};
use karakuri_model::Model;
use karakuri_ros::msg::geometry_msgs::msg::PoseStamped;
use karakuri_ros::msg::karakuri_msgs::action::PickAndPlace;
use karakuri_ros::msg::karakuri_msgs::msg::{Grasp, ObjectStates};
use karakuri_ros::{FromMessage, IntoMessage, Transforms};
use karakuri_spatial::{Pose, Time, Vector3};

/// Error codes of the action's result (`karakuri_msgs/action/PickAndPlace`).
pub(crate) mod code {
    pub(crate) const NONE: u8 = 0;
    pub(crate) const UNREACHABLE: u8 = 5;
    pub(crate) const ROBOT_LOST: u8 = 9;
    pub(crate) const INVALID_GOAL: u8 = 10;
    pub(crate) const TOO_HEAVY: u8 = 13;
    pub(crate) const WRONG_TOOL: u8 = 17;
}

/// Parts of the task that goals ask for.
pub(crate) mod part {
    pub(crate) const WHOLE: u8 = 0;
    pub(crate) const PICK: u8 = 1;
    pub(crate) const PLACE: u8 = 2;
}

/// Frames by which poses of messages are brought into the model's world.
#[derive(Clone, Copy)]
pub(crate) struct Frames<'a> {
    pub(crate) transforms: &'a Transforms,
    pub(crate) model: &'a Model,
    /// Frame of the robot's root link.
    pub(crate) root: &'a str,
}

/// What a goal asks for.
pub(crate) enum Asked {
    /// A pick and place, or the first part of one.
    Task(Box<Statement>),
    /// The second part: what is in the hand goes to a place, turned since it was picked.
    Place(ObjectPose),
}

/// What a goal asks for, poses in the model's world.
pub(crate) fn asked(goal: &PickAndPlace::Goal, frames: Frames<'_>) -> Result<Asked, String> {
    let part = match goal.part {
        part::WHOLE => Part::Whole,
        part::PICK => Part::Pick,
        part::PLACE => {
            let place = object_pose("place_pose", &goal.place_pose, frames)?;
            let place = turned(&place);
            return place.map(Asked::Place).ok_or_else(|| {
                "place_pose turns the object over; give one that is turned about the vertical"
                    .to_owned()
            });
        }
        other => return Err(format!("part is {other}; it must be WHOLE, PICK or PLACE")),
    };
    let object = object_pose("object_pose", &goal.object_pose, frames)?;
    let place = match part {
        Part::Whole => object_pose("place_pose", &goal.place_pose, frames)?,
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

fn object_pose(what: &str, message: &PoseStamped, frames: Frames<'_>) -> Result<Pose, String> {
    let pose = Pose::from_message(&message.pose).ok_or_else(|| {
        format!(
            "{what} is not finite, or its quaternion is zero; give a position and a unit quaternion"
        )
    })?;
    in_world(&message.header.frame_id, &pose, frames).ok_or_else(|| {
        let (frame, root) = (&message.header.frame_id, frames.root);
        format!("{what} is in frame `{frame}`, which tf does not connect to `{root}`; use a frame that it does")
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

/// Whether tf connects a frame to the robot.
pub(crate) fn knows(frame: &str, frames: Frames<'_>) -> bool {
    in_world(frame, &Pose::IDENTITY, frames).is_some()
}

/// Pose in the model's world; `None` if tf does not know its frame.
fn in_world(frame: &str, pose: &Pose, frames: Frames<'_>) -> Option<Pose> {
    let in_root = if frame.is_empty() || frame == frames.root {
        *pose
    } else {
        frames.transforms.pose(frames.root, frame)? * *pose
    };
    Some(frames.model.frames[0].pose_in_body * in_root)
}

/// Seen objects, in the model's world; those in unknown frames or without a size are left out.
pub(crate) fn objects(message: &ObjectStates, frames: Frames<'_>) -> Vec<KnownObject> {
    let seen = message.objects.iter().filter_map(|object| {
        let pose = Pose::from_message(&object.pose)?;
        let size = Vector3::from_message(&object.size).filter(|size| size.min() > 0.0)?;
        let pose = in_world(&message.header.frame_id, &pose, frames)?;
        Some(KnownObject { name: object.name.clone(), pose, size })
    });
    seen.collect()
}

/// Error code for a goal that cannot be planned.
pub(crate) fn plan_code(error: &PlanError) -> u8 {
    match error {
        PlanError::Unreachable { .. } => code::UNREACHABLE,
        PlanError::TooHeavy { .. } => code::TOO_HEAVY,
        _ => code::INVALID_GOAL,
    }
}

fn failure_code(failure: Option<Failure>) -> u8 {
    match failure {
        None => code::NONE,
        Some(Failure::NoObject) => 1,
        Some(Failure::WrongSize) => 2,
        Some(Failure::Blocked) => 3,
        Some(Failure::Slipped) => 4,
        Some(Failure::Collision) => 6,
        Some(Failure::TimeOut) => 7,
        Some(Failure::Stuck) => 8,
        Some(Failure::RobotLost) => code::ROBOT_LOST,
        Some(Failure::Canceled) => 11,
        Some(Failure::Preempted) => 12,
        Some(Failure::TooHeavy) => code::TOO_HEAVY,
        Some(Failure::NoSeal) => 14,
        Some(Failure::PressureLost) => 15,
        Some(Failure::Partial) => 16,
    }
}

/// Result of a run that ended at `now`.
pub(crate) fn result(result: &PickAndPlaceResult, now: Time) -> PickAndPlace::Result {
    PickAndPlace::Result {
        success: result.failure.is_none(),
        error_code: failure_code(result.failure),
        message: result.message.clone(),
        state: result.stage.name().to_owned(),
        elapsed: result.elapsed,
        width: result.width,
        force_left: result.forces[0],
        force_right: result.forces[1],
        retries: u8::try_from(result.retries).unwrap_or(u8::MAX),
        stamp: now.to_message(),
    }
}

/// Result of a goal that never started to move.
pub(crate) fn refusal(
    error_code: u8,
    message: impl Into<String>,
    now: Time,
) -> PickAndPlace::Result {
    PickAndPlace::Result {
        error_code,
        message: message.into(),
        state: "IDLE".to_owned(),
        stamp: now.to_message(),
        ..PickAndPlace::Result::default()
    }
}

pub(crate) fn feedback(feedback: &Feedback, elapsed: f64) -> PickAndPlace::Feedback {
    PickAndPlace::Feedback {
        state: feedback.stage.name().to_owned(),
        progress: feedback.progress,
        width: feedback.opening,
        force_left: feedback.forces[0],
        force_right: feedback.forces[1],
        elapsed,
        retries: u8::try_from(feedback.retries).unwrap_or(u8::MAX),
    }
}
