//! `GripperCommand` and `ParallelGripperCommand` of a hand of suction cups: position 0 evacuates, any other lets go.
//!
//! Reached: every cup holds a part with the desired vacuum, or none does any more. Stalled: neither comes.

use super::interface::{Engagement, Hand};
use super::suction::SuctionHand;
use crate::gripper_command::{GripperCommandError, GripperReport, StatedCommand};

/// Time in which a cup that lets go must be free. [s]
const RELEASE_TIME: f64 = 1.0;

/// A command that is being carried out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VacuumCommandRun {
    evacuates: bool,
    elapsed: f64,
}

impl VacuumCommandRun {
    /// Starts a command: the hand evacuates its cups, or lets go.
    ///
    /// # Errors
    /// When the position is negative or no number, or the effort is more than the force of the hand.
    pub(crate) fn start(
        stated: &StatedCommand,
        hand: &mut SuctionHand,
    ) -> Result<Self, GripperCommandError> {
        let StatedCommand { position, effort, .. } = *stated;
        if !(position >= 0.0 && position.is_finite()) {
            return Err(GripperCommandError::Switch { position });
        }
        let highest = hand.force_max();
        if !(0.0..=highest * (1.0 + 1e-9)).contains(&effort) {
            return Err(GripperCommandError::Effort { effort, highest });
        }
        let evacuates = position <= 0.0;
        if evacuates {
            hand.engage(if effort > 0.0 { effort } else { highest }, 0.0);
        } else {
            hand.release();
        }
        Ok(Self { evacuates, elapsed: 0.0 })
    }

    /// Checks a command after each tick of the hand: the report, and whether the command has ended. [s]
    pub(crate) fn check(&mut self, hand: &SuctionHand, dt: f64) -> (GripperReport, bool) {
        self.elapsed += dt;
        let (reached_goal, stalled) = if self.evacuates {
            match hand.engagement(0.0) {
                Engagement::Held => (true, false),
                Engagement::Failed(..) => (false, true),
                Engagement::Engaging => (false, false),
            }
        } else {
            (hand.is_free(), self.elapsed > RELEASE_TIME && !hand.is_free())
        };
        let opening = if self.evacuates { 0.0 } else { 1.0 };
        let effort = hand.reading().strength;
        (GripperReport { opening, effort, stalled, reached_goal }, reached_goal || stalled)
    }
}
