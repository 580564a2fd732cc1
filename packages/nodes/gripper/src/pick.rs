//! Conversion of `pick_and_place` between messages and the machine.

use karakuri_grasp::pick_and_place::{
    Failure, Feedback, KnownObject, ObjectShape, PickAndPlaceGoal, PickAndPlaceResult, PlanError,
    moved, upright,
};
use karakuri_model::Model;
use karakuri_ros::msg::geometry_msgs::msg::PoseStamped;
use karakuri_ros::msg::karakuri_msgs::action::PickAndPlace;
use karakuri_ros::msg::karakuri_msgs::msg::ObjectStates;
use karakuri_ros::{FromMessage, IntoMessage, Transforms};
use karakuri_spatial::{Pose, Time, Vector3};

/// Error codes of the action's result (`karakuri_msgs/action/PickAndPlace`).
pub(crate) mod code {
    pub(crate) const NONE: u8 = 0;
    pub(crate) const UNREACHABLE: u8 = 5;
    pub(crate) const ROBOT_LOST: u8 = 9;
    pub(crate) const INVALID_GOAL: u8 = 10;
    pub(crate) const TOO_HEAVY: u8 = 13;
}

/// Values for the fields that a goal leaves at 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Defaults {
    pub(crate) grip_force: f64,
    pub(crate) force_max: f64,
    pub(crate) friction: f64,
    pub(crate) approach_height: f64,
}

/// Width tolerance [m] and share of the speeds [-] of a goal.
pub(crate) fn options(
    goal: &PickAndPlace::Goal,
    default_tolerance: f64,
) -> Result<(f64, f64), String> {
    let scale = if goal.speed_scale == 0.0 { 1.0 } else { goal.speed_scale };
    if !(scale > 0.0 && scale <= 1.0) {
        return Err(format!(
            "speed_scale is {scale}; it must be above 0 and at most 1 (0 takes 1)"
        ));
    }
    let tolerance =
        if goal.width_tolerance == 0.0 { default_tolerance } else { goal.width_tolerance };
    if !(tolerance > 0.0 && tolerance.is_finite()) {
        return Err(format!(
            "width_tolerance is {tolerance} m; it must be positive (0 takes the default)"
        ));
    }
    Ok((tolerance, scale))
}

/// Frames by which poses of messages are brought into the model's world.
#[derive(Clone, Copy)]
pub(crate) struct Frames<'a> {
    pub(crate) transforms: &'a Transforms,
    pub(crate) model: &'a Model,
    /// Frame of the robot's root link.
    pub(crate) root: &'a str,
}

/// Goal of the machine, poses in the model's world.
pub(crate) fn goal(
    goal: &PickAndPlace::Goal,
    defaults: Defaults,
    frames: Frames<'_>,
) -> Result<PickAndPlaceGoal, String> {
    let or = |value: f64, default: f64| if value == 0.0 { default } else { value };
    let size = Vector3::from_message(&goal.object_size)
        .ok_or("object_size is not finite; give three numbers")?;
    if goal.max_grip_force < 0.0 || goal.max_grip_force.is_nan() {
        return Err(format!(
            "max_grip_force is {} N; it must be above 0 (0 takes the hand's)",
            goal.max_grip_force
        ));
    }
    let limit = or(goal.max_grip_force, defaults.force_max).min(defaults.force_max);
    let shape = shape(&goal.shape)?;
    let from = object_pose("object_pose", &goal.object_pose, frames)?;
    let to = object_pose("place_pose", &goal.place_pose, frames)?;
    let object = upright(shape, &from, &size).map_err(|e| format!("object_pose {e}"))?;
    let place = moved(&object, &from, &to).ok_or(
        "place_pose turns the object over; give one that is turned about the vertical against object_pose",
    )?;
    Ok(PickAndPlaceGoal {
        shape,
        profile: object.profile,
        size: object.size,
        mass: goal.mass,
        friction: or(goal.friction, defaults.friction),
        pick: object.pose,
        place,
        grip_force: defaults.grip_force.min(limit),
        max_grip_force: limit,
        approach_height: or(goal.approach_height, defaults.approach_height),
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
                "shape is `{other}`; it must be cone, box, cylinder, capsule or ball (empty takes box)"
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
