//! Verbs: what a principal may ask for.

pub(crate) mod arguments;
pub(crate) mod form;
mod read;

use std::fmt;

use serde::{Deserialize, Serialize};

/// Verb of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// Describes the scene.
    Look,
    /// Tells what the robot does and holds.
    Status,
    /// Reads the audit log.
    Log,
    /// Moves the tool.
    Move,
    /// Opens, closes or evacuates the hand.
    SetGripper,
    /// Takes an object.
    Pick,
    /// Puts the held object down.
    Place,
    /// Moves to the home posture.
    Home,
    /// Walks to a place.
    WalkTo,
    /// Takes another tool.
    ChangeTool,
    /// Carries out what was rehearsed.
    Act,
    /// Brakes and holds. Never gated, never rehearsed.
    Stop,
}

impl Verb {
    /// All verbs, in the order in which tools are listed.
    pub const ALL: [Self; 12] = [
        Self::Look,
        Self::Status,
        Self::Log,
        Self::Move,
        Self::SetGripper,
        Self::Pick,
        Self::Place,
        Self::Home,
        Self::WalkTo,
        Self::ChangeTool,
        Self::Act,
        Self::Stop,
    ];

    /// Name, as tools, files and logs have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Status => "status",
            Self::Log => "log",
            Self::Move => "move",
            Self::SetGripper => "set_gripper",
            Self::Pick => "pick",
            Self::Place => "place",
            Self::Home => "home",
            Self::WalkTo => "walk_to",
            Self::ChangeTool => "change_tool",
            Self::Act => "act",
            Self::Stop => "stop",
        }
    }

    /// What it does, in a constant text for people and models.
    pub fn description(self) -> &'static str {
        form::of(self).text
    }

    /// Whether it is rehearsed, and answered with a ticket.
    pub const fn is_rehearsed(self) -> bool {
        !matches!(self, Self::Look | Self::Status | Self::Log | Self::Act | Self::Stop)
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_files_are_the_names() {
        for verb in Verb::ALL {
            let text = serde_json::to_string(&verb).unwrap();
            assert_eq!(text, format!("\"{verb}\""));
            assert_eq!(serde_json::from_str::<Verb>(&text).unwrap(), verb);
        }
    }
}
