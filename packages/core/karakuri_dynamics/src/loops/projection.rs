//! Projection onto loops, couplings and prescribed coordinates in the mass metric: they are eliminated from an operator.
//!
//! The equalities `J_L v = 0` are taken out of the operator, `Â⁻¹ → Â⁻¹ − W L⁻¹ Wᵀ` with `W = Â⁻¹ J_Lᵀ` and
//! `L = J_L W`, so that contacts, limits and friction see a mechanism whose loops cannot open, and no iteration is
//! spent on them. After the step the position is put back on the loops by the same factor, orthogonally in the
//! mass metric, without touching the velocity.

use std::ops::Range;

use karakuri_model::{BodyId, Model};
use karakuri_spatial::{Force, Vector3};

use super::rows::{
    constraint_gaps, constraint_jacobian, joint_frames, n_constraints, rotational_directions,
};
use crate::dense::PivotedCholesky;
use crate::{Data, OperatorFactor, forward_kinematics, integrate};

/// Loop gap below which no projection is needed. [m or rad]
const GAP_TOLERANCE: f64 = 1e-13;
/// Stiffness of the penalty that stands for a closed loop, over that of the mechanism. [-]
// Each power of ten takes a digit off the mechanism's own entries, and gives one to the direction: with 1e6 Newton's method took two
// steps, where what a gripper of closed loops holds drifts by 1e-10 m/s, with 1e8 one.
const PENALTY: f64 = 1e8;
/// Part of a response left by the loops that is round-off: what it moves is locked. [-]
// Far above the round-off of a projection, some 1e-15 of the response before it.
const LOCKED: f64 = 1e-10;
/// Most projections a step; each divides the gap by about the square of the step's motion.
const PROJECTIONS: usize = 4;

/// A coordinate that moves as prescribed: one row more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrescribedCoordinate {
    /// Index of the velocity coordinate.
    pub dof: usize,
    /// Index of the position coordinate.
    pub coordinate: usize,
    /// Position at the end of the step. [rad or m]
    pub position: f64,
    /// Rate of the motion to that position. [rad/s or m/s]
    pub rate: f64,
}

/// The equalities of one mechanism.
#[derive(Debug, Clone)]
pub struct LoopProjection {
    n: usize,
    nv: usize,
    /// `J_L`, row-major, and of each row the entries from the first to the last that is not zero. (n × nv; n)
    jacobian: Vec<f64>,
    spans: Vec<Range<usize>>,
    /// `Wᵀ`, row-major. (n × nv)
    response: Vec<f64>,
    delassus: Vec<f64>,
    factor: PivotedCholesky,
    /// Right-hand sides and multipliers. (n)
    multipliers: Vec<f64>,
    /// Those of up to three velocities that are projected side by side. (3·n)
    side_by_side: Vec<f64>,
    step: Vec<f64>,
    position: Vec<f64>,
    previous: Vec<f64>,
    /// Coordinates that move as prescribed: the last rows.
    pub prescribed: Vec<PrescribedCoordinate>,
}

impl LoopProjection {
    /// Projection onto the loops and couplings of a model.
    pub fn new(model: &Model) -> Self {
        Self::with_prescribed(model, Vec::new())
    }

    /// Projection onto loops, couplings and coordinates that move as prescribed.
    pub fn with_prescribed(model: &Model, prescribed: Vec<PrescribedCoordinate>) -> Self {
        let n = n_constraints(model) + prescribed.len();
        Self {
            prescribed,
            n,
            nv: model.nv,
            jacobian: vec![0.0; n * model.nv],
            spans: vec![0..0; n],
            response: vec![0.0; n * model.nv],
            delassus: vec![0.0; n * n],
            factor: PivotedCholesky::new(n),
            multipliers: vec![0.0; n],
            side_by_side: vec![0.0; 3 * n],
            step: vec![0.0; model.nv],
            position: vec![0.0; model.nq],
            previous: vec![0.0; model.nq],
        }
    }

    /// Lets a coordinate move as prescribed, in place of what was prescribed for it before; its row is the last.
    pub fn prescribe(&mut self, model: &Model, added: PrescribedCoordinate) {
        let mut all = std::mem::take(&mut self.prescribed);
        all.retain(|other| other.dof != added.dof);
        all.push(added);
        *self = Self::with_prescribed(model, all);
    }

