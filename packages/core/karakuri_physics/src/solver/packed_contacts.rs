//! Contacts of free bodies, packed for sweeps: what a visit reads lies side by side, half as much as in the problem.
//!
//! With the factor `Â = L Lᵀ` of a body its velocity `w = Lᵀ v` has the rows `K = J L⁻ᵀ`, and impulses act by the same numbers:
//!
//! ```text
//! u = J v = K w,   w ← w + Lᵀ Â⁻¹ Jᵀ δ = w + Kᵀ δ
//! ```
//!
//! so that `Y` is not read at all. All loops are of known length, and sums are of two lanes, which processors add at once.

use std::ops::Range;

use nalgebra::{Matrix6, Vector3};

use super::{Block, Problem, Run, Side};

/// Velocity of a body in the metric of its operator.
pub(super) type Scaled = [f64; 6];

/// The rows of a contact.
#[derive(Debug, Clone, Copy)]
struct Rows {
    /// `K` of both sides: normal and two tangents. (2 × 3 × 6)
    K: [[[f64; 6]; 3]; 2],
    /// Places of the two bodies; the first place is for what does not move.
    ends: [usize; 2],
    /// Desired velocity `u*`. [m/s] (3)
    bias: Vector3<f64>,
}

/// A body of the island.
#[derive(Debug, Clone, Copy)]
struct Packed {
    start: usize,
    /// `L⁻ᵀ`.
    inverse: Matrix6<f64>,
}

/// The contacts of an island, and the velocities of its bodies.
#[derive(Debug, Default)]
pub(super) struct PackedContacts {
    rows: Vec<Rows>,
    bodies: Vec<Packed>,
    /// Velocities of the bodies; the first is of what does not move.
    pub(super) velocities: Vec<Scaled>,
    /// Place of the body whose run starts at an entry of the velocity, and the solve that found it. (n)
    place_at: Vec<(u64, usize)>,
    solve: u64,
}

impl PackedContacts {
    /// Takes an island; false where it has other movers than free bodies, or no operators of them.
    pub(super) fn load(&mut self, problem: &Problem, island: Range<usize>) -> bool {
        self.solve += 1;
        self.place_at.resize(problem.velocity.len(), (0, 0));
        self.rows.clear();
        self.bodies.clear();
        self.bodies.push(Packed { start: 0, inverse: Matrix6::zeros() });
        self.velocities.clear();
        self.velocities.push([0.0; 6]);
        for block in &problem.blocks[island] {
            let Some(rows) = self.rows_of(problem, block) else { return false };
            self.rows.push(rows);
        }
        true
    }

    fn rows_of(&mut self, problem: &Problem, block: &Block) -> Option<Rows> {
        let mut rows = Rows { K: [[[0.0; 6]; 3]; 2], ends: [0; 2], bias: block.bias };
        for (end, side) in block.sides.iter().enumerate().filter(|(_, side)| side.len > 0) {
            rows.ends[end] = self.place_of(problem, side)?;
            let inverse = &self.bodies[rows.ends[end]].inverse;
            let J = problem.jacobian.get(side.offset..side.offset + 18)?.as_chunks::<6>().0;
            for (K, J) in rows.K[end].iter_mut().zip(J) {
                // `K = J L⁻ᵀ`: `L⁻ᵀ` is upper triangular.
                for (column, k) in K.iter_mut().enumerate() {
                    *k = (0..=column).map(|i| J[i] * inverse[(i, column)]).sum();
                }
            }
        }
        Some(rows)
    }

    /// Place of the body that a side moves.
    fn place_of(&mut self, problem: &Problem, side: &Side) -> Option<usize> {
        let (solve, place) = self.place_at[side.start];
        if solve == self.solve {
            return Some(place);
        }
        if side.len != 6 || !problem.is_of_body(side) {
            return None;
        }
        let found = problem.runs.binary_search_by_key(&side.start, |run| run.start).ok()?;
        let Run { start, offset, .. } = problem.runs[found];
        let operator = problem.inertia.get(offset..offset + 36)?;
        let factor = Matrix6::from_column_slice(operator).cholesky()?.unpack();
        let inverse = factor.transpose().try_inverse()?;
        let v = nalgebra::Vector6::from_column_slice(&problem.velocity[start..start + 6]);
        let place = self.bodies.len();
        self.bodies.push(Packed { start, inverse });
        self.velocities.push((factor.transpose() * v).into());
        self.place_at[side.start] = (self.solve, place);
        Some(place)
    }

    /// `u − u*` of a contact. [m/s] (3)
    #[inline]
    pub(super) fn velocity_of(&self, contact: usize) -> Vector3<f64> {
        let Rows { K: [of_a, of_b], ends: [a, b], bias } = &self.rows[contact];
        let (a, b) = (&self.velocities[*a], &self.velocities[*b]);
        let row = |i: usize| {
            let (p, q) = (lanes(&of_a[i], a), lanes(&of_b[i], b));
            (p[0] + q[0]) + (p[1] + q[1])
        };
        Vector3::new(row(0), row(1), row(2)) - bias
    }

    /// Adds a change `δ` of the impulse of a contact. [N·s] (3)
    #[inline]
    pub(super) fn apply(&mut self, contact: usize, delta: &Vector3<f64>) {
        let Rows { K: [of_a, of_b], ends: [a, b], .. } = &self.rows[contact];
        add(&mut self.velocities[*a], of_a, delta);
        add(&mut self.velocities[*b], of_b, delta);
    }

    /// Gives the velocities to the problem.
    pub(super) fn hand_over(&self, problem: &mut Problem) {
        for (body, w) in self.bodies.iter().zip(&self.velocities).skip(1) {
            let v = body.inverse * nalgebra::Vector6::from(*w);
            problem.velocity[body.start..body.start + 6].copy_from_slice(v.as_slice());
        }
    }
}

/// `K w` of a row, the sums of its even and its odd entries.
#[inline]
fn lanes(K: &[f64; 6], w: &Scaled) -> [f64; 2] {
    [K[0] * w[0] + K[2] * w[2] + K[4] * w[4], K[1] * w[1] + K[3] * w[3] + K[5] * w[5]]
}

/// `w ← w + Kᵀ δ` of a body.
#[inline]
fn add(w: &mut Scaled, [n, s, t]: &[[f64; 6]; 3], delta: &Vector3<f64>) {
    *w = std::array::from_fn(|i| w[i] + (n[i] * delta.x + s[i] * delta.y + t[i] * delta.z));
}
