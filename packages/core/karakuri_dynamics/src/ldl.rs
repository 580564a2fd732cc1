//! Tree-sparse factor `M = Lᵀ D L` without fill-in, and its solves.
//!
//! `L` is unit lower triangular with the pattern of the tree: row k has entries only at the dofs on the path from
//! k to the root. Cost Σ depth². [Featherstone 2005; Featherstone 2008, §6.5]

use karakuri_model::Model;
use nalgebra::DMatrix;

use crate::SingularInertia;
use crate::topology::{Topology, WORLD};

/// Dofs of a floating base.
const BASE: usize = 6;

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
    ///
    /// The LTDL algorithm: row k updates only the rows of its ancestors. [Featherstone 2008, §6.5]
    ///
    /// # Errors
    ///
    /// If a degree of freedom moves no inertia.
    pub fn factorize(&mut self, M: &DMatrix<f64>, extra: &[f64]) -> Result<(), SingularInertia> {
        let nv = self.inverse_pivot.len();
        self.columns.copy_from(M);
        for (k, d) in extra.iter().enumerate() {
            self.columns[(k, k)] += d;
        }
        if self.topology.n_base > 0 {
            return self.factorize_floating();
        }
        // From the leaves, as a leaf couples with its ancestors only: no fill-in. From the root it would couple all its branches.
        for k in (0..nv).rev() {
            let pivot = self.columns[(k, k)];
            SingularInertia::check(k, pivot)?;
            let inverse = 1.0 / pivot;
            self.inverse_pivot[k] = inverse;
            let (left, column_k) = self.columns.as_mut_slice()[..(k + 1) * nv].split_at_mut(k * nv);
            let mut i = self.topology.dof_parent[k];
            while i != WORLD {
                // L_ki = M_ki/D_k, and row i loses L_ki times row k.
                let a = column_k[i] * inverse;
                let column_i = &mut left[i * nv..(i + 1) * nv];
                for_each_run(&self.topology, i, |run| {
                    for (x, y) in column_i[run.clone()].iter_mut().zip(&column_k[run]) {
                        *x -= a * y;
                    }
                });
                // Not before: rows nearer to the root read row k of M up to their own entry, rows farther away are done.
                column_k[i] = a;
                i = self.topology.dof_parent[i];
            }
        }
        Ok(())
    }

    /// Factorises a tree on a floating base: its six dofs are ancestors of all others, so the updates of the base
    /// are sums over six entries, a number that the compiler knows.
    fn factorize_floating(&mut self) -> Result<(), SingularInertia> {
        let nv = self.inverse_pivot.len();
        let columns = self.columns.as_mut_slice();
        // What is left of the base's block, with both triangles.
        let mut base = [[0.0; BASE]; BASE];
        for (i, column) in base.iter_mut().enumerate() {
            column.copy_from_slice(&columns[i * nv..i * nv + BASE]);
        }
        for k in (BASE..nv).rev() {
            let (left, column_k) = columns[..(k + 1) * nv].split_at_mut(k * nv);
            let pivot = column_k[k];
            SingularInertia::check(k, pivot)?;
            let inverse = 1.0 / pivot;
            self.inverse_pivot[k] = inverse;
            // Always there, as a floating base has the first six dofs: an array, so that the compiler knows the length.
            let Some(above) = column_k.first_chunk::<BASE>().copied() else { continue };
            let mut i = self.topology.dof_parent[k];
            // No test for the root: on a floating base every path ends in the base, whose numbers are below `BASE`.
            while i >= BASE {
                let a = column_k[i] * inverse;
                let column_i = &mut left[i * nv..(i + 1) * nv];
                // The entries at the base first, then run by run those at the ancestors in between.
                if let Some(upper) = column_i.first_chunk_mut::<BASE>() {
                    subtract(upper, a, &above);
                }
                let mut end = i;
                while end >= BASE {
                    let start = self.topology.run_start[end].max(BASE);
                    for (x, y) in column_i[start..=end].iter_mut().zip(&column_k[start..=end]) {
                        *x -= a * y;
                    }
                    end = self.topology.dof_parent[start];
                }
                column_k[i] = a;
                i = self.topology.dof_parent[i];
            }
            // The base's block loses the outer product of row k over D_k.
            for (i, column) in base.iter_mut().enumerate() {
                let a = above[i] * inverse;
                subtract(column, a, &above);
                column_k[i] = a;
            }
        }
        // L and D of the base's own block.
        for k in (0..BASE).rev() {
            let pivot = base[k][k];
            SingularInertia::check(k, pivot)?;
            self.inverse_pivot[k] = 1.0 / pivot;
            let above = base[k];
            for i in 0..k {
                let a = above[i] * self.inverse_pivot[k];
                subtract(&mut base[i], a, &above);
                base[k][i] = a;
            }
        }
        for (i, column) in base.iter().enumerate() {
            columns[i * nv..i * nv + BASE].copy_from_slice(column);
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

    /// Solves side by side: the walks along the tree are shared, and the sums do not wait for each other.
    #[inline]
    fn solve_side_by_side<const N: usize>(&self, mut x: [&mut [f64]; N]) {
        if self.topology.n_base > 0 {
            return self.solve_floating(x);
        }
        let nv = self.inverse_pivot.len();
        // Lᵀ y = x, from the leaves to the root.
        for k in (0..nv).rev() {
            let xk: [f64; N] = std::array::from_fn(|r| x[r][k]);
            // An effort on one leg has no effect on the others.
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
        // L x = D⁻¹ y, from the root to the leaves.
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

    /// Solves on a floating base: its six dofs are ancestors of all others, and are kept apart as arrays of a length that the
    /// compiler knows.
    #[inline(never)]
    fn solve_floating<const N: usize>(&self, mut x: [&mut [f64]; N]) {
        let nv = self.inverse_pivot.len();
        let column = |k: usize| &self.columns.as_slice()[k * nv..(k + 1) * nv];
        let mut base = [[0.0; BASE]; N];
        for (base, x) in base.iter_mut().zip(&x) {
            base.copy_from_slice(&x[..BASE]);
        }
        // Lᵀ y = x, from the leaves to the root.
        for k in (BASE..nv).rev() {
            let xk: [f64; N] = std::array::from_fn(|r| x[r][k]);
            // An effort on one leg has no effect on the others.
            if xk.iter().all(|x| *x == 0.0) {
                continue;
            }
            let column = column(k);
            let Some(above) = column.first_chunk::<BASE>() else { continue };
            for (base, xk) in base.iter_mut().zip(xk) {
                subtract(base, xk, above);
            }
            self.for_each_run_above_base(k, |run| {
                for (x, xk) in x.iter_mut().zip(xk) {
                    for (xi, l) in x[run.clone()].iter_mut().zip(&column[run.clone()]) {
                        *xi -= l * xk;
                    }
                }
            });
        }
        for k in (0..BASE).rev() {
            for base in &mut base {
                let xk = base[k];
                for (xi, l) in base[..k].iter_mut().zip(column(k)) {
                    *xi -= l * xk;
                }
            }
        }
        // L x = D⁻¹ y, from the root to the leaves.
        for k in 0..BASE {
            for base in &mut base {
                let known = base[..k].iter().zip(column(k)).map(|(x, l)| x * l).sum::<f64>();
                base[k] = base[k] * self.inverse_pivot[k] - known;
            }
        }
        for (base, x) in base.iter().zip(&mut x) {
            x[..BASE].copy_from_slice(base);
        }
        for k in BASE..nv {
            let column = column(k);
            let Some(above) = column.first_chunk::<BASE>() else { continue };
            // The base first, as it is known long before the parent is.
            let mut sums: [f64; N] =
                std::array::from_fn(|r| x[r][k] * self.inverse_pivot[k] - dot(&base[r], above));
            self.for_each_run_above_base(k, |run| {
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

    /// Calls `f` with each run of consecutive ancestors of a dof that are none of the base's.
    #[inline]
    fn for_each_run_above_base(&self, dof: usize, mut f: impl FnMut(std::ops::Range<usize>)) {
        let mut end = self.topology.dof_parent[dof];
        while end >= BASE {
            let start = self.topology.run_start[end].max(BASE);
            f(start..end + 1);
            end = self.topology.dof_parent[start];
        }
    }
}

/// `x · y`, in pairs: three short sums, where one would wait six times for itself.
#[inline]
fn dot(x: &[f64; BASE], y: &[f64; BASE]) -> f64 {
    (x[0] * y[0] + x[1] * y[1]) + (x[2] * y[2] + x[3] * y[3]) + (x[4] * y[4] + x[5] * y[5])
}

/// `x −= a y`.
#[inline]
fn subtract(x: &mut [f64; BASE], a: f64, y: &[f64; BASE]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x -= a * y;
    }
}

/// Calls `f` with each run of consecutive dofs on the path from `dof` to the root.
#[inline]
fn for_each_run(topology: &Topology, dof: usize, mut f: impl FnMut(std::ops::Range<usize>)) {
    let mut end = dof;
    while end != WORLD {
        let start = topology.run_start[end];
        f(start..end + 1);
        end = topology.dof_parent[start];
    }
}
