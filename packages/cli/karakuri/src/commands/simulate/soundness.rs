//! Whether a run can be believed: its energy did not grow by itself, and its steps were solved.

use karakuri_physics::{EnergyMonitor, SolverSettings};
use karakuri_simulation::Tally;

/// Looks at the energy over a run, about.
pub(crate) const LOOKS: u64 = 200;
/// Unsolved steps that are told, as a part of all: single steps just above the tolerance are harmless. [-]
const UNSOLVED: f64 = 0.01;
/// A residual that is told, however rare: contacts slide or sink by so much. [m/s or rad/s]
const COARSE: f64 = 1e-2;

/// What a user should be warned of, a sentence each; none of a run that is sound.
pub(crate) fn warnings(
    tally: &Tally,
    watch: &EnergyMonitor,
    solver: &SolverSettings,
) -> Vec<String> {
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
            solver.tolerance,
            tally.worst_residual,
        ));
    }
    warnings
}
