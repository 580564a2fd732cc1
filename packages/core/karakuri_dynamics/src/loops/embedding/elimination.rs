//! Gauss-Jordan elimination of the constraint rows, passive coordinates first.

use karakuri_model::Model;

use super::ConstraintEmbedding;
use crate::Data;
use crate::dense::{PivotStep, reduce_column};
use crate::loops::path::PathDof;

/// Size up to which a pivot is rounding: the row repeats others.
// Absolute, as entries are cosines or lever arms in metres: far above their round-off, far below what a mechanism can use.
const PIVOT_TOLERANCE: f64 = 1e-9;
/// Part of the largest pivot down to which a driven coordinate stays dependent. [-]
// Nearer to 1, the choice changes often, and with it the efforts of shared drives jump; nearer to 0, a poor pivot is kept for long.
const LASTING_PIVOT: f64 = 0.1;

/// A candidate for a pivot.
#[derive(Debug, Clone, Copy)]
struct Pivot {
    size: f64,
    row: usize,
    column: usize,
}

impl ConstraintEmbedding {
    /// Sorts the columns, passive ones first.
    fn sort_columns(&mut self, driven: &[bool]) {
        self.columns.sort_unstable_by_key(|&k| (driven[k], k));
        self.n_passive = self.columns.iter().filter(|k| !driven[**k]).count();
        for (c, k) in self.columns.iter().enumerate() {
            self.column_of[*k] = Some(c);
        }
        // These are numbers of columns, which the sort has changed.
        self.driven_pivots.clear();
        self.eliminated_for.clear();
        self.eliminated_for.extend_from_slice(driven);
    }

    /// `[G | 1]` of the position in `data`, eliminated.
    pub(super) fn prepare(&mut self, model: &Model, data: &Data, driven: &[bool]) {
        if self.eliminated_for != driven {
            self.sort_columns(driven);
        } else if !self.moves {
            return;
        }
        self.rows.fill(0.0);
        let (n, width) = (self.columns.len(), self.columns.len() + self.n_rows);
        // The identity beside G records the row operations: it becomes T.
        for (i, row) in self.rows.chunks_exact_mut(width).enumerate() {
            row[n + i] = 1.0;
        }
        let mut rows = self.rows.chunks_exact_mut(width);
        for ((l, ends), path) in model.loops.iter().zip(&self.ends).zip(&self.paths) {
            for (k, row) in (0..6).filter(|k| l.locked[*k]).zip(&mut rows) {
                let F = ends.unit_wrench(k, &data.origin);
                // G_kj = ± S_j · F_k, + where it carries B.
                for PathDof { sign, dof } in path {
                    if let Some(c) = self.column_of[*dof] {
                        row[c] = -sign * data.subspace[*dof].dot(&F);
                    }
                }
            }
        }
        for (c, row) in model.couplings.iter().zip(rows) {
            for (joint, factor) in [(c.follower, 1.0), (c.leader, -c.multiplier)] {
                if let Some(c) = self.column_of[model.joints[joint.0].v_start] {
                    row[c] = factor;
                }
            }
        }
        self.eliminate();
    }

    /// Reduced row echelon form; pivots in passive coordinates while there are any.
    fn eliminate(&mut self) {
        let (n, width) = (self.columns.len(), self.columns.len() + self.n_rows);
        self.row_of.fill(None);
        let (mut done, mut n_driven) = (0, 0);
        for candidates in [0..self.n_passive, self.n_passive..n] {
            let is_driven = candidates.start == self.n_passive;
            while done < self.n_rows {
                // Pivots among all rows and columns, so that rows left over when the largest is round-off do repeat others.
                let mut pivot = self.largest(done, candidates.clone());
                if pivot.size <= PIVOT_TOLERANCE {
                    break;
                }
                if is_driven {
                    pivot = self.lasting(done, n_driven, pivot);
                    n_driven += 1;
                }
                let Pivot { row, column, .. } = pivot;
                reduce_column(&mut self.rows, width, PivotStep { row, column, target: done });
                self.row_of[column] = Some(done);
                done += 1;
            }
        }
        self.free.clear();
        self.free.extend((0..n).filter(|c| self.row_of[*c].is_none()));
    }

    /// The `k`th pivot among the driven columns: the last one's while it lasts, else the largest.
    fn lasting(&mut self, done: usize, k: usize, largest: Pivot) -> Pivot {
        if let Some(&last) = self.driven_pivots.get(k) {
            let here = self.largest(done, last..last + 1);
            if here.size >= LASTING_PIVOT * largest.size {
                return here;
            }
        }
        // Another choice here changes what is left of the columns after it: their memory is void.
        self.driven_pivots.truncate(k);
        self.driven_pivots.push(largest.column);
        largest
    }

    /// The largest entry of the rows from `done` on in some columns.
    fn largest(&self, done: usize, columns: core::ops::Range<usize>) -> Pivot {
        let width = self.columns.len() + self.n_rows;
        let mut best = Pivot { size: 0.0, row: 0, column: 0 };
        for (row, line) in self.rows.chunks_exact(width).enumerate().skip(done) {
            for (c, value) in columns.clone().zip(&line[columns.clone()]) {
                if value.abs() > best.size {
                    best = Pivot { size: value.abs(), row, column: c };
                }
            }
        }
        best
    }
}
