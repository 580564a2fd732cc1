//! Factors of a matrix of dense blocks: `H = L Lᵀ` where it is symmetric, `H = L U` where it is not.
//!
//! Nodes are the runs of the velocity vector (a robot, a body), blocks couple two nodes that touch; the pattern is
//! symmetric. The order of elimination is the greedy one of least degree, ties by index, so that a stack costs what its boxes
//! cost. Right-looking, no pivots: `H` is positive definite, or near to one that is. `U` is kept transposed, which
//! makes both factorisations the same code. [Davis 2006, ch. 4 and 7]

use std::ops::Range;

use nalgebra::{Matrix3, Vector3};

use super::Run;
use super::dot::dot;

/// The factor, and the room for it.
#[derive(Debug, Default)]
pub(crate) struct BlockFactor {
    /// Run of the node at each place of the order.
    nodes: Vec<Run>,
    /// Place of each node in the order.
    place: Vec<usize>,
    /// Offset in `lower` of each diagonal block.
    diagonal: Vec<usize>,
    /// Ends of the columns in `below`.
    ends: Vec<usize>,
    /// Blocks below the diagonal, column by column, places ascending: place of the row, offset in `lower`.
    below: Vec<(usize, usize)>,
    /// Lower half of `H`, then `L`.
    lower: Vec<f64>,
    /// Lower half of `Hᵀ`, then `Uᵀ`; used where `H` is not symmetric.
    upper: Vec<f64>,
    symmetric: bool,
    /// Length of `lower`, and of `upper`.
    size: usize,
    graph: Graph,
}

/// Graph of the nodes that touch, as bits. Eliminated nodes keep their row: the pattern of their column.
#[derive(Debug, Default)]
struct Graph {
    words: usize,
    bits: Vec<u64>,
    degree: Vec<usize>,
    left: Vec<bool>,
}

impl Graph {
    fn clear(&mut self, n: usize) {
        self.words = n.div_ceil(64);
        self.bits.clear();
        self.bits.resize(n * self.words, 0);
        self.left.clear();
        self.left.resize(n, true);
        self.degree.clear();
        self.degree.resize(n, 0);
    }

    fn join(&mut self, a: usize, b: usize) {
        self.bits[a * self.words + b / 64] |= 1 << (b % 64);
        self.bits[b * self.words + a / 64] |= 1 << (a % 64);
    }

    fn touch(&self, a: usize, b: usize) -> bool {
        self.bits[a * self.words + b / 64] >> (b % 64) & 1 == 1
    }

    fn count(&mut self, a: usize) {
        let row = &self.bits[a * self.words..(a + 1) * self.words];
        self.degree[a] = row.iter().map(|word| word.count_ones() as usize).sum();
    }

    /// Takes out the node with the fewest neighbours and joins them to each other.
    fn eliminate_next(&mut self) -> Option<usize> {
        let n = self.left.len();
        // The first of equal degrees: the order, and with it every rounding, is the same on every machine.
        let next = (0..n).filter(|&i| self.left[i]).min_by_key(|&i| self.degree[i])?;
        self.left[next] = false;
        // The neighbours of an eliminated node touch each other from now on: its fill-in.
        for i in 0..n {
            if !self.left[i] || !self.touch(next, i) {
                continue;
            }
            for word in 0..self.words {
                // One `or` of bit rows joins all of them at once.
                self.bits[i * self.words + word] |= self.bits[next * self.words + word];
            }
            for own in [i, next] {
                // A node is no neighbour of itself, nor of the one that is gone.
                self.bits[i * self.words + own / 64] &= !(1 << (own % 64));
            }
            self.count(i);
        }
        Some(next)
    }
}

