//! The problem that a solver sees: matrices only, no bodies.
//!
//! The velocity `v` of the whole world is one vector. Every row block constrains `u = J v` (1 or 3 rows) and acts by
//! an impulse `λ` through the response `Y = Â⁻¹ Jᵀ`, so that `v ← v + Y λ`. A block touches at most two runs of `v`
//! (its sides); `J` and `Y` of a side are stored row by row. Equality constraints of loops are inside `Â⁻¹` already.
//! Each run comes with its own `Â`, from which Newton's method makes its directions.

use std::ops::Range;

use nalgebra::{Matrix3, Vector3};

use super::cone::project_on_cone;
use super::dot::{dot, dot_three};
use super::soft_finger::SoftFinger;

/// One of the two runs of the velocity vector that a block touches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Side {
    /// First entry of the run in `v`.
    pub start: usize,
    /// Length of the run; 0 where the side does not move.
    pub len: usize,
    /// First entry of `J` and of `Y` in [`Problem::jacobian`] and [`Problem::response`] (rows × len).
    pub offset: usize,
    /// Entry of the run that the side's one row is: `J` is one there, and zero elsewhere.
    pub unit: Option<u32>,
}

impl Side {
    /// A side of rows that may be full.
    pub fn new(start: usize, len: usize, offset: usize) -> Self {
        Self { start, len, offset, unit: None }
    }
}

/// Set of the impulses that a block may give.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Admissible {
    /// One row, `lower ≤ λ ≤ upper`. [N·s or N·m·s]
    Interval {
        /// Least impulse of the row.
        lower: f64,
        /// Largest impulse of the row.
        upper: f64,
    },
    /// Three rows (normal, two tangents), Coulomb's cone `‖λ_t‖ ≤ μ λ_n`.
    Cone {
        /// Friction coefficient `μ`. [-]
        friction: f64,
    },
    /// Three rows (spinning about the normal, rolling about two tangents) of the contact in the block before, with the normal
    /// impulse `λ_n`: `|λ_s| ≤ r_s λ_n`, `‖λ_r‖ ≤ r_r λ_n`. [N·m·s]
    FrictionMoment {
        /// Length `r_s` of spinning: its moment over the normal impulse. [m]
        spinning: f64,
        /// Length `r_r` of rolling: its moment over the normal impulse. [m]
        rolling: f64,
        /// Normal impulse `λ_n` of the contact, which solvers keep up to date. [N·s]
        load: f64,
        /// The limit that spinning shares with the contact's friction; then `r_s` and the contact's coefficient are what
        /// solvers make of it.
        soft: Option<SoftFinger>,
    },
}

impl Admissible {
    /// Nearest admissible impulse. (3; one row uses the first entry)
    pub fn project(&self, impulse: &Vector3<f64>) -> Vector3<f64> {
        match *self {
            Self::Interval { lower, upper } => {
                Vector3::new(impulse.x.clamp(lower, upper), 0.0, 0.0)
            }
            Self::Cone { friction } => project_on_cone(impulse, friction),
            Self::FrictionMoment { spinning, rolling, load, .. } => {
                // The moment about the normal in its interval, the one about the tangents in its disc. Not by `clamp`: a solver that
                // failed may have left a load that is no number, and its residual is to tell of it.
                let ([most_spin, most], about_tangents) =
                    ([spinning * load, rolling * load], impulse.yz().norm());
                let scale = if about_tangents > most { most / about_tangents } else { 1.0 };
                let is_outside = impulse.x.abs() > most_spin;
                let spin = if is_outside { most_spin.copysign(impulse.x) } else { impulse.x };
                Vector3::new(spin, impulse.y * scale, impulse.z * scale)
            }
        }
    }
}

/// A row block: its law, its runs of `v`, its impulse.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// Set of its admissible impulses.
    pub admissible: Admissible,
    /// The runs of `v` it touches.
    pub sides: [Side; 2],
    /// Desired velocity `u*`; one row uses the first entry. [m/s or rad/s] (3)
    pub bias: Vector3<f64>,
    /// Compliance `R ≥ 0` of a single row, or of a contact's normal. [1/kg or 1/(kg·m²)]
    pub compliance: f64,
    /// Compliance `S` of springs in series with all rows, symmetric and at least 0: what they yield is a part of the rows'
    /// velocity, `u = J v + S λ`, so that a sticking contact may yield and only its slip is `u − u*`. [1/kg or 1/(kg·m²)] (3×3)
    pub series: Option<Matrix3<f64>>,
    /// `J Y`; one row uses the first entry. (3×3)
    pub delassus: Matrix3<f64>,
    /// Impulse: warm start in, solution out. (3)
    pub impulse: Vector3<f64>,
    /// Whether the warm start had to be solved for in the last step; out, in this one.
    pub unsettled: bool,
    /// Whether the contact slid in the last step: only then does the warm start say that it slides.
    pub slid: bool,
}

