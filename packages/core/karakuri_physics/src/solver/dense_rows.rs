//! The velocities of few rows, and what an impulse of each changes in all of them: sweeps that never look at the movers.
//!
//! ```text
//! u = J v + S λ,   u ← u + G δ,   G = J Y + S
//! ```
//!
//! Of a robot of `n` velocities and an island of `m` rows a visit costs `3 m` products, where rows of `J` and of `Y` cost `6 n`, in sums
//! that wait for each other; the matrix of 60 rows lies in the nearest cache.

use std::ops::Range;

use nalgebra::Vector3;

use super::Problem;
use super::delassus::Delassus;

/// The rows of an island.
#[derive(Debug, Default)]
pub(super) struct DenseRows {
    delassus: Delassus,
    /// `u` of all rows. [m/s or rad/s] (rows)
    pub(super) velocities: Vec<f64>,
}

impl DenseRows {
    /// Takes an island with the impulses of its blocks.
    pub(super) fn load(&mut self, problem: &Problem, island: Range<usize>) {
        let blocks = &problem.blocks[island];
        self.delassus.fill(problem, blocks);
        self.velocities.clear();
        for block in blocks {
            let u = problem.velocity_of(block);
            self.velocities.extend_from_slice(&u.as_slice()[..block.rows()]);
        }
    }

    /// `u` of a block of so many rows. [m/s or rad/s] (3)
    #[inline]
    pub(super) fn velocity_of(&self, block: usize, rows: usize) -> Vector3<f64> {
        let start = self.delassus.starts[block];
        match self.velocities[start..start + rows] {
            [x, y, z] => Vector3::new(x, y, z),
            [x, ..] => Vector3::new(x, 0.0, 0.0),
            [] => Vector3::zeros(),
        }
    }

    /// Adds a change `δ` of the impulse of a block. [N·s or N·m·s] (3)
    #[inline]
    pub(super) fn apply(&mut self, block: usize, delta: &[f64]) {
        let start = self.delassus.starts[block];
        // The matrix is symmetric: its rows are its columns.
        let column = |row: usize| self.delassus.row(start + row);
        if let &[x, y, z] = delta {
            let columns = column(0).iter().zip(column(1)).zip(column(2));
            // In this order for each velocity, as by one row after the other.
            for (u, ((a, b), c)) in self.velocities.iter_mut().zip(columns) {
                *u = *u + a * x + b * y + c * z;
            }
            return;
        }
        for (row, &delta) in delta.iter().enumerate() {
            for (u, g) in self.velocities.iter_mut().zip(column(row)) {
                *u += g * delta;
            }
        }
    }
}