impl BlockFactor {
    /// Chooses the order and the pattern for the coupled pairs of nodes.
    pub(crate) fn analyze(&mut self, runs: &[Run], pairs: impl Iterator<Item = (usize, usize)>) {
        let n = runs.len();
        self.graph.clear(n);
        for (a, b) in pairs {
            self.graph.join(a, b);
        }
        for i in 0..n {
            self.graph.count(i);
        }
        self.nodes.clear();
        self.place.resize(n, 0);
        self.ends.clear();
        self.below.clear();
        // Greedy order of least degree; a column has the neighbours of its node that are left.
        while let Some(node) = self.graph.eliminate_next() {
            self.place[node] = self.nodes.len();
            self.nodes.push(runs[node]);
            // The row of an eliminated node stays as it was then: the pattern of its column.
            let later = (0..n).filter(|&i| self.graph.left[i] && self.graph.touch(node, i));
            self.below.extend(later.map(|i| (i, 0)));
            self.ends.push(self.below.len());
        }
        // Layout column by column, the diagonal block first, those below it by their places.
        let mut offset = 0;
        self.diagonal.clear();
        for (k, node) in self.nodes.iter().enumerate() {
            self.diagonal.push(offset);
            offset += node.len * node.len;
            let start = if k == 0 { 0 } else { self.ends[k - 1] };
            let column = &mut self.below[start..self.ends[k]];
            for (row, _) in &mut *column {
                *row = self.place[*row];
            }
            column.sort_unstable();
            for (row, block) in column {
                *block = offset;
                offset += self.nodes[*row].len * node.len;
            }
        }
        self.size = offset;
        self.lower.resize(offset, 0.0);
    }

    /// Starts from the `Â` of the nodes. (`inertia` as in [`super::Problem`])
    pub(crate) fn load(&mut self, inertia: &[f64], symmetric: bool) {
        // The same pattern for both halves: an unsymmetric `D` fills what a symmetric one does.
        self.symmetric = symmetric;
        self.lower.fill(0.0);
        for (node, &at) in self.nodes.iter().zip(&self.diagonal) {
            let size = node.len * node.len;
            self.lower[at..at + size].copy_from_slice(&inertia[node.offset..node.offset + size]);
        }
        if !symmetric {
            self.upper.clone_from(&self.lower);
        }
    }

    /// Adds `Jᵀ D J` to the diagonal block of a node. `J` has rows of the node's length.
    pub(crate) fn add_diagonal(&mut self, node: usize, J: &[f64], D: &Matrix3<f64>) {
        let k = self.place[node];
        let (at, len) = (self.diagonal[k], self.nodes[k].len);
        let J = Rows { numbers: J, len };
        add_congruent(&mut self.lower[at..at + len * len], J, D, J, Part::Lower);
        if !self.symmetric {
            let D = D.transpose();
            add_congruent(&mut self.upper[at..at + len * len], J, &D, J, Part::Lower);
        }
    }

    /// Adds `J_aᵀ D J_b` and `J_bᵀ D J_a` to the blocks that couple two nodes.
    pub(crate) fn add_coupling(
        &mut self,
        [a, b]: [usize; 2],
        [J_a, J_b]: [&[f64]; 2],
        D: &Matrix3<f64>,
    ) {
        // Below the diagonal stands the later one's rows.
        // Elimination runs column by column, so a block belongs to the earlier node.
        let (row, J_row, column, J_column) = if self.place[a] > self.place[b] {
            (self.place[a], J_a, self.place[b], J_b)
        } else {
            (self.place[b], J_b, self.place[a], J_a)
        };
        let entries = &self.below[self.column_start(column)..self.ends[column]];
        let at = entries[entries.partition_point(|e| e.0 < row)].1;
        let (height, width) = (self.nodes[row].len, self.nodes[column].len);
        let block = at..at + height * width;
        let A = Rows { numbers: J_row, len: height };
        let B = Rows { numbers: J_column, len: width };
        add_congruent(&mut self.lower[block.clone()], A, D, B, Part::Whole);
        if !self.symmetric {
            let D = D.transpose();
            add_congruent(&mut self.upper[block], A, &D, B, Part::Whole);
        }
    }

