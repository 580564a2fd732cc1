//! Settings of a world, which may change while it runs.

use karakuri_spatial::Vector3;

use crate::{Integrator, SolverSettings};

/// Settings of a world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorldSettings {
    /// Time step `h`. [s]
    pub dt: f64,
    /// Gravitational acceleration. [m/s²] (3)
    pub gravity: Vector3,
    /// Integrator of free motion.
    pub integrator: Integrator,
    /// Whether [`crate::World::ledger`] books where the energy goes; costs about a tenth of a step of a small
    /// robot; of a long chain O(n²), where the step itself is O(n).
    pub energy_ledger: bool,
    /// Solver of the contacts, and when it may stop.
    pub solver: SolverSettings,
    /// Conditions under which islands of free bodies at rest are left out of the step; never, if `None`.
    pub sleeping: Option<Sleeping>,
    /// Threads that solve islands of contacts, the caller's among them: same bits for any number. Few contacts, or one
    /// island, stay on the caller's.
    pub threads: usize,
    /// Impacts slower than this do not bounce. [m/s]
    pub restitution_threshold: f64,
    /// Penetration that is left alone, so that resting contacts stay in touch. [m]
    pub penetration_slop: f64,
    /// Part of a penetration that is undone a step, without giving velocity. [-]
    pub penetration_rate: f64,
    /// Largest length by which a penetration is undone in a step. [m]
    pub penetration_step: f64,
    /// Part of the drift of a sticking contact that is undone a step, inside the friction cone. [-]
    pub anchor_rate: f64,
}

impl Default for WorldSettings {
    /// 1 ms, Earth, and contact constants for robots: bounces above 1 cm/s, 10 µm of slop; a fifth of a penetration
    /// or drift a step is the largest part that does not ring (0.5 does at four contacts a body).
    fn default() -> Self {
        Self {
            dt: 1e-3,
            gravity: Vector3::new(0.0, 0.0, -karakuri_dynamics::EARTH_GRAVITY),
            integrator: Integrator::Default,
            energy_ledger: false,
            solver: SolverSettings::default(),
            sleeping: None,
            threads: 1,
            restitution_threshold: 0.01,
            penetration_slop: 1e-5,
            penetration_rate: 0.2,
            penetration_step: 1e-3,
            anchor_rate: 0.2,
        }
    }
}

impl WorldSettings {
    /// Name of a setting that no step can use.
    pub(crate) fn unusable(&self) -> Option<&'static str> {
        // A rate above 1 undoes more than the error, which then changes sides from step to step.
        let part = |x: f64| (0.0..=1.0).contains(&x);
        let checks = [
            ("dt", self.dt > 0.0 && self.dt.is_finite()),
            ("gravity", self.gravity.iter().all(|x| x.is_finite())),
            ("solver.tolerance", self.solver.tolerance >= 0.0),
            ("solver.tolerance_rel", part(self.solver.tolerance_rel)),
            ("restitution_threshold", self.restitution_threshold >= 0.0),
            ("penetration_slop", self.penetration_slop >= 0.0 && self.penetration_slop.is_finite()),
            ("penetration_rate", part(self.penetration_rate)),
            ("penetration_step", self.penetration_step >= 0.0),
            ("anchor_rate", part(self.anchor_rate)),
        ];
        checks.iter().find(|(_, fits)| !fits).map(|(name, _)| *name)
    }
}

/// Conditions under which islands of free bodies fall asleep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sleeping {
    /// Linear speed below which all bodies are. [m/s]
    pub linear: f64,
    /// Angular speed below which all bodies are. [rad/s]
    pub angular: f64,
    /// Time for which they are. [s]
    pub time: f64,
}

impl Default for Sleeping {
    /// Half a second below 10 µm/s and 0.1 mrad/s: a hundred times what resting bodies have at the default tolerance.
    fn default() -> Self {
        Self { linear: 1e-5, angular: 1e-4, time: 0.5 }
    }
}
