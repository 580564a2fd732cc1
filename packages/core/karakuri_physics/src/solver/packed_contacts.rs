//! Contacts of free bodies, packed for sweeps: what a visit reads lies side by side, half as much as in the problem.
//!
//! With the factor `Â = L Lᵀ` of a body its velocity `w = Lᵀ v` has the rows `K = J L⁻ᵀ`, and impulses act by the same numbers. About the
//! centre of mass `Â` is the mass beside a 3×3 block:
//!
//! ```text
//! u = J v = K w,   w ← w + Lᵀ Â⁻¹ Jᵀ δ = w + Kᵀ δ
//! ```
//!
//! so that `Y` is not read at all. All loops are of known length, and sums are of two lanes, which processors add at once.

use std::ops::Range;

use nalgebra::{Matrix3, Matrix6, Vector3};

use super::{Block, Problem, Run, Side};

/// Velocity of a body in the metric of its operator.
pub(super) type Scaled = [f64; 6];

/// The rows of a contact.
#[derive(Debug, Clone, Copy)]
struct Rows {
    /// `K` of both sides: normal and two tangents. (2 × 3 × 6)
    K: [[[f64; 6]; 3]; 2],
    /// Desired velocity `u*`. [m/s] (3)
    bias: Vector3<f64>,
}

/// A body of the island.
#[derive(Debug, Clone, Copy)]
struct Packed {
    start: usize,
    /// Factor of its mass, and of its angular block.
    root_mass: f64,
    root: Matrix3<f64>,
    /// `L⁻ᵀ` of both; the second is upper triangular.
    per_root_mass: f64,
    inverse: Matrix3<f64>,
}

/// The contacts of an island, and the velocities of its bodies.
#[derive(Debug, Default)]
pub(super) struct PackedContacts {
    rows: Vec<Rows>,
    /// Places of the two bodies of each; the first place is for what does not move.
    ends: Vec<[u32; 2]>,
    bodies: Vec<Packed>,
    /// Velocities of the bodies; the first is of what does not move.
    pub(super) velocities: Vec<Scaled>,
    /// Sweep in which each body was disturbed last, from 1, and number of the present one. (bodies)
    disturbed: Vec<u32>,
    sweep: u32,
    /// Place of the body whose run starts at an entry of the velocity, and the solve that found it. (n)
    place_at: Vec<(u64, u32)>,
    solve: u64,
}

impl PackedContacts {
    /// Takes an island; false where it has other movers than free bodies, or no operators of them.
    pub(super) fn load(&mut self, problem: &Problem, island: Range<usize>) -> bool {
        self.solve += 1;
        self.place_at.resize(problem.velocity.len(), (0, 0));
        self.bodies.clear();
        self.bodies.push(Packed::fixed());
        self.velocities.clear();
        self.velocities.push([0.0; 6]);
        let blocks = &problem.blocks[island];
        // Old rows stay until they are written over, also those beyond a small island: a third of a kilobyte each.
        let none = Rows { K: [[[0.0; 6]; 3]; 2], bias: Vector3::zeros() };
        self.rows.resize(self.rows.len().max(blocks.len()), none);
        self.ends.clear();
        for (i, block) in blocks.iter().enumerate() {
            let Some(ends) = self.ends_of(problem, block) else { return false };
            self.ends.push(ends);
            let rows = &mut self.rows[i];
            rows.bias = block.bias;
            for ((K, side), end) in rows.K.iter_mut().zip(&block.sides).zip(ends) {
                let J = &problem.jacobian[side.offset..side.offset + 3 * side.len];
                // A side that does not move has no rows.
                for (row, K) in K.iter_mut().enumerate() {
                    *K = J
                        .as_chunks::<6>()
                        .0
                        .get(row)
                        .map_or([0.0; 6], |J| self.bodies[end as usize].scaled(J));
                }
            }
        }
        self.sweep = 0;
        self.disturbed.clear();
        self.disturbed.resize(self.bodies.len(), 0);
        true
    }

    /// Begins a sweep, and lists its contacts: all, or those of bodies that the last sweep disturbed.
    pub(super) fn begin_sweep(&mut self, is_whole: bool, contacts: &mut Vec<u32>) {
        let last = self.sweep;
        self.sweep += 1;
        let is_disturbed = |end: &u32| self.disturbed[*end as usize] == last;
        let listed =
            (0..).zip(&self.ends).filter(|(_, ends)| is_whole || ends.iter().any(is_disturbed));
        contacts.clear();
        contacts.extend(listed.map(|(contact, _)| contact));
    }

    /// Notes that a contact changed the velocities of its bodies, so that their contacts are visited in the next sweep.
    #[inline]
    pub(super) fn disturb(&mut self, contact: usize) {
        for end in self.ends[contact] {
            self.disturbed[end as usize] = self.sweep;
        }
        // What does not move is never disturbed.
        self.disturbed[0] = 0;
    }