    fn column_start(&self, k: usize) -> usize {
        if k == 0 { 0 } else { self.ends[k - 1] }
    }

    /// Factorises in place; false if a pivot vanishes, or is negative where the matrix is symmetric.
    pub(crate) fn factorize(&mut self) -> bool {
        // Out of `self` for the borrow: the pattern is read while the numbers change.
        let (mut lower, mut upper) =
            (std::mem::take(&mut self.lower), std::mem::take(&mut self.upper));
        let done = (0..self.nodes.len()).all(|k| {
            if self.symmetric {
                self.eliminate(k, &mut lower)
            } else {
                self.eliminate_both(k, &mut lower, &mut upper)
            }
        });
        (self.lower, self.upper) = (lower, upper);
        done
    }

    /// One column of the Cholesky factor, and what it takes from the rest.
    fn eliminate(&self, k: usize, lower: &mut [f64]) -> bool {
        let (len, at) = (self.nodes[k].len, self.diagonal[k]);
        let (start, end) = (self.column_start(k), self.ends[k]);
        let (column, rest) = lower[at..].split_at_mut(self.column_len(k));
        let (pivot, below) = column.split_at_mut(len * len);
        if !factorize_dense(pivot, len) {
            return false;
        }
        // `L_ik = H_ik L_kk⁻ᵀ`.
        for row in below.chunks_exact_mut(len) {
            forward(pivot, len, row);
        }
        let from = at + len * len;
        // `H_ji ← H_ji − L_jk L_ikᵀ` in the later columns.
        for i in start..end {
            // Right-looking: a column is complete when its turn comes, and its products go to the later ones at once.
            let left = self.block(i, len, from, below);
            self.subtract(
                i..end,
                len,
                Behind { numbers: &mut *rest, from: at + self.column_len(k) },
                |j| (self.block(j, len, from, below), left),
            );
        }
        true
    }

    /// One column of `L` and of `Uᵀ`, and what they take from the rest.
    fn eliminate_both(&self, k: usize, lower: &mut [f64], upper: &mut [f64]) -> bool {
        let (len, at) = (self.nodes[k].len, self.diagonal[k]);
        let (start, end) = (self.column_start(k), self.ends[k]);
        let behind = self.column_len(k);
        let (column, rest) = lower[at..].split_at_mut(behind);
        let (pivot, below) = column.split_at_mut(len * len);
        let (column_u, rest_u) = upper[at..].split_at_mut(behind);
        let (pivot_u, below_u) = column_u.split_at_mut(len * len);
        if !factorize_dense_both(pivot, pivot_u, len) {
            return false;
        }
        // `L_ik = H_ik U_kk⁻¹` and `(U_ki)ᵀ = (H_ki)ᵀ L_kk⁻ᵀ`.
        for (row, row_u) in below.chunks_exact_mut(len).zip(below_u.chunks_exact_mut(len)) {
            forward(pivot_u, len, row);
            forward(pivot, len, row_u);
        }
        let from = at + len * len;
        // `H_ji ← H_ji − L_jk U_ki` in the later columns, and its mirror image in the upper half.
        for i in start..end {
            let left = self.block(i, len, from, below);
            let left_u = self.block(i, len, from, below_u);
            self.subtract(i..end, len, Behind { numbers: &mut *rest, from: at + behind }, |j| {
                (self.block(j, len, from, below), left_u)
            });
            self.subtract(i..end, len, Behind { numbers: &mut *rest_u, from: at + behind }, |j| {
                (self.block(j, len, from, below_u), left)
            });
        }
        true
    }

    /// Numbers in the column of place `k`, the diagonal block among them.
    fn column_len(&self, k: usize) -> usize {
        let end = self.diagonal.get(k + 1).copied().unwrap_or(self.size);
        end - self.diagonal[k]
    }

