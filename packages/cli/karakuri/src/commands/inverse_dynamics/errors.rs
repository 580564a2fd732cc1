//! Errors against the exact method, and their order of convergence with the step.

use anyhow::Result;
use karakuri_control::nodal::{Scheme, Torques, Variant};
use serde::Serialize;

use super::contact::Press;
use super::samples::Samples;
use super::source::{Source, every, torques_of};
use super::tracking::Run;

/// Computed results of a mechanism.
pub(super) struct Study {
    pub(super) samples: Samples,
    pub(super) torques: Torques,
    /// Part of the efforts due to dynamics, where forces are exerted; the rest is due to the forces. [N·m or N] (n samples ×
    /// nv)
    pub(super) dynamics: Vec<f64>,
    pub(super) exact: Torques,
    pub(super) convergence: Vec<Convergence>,
    /// Runs of the simulated motion, if the file asks for it.
    pub(super) tracking: Vec<Run>,
    /// Runs of the motion simulated with contacts, if the file asks for it.
    pub(super) contact: Vec<Press>,
}

/// Errors of a variant over the largest exact effort, step by step.
#[derive(Debug, Serialize)]
pub(super) struct Convergence {
    pub(super) variant: &'static str,
    /// Steps, longest first. [s]
    pub(super) steps_s: Vec<f64>,
    pub(super) errors: Vec<f64>,
    /// Orders of convergence between each step and the next.
    pub(super) orders: Vec<f64>,
}

/// Errors of torques against the exact ones.
pub(super) struct Errors {
    /// Largest exact effort. [N·m or N]
    pub(super) scale: f64,
    /// Largest error over it, except at the first and last sample. [-]
    pub(super) inside: f64,
    /// Largest error over it at the first and last sample. [-]
    pub(super) ends: f64,
    /// Largest error of each degree of freedom, except at the ends. [N·m or N]
    pub(super) by_dof: Vec<f64>,
}

impl Study {
    pub(super) fn error(&self, nv: usize) -> Errors {
        errors(&self.torques.tau, &self.exact.tau, nv)
    }
}

fn errors(tau: &[f64], exact: &[f64], nv: usize) -> Errors {
    let scale = exact.iter().fold(0.0, |s: f64, x| s.max(x.abs()));
    let last = (tau.len() / nv).saturating_sub(1);
    let (mut by_dof, mut ends) = (vec![0.0_f64; nv], 0.0_f64);
    for (sample, (tau, exact)) in tau.chunks_exact(nv).zip(exact.chunks_exact(nv)).enumerate() {
        for (worst, (tau, exact)) in by_dof.iter_mut().zip(tau.iter().zip(exact)) {
            let error = (tau - exact).abs();
            if sample == 0 || sample == last {
                ends = ends.max(error);
            } else {
                *worst = worst.max(error);
            }
        }
    }
    let inside = by_dof.iter().fold(0.0, |s: f64, x| s.max(*x));
    let over = |x: f64| if scale > 0.0 { x / scale } else { x };
    Errors { scale, inside: over(inside), ends: over(ends), by_dof }
}

/// Errors of the published variants at several steps, each of this many increments.
pub(super) fn convergence(
    scheme: &Scheme,
    source: &Source<'_>,
    increments: usize,
) -> Result<Vec<Convergence>> {
    let nv = scheme.mechanism.model.nv;
    let mut all: Vec<Convergence> = [Variant::Central, Variant::Newmark, Variant::External]
        .into_iter()
        .map(|variant| Convergence {
            variant: variant.name(),
            steps_s: Vec::new(),
            errors: Vec::new(),
            orders: Vec::new(),
        })
        .collect();
    for dt in source.steps(increments) {
        let fine = source.at(Some(dt), increments)?;
        let samples = fine.every(increments, &scheme.mechanism);
        let exact = scheme.exact(&samples.target())?;
        for row in &mut all {
            let variant = row.variant.parse().map_err(anyhow::Error::msg)?;
            let torques = torques_of(scheme, variant, &fine)?;
            let torques = every(increments, &scheme.mechanism, torques);
            let error = errors(&torques.tau, &exact.tau, nv).inside;
            if let (Some(before), Some(step)) = (row.errors.last(), row.steps_s.last()) {
                row.orders.push((before / error).ln() / (step / dt).ln());
            }
            row.steps_s.push(dt);
            row.errors.push(error);
        }
    }
    Ok(all)
}
