//! Pending steps of a paused simulation.

use karakuri_hardware::Pacer;
use karakuri_ros::msg::simulation_interfaces::action::SimulateSteps;
use karakuri_ros::msg::simulation_interfaces::srv::StepSimulation;
use karakuri_ros::{ActiveGoal, Request};

use crate::answer::{failed, ok};
use crate::backend::Backend;
use crate::codes::result::{INCORRECT_STATE, OPERATION_FAILED};

/// Requested steps that are not all taken yet.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub(crate) request: Option<Request<StepSimulation::Service>>,
    pub(crate) goal: Option<Goal>,
}

/// Active goal of the action, with its count of steps.
#[derive(Debug)]
pub(crate) struct Goal {
    pub(crate) active: ActiveGoal<SimulateSteps::Action>,
    pub(crate) steps: u64,
    pub(crate) completed: u64,
}

impl Pending {
    /// Whether a request or a goal has steps left.
    pub(crate) fn is_busy(&self) -> bool {
        self.request.is_some() || self.goal.is_some()
    }

    /// After a sample: answers the service if it was the last one, and sends feedback to the action's client.
    pub(crate) fn after_sample(&mut self, pacer: &Pacer<Backend>) {
        if pacer.remaining_steps() == 0
            && let Some(request) = self.request.take()
        {
            request.respond(StepSimulation::Response { result: ok() });
        }
        let Some(goal) = &mut self.goal else { return };
        goal.completed += 1;
        goal.active.publish_feedback(SimulateSteps::Feedback {
            completed_steps: goal.completed,
            remaining_steps: goal.steps - goal.completed.min(goal.steps),
        });
        if goal.completed >= goal.steps
            && let Some(goal) = self.goal.take()
        {
            goal.active.succeed(SimulateSteps::Result { result: ok() });
        }
    }

    /// Ends a goal that its client cancels, or whose steps were dropped by another request.
    pub(crate) fn check(&mut self, pacer: &mut Pacer<Backend>) {
        let Some(goal) = &self.goal else { return };
        if goal.active.is_canceling() {
            pacer.cancel_steps();
            let message = format!("cancelled after {} of {} steps", goal.completed, goal.steps);
            if let Some(goal) = self.goal.take() {
                let result = failed(OPERATION_FAILED, message);
                goal.active.cancel(SimulateSteps::Result { result });
            }
        } else if pacer.remaining_steps() == 0 {
            let message = format!("interrupted after {} of {} steps", goal.completed, goal.steps);
            if let Some(goal) = self.goal.take() {
                let result = failed(INCORRECT_STATE, message);
                goal.active.abort(SimulateSteps::Result { result });
            }
        }
    }
}