    /// The block of entry `i` in a slice that starts at the offset `from`.
    fn block<'a>(&self, i: usize, len: usize, from: usize, below: &'a [f64]) -> &'a [f64] {
        let (row, offset) = self.below[i];
        &below[offset - from..offset - from + self.nodes[row].len * len]
    }

    /// Subtracts the products `A_j B_jᵀ` of the entries j ≥ i from the blocks (j, i) of the rest, which starts at `from`.
    fn subtract<'a>(
        &self,
        entries: Range<usize>,
        len: usize,
        Behind { numbers: rest, from }: Behind,
        factors: impl Fn(usize) -> (&'a [f64], &'a [f64]),
    ) {
        let Range { start: i, end } = entries;
        let row_i = self.below[i].0;
        let width = self.nodes[row_i].len;
        let at = self.diagonal[row_i] - from;
        let (A, B) = factors(i);
        subtract_product(&mut rest[at..at + width * width], A, B, len);
        // The rows of both columns ascend, so that one pass finds all targets.
        let mut target = self.column_start(row_i);
        for j in i + 1..end {
            let row_j = self.below[j].0;
            while self.below[target].0 < row_j {
                target += 1;
            }
            let at = self.below[target].1 - from;
            let (A, B) = factors(j);
            subtract_product(&mut rest[at..at + self.nodes[row_j].len * width], A, B, len);
        }
    }

    /// `x ← H⁻¹ x`, in place; `x` is laid out as the velocity of the world, other runs stay. (n)
    pub(crate) fn solve(&self, x: &mut [f64]) {
        // In the layout of the velocity: no permutation of the right-hand side is made.
        // `y = L⁻¹ x`, column by column.
        for (k, node) in self.nodes.iter().enumerate() {
            forward(&self.lower[self.diagonal[k]..], node.len, &mut x[node.start..][..node.len]);
            for &(row, block) in &self.below[self.column_start(k)..self.ends[k]] {
                for r in 0..self.nodes[row].len {
                    let l = &self.lower[block + r * node.len..][..node.len];
                    x[self.nodes[row].start + r] -= dot(l, &x[node.start..][..node.len]);
                }
            }
        }
        let upper = if self.symmetric { &self.lower } else { &self.upper };
        // `L⁻ᵀ y`, or `U⁻¹ y`, in reverse.
        for (k, node) in self.nodes.iter().enumerate().rev() {
            for &(row, block) in &self.below[self.column_start(k)..self.ends[k]] {
                for r in 0..self.nodes[row].len {
                    let u = &upper[block + r * node.len..][..node.len];
                    let y = x[self.nodes[row].start + r];
                    for (x, u) in x[node.start..][..node.len].iter_mut().zip(u) {
                        *x -= u * y;
                    }
                }
            }
            backward(&upper[self.diagonal[k]..], node.len, &mut x[node.start..][..node.len]);
        }
    }
}

/// `C ← C − A Bᵀ`, all row-major; `A`, `B` have rows of `size`.
fn subtract_product(C: &mut [f64], A: &[f64], B: &[f64], size: usize) {
    let width = B.len() / size;
    for (row, a) in C.chunks_exact_mut(width).zip(A.chunks_exact(size)) {
        for (c, b) in row.iter_mut().zip(B.chunks_exact(size)) {
            *c -= dot(a, b);
        }
    }
}

/// Rows of `J` on a node.
#[derive(Clone, Copy)]
struct Rows<'a> {
    /// Entries, row by row.
    numbers: &'a [f64],
    /// Length of each row: the velocities of the node.
    len: usize,
}

/// Part of the factor behind a column.
struct Behind<'a> {
    numbers: &'a mut [f64],
    /// Its first entry in the factor.
    from: usize,
}

