//! A row whose position error is corrected.

use karakuri_spatial::Vector3;

use crate::constraint::row::Correction;
use crate::solver::{Block, Problem, Side, apply_rows, dot};
use crate::state::body::Body;

/// First row of a block whose position error is corrected.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CorrectedRow {
    correction: Correction,
    /// First entry of the block's `J Y`. [1/kg or 1/(kg·m²)]
    delassus: f64,
    /// Impulse of the second velocity. [N·s or N·m·s]
    impulse: f64,
    sides: [Side; 2],
    /// Whether both sides are free bodies, or do not move: what sweeps read again and again is copied side by side.
    is_of_bodies: bool,
    /// `J` and `Y` of free bodies; zeros for a side that does not move.
    J: [[f64; 6]; 2],
    Y: [[f64; 6]; 2],
}

impl CorrectedRow {
    /// Becomes the first row of a block, before the first visit.
    // In place, as copies of so many numbers would cost as much as a sweep.
    pub(crate) fn set(&mut self, problem: &Problem, block: &Block, correction: Correction) {
        (self.correction, self.delassus, self.impulse) = (correction, block.delassus.m11, 0.0);
        self.sides = block.sides;
        let is_of_body = |side: &Side| side.len == 0 || (side.len == 6 && side.unit.is_none());
        self.is_of_bodies = self.sides.iter().all(is_of_body);
        if !self.is_of_bodies {
            return;
        }
        for ((side, J), Y) in self.sides.iter().zip(&mut self.J).zip(&mut self.Y) {
            if side.len == 0 {
                (*J, *Y) = ([0.0; 6], [0.0; 6]);
                continue;
            }
            let run = side.offset..side.offset + 6;
            J.copy_from_slice(&problem.jacobian[run.clone()]);
            Y.copy_from_slice(&problem.response[run]);
        }
    }

    /// The row along `normal` at a point between free bodies, of which one may be missing, with its velocity `J v`; none where it moves
    /// nothing. [m]; [m/s]
    pub(crate) fn between(
        bodies: [Option<&Body>; 2],
        point: &Vector3,
        normal: &Vector3,
        v: &[f64],
    ) -> Option<(Self, f64)> {
        let mut row = Self { is_of_bodies: true, ..Self::default() };
        let mut velocity = 0.0;
        for (end, (body, sign)) in bodies.iter().zip([-1.0, 1.0]).enumerate() {
            let Some(body) = body else { continue };
            let along = normal * sign;
            let about = (point - body.pose.translation).cross(&along);
            let (linear, angular) =
                (along / body.description.mass, body.inverse_inertia_world * about);
            let six = |v: &Vector3, w: &Vector3| [v.x, v.y, v.z, w.x, w.y, w.z];
            (row.J[end], row.Y[end]) = (six(&along, &about), six(&linear, &angular));
            row.sides[end] = Side::new(body.start, 6, 0);
            row.delassus += dot(&row.J[end], &row.Y[end]);
            velocity += dot(&row.J[end], &v[body.start..body.start + 6]);
        }
        (row.delassus > 0.0).then_some((row, velocity))
    }

    /// The same row, which is asked to move by so much.
    pub(crate) fn with(self, correction: Correction) -> Self {
        Self { correction, ..self }
    }

    /// Whether it keeps a free body from what does not move.
    pub(crate) fn is_at_wall(&self) -> bool {
        self.is_of_bodies && self.sides.iter().any(|side| side.len == 0)
    }

    /// Size of the second velocity that is asked for.
    pub(crate) fn asked(&self) -> f64 {
        self.correction.velocity.abs()
    }

    /// One visit of projected Gauss-Seidel on `J w = (velocity)`, the impulse within its bounds, with the second velocity `w` brought
    /// along; the size of the change of `J w` by it.
    #[inline]
    pub(crate) fn visit(&mut self, problem: &Problem, w: &mut [f64]) -> f64 {
        let Correction { velocity, lower, upper } = self.correction;
        let unbounded = self.impulse + (velocity - self.velocity(problem, w)) / self.delassus;
        let next = unbounded.clamp(lower, upper);
        let delta = next - self.impulse;
        // Most rows of a heap only forbid that others push them together.
        if delta == 0.0 {
            return 0.0;
        }
        self.impulse = next;
        self.apply(problem, w, delta);
        (self.delassus * delta).abs()
    }

    /// Velocity `J w` along the row.
    #[inline]
    fn velocity(&self, problem: &Problem, w: &[f64]) -> f64 {
        let [a, b] = &self.sides;
        if self.is_of_bodies {
            let of = |side: &Side, J| dot(J, &w[side.start..side.start + 6]);
            return of(a, &self.J[0]) + of(b, &self.J[1]);
        }
        let each = self.sides.iter().filter(|s| s.len > 0).map(|s| {
            let w = &w[s.start..s.start + s.len];
            let J = || &problem.jacobian[s.offset..s.offset + s.len];
            s.unit.map_or_else(|| dot(J(), w), |unit| w[unit as usize])
        });
        each.sum()
    }

    /// `w ← w + Y δ`.
    #[inline]
    fn apply(&self, problem: &Problem, w: &mut [f64], delta: f64) {
        if !self.is_of_bodies {
            apply_rows(w, &problem.response, &self.sides, &[delta]);
            return;
        }
        for (side, Y) in self.sides.iter().zip(&self.Y) {
            for (w, y) in w[side.start..side.start + 6].iter_mut().zip(Y) {
                *w += y * delta;
            }
        }
    }
}
