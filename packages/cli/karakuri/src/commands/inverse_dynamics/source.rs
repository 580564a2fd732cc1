//! Source of samples, and the torques of a variant for them.

use anyhow::{Result, ensure};
use karakuri_control::nodal::{Mechanism, NodalError, Scheme, Torques, Variant};

use super::file::Motion;
use super::samples::{Samples, count};

/// Source of samples: a motion in closed form, or given samples.
pub(super) enum Source<'a> {
    Motion(&'a Motion, &'a Mechanism),
    Given(Samples, &'a Mechanism),
}

impl Source<'_> {
    /// Samples at the step `dt` over the increments; at the usual step where it is `None`.
    pub(super) fn at(&self, dt: Option<f64>, increments: usize) -> Result<Samples> {
        let n = increments as f64;
        match self {
            Self::Motion(motion, mechanism) => motion.samples(mechanism, dt.unwrap_or(1e-3) / n),
            Self::Given(samples, mechanism) => {
                let dt = dt.map_or(samples.dt, |dt| dt / n);
                let every = count(dt, samples.dt)? - 1;
                ensure!(
                    every > 0 && (every as f64 * samples.dt - dt).abs() < 1e-6 * dt,
                    "--dt {}: the trajectory steps by {} s; take {1} times the number of --increments, or a multiple of it",
                    dt * n,
                    samples.dt
                );
                Ok(samples.every(every, mechanism))
            }
        }
    }

    /// Steps at which the errors are compared, longest first. [s]
    pub(super) fn steps(&self, increments: usize) -> Vec<f64> {
        match self {
            Self::Motion(..) => vec![10e-3, 5e-3, 2e-3, 1e-3],
            Self::Given(samples, mechanism) => {
                let n = samples.q.len() / mechanism.model.nq.max(1);
                let fits = |every: &usize| n / (every * increments) >= 20;
                let steps = [8, 4, 2, 1].into_iter().filter(fits);
                steps.map(|every| (every * increments) as f64 * samples.dt).collect()
            }
        }
    }
}

/// Torques of the samples by a variant.
pub(super) fn torques_of(
    scheme: &Scheme,
    variant: Variant,
    samples: &Samples,
) -> Result<Torques, NodalError> {
    Scheme { variant, ..scheme.clone() }.torques(&samples.target())
}

/// Torques at the last of every `n` increments.
pub(super) fn every(n: usize, mechanism: &Mechanism, torques: Torques) -> Torques {
    let nv = mechanism.model.nv;
    let n_samples = (torques.tau.len() / nv).max(1);
    let pick = |list: &[f64]| -> Vec<f64> {
        let width = (list.len() / n_samples).max(1);
        list.chunks(width).step_by(n).flatten().copied().collect()
    };
    Torques { tau: pick(&torques.tau), lambda: pick(&torques.lambda), ..torques }
}