/// Lower Cholesky factor of a dense row-major matrix, in place.
pub(crate) fn factorize_dense(A: &mut [f64], n: usize) -> bool {
    // Row by row: `L_ij = (A_ij − Σ L_ik L_jk)/L_jj` left of the diagonal, then the pivot.
    for i in 0..n {
        let (above, row) = A.split_at_mut(i * n);
        for j in 0..i {
            row[j] = (row[j] - dot(&row[..j], &above[j * n..j * n + j])) / above[j * n + j];
        }
        let pivot = row[i] - dot(&row[..i], &row[..i]);
        // A pivot that is not positive is that of a matrix that rounding made indefinite, or of NaN.
        if pivot <= 0.0 || !pivot.is_finite() {
            return false;
        }
        row[i] = pivot.sqrt();
    }
    true
}

/// `A = L U` of a dense row-major matrix, in place: the lower halves of `A` and `Aᵀ` become `L` (ones on its
/// diagonal) and `Uᵀ`.
fn factorize_dense_both(A: &mut [f64], transposed: &mut [f64], n: usize) -> bool {
    // Row by row, `L` left of the diagonal and the column of `U` above it; the pivot belongs to `U`.
    for i in 0..n {
        let (above, row) = A.split_at_mut(i * n);
        let (above_u, row_u) = transposed.split_at_mut(i * n);
        for j in 0..i {
            let (l, u) = (&above[j * n..j * n + j], &above_u[j * n..=j * n + j]);
            row[j] = (row[j] - dot(&row[..j], &u[..j])) / u[j];
            row_u[j] -= dot(&row_u[..j], l);
        }
        let pivot = row_u[i] - dot(&row[..i], &row_u[..i]);
        // Without pivoting a small pivot grows errors; the step's line search and its exact velocity bear an inexact direction.
        if pivot == 0.0 || !pivot.is_finite() {
            return false;
        }
        row_u[i] = pivot;
        row[i] = 1.0;
    }
    true
}

/// Part of a block that is needed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Whole,
    /// Left of the diagonal and on it; what is right of it is never read.
    Lower,
}

/// `C ← C + Aᵀ D B`, all row-major, at least in the part that is needed; `A` and `B` have 1 or 3 rows.
fn add_congruent(
    C: &mut [f64],
    Rows { numbers: A, len: height }: Rows,
    D: &Matrix3<f64>,
    Rows { numbers: B, len: width }: Rows,
    part: Part,
) {
    if let (Ok(C), Ok(A), Ok(B)) =
        (<&mut [f64; 36]>::try_from(&mut *C), <&[f64; 18]>::try_from(A), <&[f64; 18]>::try_from(B))
    {
        return add_congruent_of_bodies(C, A, D, B);
    }
    let rows = A.len() / height;
    for (i, out) in C.chunks_exact_mut(width).enumerate() {
        // Row `i` of `Aᵀ D`, then its product with `B`; degrees of freedom that the rows do not move are left out.
        let mut weights = [0.0; 3];
        let mut moves = false;
        for r in 0..rows {
            let a = A[r * height + i];
            if a != 0.0 {
                moves = true;
                for (s, w) in weights.iter_mut().enumerate().take(rows) {
                    *w += a * D[(r, s)];
                }
            }
        }
        if moves {
            let out = if part == Part::Lower { &mut out[..=i] } else { out };
            if rows == 3 {
                let (b0, others) = B.split_at(width);
                let (b1, b2) = others.split_at(width);
                // In one pass, and the order of three.
                for (((c, b0), b1), b2) in out.iter_mut().zip(b0).zip(b1).zip(b2) {
                    *c = *c + weights[0] * b0 + weights[1] * b1 + weights[2] * b2;
                }
                continue;
            }
            for (w, b) in weights.iter().zip(B.chunks_exact(width)) {
                for (c, b) in out.iter_mut().zip(b) {
                    *c += w * b;
                }
            }
        }
    }
}

