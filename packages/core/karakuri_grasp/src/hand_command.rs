//! Gripper commands of a hand of any kind.

use crate::gripper_command::{
    GripperCommandError, GripperCommandRun, GripperCommandSettings, GripperReport, StatedCommand,
};
use crate::hand::vacuum_command::VacuumCommandRun;
use crate::pick_and_place::PickAndPlace;

/// A command that a hand of any kind carries out.
#[derive(Debug, Clone, Copy)]
pub struct HandCommandRun(Run);

#[derive(Debug, Clone, Copy)]
enum Run {
    Opening(GripperCommandRun),
    Vacuum(VacuumCommandRun),
}

impl HandCommandRun {
    /// Starts a command of a machine's hand.
    ///
    /// # Errors
    /// When the machine is picking or placing, or a number of the command is outside the hand's range.
    pub fn start(
        stated: &StatedCommand,
        settings: GripperCommandSettings,
        machine: &mut PickAndPlace,
    ) -> Result<Self, GripperCommandError> {
        if machine.is_busy() {
            return Err(GripperCommandError::Busy);
        }
        let within = machine.drive_range();
        if let Some(hand) = machine.hand_mut().suction_mut() {
            return Ok(Self(Run::Vacuum(VacuumCommandRun::start(stated, hand)?)));
        }
        let (Some(hand), Some(within)) = (machine.opening_hand_mut(), within) else {
            return Err(GripperCommandError::NoHand);
        };
        let (fingers, grip) = hand.fingers_and_grip();
        let command = stated.of_hand(fingers, within)?;
        Ok(Self(Run::Opening(GripperCommandRun::start(command, settings, fingers, grip)?)))
    }

    /// Checks a command after each tick of the machine: the report, and whether the command has ended. [s]
    pub fn check(&mut self, machine: &mut PickAndPlace, dt: f64) -> (GripperReport, bool) {
        match &mut self.0 {
            Run::Opening(run) => machine.opening_hand_mut().map(|hand| {
                let (fingers, grip) = hand.fingers_and_grip();
                run.check(fingers, grip, dt)
            }),
            Run::Vacuum(run) => machine.hand_mut().suction_mut().map(|hand| run.check(hand, dt)),
        }
        .unwrap_or_default()
    }

    /// Whether the hand has moved since the start, as far as is to be seen.
    pub fn has_progressed(&self) -> bool {
        match &self.0 {
            Run::Opening(run) => run.has_progressed(),
            Run::Vacuum(_) => false,
        }
    }

    /// Whether a command that ended with this report succeeded.
    pub fn succeeded(&self, report: &GripperReport) -> bool {
        match &self.0 {
            Run::Opening(run) => run.succeeded(report),
            Run::Vacuum(_) => report.reached_goal,
        }
    }
}