    /// Whether there is nothing to keep closed.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Prepares the elimination at the position of the last `forward_kinematics`.
    pub fn factorize(&mut self, model: &Model, data: &Data, mass: &mut OperatorFactor) {
        if self.n == 0 {
            return;
        }
        self.fill_jacobian(model, data);
        self.response.copy_from_slice(&self.jacobian);
        let (n, nv) = (self.n, self.nv);
        // Wᵀ = J_L Â⁻¹, then L = J_L W.
        let mut by_threes = self.response.chunks_exact_mut(3 * nv);
        for rows in &mut by_threes {
            mass.solve_three(model, rows);
        }
        for row in by_threes.into_remainder().chunks_exact_mut(nv) {
            mass.solve(model, row);
        }
        for i in 0..n {
            for j in 0..=i {
                let g = self.row(i).times(&self.response[j * nv..(j + 1) * nv]);
                self.delassus[i * n + j] = g;
                self.delassus[j * n + i] = g;
            }
        }
        self.factor.factorize(&self.delassus);
    }

    /// `x ← x − W L⁻¹ (J_L x − b)`: the velocity next to `x` that keeps the loops closed, prescribed joints at their rates
    /// `b`. (nv)
    #[inline]
    pub fn project(&mut self, x: &mut [f64]) {
        if self.n == 0 {
            return;
        }
        // λ = L⁻¹ (J_L x − b), then x ← x − W λ.
        self.multiply(x);
        let first = self.n - self.prescribed.len();
        for (m, p) in self.multipliers[first..].iter_mut().zip(&self.prescribed) {
            *m -= p.rate;
        }
        self.factor.solve(&mut self.multipliers);
        self.subtract_response(x);
    }

    /// `x ← x − W L⁻¹ J_L x` for three velocities, side by side: their sums do not wait for each other. (3·nv)
    fn project_three(&mut self, rows: &mut [f64]) {
        let nv = self.nv;
        let (first, others) = rows.split_at_mut(nv);
        let (second, third) = others.split_at_mut(nv);
        let multipliers = self.side_by_side.as_chunks_mut::<3>().0;
        let rows = self.jacobian.chunks_exact(nv).zip(&self.spans);
        for (m, (row, span)) in multipliers.iter_mut().zip(rows) {
            let row = Row { entries: &row[span.clone()], first: span.start };
            *m = [row.times(first), row.times(second), row.times(third)];
        }
        self.factor.solve_three(multipliers);
        for (row, [a, b, c]) in self.response.chunks_exact(nv).zip(&*multipliers) {
            let each = row.iter().zip(&mut *first).zip(&mut *second).zip(&mut *third);
            for (((w, x), y), z) in each {
                *x -= w * a;
                *y -= w * b;
                *z -= w * c;
            }
        }
    }

    /// Distance of the mechanism of the last `factorize` from a singular position: 1e-10, where a row is lost, to 1. [-]
    pub fn margin(&self) -> f64 {
        self.factor.margin()
    }

    /// Makes a change `x` of the rates that led to `q` close the loops there, to first order, by impulses along `J_Lᵀ` of the
    /// last `factorize`; needs the kinematics of `q`. Largest gap before. [m or rad] (nv, nq)
    pub fn aim(&mut self, model: &Model, data: &Data, q: &[f64], h: f64, x: &mut [f64]) -> f64 {
        // `gaps` leaves the gaps in the multipliers; here they become the rates that undo them in `h`.
        let gap = self.gaps(model, data, q);
        // J_L (x − W λ) = −g/h determines the multipliers.
        for i in 0..self.n {
            self.multipliers[i] = self.multipliers[i] / h + self.row(i).times(x);
        }
        self.factor.solve(&mut self.multipliers);
        self.subtract_response(x);
        gap
    }

    /// [`Self::project`] for a response to an impulse: exactly zero where the loops lock what it would move. (nv)
    #[inline]
    pub fn project_response(&mut self, x: &mut [f64]) {
        if self.n == 0 {
            return;
        }
        let before = largest(x);
        self.multiply(x);
        self.factor.solve(&mut self.multipliers);
        self.subtract_response(x);
        clear_locked(x, before);
    }

