//! Loop joints and mimic couplings, eliminated inside a mechanism.
//!
//! The equalities `J_L v = 0` are taken out of the operator, `Â⁻¹ → Â⁻¹ − W L⁻¹ Wᵀ` with `W = Â⁻¹ J_Lᵀ` and
//! `L = J_L W`, so that contacts, limits and friction see a mechanism whose loops cannot open, and no iteration is
//! spent on them. After the step the position is put back on the loops by the same factor, orthogonally in the
//! mass metric, without touching the velocity.

use std::ops::Range;
use std::sync::Arc;

use karakuri_dynamics::dense::PivotedCholesky;
use karakuri_dynamics::loops::{constraint_gaps, constraint_jacobian, joint_frames, n_constraints};
use karakuri_dynamics::{Data, forward_kinematics, integrate};
use karakuri_model::{BodyId, Model};
use karakuri_spatial::{Force, Vector3};

use crate::linear::factor::Factor;
use crate::solver::dot;
use crate::state::motion_table::MotionTable;

/// Part of the gap of an attached joint or gear that is undone a step, without giving velocity. [-]
pub(crate) const GAP_RATE: f64 = 0.5;
/// A loop gap below this needs no projection. [m or rad]
const GAP_TOLERANCE: f64 = 1e-13;
/// Stiffness that stands for a closed loop, over that of the mechanism. [-]
const PENALTY: f64 = 1e6;
/// A response that the loops reduce to this part is round-off: what it moves is locked. [-]
const LOCKED: f64 = 1e-10;
/// Most projections a step; each divides the gap by about the square of the step's motion.
const PROJECTIONS: usize = 4;

/// A joint that moves as prescribed.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) joint: BodyId,
    /// Its velocity and position coordinate.
    pub(crate) dof: usize,
    pub(crate) coordinate: usize,
    pub(crate) motion: Arc<MotionTable>,
    /// Where it is at the end of the step, and how fast it goes there. [rad or m; rad/s or m/s]
    pub(crate) place: f64,
    pub(crate) rate: f64,
}

/// The equalities of one mechanism.
#[derive(Debug, Clone)]
pub(crate) struct Loops {
    n: usize,
    nv: usize,
    /// `J_L`, row-major. (n × nv)
    jacobian: Vec<f64>,
    /// `Wᵀ`, row-major. (n × nv)
    response: Vec<f64>,
    delassus: Vec<f64>,
    factor: PivotedCholesky,
    /// Right-hand sides and multipliers. (n)
    multipliers: Vec<f64>,
    step: Vec<f64>,
    position: Vec<f64>,
    previous: Vec<f64>,
    /// Joints that move as prescribed: the last rows.
    pub(crate) held: Vec<Held>,
}

impl Loops {
    pub(crate) fn new(model: &Model) -> Self {
        Self::holding(model, Vec::new())
    }

    /// Those of a model some joints of which move as prescribed.
    pub(crate) fn holding(model: &Model, held: Vec<Held>) -> Self {
        let n = n_constraints(model) + held.len();
        Self {
            held,
            n,
            nv: model.nv,
            jacobian: vec![0.0; n * model.nv],
            response: vec![0.0; n * model.nv],
            delassus: vec![0.0; n * n],
            factor: PivotedCholesky::new(n),
            multipliers: vec![0.0; n],
            step: vec![0.0; model.nv],
            position: vec![0.0; model.nq],
            previous: vec![0.0; model.nq],
        }
    }

    /// Lets a joint move as prescribed, in place of what was prescribed for it before.
    pub(crate) fn hold(&mut self, model: &Model, held: Held) {
        let mut all = std::mem::take(&mut self.held);
        all.retain(|other| other.dof != held.dof);
        all.push(held);
        *self = Self::holding(model, all);
    }

