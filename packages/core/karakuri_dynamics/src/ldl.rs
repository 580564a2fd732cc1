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
        self.solve_side_by_side([x]);
    }

    /// [`Self::solve`] for the three rows of a contact, one after the other in `rows`, in half the time. (3·nv)
    pub fn solve_three(&self, rows: &mut [f64]) {
        let (first, others) = rows.split_at_mut(self.inverse_pivot.len());
        let (second, third) = others.split_at_mut(self.inverse_pivot.len());
        self.solve_side_by_side([first, second, third]);
    }

    /// The solves share the walks along the tree, and their sums do not wait for each other.
    #[inline]
    fn solve_side_by_side<const N: usize>(&self, mut x: [&mut [f64]; N]) {
        let nv = self.inverse_pivot.len();
        for k in (0..nv).rev() {
            let xk: [f64; N] = std::array::from_fn(|r| x[r][k]);
            // what acts on one leg leaves the others alone
            if xk.iter().all(|x| *x == 0.0) {
                continue;
            }
            let column = &self.columns.as_slice()[k * nv..(k + 1) * nv];
            for_each_run(&self.topology, self.topology.dof_parent[k], |run| {
                for (x, xk) in x.iter_mut().zip(xk) {
                    for (xi, l) in x[run.clone()].iter_mut().zip(&column[run.clone()]) {
                        *xi -= l * xk;
                    }
                }
            });
        }
        for k in 0..nv {
            let column = &self.columns.as_slice()[k * nv..(k + 1) * nv];
            let mut sums: [f64; N] = std::array::from_fn(|r| x[r][k] * self.inverse_pivot[k]);
            for_each_run(&self.topology, self.topology.dof_parent[k], |run| {
                let above: [&[f64]; N] = std::array::from_fn(|r| &x[r][run.clone()]);
                for (i, l) in column[run].iter().enumerate() {
                    for (sum, above) in sums.iter_mut().zip(above) {
                        *sum -= above[i] * l;
                    }
                }
            });
            for (x, sum) in x.iter_mut().zip(sums) {
                x[k] = sum;
            }
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
