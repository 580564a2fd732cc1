//! Steps of a paused simulation: by the service `step_simulation`, and by the action `simulate_steps`, which tells how
//! far it is and can be cancelled. A step is one sample.

use karakuri_hardware::Pacer;
use karakuri_ros::msg::simulation_interfaces::action::SimulateSteps;
use karakuri_ros::msg::simulation_interfaces::srv::StepSimulation;
use karakuri_ros::{ActiveGoal, GoalRequest, Request};

use crate::backend::Backend;
use crate::codes::result::{INCORRECT_STATE, OPERATION_FAILED};
use crate::node::Sim;
use crate::services::{failed, ok};

/// Steps that were asked for and are not all taken yet.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    request: Option<Request<StepSimulation::Service>>,
    goal: Option<Goal>,
}

/// The action's goal.
#[derive(Debug)]
struct Goal {
    active: ActiveGoal<SimulateSteps::Action>,
    steps: u64,
    completed: u64,
}

impl Pending {
    fn is_busy(&self) -> bool {
        self.request.is_some() || self.goal.is_some()
    }

    /// After a sample: answers the service when it was the last, tells the action's client where it is.
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

    /// Ends a goal that its client cancels, or whose steps somebody else dropped.
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

/// Why no steps can be taken now.
fn obstacle(sim: &Sim) -> Option<(u8, &'static str)> {
    if sim.pacer.is_playing() {
        return Some((OPERATION_FAILED, "the simulation is playing; pause it before stepping"));
    }
    let busy = sim.pending.is_busy();
    busy.then_some((INCORRECT_STATE, "another request's steps are still under way"))
}

/// `~/step_simulation`
pub(crate) fn step(sim: &mut Sim, request: Request<StepSimulation::Service>) {
    if let Some((code, message)) = obstacle(sim) {
        return request.respond(StepSimulation::Response { result: failed(code, message) });
    }
    let steps = request.message().steps;
    if steps == 0 {
        return request.respond(StepSimulation::Response { result: ok() });
    }
    sim.is_stopped = false;
    sim.pacer.step(steps);
    sim.pending.request = Some(request);
}

/// `~/simulate_steps`
pub(crate) fn simulate(sim: &mut Sim, request: GoalRequest<SimulateSteps::Action>) {
    if sim.pending.is_busy() {
        return request.reject("another request's steps are still under way");
    }
    let steps = request.goal().steps;
    let active = request.accept();
    // The interface answers this by a result with its reason; a rejection has none.
    if let Some((code, message)) = obstacle(sim) {
        return active.abort(SimulateSteps::Result { result: failed(code, message) });
    }
    if steps == 0 {
        return active.succeed(SimulateSteps::Result { result: ok() });
    }
    sim.is_stopped = false;
    sim.pacer.step(steps);
    sim.pending.goal = Some(Goal { active, steps, completed: 0 });
}
