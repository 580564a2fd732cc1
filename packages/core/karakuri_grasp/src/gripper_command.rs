//! `GripperCommand` and `ParallelGripperCommand`: go to an opening with at most some force, tell how it ended.
//!
//! Reached: the opening is within the tolerance. Stalled: no progress in *position* for a while; blocked fingers of a
//! simulation chatter, so their speed says nothing. An object between the fingers is stalled and not reached; with
//! `allow_stalling` that is a success, and the force is kept.
//! Units: m, N, s. Positions of the action are openings (the gap between the fingers), or those of the driven joint, as `MoveIt`
//! states them ([`CommandUnit`]).

use crate::EndEffector;
use crate::grip_force::{DriveRange, GripForce, GripTask};

/// Settings of gripper commands that a user may change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GripperCommandSettings {
    /// Tolerance of the opening at the goal. [m]
    pub goal_tolerance: f64,
    /// Motion of the opening within the time-out below which the hand is stalled. [m]
    pub stall_distance: f64,
    /// Time without progress after which the hand is stalled. [s]
    pub stall_timeout: f64,
    /// Whether a stalled command is a success.
    pub allow_stalling: bool,
    /// Force of a finger when the command gives none. [N]
    pub max_effort: f64,
}

impl Default for GripperCommandSettings {
    fn default() -> Self {
        Self {
            goal_tolerance: 0.001,
            // 0.5 mm in 0.5 s is 1 mm/s, an eighth of the touch speed: a hand that closes gently is not stalled.
            stall_distance: 0.0005,
            stall_timeout: 0.5,
            allow_stalling: true,
            max_effort: 10.0,
        }
    }
}

/// Quantities in which a client states a command and reads its report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CommandUnit {
    /// Opening [m], its rate [m/s], and force of a finger [N].
    #[default]
    Opening,
    /// Position, velocity and effort of the driven joint. [rad, rad/s, N·m or m, m/s, N]
    Joint,
}

/// A command as a client states it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StatedCommand {
    /// Quantities of the other fields.
    pub unit: CommandUnit,
    /// Desired position. [m, or rad or m of the joint]
    pub position: f64,
    /// Largest velocity; 0 takes the grip's own. [m/s, or rad/s or m/s of the joint]
    pub velocity: f64,
    /// Largest effort; 0 takes the setting. [N, or N·m or N of the joint]
    pub effort: f64,
}

impl StatedCommand {
    /// The command of the hand; `within` are the limits of the driven joint.
    ///
    /// # Errors
    /// When a joint's position is not within the limits, to a thousandth, or its effort is more than the hand's there.
    pub fn of_hand(
        &self,
        hand: &dyn EndEffector,
        within: DriveRange,
    ) -> Result<GripperCommand, GripperCommandError> {
        let Self { unit, position, velocity, effort } = *self;
        if unit == CommandUnit::Opening {
            let (opening, max_effort, max_velocity) = (position, effort, velocity);
            return Ok(GripperCommand { opening, max_effort, max_velocity });
        }
        let DriveRange { lower, upper } = within;
        if !(lower - JOINT_TOLERANCE..=upper + JOINT_TOLERANCE).contains(&position) {
            return Err(GripperCommandError::Position { position, lower, upper });
        }
        let highest = hand.effort(position, hand.force_max()).abs();
        // Said in the client's quantity; NaN is no effort either. A billionth is the way to the force and back.
        if !(0.0..=highest * (1.0 + 1e-9)).contains(&effort.abs()) {
            return Err(GripperCommandError::JointEffort { effort, highest });
        }
        // Joints may go a little further than pads that touch, or than the hand opens.
        let (lowest, highest) = hand.opening_range();
        Ok(GripperCommand {
            opening: hand.opening(position).clamp(lowest, highest),
            // A closing effort, whatever its sign.
            max_effort: hand.force(position, -effort.abs()).min(hand.force_max()),
            max_velocity: velocity.abs() * hand.opening_rate(position),
        })
    }
}

impl CommandUnit {
    /// Position and effort of a report of a hand with these fingers, or with none.
    pub fn stated(self, hand: Option<&dyn EndEffector>, report: &GripperReport) -> [f64; 2] {
        match (self, hand) {
            (Self::Opening, _) | (_, None) => [report.opening, report.effort],
            (Self::Joint, Some(hand)) => {
                let position = hand.position(report.opening);
                [position, hand.effort(position, report.effort)]
            }
        }
    }
}

/// Distance beyond the limits of a joint at which a position is still taken, as a rounding. [rad or m]
const JOINT_TOLERANCE: f64 = 1e-3;

/// Command of a gripper action.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GripperCommand {
    /// Desired opening. [m]
    pub opening: f64,
    /// Largest force of a finger; 0 takes the setting. [N]
    pub max_effort: f64,
    /// Largest rate of the opening; 0 takes the grip's own. [m/s]
    pub max_velocity: f64,
}

