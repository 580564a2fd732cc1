//! Inputs and outputs of a change.

use karakuri_control::trajectory::JointTrajectory;
use karakuri_spatial::{Force, Time};

/// Settings that a user may change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToolChangeSettings {
    /// Speed of the flange between the places. [m/s]
    pub speed: f64,
    /// Acceleration of the flange. [m/s²]
    pub acceleration: f64,
    /// Height above a place at which the vertical motions begin and end. [m]
    pub lift: f64,
    /// Whether the wrist must feel the weight of the tool.
    pub weigh: bool,
}

impl Default for ToolChangeSettings {
    fn default() -> Self {
        Self { speed: 0.4, acceleration: 1.5, lift: 0.15, weigh: true }
    }
}

/// Stage of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolChangeStage {
    /// Motion to the place of the present tool.
    ToDock,
    /// Letting go of the present tool, and up.
    LetGo,
    /// Motion to the place of the next tool.
    ToNext,
    /// Coupling of the next tool, and up.
    Couple,
    /// Weighing at rest.
    Weigh,
    /// Motion to the posture at which the change began, unless it began over the dock.
    Retreat,
}

impl ToolChangeStage {
    /// Name of the stage, as in feedback.
    pub fn name(self) -> &'static str {
        match self {
            Self::ToDock => "TO_DOCK",
            Self::LetGo => "LET_GO",
            Self::ToNext => "TO_NEXT",
            Self::Couple => "COUPLE",
            Self::Weigh => "WEIGH",
            Self::Retreat => "RETREAT",
        }
    }
}

impl core::fmt::Display for ToolChangeStage {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

/// Cause of a change's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolChangeFailure {
    /// No tool has this name.
    UnknownTool,
    /// The wrist does not feel the tool's weight, or still that of the one that was let go.
    ToolLost,
    /// The arm does not reach a place.
    Unreachable,
    /// The coupling does not let go or couple.
    Refused,
    /// Joint states or the arm's controller are silent, or the controller gave up.
    RobotLost,
    /// Cancelled by the client.
    Canceled,
}

/// Work that was asked of the arm's controller, or of the coupling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Work<'a> {
    /// Under way, or nothing was asked.
    #[default]
    Pending,
    /// Done.
    Done,
    /// Not done, for this reason.
    Refused(&'a str),
    /// Nobody answers, for this reason.
    Lost(&'a str),
}

/// What is known at a tick.
#[derive(Debug, Clone, Copy)]
pub struct ToolChangeView<'a> {
    /// Wall time, from any instant on. [s]
    pub wall: f64,
    /// Stamp of the newest joint states.
    pub time: Time,
    /// Positions of the bare arm. [m or rad] (nq)
    pub q: &'a [f64],
    /// Velocities of the bare arm. [m/s or rad/s] (nv)
    pub v: &'a [f64],
    /// Whether joint states come no more.
    pub is_silent: bool,
    /// Newest reading of the wrist's sensor, in its link's axes, and its stamp.
    pub wrench: Option<(Time, Force)>,
    /// What became of the last trajectory.
    pub arm: Work<'a>,
    /// What became of the last request to the coupling.
    pub coupling: Work<'a>,
    /// Name of what is on the flange.
    pub tool: &'a str,
    /// Whether the last joint states were those of the robot with that tool.
    pub is_its_robot: bool,
    /// Whether the arm's controller is there.
    pub has_controller: bool,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolChangeOrder {
    /// Let the arm follow a trajectory from now on.
    Follow(JointTrajectory),
    /// Stop the arm.
    Stop,
    /// Ask the coupling for this tool; the name of the bare arm lets go.
    Couple(String),
    /// End the change.
    End(ToolChangeResult),
}

/// Result of a change.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolChangeResult {
    /// Cause of the failure; `None` is success.
    pub failure: Option<ToolChangeFailure>,
    /// Description in one sentence.
    pub message: String,
    /// Mass of the tool as the wrist felt it last; 0 where it was not weighed. [kg]
    pub mass: f64,
}