/// The law of a single row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowSpec {
    /// Least impulse. [N·s or N·m·s]
    pub lower: f64,
    /// Largest impulse. [N·s or N·m·s]
    pub upper: f64,
    /// Desired velocity `u*`. [m/s or rad/s]
    pub bias: f64,
    /// Compliance `R ≥ 0`. [1/kg or 1/(kg·m²)]
    pub compliance: f64,
    /// Impulse to start from. [N·s or N·m·s]
    pub warm_start: f64,
}

impl Default for RowSpec {
    /// An equality at rest.
    fn default() -> Self {
        Self {
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
            bias: 0.0,
            compliance: 0.0,
            warm_start: 0.0,
        }
    }
}

impl Block {
    /// One row. Its Delassus matrix is still to come.
    pub fn row(sides: [Side; 2], spec: &RowSpec) -> Self {
        let &RowSpec { lower, upper, bias, compliance, warm_start } = spec;
        Self {
            admissible: Admissible::Interval { lower, upper },
            sides,
            bias: Vector3::new(bias, 0.0, 0.0),
            compliance,
            series: None,
            delassus: Matrix3::zeros(),
            // Bounds may have changed since: outside of them it is no feasible guess.
            impulse: Vector3::new(warm_start.clamp(lower, upper), 0.0, 0.0),
            unsettled: false,
            slid: false,
        }
    }

    /// Whether it is a contact with friction's cone.
    pub(super) fn is_contact(&self) -> bool {
        matches!(self.admissible, Admissible::Cone { .. })
    }

    /// Number of its rows.
    pub fn rows(&self) -> usize {
        match self.admissible {
            Admissible::Interval { .. } => 1,
            Admissible::Cone { .. } | Admissible::FrictionMoment { .. } => 3,
        }
    }

    /// Inverse of the effective mass that the rows feel: mean diagonal of `J Y + S + R`, the velocity for a unit of impulse.
    /// [1/kg or 1/(kg·m²)]
    #[inline]
    pub fn inverse_effective_mass(&self) -> f64 {
        match self.admissible {
            Admissible::Interval { .. } => self.delassus.m11 + self.compliance,
            Admissible::Cone { .. } | Admissible::FrictionMoment { .. } => {
                (self.own_delassus().trace() + self.compliance) / 3.0
            }
        }
    }

    /// `J Y + S`: what a unit of each impulse changes in the block's own velocity. (3×3)
    #[inline]
    pub(super) fn own_delassus(&self) -> Matrix3<f64> {
        self.series.map_or(self.delassus, |series| self.delassus + series)
    }

    /// Adds `S λ` to `J v`, what springs in series with the rows yield.
    #[inline]
    pub(super) fn add_yielding(&self, u: &mut Vector3<f64>, impulse: &Vector3<f64>) {
        if let Some(series) = &self.series {
            *u += series * impulse;
        }
    }
}

/// A run of the velocity vector that moves as one: a robot or a free body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// First entry in `v`.
    pub start: usize,
    /// Length of the run in `v`.
    pub len: usize,
    /// First entry of its `Â` in [`Problem::inertia`] (len × len).
    pub offset: usize,
}

/// A contact problem at the velocity level.
#[derive(Debug, Clone, Default)]
pub struct Problem {
    /// Velocity of the world: without impulses in, with them out. (n)
    pub velocity: Vec<f64>,
    /// Row blocks; those of an island are neighbours.
    pub blocks: Vec<Block>,
    /// Ends of the islands in `blocks`, ascending.
    pub island_ends: Vec<usize>,
    /// `J` of all sides.
    pub jacobian: Vec<f64>,
    /// `Yᵀ` of all sides, laid out as `J`.
    pub response: Vec<f64>,
    /// The runs that blocks touch, ascending by start; those of islands with [few rows](Self::has_few_rows) need not be
    /// there.
    pub runs: Vec<Run>,
    /// `Â` of the runs, row-major, symmetric. Where equalities are eliminated from `Y`, a stiff penalty on them
    /// stands for them: directions come from here, the solution only from `J` and `Y`.
    pub inertia: Vec<f64>,
    /// Velocity without impulses, which a solve keeps here. (n)
    pub free_velocity: Vec<f64>,
    /// Velocity before the step, where the tolerance depends on its change; empty otherwise. (n)
    pub start_velocity: Vec<f64>,
    /// First entry of `v` that belongs to a free body; those of robots come before.
    pub first_of_bodies: usize,
    /// Whether an entry of `v` belongs to a robot that something drives; empty where that is not known. (n)
    pub is_driven: Vec<bool>,
    /// Rows of the step, where this is a part of it; 0 where it is the whole.
    pub rows_of_step: usize,
}

