//! Steps of a paused simulation: by the service `step_simulation`, and by the action `simulate_steps`, which gives feedback and
//! can be cancelled. A step is one sample.

use karakuri_ros::msg::simulation_interfaces::action::SimulateSteps;
use karakuri_ros::msg::simulation_interfaces::srv::StepSimulation;
use karakuri_ros::{GoalRequest, Request};

use crate::answer::{failed, ok};
use crate::codes::result::{INCORRECT_STATE, OPERATION_FAILED};
use crate::pending::Goal;
use crate::simulation::Sim;

/// Result code and reason why no steps can be taken now.
fn obstacle(sim: &Sim) -> Option<(u8, &'static str)> {
    if sim.pacer.is_playing() {
        return Some((OPERATION_FAILED, "the simulation is playing; pause it before stepping"));
    }
    let busy = sim.pending.is_busy();
    busy.then_some((INCORRECT_STATE, "another request's steps are still under way"))
}

/// Handler of `~/step_simulation`.
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

/// Handler of `~/simulate_steps`.
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
