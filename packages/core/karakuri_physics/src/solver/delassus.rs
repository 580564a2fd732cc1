//! The Delassus matrix `G = J Y + S` of an island: what a unit impulse of each row changes in the velocity of all.

use super::dot::{dot, dot_three};
use super::{Block, Problem, Side};

/// `G` of an island.
#[derive(Debug, Default)]
pub(crate) struct Delassus {
    /// Number of rows of the island.
    pub(crate) rows: usize,
    /// First row of each block.
    pub(crate) starts: Vec<usize>,
    /// Entries of `G`, row-major, symmetric. (rows × rows)
    pub(crate) matrix: Vec<f64>,
}

/// A block and its first row.
#[derive(Clone, Copy)]
struct Placed<'a> {
    block: &'a Block,
    row: usize,
}

impl Delassus {
    /// Takes the blocks of an island.
    pub(crate) fn fill(&mut self, problem: &Problem, blocks: &[Block]) {
        self.starts.clear();
        self.rows = 0;
        for block in blocks {
            self.starts.push(self.rows);
            self.rows += block.rows();
        }
        let n = self.rows;
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        // The lower half by blocks that share a mover, the upper one by symmetry.
        for (i, a) in blocks.iter().enumerate() {
            // Its own part is known.
            for row in 0..a.rows() {
                for column in 0..a.rows() {
                    let at = (self.starts[i] + row) * n + self.starts[i] + column;
                    self.matrix[at] = a.delassus[(row, column)];
                }
            }
            // `J_a Â⁻¹ J_bᵀ` is the transpose of `J_b Â⁻¹ J_aᵀ`.
            for (j, b) in blocks.iter().enumerate().take(i) {
                let [at_a, at_b] = [i, j].map(|k| self.starts[k]);
                self.add(problem, Placed { block: a, row: at_a }, Placed { block: b, row: at_b });
            }
        }
        for (block, &start) in blocks.iter().zip(&self.starts) {
            let Some(series) = &block.series else { continue };
            for i in 0..block.rows() {
                for j in 0..=i {
                    self.matrix[(start + i) * n + start + j] += series[(i, j)];
                }
            }
        }
        for i in 0..n {
            for j in 0..i {
                self.matrix[j * n + i] = self.matrix[i * n + j];
            }
        }
    }

    /// Adds `J_a Y_b` to the rows of `a` and the columns of `b`.
    fn add(&mut self, problem: &Problem, a: Placed, b: Placed) {
        let (Placed { block: a, row: at_a }, Placed { block: b, row: at_b }) = (a, b);
        // The usual pair of a robot without contacts, spared the search of its sides.
        if let ([of_a, Side { len: 0, .. }], [of_b, Side { len: 0, .. }]) = (a.sides, b.sides)
            && let (Some(unit), Some(_)) = (of_a.unit, of_b.unit)
        {
            if of_a.start == of_b.start {
                self.matrix[at_a * self.rows + at_b] +=
                    problem.response[of_b.offset + unit as usize];
            }
            return;
        }
        for side_a in a.sides.iter().filter(|s| s.len > 0) {
            // Only what moves the same run couples; a side at rest has no length.
            for side_b in b.sides.iter().filter(|s| s.len > 0 && s.start == side_a.start) {
                let len = side_a.len;
                let Y = &problem.response[side_b.offset..][..b.rows() * len];
                // A row of one degree of freedom picks its entry of the other's response.
                if let Some(unit) = side_a.unit {
                    let row = &mut self.matrix[at_a * self.rows + at_b..][..b.rows()];
                    for (g, Y) in row.iter_mut().zip(Y.chunks_exact(len)) {
                        *g += Y[unit as usize];
                    }
                    continue;
                }
                for i in 0..a.rows() {
                    let J = &problem.jacobian[side_a.offset + i * len..][..len];
                    let row = &mut self.matrix[(at_a + i) * self.rows + at_b..][..b.rows()];
                    if b.rows() == 3 {
                        let products = dot_three([&Y[..len], &Y[len..2 * len], &Y[2 * len..]], J);
                        for (g, product) in row.iter_mut().zip(products) {
                            *g += product;
                        }
                        continue;
                    }
                    for (g, Y) in row.iter_mut().zip(Y.chunks_exact(len)) {
                        *g += dot(J, Y);
                    }
                }
            }
        }
    }

    /// Row `i` of `G`. (rows)
    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.matrix[i * self.rows..(i + 1) * self.rows]
    }
}
