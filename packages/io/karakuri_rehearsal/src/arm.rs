//! The arm's controller, as the machine of the hand sees it: its trajectory, and why it does not follow one.

use karakuri_control::FeedforwardController;
use karakuri_control::joint_trajectory::{Goal, GoalId, Outcome};
use karakuri_grasp::pick_and_place::{ArmFailure, ArmReport, ArmRequest, path_tolerances};
use karakuri_grasp::tool_change::Work;
use karakuri_spatial::Time;

/// Group of the arm: the first one of a robot.
pub(crate) const GROUP: usize = 0;

/// Trajectory that the arm follows, and what went wrong with the last one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arm {
    goal: Option<GoalId>,
    failure: Option<ArmFailure>,
    /// Whether the last trajectory was followed to its end.
    has_arrived: bool,
}

impl Arm {
    /// State of the last trajectory.
    pub(crate) fn report(&self) -> ArmReport<'_> {
        ArmReport::of(self.failure.as_ref())
    }

    /// What became of the last trajectory.
    pub(crate) fn work(&self) -> Work<'_> {
        match &self.failure {
            None if self.has_arrived => Work::Done,
            None => Work::Pending,
            Some(ArmFailure::Lost(why)) => Work::Lost(why),
            Some(ArmFailure::Blocked(why) | ArmFailure::Preempted(why)) => Work::Refused(why),
        }
    }

    /// Forgets a failure that was dealt with.
    pub(crate) fn clear(&mut self) {
        self.failure = None;
    }

    /// Carries out a request of the machine, as the client of the controller's action does: a joint that is too far from its
    /// trajectory ends it.
    pub(crate) fn request(
        &mut self,
        request: &ArmRequest,
        controller: &mut FeedforwardController,
        now: Time,
    ) {
        let Some(machine) = controller.machine_mut(GROUP) else { return };
        match request {
            ArmRequest::Follow(trajectory) => {
                (self.failure, self.has_arrived) = (None, false);
                let path_tolerance = path_tolerances(trajectory);
                let goal =
                    Goal { trajectory: trajectory.clone(), path_tolerance, ..Goal::default() };
                match machine.accept_goal(&goal, now) {
                    Ok((id, _)) => self.goal = Some(id),
                    Err(error) => self.failure = Some(ArmFailure::Lost(error.to_string())),
                }
            }
            ArmRequest::Stop => {
                if let Some(id) = self.goal.take() {
                    machine.cancel(id);
                }
            }
        }
    }

    /// Takes the end of the trajectory from what the controller's last update says.
    pub(crate) fn hear(&mut self, controller: &FeedforwardController) {
        for event in controller.events() {
            if event.group != GROUP || self.goal != Some(event.finished.id) {
                continue;
            }
            self.goal = None;
            let outcome = event.finished.outcome;
            let why = outcome.describe(controller.groups()[GROUP].machine.settings());
            match outcome {
                Outcome::Reached => self.has_arrived = true,
                Outcome::Canceled { .. } => {}
                Outcome::PathTolerance(_)
                | Outcome::GoalTolerance(_)
                | Outcome::NotFollowing(_) => self.failure = Some(ArmFailure::Blocked(why)),
                Outcome::Preempted | Outcome::Replaced => {
                    self.failure = Some(ArmFailure::Preempted(why));
                }
                Outcome::Deactivated | Outcome::ClockJumpedBack | Outcome::StateLost => {
                    self.failure = Some(ArmFailure::Lost(why));
                }
            }
        }
    }
}
