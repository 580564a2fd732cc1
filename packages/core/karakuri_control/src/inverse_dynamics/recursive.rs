//! Inverse dynamics by the recursive Newton-Euler algorithm, with loops and couplings.
//!
//! `τ = RNEA(q, v, v̇) + armature·v̇ + damping·v` for the tree with its loops cut; with `v = N v_i` the drives must give
//! `Nᵀ B τ_d = Nᵀ τ`. Where every drive is independent that is `τ_d` itself; where drives share a freedom (over-actuated)
//! the least-norm solution `τ_d = Mᵀ (M Mᵀ)⁻¹ Nᵀ τ`, `M = Nᵀ B`, is taken.
//! [Featherstone 2008, §5.3, §8.12]. Units: SI.

use karakuri_dynamics::{Data, rnea};
use karakuri_model::Model;

use super::loops::Constraints;
use super::{InverseDynamics, Motion, Realised};

/// See the module.
#[derive(Debug, Clone)]
pub struct Recursive {
    data: Data,
    constraints: Constraints,
    q: Vec<f64>,
    v: Vec<f64>,
    vdot: Vec<f64>,
    /// `M Mᵀ` and its right side, row-major. (nv × nv), (nv)
    normal: Vec<f64>,
    right: Vec<f64>,
}

impl Recursive {
    /// Scratch for a model.
    pub fn new(model: &Model) -> Self {
        let nv = model.nv;
        Self {
            data: Data::new(model),
            constraints: Constraints::new(model),
            q: model.neutral_position(),
            v: vec![0.0; nv],
            vdot: vec![0.0; nv],
            normal: vec![0.0; nv * nv],
            right: vec![0.0; nv],
        }
    }

    /// Least-norm efforts of drives that share freedoms; gives the effort that stays undone.
    fn share_out(&mut self, driven: &[bool], tau: &mut [f64]) -> f64 {
        let nv = tau.len();
        if (0..nv).all(|k| driven[k] != self.constraints.is_dependent(k)) {
            // Every freedom has one drive of its own, and the rest got zero.
            return 0.0;
        }
        let drives = || (0..nv).filter(|k| driven[*k]);
        let n = &self.constraints;
        self.right.copy_from_slice(tau);
        for i in 0..nv {
            for j in 0..nv {
                let both = !n.is_dependent(i) && !n.is_dependent(j);
                self.normal[i * nv + j] =
                    if both { drives().map(|k| n.share(k, i) * n.share(k, j)).sum() } else { 0.0 };
            }
        }
        solve_semidefinite(&mut self.normal, &mut self.right);
        for (k, &is_driven) in driven.iter().enumerate() {
            let give = |i: usize| n.share(k, i) * self.right[i];
            let independent = (0..nv).filter(|i| !n.is_dependent(*i));
            self.vdot[k] = if is_driven { independent.map(give).sum() } else { 0.0 };
        }
        let mut missing: f64 = 0.0;
        for i in (0..nv).filter(|i| !n.is_dependent(*i)) {
            let given: f64 = drives().map(|k| n.share(k, i) * self.vdot[k]).sum();
            missing = missing.max((given - tau[i]).abs());
        }
        tau.copy_from_slice(&self.vdot);
        missing
    }
}

impl InverseDynamics for Recursive {
    fn name(&self) -> &'static str {
        "recursive"
    }

    fn efforts(&mut self, model: &Model, motion: &Motion<'_>, tau: &mut [f64]) -> Realised {
        let driven = motion.driven;
        self.q.copy_from_slice(motion.q);
        self.v.copy_from_slice(motion.v);
        self.vdot.copy_from_slice(motion.vdot);
        let mut realised = Realised::default();
        if !self.constraints.is_empty() {
            let moved = (&mut self.q[..], &mut self.v[..], &mut self.vdot[..]);
            realised.loop_gap = self.constraints.complete(model, &mut self.data, driven, moved);
        }
        tau.copy_from_slice(rnea(model, &mut self.data, &self.q, &self.v, &self.vdot, &[]));
        for joint in &model.joints {
            let freedoms = joint.v_start..joint.v_start + joint.kind.nv();
            let rates = self.vdot[freedoms.clone()].iter().zip(&self.v[freedoms.clone()]);
            for (tau, (vdot, v)) in tau[freedoms].iter_mut().zip(rates) {
                *tau += joint.armature * vdot + joint.damping * v;
            }
        }
        self.constraints.reduce_effort(tau);
        realised.missing_effort = self.share_out(driven, tau);
        realised
    }
}

/// Solves `A x = b` for a symmetric positive semidefinite `A` in place (`b` becomes `x`); components in its null
/// space become zero. (n × n), (n)
pub(crate) fn solve_semidefinite(a: &mut [f64], b: &mut [f64]) {
    let n = b.len();
    // LDLᵀ; a row whose pivot vanishes belongs to the null space and is left out.
    for j in 0..n {
        for k in 0..j {
            let (l, d) = (a[j * n + k], a[k * n + k]);
            a[j * n + j] -= l * l * d;
        }
        let d = a[j * n + j];
        let null = d <= 1e-12;
        a[j * n + j] = if null { 0.0 } else { d };
        for i in j + 1..n {
            let mut sum = a[i * n + j];
            for k in 0..j {
                sum -= a[i * n + k] * a[j * n + k] * a[k * n + k];
            }
            a[i * n + j] = if null { 0.0 } else { sum / d };
        }
    }
    for i in 0..n {
        for k in 0..i {
            b[i] -= a[i * n + k] * b[k];
        }
    }
    for i in 0..n {
        let d = a[i * n + i];
        b[i] = if d > 0.0 { b[i] / d } else { 0.0 };
    }
    for i in (0..n).rev() {
        for k in i + 1..n {
            b[i] -= a[k * n + i] * b[k];
        }
    }
}