    /// Whether there is nothing to keep closed.
    pub(crate) fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Prepares the elimination at the position of the last `forward_kinematics`.
    pub(crate) fn factorize(&mut self, model: &Model, data: &Data, mass: &mut Factor) {
        if self.n == 0 {
            return;
        }
        self.fill_jacobian(model, data);
        self.response.copy_from_slice(&self.jacobian);
        let (n, nv) = (self.n, self.nv);
        for row in self.response.chunks_exact_mut(nv) {
            mass.solve(model, row);
        }
        for i in 0..n {
            for j in 0..=i {
                let g =
                    dot(&self.jacobian[i * nv..(i + 1) * nv], &self.response[j * nv..(j + 1) * nv]);
                self.delassus[i * n + j] = g;
                self.delassus[j * n + i] = g;
            }
        }
        self.factor.factorize(&self.delassus);
    }

    /// `x ← x − W L⁻¹ (J_L x − b)`: the velocity next to `x` that keeps the loops closed, prescribed joints at their rates
    /// `b`. (nv)
    pub(crate) fn project(&mut self, x: &mut [f64]) {
        self.project_beside(x, true);
    }

    fn project_beside(&mut self, x: &mut [f64], moving: bool) {
        if self.n == 0 {
            return;
        }
        let nv = self.nv;
        for (i, m) in self.multipliers.iter_mut().enumerate() {
            *m = dot(&self.jacobian[i * nv..(i + 1) * nv], x);
        }
        if moving {
            let first = self.n - self.held.len();
            for (m, held) in self.multipliers[first..].iter_mut().zip(&self.held) {
                *m -= held.rate;
            }
        }
        self.factor.solve(&mut self.multipliers);
        self.subtract_response(x);
    }

    /// How far the mechanism of the last `factorize` is from a singular position: 1e-10, where a row is lost, to 1. [-]
    pub(crate) fn margin(&self) -> f64 {
        self.factor.margin()
    }

    /// Makes a change `x` of the rates that led to `q` close the loops there, to first order, by impulses along `J_Lᵀ` of the
    /// last `factorize`; needs the kinematics of `q`. Largest gap before. [m or rad] (nv, nq)
    pub(crate) fn aim(
        &mut self,
        model: &Model,
        data: &Data,
        q: &[f64],
        h: f64,
        x: &mut [f64],
    ) -> f64 {
        let (gap, nv) = (self.gaps(model, data, q), self.nv);
        for (m, row) in self.multipliers.iter_mut().zip(self.jacobian.chunks_exact(nv.max(1))) {
            *m = *m / h + dot(row, x);
        }
        self.factor.solve(&mut self.multipliers);
        self.subtract_response(x);
        gap
    }

    /// [`Self::project`] for a response to an impulse: exactly zero where the loops lock what it would move. (nv)
    pub(crate) fn project_response(&mut self, x: &mut [f64]) {
        if self.n == 0 {
            return;
        }
        let largest = |x: &[f64]| x.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let before = largest(x);
        self.project_beside(x, false);
        if largest(x) <= LOCKED * before {
            x.fill(0.0);
        }
    }

