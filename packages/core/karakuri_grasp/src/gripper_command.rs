//! `GripperCommand` and `ParallelGripperCommand`: go to an opening with at most some force, tell how it ended.
//!
//! Reached: the opening is within the tolerance. Stalled: no progress in *position* for a while; blocked fingers of a
//! simulation chatter, so their speed says nothing. An object between the fingers is stalled and not reached; with
//! `allow_stalling` that is a success, and the force is kept.
//! Units: m, N, s. Positions of the action are openings (the gap between the fingers).

use crate::EndEffector;
use crate::grip_force::{GripForce, GripTask};

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

/// A command that is being carried out.
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