    /// Places of the bodies that a block moves.
    fn ends_of(&mut self, problem: &Problem, block: &Block) -> Option<[u32; 2]> {
        let [a, b] = &block.sides;
        Some([self.place_of(problem, a)?, self.place_of(problem, b)?])
    }

    /// Place of the body that a side moves.
    fn place_of(&mut self, problem: &Problem, side: &Side) -> Option<u32> {
        if side.len == 0 {
            return Some(0);
        }
        let (solve, place) = self.place_at[side.start];
        if solve == self.solve {
            return Some(place);
        }
        if side.len != 6 || !problem.is_of_body(side) {
            return None;
        }
        let found = problem.runs.binary_search_by_key(&side.start, |run| run.start).ok()?;
        let run = problem.runs[found];
        let body = Packed::new(run, problem.inertia.get(run.offset..run.offset + 36)?)?;
        let place = u32::try_from(self.bodies.len()).ok()?;
        self.velocities.push(body.scale(&problem.velocity[run.start..run.start + 6]));
        self.bodies.push(body);
        self.place_at[side.start] = (self.solve, place);
        Some(place)
    }

    /// `u − u*` of a contact. [m/s] (3)
    #[inline]
    pub(super) fn velocity_of(&self, contact: usize) -> Vector3<f64> {
        let Rows { K: [of_a, of_b], bias } = &self.rows[contact];
        let [a, b] = self.ends[contact].map(|end| &self.velocities[end as usize]);
        let row = |i: usize| {
            let (p, q) = (lanes(&of_a[i], a), lanes(&of_b[i], b));
            (p[0] + q[0]) + (p[1] + q[1])
        };
        Vector3::new(row(0), row(1), row(2)) - bias
    }

    /// Adds a change `δ` of the impulse of a contact. [N·s] (3)
    #[inline]
    pub(super) fn apply(&mut self, contact: usize, delta: &Vector3<f64>) {
        for (end, K) in self.ends[contact].iter().zip(&self.rows[contact].K) {
            add(&mut self.velocities[*end as usize], K, delta);
        }
    }

    /// Gives the velocities to the problem.
    pub(super) fn hand_over(&self, problem: &mut Problem) {
        for (body, w) in self.bodies.iter().zip(&self.velocities).skip(1) {
            problem.velocity[body.start..body.start + 6].copy_from_slice(&body.unscale(w));
        }
    }
}

impl Packed {
    /// What does not move.
    fn fixed() -> Self {
        let none = Matrix3::zeros();
        Self { start: 0, root_mass: 0.0, root: none, per_root_mass: 0.0, inverse: none }
    }

    /// The body of a run, by its operator; none where that is not its mass beside a 3×3 block. (6×6)
    fn new(run: Run, operator: &[f64]) -> Option<Self> {
        let operator = Matrix6::from_column_slice(operator);
        let mass = operator.m11;
        let is_mass = operator.fixed_view::<3, 3>(0, 0) == Matrix3::from_diagonal_element(mass);
        let is_apart = operator.fixed_view::<3, 3>(3, 0) == Matrix3::zeros();
        if !is_mass || !is_apart || mass <= 0.0 {
            return None;
        }
        let angular = operator.fixed_view::<3, 3>(3, 3).into_owned();
        let root = angular.cholesky()?.unpack();
        let inverse = root.transpose().try_inverse()?;
        let root_mass = mass.sqrt();
        Some(Self { start: run.start, root_mass, root, per_root_mass: 1.0 / root_mass, inverse })
    }

    /// `J L⁻ᵀ` of a row.
    #[inline]
    fn scaled(&self, J: &[f64; 6]) -> [f64; 6] {
        let (m, L) = (self.per_root_mass, &self.inverse);
        [
            J[0] * m,
            J[1] * m,
            J[2] * m,
            J[3] * L.m11,
            J[3] * L.m12 + J[4] * L.m22,
            J[3] * L.m13 + J[4] * L.m23 + J[5] * L.m33,
        ]
    }

    /// `w = Lᵀ v`. (6)
    fn scale(&self, v: &[f64]) -> Scaled {
        let w = self.root.tr_mul(&Vector3::new(v[3], v[4], v[5]));
        let m = self.root_mass;
        [v[0] * m, v[1] * m, v[2] * m, w.x, w.y, w.z]
    }

    /// `v = L⁻ᵀ w`. (6)
    fn unscale(&self, w: &Scaled) -> [f64; 6] {
        let v = self.inverse * Vector3::new(w[3], w[4], w[5]);
        let m = self.per_root_mass;
        [w[0] * m, w[1] * m, w[2] * m, v.x, v.y, v.z]
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
