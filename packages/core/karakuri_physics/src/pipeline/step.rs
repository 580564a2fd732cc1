//! One time step, as a table of contents: a call a stage, each in a file of its own.
//!
//! | stage | what | where |
//! |---|---|---|
//! | collision | prescribed motions advance, pushes act, contacts are found | [`collide`](super::collide) |
//! | free motion | velocities without rows; impacts of bouncing bodies | [`free_motion`](super::free_motion), [`impacts`](super::impacts) |
//! | rows | constraints become rows, island by island | [`assemble`](super::assemble) |
//! | solve | impulses, and velocities at the end of the step | [`solve`](super::solve), [`crate::solver`] |
//! | integrate | position errors undone, impulses kept, sensors read, positions advanced, bodies put to sleep | [`correct`](super::correct), [`impulses`](super::impulses), [`integrate`](super::integrate), [`sleep`](super::sleep) |

use crate::pipeline::outcome::{Culprit, StepOutcome};
use crate::pipeline::stages::{Stage, StageObserver};
use crate::solver::Solution;
use crate::world::World;

impl World {
    /// Advances by one time step. Allocates nothing once warm.
    pub fn step(&mut self) -> StepOutcome {
        self.step_observed(&mut ())
    }

    /// [`Self::step`], which reports its stages to `observer`.
    pub fn step_observed(&mut self, observer: &mut impl StageObserver) -> StepOutcome {
        if let Some(name) = self.settings.unusable() {
            // The state stays, and so does the outcome until the setting is corrected.
            self.last.outcome = StepOutcome::NonFinite(Culprit::Setting(name));
            return self.last.outcome;
        }
        observer.enter(Stage::Collision);
        // Before prescribed motion: its work comes in during the step.
        self.open_ledger();
        self.apply_pushes();
        self.apply_vacuum();
        // Before contacts, whose rows need the velocity of the surfaces.
        self.update_prescribed_joints();
        self.update_prescribed_bodies();
        self.find_contacts();
        observer.enter(Stage::FreeMotion);
        let solution = match self.solve_velocities(observer) {
            Ok(solution) => solution,
            Err(culprit) => return self.refuse(culprit),
        };
        observer.enter(Stage::Integrate);
        // Before impulses are kept, as the slip of gears includes the correction.
        self.correct_penetration(&solution);
        self.keep_impulses(&solution);
        self.compute_reactions();
        // Down to the sensors all use the kinematics of the step's start, where the impulses were solved.
        self.accumulate_work();
        self.book_impulses();
        self.read_sensors(&solution);
        self.integrate();
        self.put_to_sleep();
        // After bodies fell asleep: the energy that they lose by it is booked in this step.
        self.close_ledger();
        self.clear_applied_wrenches();
        self.finish(solution)
    }

    fn refuse(&mut self, culprit: Culprit) -> StepOutcome {
        self.abandon_free_motions();
        self.undo_bounces();
        // Also of a step that was refused: wrenches are given for one step.
        self.clear_applied_wrenches();
        // Contacts of the last step are the memory of the next attempt.
        std::mem::swap(
            &mut self.constraints.contacts.active,
            &mut self.constraints.contacts.previous,
        );
        self.last.outcome = StepOutcome::NonFinite(culprit);
        self.last.outcome
    }

    fn finish(&mut self, solution: Solution) -> StepOutcome {
        self.steps += 1;
        self.last.solution = solution;
        let Solution { level, iterations, residual, is_unsolved, .. } = solution;
        self.last.outcome = if is_unsolved {
            StepOutcome::MaxIterations { level, residual }
        } else {
            StepOutcome::Solved { level, iterations, residual }
        };
        self.last.outcome
    }
}
