//! Refusals that failures and errors of a robot become.

use karakuri_commands::{Code, Refusal, is_name};
use karakuri_grasp::pick_and_place::{Failure, PlanError};
use karakuri_grasp::tool_change::ToolChangeFailure;
use karakuri_rehearsal::{Cell, RehearsalError, Trouble, WalkTrouble};

/// Longest description of an obstacle. [characters]
const DESCRIBED: usize = 240;

/// Code of what kept an act from its goal.
pub(crate) fn code(trouble: Trouble) -> Code {
    let failure = match trouble {
        Trouble::Hand(failure) => failure,
        Trouble::Endless => Failure::TimeOut,
        Trouble::Tool(failure) => return code_of_change(failure),
        Trouble::Walk(trouble) => {
            return match trouble {
                WalkTrouble::Unreachable => Code::Unreachable,
                WalkTrouble::Fell => Code::Fell,
                WalkTrouble::Slipped => Code::Slipped,
                WalkTrouble::NotFollowing => Code::RobotLost,
                WalkTrouble::Canceled => Code::Canceled,
            };
        }
    };
    match failure {
        Failure::NoObject => Code::NoObject,
        Failure::WrongSize => Code::WrongSize,
        Failure::Blocked => Code::Blocked,
        Failure::Slipped => Code::Slipped,
        Failure::Partial => Code::Partial,
        Failure::NoSeal => Code::NoSeal,
        Failure::PressureLost => Code::PressureLost,
        Failure::TooHeavy => Code::TooHeavy,
        Failure::Collision => Code::Collision,
        Failure::TimeOut => Code::Timeout,
        Failure::Stuck => Code::Stuck,
        Failure::Canceled => Code::Canceled,
        Failure::Preempted => Code::Preempted,
        Failure::RobotLost => Code::RobotLost,
    }
}

fn code_of_change(failure: ToolChangeFailure) -> Code {
    match failure {
        ToolChangeFailure::UnknownTool => Code::BadArgument,
        ToolChangeFailure::ToolLost => Code::ToolLost,
        ToolChangeFailure::Unreachable => Code::Unreachable,
        ToolChangeFailure::Refused => Code::Blocked,
        ToolChangeFailure::RobotLost => Code::RobotLost,
        ToolChangeFailure::Canceled => Code::Canceled,
    }
}

/// Refusal of what cannot be begun in a cell.
pub fn of_error(cell: &Cell, error: &RehearsalError) -> Refusal {
    let (code, hint) = match error {
        RehearsalError::Plan(PlanError::Unreachable { .. }) => {
            (Code::Unreachable, "choose another aim, or clear the way")
        }
        RehearsalError::Plan(PlanError::TooHeavy { .. }) => {
            (Code::TooHeavy, "allow more force, or choose a lighter object")
        }
        RehearsalError::Plan(PlanError::Busy) | RehearsalError::Walking => {
            (Code::Busy, "wait for the end of the act")
        }
        RehearsalError::NoObject { .. } => {
            (Code::UnknownObject, "look at the scene and name one of its objects")
        }
        RehearsalError::NotStanding => (Code::Fell, "set the robot up in its standing posture"),
        RehearsalError::Tool { failure, .. } => {
            (code_of_change(*failure), "choose another tool, or clear the way to its place")
        }
        RehearsalError::Io(_) => (Code::RobotLost, "start the robot's program again"),
        _ => (Code::InvalidGoal, "choose what this robot can do"),
    };
    described(Refusal::new(code, hint), cell, "why", &error.to_string())
}

/// A refusal with a description of a robot's own: data, in which only names stand for objects.
pub(crate) fn described(mut refusal: Refusal, cell: &Cell, field: &str, text: &str) -> Refusal {
    let world = cell.io.world();
    let names = world.body_ids().map(|id| world.body(id).description().name.as_str());
    let mut text = text.to_owned();
    // A name that is a sentence could speak to a model.
    for name in names.filter(|name| !is_name(name) && !name.is_empty()) {
        text = text.replace(name, "?");
    }
    refusal.field = Some(field.to_owned());
    refusal.value = Some(text.chars().take(DESCRIBED).collect::<String>().into());
    refusal
}
