//! Failures of the hand's machine as the codes of its actions' results.

use karakuri_grasp::pick_and_place::Failure;
use karakuri_grasp::tool_change::ToolChangeFailure;

/// Failures and their codes (`karakuri_msgs/action/PickAndPlace`).
const CODES: [(Failure, u8); 14] = [
    (Failure::NoObject, 1),
    (Failure::WrongSize, 2),
    (Failure::Blocked, 3),
    (Failure::Slipped, 4),
    (Failure::Collision, 6),
    (Failure::TimeOut, 7),
    (Failure::Stuck, 8),
    (Failure::RobotLost, 9),
    (Failure::Canceled, 11),
    (Failure::Preempted, 12),
    (Failure::TooHeavy, 13),
    (Failure::NoSeal, 14),
    (Failure::PressureLost, 15),
    (Failure::Partial, 16),
];

/// Code of a failure; 0 of none.
pub fn failure_code(failure: Option<Failure>) -> u8 {
    let known = CODES.iter().find(|(known, _)| Some(*known) == failure);
    known.map_or(0, |(_, code)| *code)
}

/// Failure of a code; `None` of 0, and of codes of goals that were not begun.
pub fn failure_of_code(code: u8) -> Option<Failure> {
    CODES.iter().find(|(_, known)| *known == code).map(|(failure, _)| *failure)
}

/// Failures of a change of tools and their codes (`karakuri_msgs/action/ChangeTool`).
const TOOL_CODES: [(ToolChangeFailure, u8); 6] = [
    (ToolChangeFailure::UnknownTool, 1),
    (ToolChangeFailure::ToolLost, 2),
    (ToolChangeFailure::Unreachable, 3),
    (ToolChangeFailure::Refused, 4),
    (ToolChangeFailure::RobotLost, 5),
    (ToolChangeFailure::Canceled, 6),
];

/// Code of a failure of a change of tools; 0 of none.
pub fn tool_failure_code(failure: Option<ToolChangeFailure>) -> u8 {
    let known = TOOL_CODES.iter().find(|(known, _)| Some(*known) == failure);
    known.map_or(0, |(_, code)| *code)
}

/// Failure of a change of tools of a code; `None` of 0, and of codes of goals that were not begun.
pub fn tool_failure_of_code(code: u8) -> Option<ToolChangeFailure> {
    TOOL_CODES.iter().find(|(_, known)| *known == code).map(|(failure, _)| *failure)
}

#[cfg(test)]
mod tests {
    use karakuri_ros::msg::karakuri_msgs::action::ChangeTool::Result as ToolMessage;
    use karakuri_ros::msg::karakuri_msgs::action::PickAndPlace::Result as Message;

    use super::*;

    #[test]
    fn codes_are_those_of_the_message() {
        for (code, failure) in [
            (Message::NO_OBJECT as u8, Failure::NoObject),
            (Message::WRONG_SIZE as u8, Failure::WrongSize),
            (Message::BLOCKED as u8, Failure::Blocked),
            (Message::SLIPPED as u8, Failure::Slipped),
            (Message::COLLISION as u8, Failure::Collision),
            (Message::TIMEOUT as u8, Failure::TimeOut),
            (Message::STUCK as u8, Failure::Stuck),
            (Message::ROBOT_LOST as u8, Failure::RobotLost),
            (Message::CANCELED as u8, Failure::Canceled),
            (Message::PREEMPTED as u8, Failure::Preempted),
            (Message::TOO_HEAVY as u8, Failure::TooHeavy),
            (Message::NO_SEAL as u8, Failure::NoSeal),
            (Message::PRESSURE_LOST as u8, Failure::PressureLost),
            (Message::PARTIAL as u8, Failure::Partial),
        ] {
            assert_eq!((failure_code(Some(failure)), failure_of_code(code)), (code, Some(failure)));
        }
        assert_eq!((failure_code(None), failure_of_code(0)), (0, None));
    }

    #[test]
    fn codes_of_changes_are_those_of_the_message() {
        for (code, failure) in [
            (ToolMessage::UNKNOWN_TOOL as u8, ToolChangeFailure::UnknownTool),
            (ToolMessage::TOOL_LOST as u8, ToolChangeFailure::ToolLost),
            (ToolMessage::UNREACHABLE as u8, ToolChangeFailure::Unreachable),
            (ToolMessage::REFUSED as u8, ToolChangeFailure::Refused),
            (ToolMessage::ROBOT_LOST as u8, ToolChangeFailure::RobotLost),
            (ToolMessage::CANCELED as u8, ToolChangeFailure::Canceled),
        ] {
            let both = (tool_failure_code(Some(failure)), tool_failure_of_code(code));
            assert_eq!(both, (code, Some(failure)));
        }
        assert_eq!((tool_failure_code(None), tool_failure_of_code(0)), (0, None));
    }
}
