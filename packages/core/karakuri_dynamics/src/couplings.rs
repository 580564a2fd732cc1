//! Mimic joints: coordinates that follow others exactly.
//!
//! With the independent coordinates `q_r`, the relation `q = S q_r + s₀` holds for all; then `v = S v_r`,
//! `v̇ = S v̇_r`, `τ_r = Sᵀ τ`, `M_r = Sᵀ M S`. S has one entry a row, so nothing here forms it.
//! Chains of followers (a mimic of a mimic) are resolved when the reduction is made.

use karakuri_model::{Coupling, Model};
use nalgebra::DMatrix;

/// Independent coordinates of a model with mimic joints.
#[derive(Debug, Clone)]
pub struct Reduction {
    /// Number `nr` of independent velocity coordinates.
    pub n_independent: usize,
    /// Independent velocity coordinate and factor of every velocity coordinate. (nv)
    rows: Vec<(usize, f64)>,
    /// Offset `s₀` of every velocity coordinate's position. (nv)
    offsets: Vec<f64>,
    /// Velocity coordinate of every independent one. (nr)
    independent: Vec<usize>,
    /// Position coordinates of followers and leaders, leaders of leaders first.
    followers: Vec<(usize, usize, Coupling)>,
}

impl Reduction {
    /// Reduction by the couplings of a model.
    pub fn new(model: &Model) -> Self {
        let nv = model.nv;
        let mut follows: Vec<Option<Coupling>> = vec![None; nv];
        for coupling in &model.couplings {
            follows[model.joints[coupling.follower.0].v_start] = Some(*coupling);
        }
        let independent: Vec<usize> = (0..nv).filter(|k| follows[*k].is_none()).collect();
        // `usize::MAX` marks what no pass has resolved yet.
        let mut rows = vec![(usize::MAX, 0.0); nv];
        let mut offsets = vec![0.0; nv];
        for (r, k) in independent.iter().enumerate() {
            rows[*k] = (r, 1.0);
        }
        // Each pass resolves the followers whose leader is resolved; the model admits no circles.
        let mut followers = Vec::with_capacity(model.couplings.len());
        for _ in 0..model.couplings.len() {
            for k in 0..nv {
                let Some(coupling) = follows[k] else { continue };
                let leader = &model.joints[coupling.leader.0];
                let (r, factor) = rows[leader.v_start];
                if r != usize::MAX && rows[k].0 == usize::MAX {
                    // q_k = m (f q_r + s_l) + s with the leader's f and s_l: factors multiply, offsets follow along the chain.
                    rows[k] = (r, factor * coupling.multiplier);
                    offsets[k] = coupling.multiplier * offsets[leader.v_start] + coupling.offset;
                    let follower = model.joints[coupling.follower.0].q_start;
                    followers.push((follower, leader.q_start, coupling));
                }
            }
        }
        debug_assert!(rows.iter().all(|row| row.0 != usize::MAX), "mimic joints form a circle");
        Self { n_independent: independent.len(), rows, offsets, independent, followers }
    }

    /// Sets every follower in `q` from its leader. (nq)
    pub fn project_position(&self, q: &mut [f64]) {
        for (follower, leader, coupling) in &self.followers {
            q[*follower] = coupling.multiplier * q[*leader] + coupling.offset;
        }
    }

    /// Sets every follower in `v` (or `v̇`) from its leader. (nv)
    pub fn project_velocity(&self, v: &mut [f64]) {
        for k in 0..v.len() {
            // Independent coordinates keep their value (their factor is 1), so the order in place does not matter.
            let (r, factor) = self.rows[k];
            v[k] = factor * v[self.independent[r]];
        }
    }

    /// `v = S v_r`. (nr) to (nv)
    pub fn expand_velocity(&self, reduced: &[f64], v: &mut [f64]) {
        for (vk, (r, factor)) in v.iter_mut().zip(&self.rows) {
            *vk = factor * reduced[*r];
        }
    }

    /// `τ_r = Sᵀ τ`. (nv) to (nr)
    pub fn reduce_effort(&self, tau: &[f64], reduced: &mut [f64]) {
        reduced.fill(0.0);
        for (tau, (r, factor)) in tau.iter().zip(&self.rows) {
            reduced[*r] += factor * tau;
        }
    }

    /// `M_r = Sᵀ M S`. (nv × nv) to (nr × nr)
    pub fn reduce_mass_matrix(&self, M: &DMatrix<f64>, reduced: &mut DMatrix<f64>) {
        reduced.fill(0.0);
        for (j, (rj, fj)) in self.rows.iter().enumerate() {
            for (i, (ri, fi)) in self.rows.iter().enumerate() {
                // Each entry of M lands on one entry of M_r, as S has one entry a row: nv² products in place of two products of matrices.
                reduced[(*ri, *rj)] += fi * fj * M[(i, j)];
            }
        }
    }

    /// `S`. (nv × nr)
    pub fn matrix(&self) -> DMatrix<f64> {
        let mut S = DMatrix::zeros(self.rows.len(), self.n_independent);
        for (k, (r, factor)) in self.rows.iter().enumerate() {
            S[(k, *r)] = *factor;
        }
        S
    }

    /// Offset `s₀` of the position behind velocity coordinate `dof`. [rad or m]
    pub fn offset(&self, dof: usize) -> f64 {
        self.offsets[dof]
    }

    /// The velocity coordinate that is independent coordinate `r`.
    pub fn independent(&self, r: usize) -> usize {
        self.independent[r]
    }

    /// Independent velocity coordinate and factor behind velocity coordinate `dof`.
    pub fn row(&self, dof: usize) -> (usize, f64) {
        self.rows[dof]
    }
}