    /// `Â + J_Lᵀ κ J_L`: as good as closed where only a direction is needed. (nv × nv)
    pub(crate) fn add_penalty(&self, operator: &mut [f64]) {
        let (n, nv) = (self.n, self.nv);
        for (i, row) in self.jacobian.chunks_exact(nv.max(1)).take(n).enumerate() {
            let yielding = self.delassus[i * (n + 1)];
            if yielding <= 0.0 {
                continue;
            }
            for (a, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
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
    pub(crate) fn add_reactions(
        &mut self,
        model: &Model,
        data: &Data,
        mass: &mut Factor,
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
            let on_b = Force::new(R * Vector3::new(a, b, c), R * Vector3::new(x, y, z));
            for (sign, body) in [(-1.0, joint.body_a), (1.0, joint.body_b)] {
                let Some(BodyId(body)) = body else { continue };
                let arm = X_WB.translation - data.pose_in_world[body].translation;
                let F = on_b * sign;
                external[body] += Force::new(F.moment + arm.cross(&F.force), F.force);
            }
        }
    }

    /// Work, at the rates `v`, of the impulses of loops and couplings, given the generalized impulses that nothing else
    /// explains. Changes `residual`. [J] (nv each)
    pub(crate) fn work(
        &mut self,
        model: &Model,
        mass: &mut Factor,
        residual: &mut [f64],
        v: &[f64],
    ) -> f64 {
        self.explain(model, mass, residual);
        let rows = self.jacobian.chunks_exact(self.nv.max(1));
        self.multipliers.iter().zip(rows).map(|(m, row)| m * dot(row, v)).sum()
    }

    /// The multipliers, given the generalized impulses that nothing else explains. Changes `residual`. (nv; n)
    pub(crate) fn reactions(
        &mut self,
        model: &Model,
        mass: &mut Factor,
        residual: &mut [f64],
    ) -> &[f64] {
        self.explain(model, mass, residual);
        &self.multipliers
    }

    /// The multipliers `λ` of `J_Lᵀ λ = r`, by `L λ = J_L Â⁻¹ r`. Changes `residual`. (nv)
    fn explain(&mut self, model: &Model, mass: &mut Factor, residual: &mut [f64]) {
        mass.solve(model, residual);
        let rows = self.jacobian.chunks_exact(self.nv.max(1));
        for (m, row) in self.multipliers.iter_mut().zip(rows) {
            *m = dot(row, residual);
        }
        self.factor.solve(&mut self.multipliers);
    }

    fn subtract_response(&self, x: &mut [f64]) {
        for (row, m) in self.response.chunks_exact(self.nv).zip(&self.multipliers) {
            for (x, w) in x.iter_mut().zip(row) {
                *x -= w * m;
            }
        }
    }

    /// Puts `q` back on the loops; leaves `data` at the corrected position. Largest gap left. [m or rad]
    pub(crate) fn close(&mut self, model: &Model, data: &mut Data, q: &mut [f64]) -> f64 {
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
            if gap <= GAP_TOLERANCE || gap > 0.5 * before {
                break;
            }
            self.previous.copy_from_slice(q);
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
        for (gap, held) in self.multipliers[row..].iter_mut().zip(&self.held) {
            *gap = q[held.coordinate] - held.place;
        }
        self.multipliers.iter().fold(0.0, |largest, gap| largest.max(gap.abs()))
    }

    fn fill_jacobian(&mut self, model: &Model, data: &Data) {
        self.jacobian.fill(0.0);
        let first = constraint_jacobian(model, data, &mut self.jacobian);
        for (held, row) in self.held.iter().zip(first..) {
            self.jacobian[row * self.nv + held.dof] = 1.0;
        }
    }
}

/// For every body, the degrees of freedom between it and the world, ascending.
#[derive(Debug, Clone)]
pub(crate) struct Chains {
    dofs: Vec<usize>,
    /// Ends in `dofs`, one a body.
    ends: Vec<usize>,
}

impl Chains {
    pub(crate) fn new(model: &Model) -> Self {
        let mut chains = Self { dofs: Vec::new(), ends: Vec::new() };
        for (i, body) in model.bodies.iter().enumerate() {
            if let Some(parent) = body.parent {
                let inherited = chains.of(parent).to_vec();
                chains.dofs.extend(inherited);
            }
            let joint = &model.joints[i];
            chains.dofs.extend(joint.v_start..joint.v_start + joint.kind.nv());
            chains.ends.push(chains.dofs.len());
        }
        chains
    }

    /// Place on its chain of every degree of freedom of a body's own joint, from 1 at the root.
    pub(crate) fn depths(&self, body: BodyId, own: usize) -> Range<usize> {
        let depth = self.of(body).len();
        depth + 1 - own..depth + 1
    }

    #[inline]
    pub(crate) fn of(&self, body: BodyId) -> &[usize] {
        let start = if body.0 == 0 { 0 } else { self.ends[body.0 - 1] };
        &self.dofs[start..self.ends[body.0]]
    }
}
