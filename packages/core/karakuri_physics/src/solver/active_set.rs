//! Rows of one degree of freedom each, solved to all digits: the primal-dual active set method.
//!
//! Limits, dry friction and drives at their bounds ask for impulses between bounds, each with its own part of the velocity:
//!
//! ```text
//! y = G λ + R λ + w:    y = 0 where l < λ < h,   y ≥ 0 where λ = l,   y ≤ 0 where λ = h
//! ```
//!
//! `λ − y/g` says of each row where it should be; a linear system gives the impulses of the rows that it puts between their bounds, and
//! so on until none changes its place. The law is piecewise linear, so that this is Newton's method without regularisation: one or
//! two systems from a warm start. [Hintermüller, Ito, Kunisch 2002]
//!
//! Limits: rows that depend on each other have more than one solution, and guesses may go round; both are left to the caller.

use std::ops::Range;

use karakuri_dynamics::dense::solve_positive_definite;

use super::delassus::Delassus;
use super::dot::dot;
use super::law::natural_map;
use super::{Admissible, Block, Problem};

/// Most rows: their systems stay in the nearest cache.
const MOST_ROWS: usize = 60;
/// Most guesses: two or three as a rule, and those that go round never end.
const MOST_GUESSES: usize = 10;

/// Part of a row's `G + R` that must be left beside the rows before it: less is a row that depends on them. [-]
const DEPENDENT: f64 = 1e-10;

/// Where an impulse is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Lower,
    Between,
    Upper,
}

/// A row of the island.
#[derive(Debug, Clone, Copy)]
struct Row {
    lower: f64,
    upper: f64,
    /// `R`, and `G + R` of the row itself. [1/kg or 1/(kg·m²)]
    compliance: f64,
    stiffness: f64,
    /// `w`: its velocity, less the desired one, without the impulses of the island. [m/s or rad/s]
    free: f64,
    place: Place,
}

/// The method, and its memory.
#[derive(Debug, Default)]
pub(super) struct ActiveSet {
    delassus: Delassus,
    rows: Vec<Row>,
    /// Impulses of all rows. [N·s or N·m·s]
    impulses: Vec<f64>,
    /// Rows between their bounds; their system and its right side.
    between: Vec<usize>,
    matrix: Vec<f64>,
    vector: Vec<f64>,
}

impl ActiveSet {
    /// Solves an island of single rows; the number of systems that it took. None, and nothing changed, where it has others, where the
    /// method does not end, and where rounding leaves more than the tolerance. [m/s or rad/s]
    pub(super) fn solve(
        &mut self,
        problem: &mut Problem,
        island: Range<usize>,
        tolerance: f64,
    ) -> Option<usize> {
        self.load(problem, &problem.blocks[island.clone()])?;
        for used in 0..MOST_GUESSES {
            if !self.guess() && used > 0 {
                self.exchange(problem, island.clone());
                let is_solved = |block: &Block| natural_map(problem, block) <= tolerance;
                if problem.blocks[island.clone()].iter().all(is_solved) {
                    return Some(used);
                }
                self.exchange(problem, island);
                return None;
            }
            self.solve_between()?;
        }
        None
    }

    /// Takes the blocks of an island; none where they are not single rows.
    fn load(&mut self, problem: &Problem, blocks: &[Block]) -> Option<()> {
        let is_single = |block: &Block| {
            matches!(block.admissible, Admissible::Interval { .. }) && block.series.is_none()
        };
        if blocks.len() > MOST_ROWS || !blocks.iter().all(is_single) {
            return None;
        }
        self.delassus.fill(problem, blocks);
        self.impulses.clear();
        self.impulses.extend(blocks.iter().map(|block| block.impulse.x));
        self.rows.clear();
        for (i, block) in blocks.iter().enumerate() {
            let Admissible::Interval { lower, upper } = block.admissible else { return None };
            let G = self.delassus.row(i);
            let u = problem.velocity_of(block).x - block.bias.x;
            self.rows.push(Row {
                lower,
                upper,
                compliance: block.compliance,
                stiffness: G[i] + block.compliance,
                free: u - dot(G, &self.impulses),
                place: Place::Between,
            });
        }
        Some(())
    }

    /// Puts every row where `λ − y/g` says; whether one changed its place.
    fn guess(&mut self) -> bool {
        let mut changed = false;
        self.between.clear();
        for (i, row) in self.rows.iter_mut().enumerate() {
            let G_row = self.delassus.row(i);
            let y = row.free + dot(G_row, &self.impulses) + row.compliance * self.impulses[i];
            let unbounded = self.impulses[i] - y / row.stiffness;
            let place = if unbounded <= row.lower {
                Place::Lower
            } else if unbounded >= row.upper {
                Place::Upper
            } else {
                self.between.push(i);
                Place::Between
            };
            changed |= place != row.place;
            row.place = place;
        }
        changed
    }