impl Problem {
    /// Whether an island has few rows for the velocities that they touch: to eliminate a system of the rows is less work
    /// than to add up `Jᵀ D J`. There Newton's method looks for impulses, and needs no `Â`.
    pub fn has_few_rows(&self, island: Range<usize>) -> bool {
        // Counted, not measured: the choice must not depend on the machine, or the bits would.
        let each = self.blocks[island].iter();
        let (rows, products) = each.fold((0, 0), |(rows, products), block| {
            let [a, b] = block.sides.map(|side| side.len);
            // The products of `Jᵀ D J` on both runs, and between them.
            (rows + block.rows(), products + block.rows() * (a * a + a * b + b * b))
        });
        // About `m² (m + 9)/3` products eliminate `m` rows.
        rows * rows * (rows + 9) / 3 <= products
    }

    /// Whether a side moves a free body, or nothing.
    pub(crate) fn is_of_body(&self, side: &Side) -> bool {
        side.len == 0 || side.start >= self.first_of_bodies
    }

    /// Whether a block moves free bodies only.
    pub(crate) fn is_of_bodies(&self, block: &Block) -> bool {
        block.sides.iter().all(|side| self.is_of_body(side))
    }

    /// Whether a side moves what nothing drives, or nothing.
    pub(super) fn is_limp(&self, side: &Side) -> bool {
        let is_driven = || self.is_driven.get(side.start).copied().unwrap_or(true);
        self.is_of_body(side) || !is_driven()
    }

    /// `u = J v + S λ` of a block. (3; one row uses the first entry)
    #[inline]
    pub fn velocity_of(&self, block: &Block) -> Vector3<f64> {
        let mut u = self.jacobian_times(&self.velocity, block);
        block.add_yielding(&mut u, &block.impulse);
        u
    }

    /// `J x` of a block, `x` laid out as the velocity. (3; one row uses the first entry)
    #[inline]
    pub(crate) fn jacobian_times(&self, x: &[f64], block: &Block) -> Vector3<f64> {
        self.rows_times(x, &block.sides, block.rows())
    }

    /// `J x` of so many rows. (3; one row uses the first entry)
    #[inline]
    pub(crate) fn rows_times(&self, x: &[f64], sides: &[Side; 2], rows: usize) -> Vector3<f64> {
        let mut u = Vector3::zeros();
        for side in sides.iter().filter(|s| s.len > 0) {
            let v = &x[side.start..side.start + side.len];
            if let Some(unit) = side.unit {
                u.x += v[unit as usize];
                continue;
            }
            let J = &self.jacobian[side.offset..side.offset + rows * side.len];
            // A contact of a free body, its loops unrolled.
            if let (Ok(v), Ok(J)) = (<&[f64; 6]>::try_from(v), <&[f64; 18]>::try_from(J)) {
                for (u, J) in u.iter_mut().zip(J.as_chunks::<6>().0) {
                    *u += dot(J, v);
                }
                continue;
            }
            if rows == 3 {
                let len = side.len;
                u += Vector3::from(dot_three([&J[..len], &J[len..2 * len], &J[2 * len..]], v));
                continue;
            }
            for (u, J) in u.iter_mut().zip(J.chunks_exact(side.len)) {
                *u += dot(J, v);
            }
        }
        u
    }

    /// `v ← v + Y δ`.
    #[inline]
    pub fn apply(&mut self, block: &Block, delta: &Vector3<f64>) {
        apply(&mut self.velocity, &self.response, block, delta);
    }

    /// Keeps the velocity without impulses, before any is applied.
    pub(crate) fn save_free_velocity(&mut self) {
        self.free_velocity.clone_from(&self.velocity);
    }

