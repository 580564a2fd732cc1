//! Results and feedback of `pick_and_place`, and codes of its failures.

use karakuri_grasp::pick_and_place::{Feedback, PickAndPlaceResult, PlanError};
use karakuri_hand_goals::failure_code;
use karakuri_ros::IntoMessage;
use karakuri_ros::msg::karakuri_msgs::action::PickAndPlace;
use karakuri_spatial::Time;

/// Error codes of results (`karakuri_msgs/action/PickAndPlace`, `MoveTool`).
pub(crate) mod code {
    pub(crate) const UNREACHABLE: u8 = 5;
    pub(crate) const ROBOT_LOST: u8 = 9;
    pub(crate) const INVALID_GOAL: u8 = 10;
    pub(crate) const TOO_HEAVY: u8 = 13;
    pub(crate) const WRONG_TOOL: u8 = 17;
}

/// Error code for a goal that cannot be planned.
pub(crate) fn plan_code(error: &PlanError) -> u8 {
    match error {
        PlanError::Unreachable { .. } => code::UNREACHABLE,
        PlanError::TooHeavy { .. } => code::TOO_HEAVY,
        _ => code::INVALID_GOAL,
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
