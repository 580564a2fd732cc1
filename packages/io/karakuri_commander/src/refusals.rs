//! Refusals that failures and errors of a robot become.

use karakuri_commands::{Code, Refusal, is_name};
use karakuri_grasp::pick_and_place::{Failure, PlanError};
use karakuri_rehearsal::{Cell, RehearsalError};

/// Longest description of an obstacle. [characters]
const DESCRIBED: usize = 240;

/// Code of a failure.
pub(crate) fn code(failure: Failure) -> Code {
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

/// Refusal of what cannot be begun in a cell.
pub fn of_error(cell: &Cell, error: &RehearsalError) -> Refusal {
    let (code, hint) = match error {
        RehearsalError::Plan(PlanError::Unreachable { .. }) => {
            (Code::Unreachable, "choose another aim, or clear the way")
        }
        RehearsalError::Plan(PlanError::TooHeavy { .. }) => {
            (Code::TooHeavy, "allow more force, or choose a lighter object")
        }
        RehearsalError::Plan(PlanError::Busy) => (Code::Busy, "wait for the end of the act"),
        RehearsalError::NoObject { .. } => {
            (Code::UnknownObject, "look at the scene and name one of its objects")
        }
        RehearsalError::Io(_) => (Code::RobotLost, "start the robot's program again"),
        _ => (Code::InvalidGoal, "choose what this hand can do"),
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