    /// [`Self::project_response`] for the three rows of a contact, one after the other, in less than half the time. (3·nv)
    #[inline]
    pub fn project_three_responses(&mut self, rows: &mut [f64]) {
        if self.n == 0 {
            return;
        }
        let mut before = [0.0; 3];
        for (before, x) in before.iter_mut().zip(rows.chunks_exact(self.nv)) {
            *before = largest(x);
        }
        self.project_three(rows);
        for (before, x) in before.iter().zip(rows.chunks_exact_mut(self.nv)) {
            clear_locked(x, *before);
        }
    }

    /// Adds the penalty `J_Lᵀ κ J_L` to the operator: as good as closed loops where only a direction is needed. (nv × nv)
    pub fn add_penalty(&self, operator: &mut [f64]) {
        let (n, nv) = (self.n, self.nv);
        for (i, row) in self.jacobian.chunks_exact(nv.max(1)).take(n).enumerate() {
            let yielding = self.delassus[i * (n + 1)];
            // A row that moves nothing has no scale for its κ, and nothing to hold either.
            if yielding <= 0.0 {
                continue;
            }
            for (a, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                // κ of a row is the penalty over its diagonal entry of the Delassus matrix.
                let weighted = x * PENALTY / yielding;
                for (out, y) in operator[a * nv..(a + 1) * nv].iter_mut().zip(row) {
                    *out += weighted * y;
                }
            }
        }
    }

    /// Adds the wrenches of the loop joints to those on the bodies, given the generalized forces that nothing else
    /// explains: `J_Lᵀ λ = r` by `L λ = J_L Â⁻¹ r`. Where a mechanism is redundant, one `λ` of those that do. Changes
    /// `residual`. (nv; n bodies)
    pub fn add_reactions(
        &mut self,
        model: &Model,
        data: &Data,
        mass: &mut OperatorFactor,
        residual: &mut [f64],
        external: &mut [Force],
    ) {
        self.explain(model, mass, residual);
        let mut multipliers = self.multipliers.iter();
        for joint in &model.loops {
            let (X_WA, X_WB) = joint_frames(joint, data);
            let mut lambda = [0.0; 6];
            for (value, _) in lambda.iter_mut().zip(&joint.locked).filter(|(_, locked)| **locked) {
                *value = multipliers.next().copied().unwrap_or(0.0);
            }
            let [a, b, c, x, y, z] = lambda;
            let R = &X_WA.rotation;
            let [rx, ry, rz, ..] = joint.locked;
            let turns = rotational_directions(R, &X_WB.rotation, [rx, ry, rz]);
            let moment = turns[0] * a + turns[1] * b + turns[2] * c;
            // λ is a wrench along the rows' directions at B's joint frame; A bears its opposite at the same point.
            let on_b = Force::new(moment, R * Vector3::new(x, y, z));
            for (sign, body) in [(-1.0, joint.body_a), (1.0, joint.body_b)] {
                let Some(BodyId(body)) = body else { continue };
                // `external` takes wrenches at the origins of body frames.
                let arm = X_WB.translation - data.pose_in_world[body].translation;
                let F = on_b * sign;
                external[body] += Force::new(F.moment + arm.cross(&F.force), F.force);
            }
        }
    }

    /// Work, at the rates `v`, of the impulses of loops and couplings, given the generalized impulses that nothing else
    /// explains. Changes `residual`. [J] (nv each)
    pub fn work(
        &mut self,
        model: &Model,
        mass: &mut OperatorFactor,
        residual: &mut [f64],
        v: &[f64],
    ) -> f64 {
        self.explain(model, mass, residual);
        self.multipliers.iter().enumerate().map(|(i, m)| m * self.row(i).times(v)).sum()
    }

    /// The multipliers, given the generalized impulses that nothing else explains. Changes `residual`. (nv; n)
    pub fn reactions(
        &mut self,
        model: &Model,
        mass: &mut OperatorFactor,
        residual: &mut [f64],
    ) -> &[f64] {
        self.explain(model, mass, residual);
        &self.multipliers
    }

    /// The multipliers `λ` of `J_Lᵀ λ = r`, by `L λ = J_L Â⁻¹ r`. Changes `residual`. (nv)
    fn explain(&mut self, model: &Model, mass: &mut OperatorFactor, residual: &mut [f64]) {
        mass.solve(model, residual);
        self.multiply(residual);
        self.factor.solve(&mut self.multipliers);
    }

