//! Tree-sparse factor `M = Lᵀ D L` without fill-in, and its solves.
//!
//! `L` is unit lower triangular with the pattern of the tree: row k has entries only at the freedoms on the way from
//! k to the root. Cost Σ depth². [Featherstone 2005; Featherstone 2008, §6.5]

use karakuri_model::Model;
use nalgebra::DMatrix;

use crate::forward::SingularInertia;
use crate::topology::{Topology, WORLD};

/// A mass matrix, factorised along the tree.
#[derive(Debug, Clone)]
pub struct MassFactor {
    /// Column k holds row k of `L` above the diagonal and `D_k` on it.
    columns: DMatrix<f64>,
    inverse_pivot: Vec<f64>,
    topology: Topology,
}

impl MassFactor {
    /// Allocates for a model.
    pub fn new(model: &Model) -> Self {
        Self {
            columns: DMatrix::zeros(model.nv, model.nv),
            inverse_pivot: vec![f64::NAN; model.nv],
            topology: Topology::new(model),
        }
    }

    /// Factorises `M + diag(extra)`. `extra`: armature, and `h B + h² K` of implicit drives, or empty. (nv)
    pub fn factorize(&mut self, M: &DMatrix<f64>, extra: &[f64]) -> Result<(), SingularInertia> {
        let nv = self.inverse_pivot.len();
        self.columns.copy_from(M);
        for (k, d) in extra.iter().enumerate() {
            self.columns[(k, k)] += d;
        }
        for k in (0..nv).rev() {
            let pivot = self.columns[(k, k)];
            SingularInertia::check(k, pivot)?;
            let inverse = 1.0 / pivot;
            self.inverse_pivot[k] = inverse;
            let (left, column_k) = self.columns.as_mut_slice()[..(k + 1) * nv].split_at_mut(k * nv);
            let mut i = self.topology.dof_parent[k];
            while i != WORLD {
                let a = column_k[i] * inverse;
                let column_i = &mut left[i * nv..(i + 1) * nv];
                for_each_run(&self.topology, i, |run| {
                    for (x, y) in column_i[run.clone()].iter_mut().zip(&column_k[run]) {
                        *x -= a * y;
                    }
                });
                column_k[i] = a;
                i = self.topology.dof_parent[i];
            }
        }
        Ok(())
    }

    /// `x ← (M + diag(extra))⁻¹ x`, in place. (nv)
    pub fn solve(&self, x: &mut [f64]) {
        let nv = x.len();
        for k in (0..nv).rev() {
            let column = &self.columns.as_slice()[k * nv..(k + 1) * nv];
            let (above, xk) = x.split_at_mut(k);
            let xk = xk[0];
            for_each_run(&self.topology, self.topology.dof_parent[k], |run| {
                for (xi, l) in above[run.clone()].iter_mut().zip(&column[run]) {
                    *xi -= l * xk;
                }
            });
        }
        for k in 0..nv {
            let column = &self.columns.as_slice()[k * nv..(k + 1) * nv];
            let mut sum = x[k] * self.inverse_pivot[k];
            for_each_run(&self.topology, self.topology.dof_parent[k], |run| {
                sum -= x[run.clone()].iter().zip(&column[run]).map(|(x, l)| x * l).sum::<f64>();
            });
            x[k] = sum;
        }
    }
}

/// Calls `f` with each run of consecutive freedoms on the way from `dof` to the root.
#[inline]
fn for_each_run(topology: &Topology, dof: usize, mut f: impl FnMut(std::ops::Range<usize>)) {
    let mut end = dof;
    while end != WORLD {
        let start = topology.run_start[end];
        f(start..end + 1);
        end = topology.dof_parent[start];
    }
}
