//! Efforts through the elimination: `Nᵀ τ`, and its distribution over the drives.

use super::ConstraintEmbedding;
use crate::dense::solve_semidefinite;

impl ConstraintEmbedding {
    /// `Nᵀ τ`, in place: in the independent coordinates; zero in the dependent ones. [N·m or N] (nv)
    pub fn reduce_effort(&self, tau: &mut [f64]) {
        for (c, row) in self.row_of.iter().enumerate() {
            if let Some(row) = *row {
                // A dependent row of N is −R: its effort passes to the independent coordinates.
                let effort = core::mem::take(&mut tau[self.columns[c]]);
                let row = self.row(row);
                self.free.iter().for_each(|&f| tau[self.columns[f]] -= row[f] * effort);
            }
        }
    }

    /// `N[k, i]`: effect of an effort at coordinate `k` on independent coordinate `i`.
    fn share(&self, k: usize, i: usize) -> f64 {
        match self.row_that_gives(k) {
            Some(row) => self.column_of[i].map_or(0.0, |c| -self.row(row)[c]),
            None => f64::from(u8::from(k == i)),
        }
    }

    /// The row that gives a dependent coordinate.
    fn row_that_gives(&self, k: usize) -> Option<usize> {
        self.column_of[k].and_then(|c| self.row_of[c])
    }

    /// Whether each independent coordinate has one drive: then [`Self::reduce_effort`] gives the drives' efforts.
    pub fn is_exactly_driven(&self, driven: &[bool]) -> bool {
        (0..self.nv).all(|k| driven[k] != self.is_dependent(k))
    }

    /// Distributes efforts at the independent coordinates over the drives, with least norm where several drives act on one
    /// degree of freedom: `τ_d = Mᵀ (M Mᵀ)⁺ τ_i`, `M = Nᵀ B`. Returns the largest effort that no drive can supply.
    /// [N·m or N] [Nakamura & Ghodoussi 1989]
    pub fn distribute_effort(&mut self, driven: &[bool], tau: &mut [f64]) -> f64 {
        let nv = self.nv;
        if self.is_exactly_driven(driven) {
            return 0.0;
        }
        let drives = || (0..nv).filter(|k| driven[*k]);
        let (mut normal, mut factor) =
            (core::mem::take(&mut self.normal), core::mem::take(&mut self.factor));
        factor.copy_from_slice(tau);
        // M Mᵀ with M = Nᵀ B; rows of dependent coordinates stay zero.
        for i in 0..nv {
            for j in 0..nv {
                let both = !self.is_dependent(i) && !self.is_dependent(j);
                normal[i * nv + j] = if both {
                    drives().map(|k| self.share(k, i) * self.share(k, j)).sum()
                } else {
                    0.0
                };
            }
        }
        // Singular where drives do not reach every coordinate; any solution y will do, as Mᵀ y is the same for all.
        solve_semidefinite(&mut normal, &mut factor);
        let mut given = core::mem::take(&mut self.given);
        // τ_d = Mᵀ (M Mᵀ)⁺ τ_i.
        for (k, given) in given.iter_mut().enumerate() {
            let independent = (0..nv).filter(|i| !self.is_dependent(*i));
            *given = if driven[k] {
                independent.map(|i| self.share(k, i) * factor[i]).sum()
            } else {
                0.0
            };
        }
        let mut missing: f64 = 0.0;
        // What M τ_d lacks of τ_i no drive can supply.
        for i in (0..nv).filter(|i| !self.is_dependent(*i)) {
            let sum: f64 = drives().map(|k| self.share(k, i) * given[k]).sum();
            let lack = (sum - tau[i]).abs();
            // NaN counts as missing: `max` would drop it.
            missing = if missing.is_nan() || lack <= missing { missing } else { lack };
        }
        tau.copy_from_slice(&given);
        (self.normal, self.factor, self.given) = (normal, factor, given);
        missing
    }

    /// Whether the elimination expresses coordinate `k` by others.
    pub fn is_dependent(&self, k: usize) -> bool {
        self.row_that_gives(k).is_some()
    }

    /// Writes the row of `G̃ v̇ = c̃` that determines a dependent acceleration, 1 at the coordinate itself, and returns its
    /// `c̃`; `None`, with `into` unchanged, for an independent coordinate. Needs [`Self::complete`]. (nv)
    pub fn acceleration_row(&self, k: usize, into: &mut [f64]) -> Option<f64> {
        let row = self.row_that_gives(k)?;
        into.fill(0.0);
        for (k, value) in self.columns.iter().zip(self.row(row)) {
            into[*k] = *value;
        }
        Some(self.solved(row))
    }
}