    /// Solves for the impulses of the rows between their bounds, with the others at theirs; none where they depend on each other.
    fn solve_between(&mut self) -> Option<()> {
        for (impulse, row) in self.impulses.iter_mut().zip(&self.rows) {
            *impulse = match row.place {
                Place::Lower => row.lower,
                Place::Between => 0.0,
                Place::Upper => row.upper,
            };
        }
        self.matrix.clear();
        self.vector.clear();
        for &i in &self.between {
            let (row, G_row) = (&self.rows[i], self.delassus.row(i));
            self.vector.push(-(row.free + dot(G_row, &self.impulses)));
            let first = self.matrix.len();
            self.matrix.extend(self.between.iter().map(|&j| G_row[j]));
            self.matrix[first + self.vector.len() - 1] = row.stiffness;
        }
        if !solve_positive_definite(&mut self.matrix, &mut self.vector) {
            return None;
        }
        let n = self.between.len();
        let is_independent = |(k, &i): (usize, &usize)| {
            // The square root of what is left of the row beside those before it.
            self.matrix[k * (n + 1)].powi(2) > DEPENDENT * self.rows[i].stiffness
        };
        if !self.between.iter().enumerate().all(is_independent) {
            return None;
        }
        for (&i, &impulse) in self.between.iter().zip(&self.vector) {
            self.impulses[i] = impulse;
        }
        Some(())
    }

    /// Exchanges the impulses with those of the problem, and makes its velocity of them.
    fn exchange(&mut self, problem: &mut Problem, island: Range<usize>) {
        for (block, impulse) in problem.blocks[island.clone()].iter_mut().zip(&mut self.impulses) {
            std::mem::swap(&mut block.impulse.x, impulse);
        }
        problem.reset_velocity(island);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{RowSpec, Side};
    use nalgebra::{DMatrix, DVector};
    use proptest::prelude::*;

    /// Velocities that rows of an island act on.
    const N: usize = 8;

    /// Rows of one mechanism by `numbers`, between bounds.
    fn rows(n: usize, numbers: &[f64]) -> Problem {
        let mut numbers = numbers.iter().copied().cycle();
        let mut next = || numbers.next().unwrap_or(0.5);
        let root = DMatrix::from_fn(N, N, |_, _| next());
        let inverse = &root * root.transpose() + DMatrix::identity(N, N) * 0.1;
        let mut problem =
            Problem { velocity: (0..N).map(|_| next()).collect(), ..Problem::default() };
        for _ in 0..n {
            let side = Side::new(0, N, problem.jacobian.len());
            let row = DVector::from_fn(N, |_, _| next());
            problem.jacobian.extend_from_slice(row.as_slice());
            problem.response.extend_from_slice((&inverse * row).as_slice());
            let admissible = Admissible::Interval { lower: -next().abs(), upper: next().abs() };
            let block = Block::row([side, Side::default()], &RowSpec::default());
            let mut block = Block { admissible, compliance: next().max(0.0), ..block };
            block.bias.x = next();
            block.delassus = problem.delassus_of(&block);
            problem.blocks.push(block);
        }
        problem.island_ends.push(n);
        problem.save_free_velocity();
        problem
    }

    proptest! {
        /// What it ends with obeys the law of every row, and only what does not end is left as it was.
        #[test]
        fn rows_obey_their_law(n in 1..N, numbers in prop::collection::vec(-1.0..1.0_f64, 997)) {
            let mut problem = rows(n, &numbers);
            let used = ActiveSet::default().solve(&mut problem, 0..n, 1e-10);
            let worst = problem.blocks.iter().map(|b| natural_map(&problem, b)).fold(0.0, f64::max);
            prop_assert!(used.is_some() && worst <= 1e-10, "{used:?}, {worst:e}");
        }
    }

    /// Two rows that say the same share their impulse in many ways: none is chosen.
    #[test]
    fn rows_that_depend_on_each_other_are_left() {
        let mut problem = rows(2, &[0.3, -0.7, 0.9, 0.2, -0.4]);
        for values in [&mut problem.jacobian, &mut problem.response] {
            values.copy_within(..N, N);
        }
        let wide = Admissible::Interval { lower: f64::NEG_INFINITY, upper: f64::INFINITY };
        for i in 0..2 {
            let block = Block { admissible: wide, compliance: 0.0, ..problem.blocks[i] };
            problem.blocks[i] = Block { delassus: problem.delassus_of(&block), ..block };
        }
        let before = problem.velocity.clone();
        assert!(ActiveSet::default().solve(&mut problem, 0..2, 1e-10).is_none());
        assert!(problem.velocity == before && problem.blocks.iter().all(|b| b.impulse.x == 0.0));
    }
}
