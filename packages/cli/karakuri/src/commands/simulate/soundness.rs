//! Soundness of a run: its energy did not grow by itself, its steps were solved, and they were short enough for turning parts.

use karakuri_physics::{EnergyMonitor, World};
use karakuri_simulation::Tally;

/// Approximate number of looks at the energy over a run.
pub(crate) const LOOKS: u64 = 200;
/// Share of unsolved steps above which they are reported: single steps just above the tolerance are harmless. [-]
const UNSOLVED: f64 = 0.01;
/// Residual that is reported however rare: contacts slide or sink at this speed. [m/s or rad/s]
const COARSE: f64 = 1e-2;

/// Warnings for the user, a sentence each; none of a sound run.
pub(crate) fn warnings(tally: &Tally, watch: &EnergyMonitor, world: &World) -> Vec<String> {
    let mut warnings = Vec::new();
    if watch.is_notable() {
        warnings.push(format!(
            "the energy grew by {:.3e} J beyond the work of drives, motors, pushes and belts (the run turned over {:.3e} J): \
             the simulation made it; take a shorter `dt`, or look for what overlaps or moves too fast",
            watch.growth(),
            watch.turnover(),
        ));
    }
    let unsolved = tally.unconverged as f64 / tally.steps.max(1) as f64;
    if unsolved >= UNSOLVED || (tally.unconverged > 0 && tally.worst_residual >= COARSE) {
        warnings.push(format!(
            "the contacts of {} of {} steps ({:.2} %) were not solved to {:.0e} m/s, the worst to {:.1e} m/s: forces and \
             velocities are wrong by about so much there; take a shorter `dt`, or another `solver`",
            tally.unconverged,
            tally.steps,
            100.0 * unsolved,
            world.settings().solver.tolerance,
            tally.worst_residual,
        ));
    }
    let chosen = world.settings().integrator;
    for id in world.robot_ids().filter(|id| world.integrator_of(*id) != chosen) {
        warnings.push(format!(
            "robot `{}`: `{}` takes no loops or mimic joints; its free motion is that of `{}`, of second order",
            world.robot(id).name(),
            chosen.name(),
            world.integrator_of(id).name(),
        ));
    }
    warnings.extend(world.long_turns().iter().map(ToString::to_string));
    warnings
}