/// [`add_congruent`] of a contact between free bodies, its loops unrolled.
fn add_congruent_of_bodies(C: &mut [f64; 36], A: &[f64; 18], D: &Matrix3<f64>, B: &[f64; 18]) {
    for (i, out) in C.as_chunks_mut::<6>().0.iter_mut().enumerate() {
        let a = Vector3::new(A[i], A[6 + i], A[12 + i]);
        let w = D.tr_mul(&a);
        for (j, c) in out.iter_mut().enumerate() {
            *c += w.x * B[j] + w.y * B[6 + j] + w.z * B[12 + j];
        }
    }
}

/// `x ← L⁻¹ x`.
#[inline]
pub(crate) fn forward(L: &[f64], n: usize, x: &mut [f64]) {
    for i in 0..n {
        x[i] = (x[i] - dot(&L[i * n..i * n + i], &x[..i])) / L[i * n + i];
    }
}

/// `x ← L⁻ᵀ x`.
#[inline]
pub(crate) fn backward(L: &[f64], n: usize, x: &mut [f64]) {
    for i in (0..n).rev() {
        x[i] /= L[i * n + i];
        let y = x[i];
        for (x, l) in x[..i].iter_mut().zip(&L[i * n..i * n + i]) {
            *x -= l * y;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector, Vector3};
    use proptest::prelude::*;

    proptest! {
        /// Solves what a dense factor solves, whatever the pattern, symmetric or not.
        #[test]
        fn equals_the_dense_solution(
            lens in prop::collection::vec(1..8_usize, 1..8),
            edges in prop::collection::vec((0..8_usize, 0..8_usize), 0..12),
            seed in prop::collection::vec(-1.0..1.0_f64, 97),
            symmetric: bool,
        ) {
            let mut at = 0;
            let mut next = || { at += 1; seed[at * 31 % 97] };
            let (mut start, mut offset) = (0, 0);
            let (mut runs, mut inertia) = (Vec::new(), Vec::new());
            for &len in &lens {
                runs.push(Run { start, len, offset });
                inertia.extend((0..len * len).map(|i| if i % (len + 1) == 0 { 9.0 } else { 0.1 }));
                start += len;
                offset += len * len;
            }
            let mut dense = DMatrix::<f64>::zeros(start, start);
            for run in &runs {
                let block = DMatrix::from_row_slice(run.len, run.len, &inertia[run.offset..][..run.len * run.len]);
                dense.view_mut((run.start, run.start), (run.len, run.len)).copy_from(&block);
            }
            let n = runs.len();
            let edges: Vec<_> = edges.into_iter().map(|(a, b)| [a % n, b % n]).filter(|[a, b]| a != b).collect();
            let mut factor = BlockFactor::default();
            factor.analyze(&runs, edges.iter().map(|&[a, b]| (a, b)));
            factor.load(&inertia, symmetric);
            for &[a, b] in &edges {
                let mut D = Matrix3::from_diagonal(&Vector3::new(next() + 2.0, next() + 2.0, next() + 2.0));
                if !symmetric {
                    D[(0, 1)] = next();
                    D[(0, 2)] = next();
                }
                let J = [a, b].map(|node| (0..3 * runs[node].len).map(|_| next()).collect::<Vec<_>>());
                let mut whole = DMatrix::zeros(3, start);
                for (node, J) in [a, b].iter().zip(&J) {
                    factor.add_diagonal(*node, J, &D);
                    let block = DMatrix::from_row_slice(3, runs[*node].len, J);
                    whole.columns_mut(runs[*node].start, runs[*node].len).copy_from(&block);
                }
                factor.add_coupling([a, b], [&J[0], &J[1]], &D);
                dense += whole.transpose() * D * whole;
            }
            prop_assert!(factor.factorize());
            let b = DVector::from_fn(start, |_, _| next());
            let mut x = b.as_slice().to_vec();
            factor.solve(&mut x);
            let error = (&dense * DVector::from_vec(x) - b).amax();
            prop_assert!(error < 1e-11, "{error}");
        }
    }
}