    /// Row `i` of `J_L`.
    #[inline]
    fn row(&self, i: usize) -> Row<'_> {
        let span = &self.spans[i];
        Row { entries: &self.jacobian[i * self.nv..][span.clone()], first: span.start }
    }

    /// `J_L x` into the multipliers. (nv)
    #[inline]
    fn multiply(&mut self, x: &[f64]) {
        for i in 0..self.n {
            self.multipliers[i] = self.row(i).times(x);
        }
    }

    fn subtract_response(&self, x: &mut [f64]) {
        for (row, m) in self.response.chunks_exact(self.nv).zip(&self.multipliers) {
            for (x, w) in x.iter_mut().zip(row) {
                *x -= w * m;
            }
        }
    }

    /// Puts `q` back on the loops; leaves `data` at the corrected position. Largest gap left. [m or rad]
    pub fn close(&mut self, model: &Model, data: &mut Data, q: &mut [f64]) -> f64 {
        // A quasi-Newton iteration: the rows are those of the step's start, so the rate depends on how far the step moved.
        let mut gap = f64::INFINITY;
        for _ in 0..PROJECTIONS {
            let before = gap;
            gap = self.gaps(model, data, q);
            if gap > before {
                // Beside a singular position the factor of the step's start leads astray: the next step's will not.
                q.copy_from_slice(&self.previous);
                forward_kinematics(model, data, q);
                return before;
            }
            // A gap that does not even halve is round-off, or a row without a pivot: more rounds with this factor are in vain.
            if gap <= GAP_TOLERANCE || gap > 0.5 * before {
                break;
            }
            self.previous.copy_from_slice(q);
            // δq = −W L⁻¹ g, orthogonal in the mass metric, by the factor of the step's start.
            self.factor.solve(&mut self.multipliers);
            let mut step = std::mem::take(&mut self.step);
            step.fill(0.0);
            self.subtract_response(&mut step);
            integrate(model, q, &step, 1.0, &mut self.position);
            q.copy_from_slice(&self.position);
            self.step = step;
            forward_kinematics(model, data, q);
        }
        gap
    }

    /// Gaps of all rows into `multipliers`; the largest. [m or rad]
    fn gaps(&mut self, model: &Model, data: &Data, q: &[f64]) -> f64 {
        let row = constraint_gaps(model, data, q, &mut self.multipliers);
        for (gap, p) in self.multipliers[row..].iter_mut().zip(&self.prescribed) {
            *gap = q[p.coordinate] - p.position;
        }
        self.multipliers.iter().fold(0.0, |largest, gap| largest.max(gap.abs()))
    }

    fn fill_jacobian(&mut self, model: &Model, data: &Data) {
        self.jacobian.fill(0.0);
        let first = constraint_jacobian(model, data, &mut self.jacobian);
        for (p, row) in self.prescribed.iter().zip(first..) {
            self.jacobian[row * self.nv + p.dof] = 1.0;
        }
        // `chunks_exact` takes no length of zero, which a model without degrees of freedom has.
        let rows = self.jacobian.chunks_exact(self.nv.max(1));
        for (span, row) in self.spans.iter_mut().zip(rows) {
            let start = row.iter().position(|j| *j != 0.0).unwrap_or(0);
            *span = start..row.iter().rposition(|j| *j != 0.0).map_or(start, |last| last + 1);
        }
    }
}

/// A row of `J_L`: a loop joins a few links, and a coupling two joints.
#[derive(Clone, Copy)]
struct Row<'a> {
    /// Entries from the first to the last that is not zero; the place of the first.
    entries: &'a [f64],
    first: usize,
}

impl Row<'_> {
    /// Its product with a vector. (nv)
    #[inline]
    fn times(&self, x: &[f64]) -> f64 {
        self.entries.iter().zip(&x[self.first..]).map(|(j, x)| j * x).sum()
    }
}

/// Largest entry of a response, in size.
fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0_f64, |most, x| most.max(x.abs()))
}

/// Takes what loops lock for zero: it comes out as round-off of the response before, and left there its inverse would be
/// a huge effective mass.
fn clear_locked(x: &mut [f64], before: f64) {
    if largest(x) <= LOCKED * before {
        x.fill(0.0);
    }
}
