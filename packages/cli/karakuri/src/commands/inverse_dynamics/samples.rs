//! Samples of a motion at equal steps.

use anyhow::{Result, ensure};
use karakuri_control::nodal::{Mechanism, Target};

/// Samples of a motion; see `Target`.
#[derive(Debug, Clone, Default)]
pub(super) struct Samples {
    pub(super) dt: f64,
    pub(super) q: Vec<f64>,
    pub(super) v: Vec<f64>,
    pub(super) vdot: Vec<f64>,
    pub(super) forces: Vec<f64>,
}

impl Samples {
    pub(super) fn target(&self) -> Target<'_> {
        Target { dt: self.dt, q: &self.q, v: &self.v, vdot: &self.vdot, forces: &self.forces }
    }

    /// Every `every`-th of the samples.
    pub(super) fn every(&self, every: usize, mechanism: &Mechanism) -> Self {
        let model = &mechanism.model;
        let pick = |list: &[f64], width: usize| -> Vec<f64> {
            list.chunks(width.max(1)).step_by(every).flatten().copied().collect()
        };
        Self {
            dt: self.dt * every as f64,
            q: pick(&self.q, model.nq),
            v: pick(&self.v, model.nv),
            vdot: pick(&self.vdot, model.nv),
            forces: pick(&self.forces, 3 * mechanism.force_points.len()),
        }
    }
}

/// Count of instants in a duration, both ends included.
pub(super) fn count(duration: f64, dt: f64) -> Result<usize> {
    let steps = (duration / dt + 1e-6).floor();
    ensure!(
        dt > 0.0 && (0.0..1e8).contains(&steps),
        "a step of {dt} s in {duration} s: write a positive step, at most 1e8 of them"
    );
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    Ok(steps as usize + 1)
}
