//! Ends of acts.

use karakuri_gait::planner::Travelled;
use karakuri_grasp::pick_and_place::{Failure, PickAndPlaceResult};
use karakuri_grasp::tool_change::{ToolChangeFailure, ToolChangeResult};

/// End of an act.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// Of one of the hand.
    Hand(PickAndPlaceResult),
    /// Of a walk.
    Walk(WalkEnd),
    /// Of a change of tools.
    Tool(ToolChangeResult),
}

/// End of a walk.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WalkEnd {
    /// What kept it from its goal.
    pub trouble: Option<WalkTrouble>,
    /// One sentence for people.
    pub message: String,
    /// Number of steps.
    pub steps: u64,
    /// Displacement.
    pub travelled: Travelled,
    /// Time since it began. [s]
    pub elapsed: f64,
}

/// What keeps a walk from its goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkTrouble {
    /// The legs do not reach; the robot stands after the last step that they could.
    Unreachable,
    /// The robot fell.
    Fell,
    /// The robot stands elsewhere than its feet were planned to bring it.
    Slipped,
    /// A joint does not follow.
    NotFollowing,
    /// It was stopped on request; the robot stands.
    Canceled,
}

/// What keeps an act from its goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// A failure of the hand.
    Hand(Failure),
    /// A failure of a walk.
    Walk(WalkTrouble),
    /// A failure of a change of tools.
    Tool(ToolChangeFailure),
    /// It does not end in time.
    Endless,
}

impl Ended {
    /// What kept the act from its goal.
    pub fn trouble(&self) -> Option<Trouble> {
        match self {
            Self::Hand(result) => result.failure.map(Trouble::Hand),
            Self::Walk(end) => end.trouble.map(Trouble::Walk),
            Self::Tool(result) => result.failure.map(Trouble::Tool),
        }
    }

    /// One sentence for people.
    pub fn message(&self) -> &str {
        match self {
            Self::Hand(result) => &result.message,
            Self::Walk(end) => &end.message,
            Self::Tool(result) => &result.message,
        }
    }

    /// Result of an act of the hand.
    pub fn hand(&self) -> Option<&PickAndPlaceResult> {
        if let Self::Hand(result) = self { Some(result) } else { None }
    }
}

impl Trouble {
    /// Name, as in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hand(failure) => failure.name(),
            Self::Walk(WalkTrouble::Fell) => "FELL",
            Self::Walk(WalkTrouble::Slipped) => Failure::Slipped.name(),
            Self::Walk(WalkTrouble::Unreachable) | Self::Tool(ToolChangeFailure::Unreachable) => {
                "UNREACHABLE"
            }
            Self::Walk(WalkTrouble::NotFollowing) | Self::Tool(ToolChangeFailure::RobotLost) => {
                Failure::RobotLost.name()
            }
            Self::Walk(WalkTrouble::Canceled) | Self::Tool(ToolChangeFailure::Canceled) => {
                Failure::Canceled.name()
            }
            Self::Tool(ToolChangeFailure::UnknownTool) => "UNKNOWN_TOOL",
            Self::Tool(ToolChangeFailure::ToolLost) => "TOOL_LOST",
            Self::Tool(ToolChangeFailure::Refused) => "REFUSED",
            Self::Endless => Failure::TimeOut.name(),
        }
    }
}