/// Cause that keeps a command from being accepted.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GripperCommandError {
    /// The opening is outside the hand's range.
    #[error("opening {opening} m is outside {lowest} to {highest} m")]
    Opening {
        /// Desired opening. [m]
        opening: f64,
        /// Least opening. [m]
        lowest: f64,
        /// Greatest opening. [m]
        highest: f64,
    },
    /// The hand is picking or placing.
    #[error("pick_and_place is using the hand; cancel it first")]
    Busy,
    /// The robot has no hand that could be commanded.
    #[error("the hand of this robot takes no gripper commands")]
    NoHand,
    /// The position is none that switches a vacuum.
    #[error("position {position} switches no vacuum; send 0 to evacuate the cups, 1 to let go")]
    Switch {
        /// Position of the command.
        position: f64,
    },
    /// The position of the driven joint is outside its limits.
    #[error("position {position} of the driven joint is outside {lower} to {upper}")]
    Position {
        /// Desired position. [rad or m]
        position: f64,
        /// Lower limit. [rad or m]
        lower: f64,
        /// Upper limit. [rad or m]
        upper: f64,
    },
    /// The effort of the driven joint is more than the hand's.
    #[error("effort {effort} of the driven joint is outside 0 to {highest:.4} there")]
    JointEffort {
        /// Desired effort. [N·m or N]
        effort: f64,
        /// Greatest effort at the position. [N·m or N]
        highest: f64,
    },
    /// The force is outside the hand's range.
    #[error("max_effort {effort} N is outside 0 to {highest} N")]
    Effort {
        /// Desired force. [N]
        effort: f64,
        /// Greatest force. [N]
        highest: f64,
    },
    /// The velocity is negative or not finite.
    #[error("velocity {velocity} m/s is negative or not finite")]
    Velocity {
        /// Desired velocity. [m/s]
        velocity: f64,
    },
}

/// State of a command.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GripperReport {
    /// Opening now. [m]
    pub opening: f64,
    /// Mean force of the fingers. [N]
    pub effort: f64,
    /// Whether there is no progress any more.
    pub stalled: bool,
    /// Whether the opening is in tolerance.
    pub reached_goal: bool,
}

/// A command that fingers with an opening carry out.
#[derive(Debug, Clone, Copy)]
pub struct GripperCommandRun {
    command: GripperCommand,
    settings: GripperCommandSettings,
    /// Opening at the last progress, and time since then. [m], [s]
    progress: (f64, f64),
    has_progressed: bool,
}

impl GripperCommandRun {
    /// Starts a command: sets the grip's task.
    ///
    /// # Errors
    /// When the opening or the effort is outside the hand's range, or the velocity is negative or not finite.
    pub fn start(
        command: GripperCommand,
        settings: GripperCommandSettings,
        hand: &dyn EndEffector,
        grip: &mut GripForce,
    ) -> Result<Self, GripperCommandError> {
        let GripperCommand { opening, max_effort: effort, max_velocity: velocity } = command;
        let (lowest, highest) = hand.opening_range();
        // 0 is the usual word for "closed", even where pads touch a little earlier.
        if !(0.0..=highest + 1e-6).contains(&opening) {
            return Err(GripperCommandError::Opening { opening, lowest, highest });
        }
        if !(0.0..=hand.force_max()).contains(&effort) {
            return Err(GripperCommandError::Effort { effort, highest: hand.force_max() });
        }
        if !(velocity >= 0.0 && velocity.is_finite()) {
            return Err(GripperCommandError::Velocity { velocity });
        }
        let speed = if velocity > 0.0 { velocity } else { grip.settings().speed };
        grip.set_task(GripTask::MoveTo { opening, speed });
        // Infinitely far away, so that the first tick counts as progress.
        Ok(Self { command, settings, progress: (f64::INFINITY, 0.0), has_progressed: false })
    }

    /// Checks a command after each tick of the grip: the report, and whether the command has ended. Contact while closing
    /// turns the motion into a grip with the command's force. [s]
    pub fn check(
        &mut self,
        hand: &dyn EndEffector,
        grip: &mut GripForce,
        dt: f64,
    ) -> (GripperReport, bool) {
        let state = *grip.state();
        // Pads that touch before zero are closed there: 0 would never be reached.
        let goal = self.command.opening.max(hand.opening_range().0);
        let closing = state.opening > goal + self.settings.goal_tolerance;
        let gripping = matches!(grip.task(), GripTask::Close { .. });
        // Only while closing: a hand that opens may still feel the object that it leaves.
        if closing && !gripping && state.touching.contains(&true) {
            let given = self.command.max_effort;
            let force = if given > 0.0 { given } else { self.settings.max_effort };
            grip.set_task(GripTask::Close { force, slow_below: 0.0 });
        }
        // Progress is judged by position: the speed of blocked fingers chatters.
        if (state.opening - self.progress.0).abs() > self.settings.stall_distance {
            self.has_progressed = self.progress.0.is_finite();
            self.progress = (state.opening, 0.0);
        } else {
            self.progress.1 += dt;
        }
        let reached_goal = (state.opening - goal).abs() < self.settings.goal_tolerance;
        let stalled = !reached_goal && self.progress.1 > self.settings.stall_timeout;
        let effort = 0.5 * (state.forces[0] + state.forces[1]);
        let report = GripperReport { opening: state.opening, effort, stalled, reached_goal };
        (report, reached_goal || stalled)
    }

    /// Whether the hand has moved by more than `stall_distance` since the start.
    pub fn has_progressed(&self) -> bool {
        self.has_progressed
    }

    /// Whether a command that ended with this report succeeded.
    pub fn succeeded(&self, report: &GripperReport) -> bool {
        report.reached_goal || (report.stalled && self.settings.allow_stalling)
    }
}