    /// `v ← v_f + Y λ` on the runs that the blocks touch.
    pub(crate) fn reset_velocity(&mut self, island: Range<usize>) {
        // Runs that two blocks share are reset before any impulse is applied.
        for block in &self.blocks[island.clone()] {
            for side in &block.sides {
                let run = side.start..side.start + side.len;
                self.velocity[run.clone()].copy_from_slice(&self.free_velocity[run]);
            }
        }
        self.apply_impulses(island);
    }

    /// `v ← v + Y λ` of an island, the loads of its friction moments, and the splits of its soft fingers.
    pub(crate) fn apply_impulses(&mut self, island: Range<usize>) {
        self.take_loads(island.clone());
        // Splits need the velocity with all impulses in it.
        let all = island.clone();
        for block in &self.blocks[island] {
            apply(&mut self.velocity, &self.response, block, &block.impulse);
        }
        self.split_soft_fingers(all);
    }

    /// Bounds the friction moments by the normal impulses of the contacts as they are.
    pub(crate) fn take_loads(&mut self, island: Range<usize>) {
        let mut normal = 0.0;
        for block in &mut self.blocks[island] {
            match &mut block.admissible {
                Admissible::FrictionMoment { load, .. } => *load = normal,
                // A contact that pulls, in an iterate, bears no moment.
                Admissible::Cone { .. } => normal = block.impulse.x.max(0.0),
                Admissible::Interval { .. } => {}
            }
        }
    }

    /// `J Y` of a block. (3×3)
    pub fn delassus_of(&self, block: &Block) -> Matrix3<f64> {
        let mut G = Matrix3::zeros();
        let rows = block.rows();
        for side in block.sides.iter().filter(|s| s.len > 0) {
            let range = side.offset..side.offset + rows * side.len;
            if let Some(unit) = side.unit {
                G.m11 += self.response[range][unit as usize];
                continue;
            }
            let (J, Y) = (&self.jacobian[range.clone()], &self.response[range]);
            // A contact of a free body, its loops unrolled; `J Y` is symmetric.
            // Half of the products: `Y = Â⁻¹ Jᵀ` makes `J Y` symmetric.
            if rows == 3
                && let (Ok(J), Ok(Y)) = (<&[f64; 18]>::try_from(J), <&[f64; 18]>::try_from(Y))
            {
                let (J, Y) = (J.as_chunks::<6>().0, Y.as_chunks::<6>().0);
                for i in 0..3 {
                    G[(i, i)] += dot(&J[i], &Y[i]);
                    for j in i + 1..3 {
                        let coupling = dot(&J[i], &Y[j]);
                        G[(i, j)] += coupling;
                        G[(j, i)] += coupling;
                    }
                }
                continue;
            }
            if rows == 3 {
                let len = side.len;
                let Y = [&Y[..len], &Y[len..2 * len], &Y[2 * len..]];
                for (i, J) in J.chunks_exact(len).enumerate() {
                    for (j, product) in dot_three(Y, J).into_iter().enumerate() {
                        G[(i, j)] += product;
                    }
                }
                continue;
            }
            for (i, J) in J.chunks_exact(side.len).enumerate() {
                for (j, Y) in Y.chunks_exact(side.len).enumerate() {
                    G[(i, j)] += dot(J, Y);
                }
            }
        }
        G
    }
}

/// `x ← x + Y δ`.
#[inline]
pub(crate) fn apply(x: &mut [f64], response: &[f64], block: &Block, delta: &Vector3<f64>) {
    apply_rows(x, response, &block.sides, &delta.as_slice()[..block.rows()]);
}

/// `x ← x + Y δ` of so many rows. (rows)
#[inline]
pub(crate) fn apply_rows(x: &mut [f64], response: &[f64], sides: &[Side; 2], delta: &[f64]) {
    for side in sides.iter().filter(|s| s.len > 0) {
        let run = &mut x[side.start..side.start + side.len];
        let Y = &response[side.offset..side.offset + delta.len() * side.len];
        // A contact of a free body, its loops unrolled.
        if let (Ok(run), Ok(Y)) = (<&mut [f64; 6]>::try_from(&mut *run), <&[f64; 18]>::try_from(Y))
        {
            for (Y, impulse) in Y.as_chunks::<6>().0.iter().zip(delta) {
                for (x, y) in run.iter_mut().zip(Y) {
                    *x += y * impulse;
                }
            }
            continue;
        }
        for (row, &impulse) in delta.iter().enumerate() {
            // Zero exactly where a row did not change: the usual case of two of three.
            if impulse != 0.0 {
                for (x, y) in run.iter_mut().zip(&Y[row * side.len..]) {
                    *x += y * impulse;
                }
            }
        }
    }
}
