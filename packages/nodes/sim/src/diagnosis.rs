//! Diagnostics of the simulation.

use karakuri_hardware::{Fault, RobotIo};
use karakuri_ros::Status;

use crate::simulation::Sim;

/// Status of the gravest problem, or that all is well.
pub(crate) fn diagnose(sim: &mut Sim) -> Status {
    let unconverged = std::mem::take(&mut sim.statistics.unconverged);
    let rivals = rivals(sim);
    if sim.pacer.is_playing() {
        sim.health.failure = None;
    }
    let io = sim.pacer.io();
    let broken = (0..sim.robots.len()).find_map(|i| match io.fault(i) {
        Some(Fault::Device { what }) => Some(what),
        _ => None,
    });
    let robots = sim.robots.iter().enumerate();
    let lost = robots.filter(|(i, _)| sim.pacer.is_lost(*i) && io.is_present(*i));
    let lost: Vec<&str> = lost.map(|(_, robot)| robot.name()).collect();
    let status = if let Some(what) = broken {
        Status::error(what)
    } else if let Some(failure) = &sim.health.failure {
        Status::error(format!("paused: {failure}; reset the simulation to go on"))
    } else if let Some(rivals) = rivals {
        Status::warn(rivals)
    } else if !lost.is_empty() {
        Status::warn(format!("{} in hold: no joint_command", lost.join(", ")))
    } else if unconverged > 0 {
        Status::warn(format!("contacts of {unconverged} steps are not solved to the tolerance"))
    } else if let Some(turn) = &sim.statistics.long_turn {
        Status::warn(turn.clone())
    } else {
        Status::ok(if sim.pacer.is_playing() { "running" } else { "paused" })
    };
    status
        .value("real_time_factor", sim.statistics.real_time_factor)
        .value("lockstep", sim.pacer.settings().lockstep)
}

/// Description of other nodes that publish the same topics: two simulations, or two controllers.
fn rivals(sim: &Sim) -> Option<String> {
    let robots = sim.robots.iter().enumerate();
    let present = robots.filter(|(i, _)| sim.pacer.io().is_present(*i));
    let topics = present.flat_map(|(_, robot)| robot.joints.sole()).chain(&sim.health.sole_clock);
    sim.health.rivals.look(topics)
}
