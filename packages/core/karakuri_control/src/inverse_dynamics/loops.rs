//! Loops and couplings as linear relations between velocities.
//!
//! `G v = 0` holds for the relative velocity of each loop joint in its locked directions (in A's axes) and for each
//! coupling `v_f − k v_l`. Gaussian elimination with pivots taken among the passive coordinates first gives
//! `v = N v_i`: the independent coordinates `v_i` are the driven ones wherever the mechanism allows it.
//! Units: m, rad, s; world axes unless stated.

use karakuri_dynamics::{Data, forward_kinematics, update_accelerations, update_velocities};
use karakuri_model::{BodyId, Model};
use karakuri_spatial::{Motion, Pose, Vector3};

/// A pivot below this is rounding: the row repeats others.
const PIVOT_TOLERANCE: f64 = 1e-9;
/// Newton steps that close the loops; from a closed neighbour two are enough.
const CLOSING_STEPS: usize = 8;
/// A gap below this is closed: it enters forces divided by the square of a time step. [m or rad]
const CLOSED: f64 = 1e-14;
/// A gap below this that does not shrink is rounding. [m or rad]
const ROUNDING: f64 = 1e-12;

/// Scratch of a model's loops.
#[derive(Debug, Clone)]
pub(crate) struct Constraints {
    nv: usize,
    n_rows: usize,
    /// `[G | 1]`, row-major; after elimination `[R | T]`: the rows read `v_dep = T c − R v_i` for `G v = c`.
    /// `(n_rows × (nv + n_rows))`
    rows: Vec<f64>,
    /// `c`. (`n_rows`)
    right: Vec<f64>,
    /// Only loops move; couplings alone are eliminated once, for the drives in hand.
    moves: bool,
    eliminated_for: Vec<bool>,
    /// The row that gives a dependent coordinate. (nv)
    row_of: Vec<Option<usize>>,
    order: Vec<usize>,
    /// Zeros. (nv)
    still: Vec<f64>,
    /// `M Mᵀ`, its right side, and efforts of the drives. (nv × nv), (nv), (nv)
    normal: Vec<f64>,
    factor: Vec<f64>,
    given: Vec<f64>,
}

impl Constraints {
    pub(crate) fn new(model: &Model) -> Self {
        let locked: usize =
            model.loops.iter().map(|l| l.locked.iter().filter(|x| **x).count()).sum();
        let n_rows = locked + model.couplings.len();
        Self {
            nv: model.nv,
            n_rows,
            rows: vec![0.0; n_rows * (model.nv + n_rows)],
            right: vec![0.0; n_rows],
            moves: !model.loops.is_empty(),
            eliminated_for: Vec::with_capacity(model.nv),
            row_of: vec![None; model.nv],
            order: (0..model.nv).collect(),
            still: vec![0.0; model.nv],
            normal: vec![0.0; model.nv * model.nv],
            factor: vec![0.0; model.nv],
            given: vec![0.0; model.nv],
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.n_rows == 0
    }

    /// Copies a wanted motion into `q`, `v`, `vdot` and completes it; gives the loops' gap.
    pub(crate) fn follow(
        &mut self,
        model: &Model,
        data: &mut Data,
        motion: &super::Motion<'_>,
        (q, v, vdot): (&mut [f64], &mut [f64], &mut [f64]),
    ) -> f64 {
        q.copy_from_slice(motion.q);
        v.copy_from_slice(motion.v);
        vdot.copy_from_slice(motion.vdot);
        if self.is_empty() { 0.0 } else { self.complete(model, data, motion.driven, (q, v, vdot)) }
    }

    /// Moves the dependent coordinates of `q` until loops and couplings are closed, and the dependent velocities and
    /// accelerations with them; gives the gap left. Leaves the kinematics in `data` when there are loops.
    pub(crate) fn complete(
        &mut self,
        model: &Model,
        data: &mut Data,
        driven: &[bool],
        (q, v, vdot): (&mut [f64], &mut [f64], &mut [f64]),
    ) -> f64 {
        let gap = self.close(model, data, driven, q);
        self.prepare(model, data, driven);
        self.right.fill(0.0);
        self.set_dependent(v);
        if self.moves {
            update_velocities(model, data, v);
            // The rates that accelerations along the independent coordinates leave over.
            update_accelerations(model, data, v, &self.still);
            self.fill_rates(model, data);
        }
        self.set_dependent(vdot);
        gap
    }

    /// Moves the dependent coordinates of `q` until loops and couplings are closed; gives the gap left.
    pub(crate) fn close(
        &mut self,
        model: &Model,
        data: &mut Data,
        driven: &[bool],
        q: &mut [f64],
    ) -> f64 {
        let mut gap = 0.0;
        for step in 0..=CLOSING_STEPS {
            if self.moves {
                forward_kinematics(model, data, q);
            }
            self.fill_errors(model, data, q);
            let last = gap;
            gap = self.right.iter().fold(0.0, |gap: f64, c| gap.max(c.abs()));
            let stuck = step > 0 && gap < ROUNDING && gap > 0.5 * last;
            if gap < CLOSED || stuck || step == CLOSING_STEPS {
                break;
            }
            self.prepare(model, data, driven);
            for joint in &model.joints {
                // Only joints of one freedom can be dependent in a loop of hinges and slides.
                if joint.kind.nv() == 1
                    && let Some(row) = self.row_of[joint.v_start]
                {
                    q[joint.q_start] += self.solved(row);
                }
            }
        }
        gap
    }

    /// `Nᵀ τ`, left in the independent coordinates; zero in the dependent ones.
    pub(crate) fn reduce_effort(&self, tau: &mut [f64]) {
        for k in 0..self.nv {
            if let Some(row) = self.row_of[k] {
                let effort = core::mem::take(&mut tau[k]);
                for (i, factor) in self.row(row)[..self.nv].iter().enumerate() {
                    if self.row_of[i].is_none() {
                        tau[i] -= factor * effort;
                    }
                }
            }
        }
    }

    /// How much an effort at coordinate `k` counts in independent coordinate `i`: `N[k, i]`.
    fn share(&self, k: usize, i: usize) -> f64 {
        match self.row_of[k] {
            Some(row) => -self.row(row)[i],
            None => f64::from(u8::from(k == i)),
        }
    }

    /// Whether every freedom has one drive of its own: then [`Self::reduce_effort`] gives the drives' efforts.
    pub(crate) fn is_exactly_driven(&self, driven: &[bool]) -> bool {
        (0..self.nv).all(|k| driven[k] != self.is_dependent(k))
    }

    /// From efforts at the independent coordinates to those of the drives, of least norm where drives share freedoms;
    /// gives the effort that stays undone.
    pub(crate) fn share_out(&mut self, driven: &[bool], tau: &mut [f64]) -> f64 {
        let nv = self.nv;
        if self.is_exactly_driven(driven) {
            return 0.0;
        }
        let drives = || (0..nv).filter(|k| driven[*k]);
        let (mut normal, mut factor) =
            (core::mem::take(&mut self.normal), core::mem::take(&mut self.factor));
        factor.copy_from_slice(tau);
        for i in 0..nv {
            for j in 0..nv {
                let both = !self.is_dependent(i) && !self.is_dependent(j);
                normal[i * nv + j] = if both {
                    drives().map(|k| self.share(k, i) * self.share(k, j)).sum()
                } else {
                    0.0
                };
            }
        }
        solve_semidefinite(&mut normal, &mut factor);
        let mut given = core::mem::take(&mut self.given);
        for (k, given) in given.iter_mut().enumerate() {
            let independent = (0..nv).filter(|i| !self.is_dependent(*i));
            *given = if driven[k] {
                independent.map(|i| self.share(k, i) * factor[i]).sum()
            } else {
                0.0
            };
        }
        let mut missing: f64 = 0.0;
        for i in (0..nv).filter(|i| !self.is_dependent(*i)) {
            let sum: f64 = drives().map(|k| self.share(k, i) * given[k]).sum();
            missing = missing.max((sum - tau[i]).abs());
        }
        tau.copy_from_slice(&given);
        (self.normal, self.factor, self.given) = (normal, factor, given);
        missing
    }

    pub(crate) fn is_dependent(&self, k: usize) -> bool {
        self.row_of[k].is_some()
    }

    /// The row `G̃ v̇ = c̃` that gives a dependent acceleration, after [`Self::complete`]; 1 at the coordinate itself.
    /// (nv)
    pub(crate) fn acceleration_row(&self, k: usize) -> Option<(&[f64], f64)> {
        self.row_of[k].map(|row| (&self.row(row)[..self.nv], self.solved(row)))
    }

    fn row(&self, row: usize) -> &[f64] {
        let width = self.nv + self.n_rows;
        &self.rows[row * width..(row + 1) * width]
    }

    /// `T c` of a row.
    fn solved(&self, row: usize) -> f64 {
        self.row(row)[self.nv..].iter().zip(&self.right).map(|(t, c)| t * c).sum()
    }

    fn set_dependent(&self, v: &mut [f64]) {
        for k in 0..self.nv {
            if let Some(index) = self.row_of[k] {
                let row = self.row(index);
                let independent = (0..self.nv).filter(|i| self.row_of[*i].is_none());
                v[k] = self.solved(index) - independent.map(|i| row[i] * v[i]).sum::<f64>();
            }
        }
    }

    /// Negated position errors.
    fn fill_errors(&mut self, model: &Model, data: &Data, q: &[f64]) {
        let mut right = self.right.iter_mut();
        for l in &model.loops {
            let X_WA = pose(data, l.body_a) * l.pose_in_a;
            let X_WB = pose(data, l.body_b) * l.pose_in_b;
            let error = gap(&X_WA, &X_WB);
            let locked = (0..6).filter(|k| l.locked[*k]);
            locked.zip(&mut right).for_each(|(k, right)| *right = -error[k]);
        }
        for (c, right) in model.couplings.iter().zip(right) {
            let (f, l) = (&model.joints[c.follower.0], &model.joints[c.leader.0]);
            *right = c.multiplier * q[l.q_start] + c.offset - q[f.q_start];
        }
    }

    /// `−Ġ v`, by the velocities in `data` and its accelerations for `v̇ = 0`.
    fn fill_rates(&mut self, model: &Model, data: &Data) {
        let mut right = self.right.iter_mut();
        for l in &model.loops {
            let X_WA = pose(data, l.body_a) * l.pose_in_a;
            let X_WB = pose(data, l.body_b) * l.pose_in_b;
            let rate = loop_rate(data, l.body_a, l.body_b, &X_WA, &X_WB);
            let locked = (0..6).filter(|k| l.locked[*k]);
            locked.zip(&mut right).for_each(|(k, right)| *right = -rate[k]);
        }
        right.for_each(|right| *right = 0.0);
    }

    /// `[G | 1]` of the position in `data`, eliminated.
    fn prepare(&mut self, model: &Model, data: &Data, driven: &[bool]) {
        if !self.moves && self.eliminated_for == driven {
            return;
        }
        self.rows.fill(0.0);
        let (nv, width) = (self.nv, self.nv + self.n_rows);
        for (i, row) in self.rows.chunks_exact_mut(width).enumerate() {
            row[nv + i] = 1.0;
        }
        let mut rows = self.rows.chunks_exact_mut(width);
        for l in &model.loops {
            let X_WA = pose(data, l.body_a) * l.pose_in_a;
            let X_WB = pose(data, l.body_b) * l.pose_in_b;
            for (k, row) in (0..6).filter(|k| l.locked[*k]).zip(&mut rows) {
                for_each_between(model, (l.body_a, l.body_b), |sign, j| {
                    let X = if sign > 0.0 { &X_WA } else { &X_WB };
                    let at = moved(&data.subspace[j], &(X.translation - data.origin));
                    let part = if k < 3 { at.angular } else { at.linear };
                    row[j] -= sign * X_WA.rotation.column(k % 3).dot(&part);
                });
            }
        }
        for (c, row) in model.couplings.iter().zip(rows) {
            let (f, l) = (&model.joints[c.follower.0], &model.joints[c.leader.0]);
            row[f.v_start] = 1.0;
            row[l.v_start] = -c.multiplier;
        }
        self.eliminate(driven);
        self.eliminated_for.clear();
        self.eliminated_for.extend_from_slice(driven);
    }

    /// Reduced row echelon form; pivots in passive coordinates while there are any.
    fn eliminate(&mut self, driven: &[bool]) {
        let (nv, width) = (self.nv, self.nv + self.n_rows);
        self.row_of.fill(None);
        // Passive coordinates first, each half in its own order.
        self.order.sort_unstable_by_key(|&k| (driven[k], k));
        let n_passive = driven.iter().filter(|d| !**d).count();
        let mut done = 0;
        for candidates in [0..n_passive, n_passive..nv] {
            while done < self.n_rows {
                let mut best = (PIVOT_TOLERANCE, 0, 0);
                for row in done..self.n_rows {
                    for &k in &self.order[candidates.clone()] {
                        let size = self.rows[row * width + k].abs();
                        if size > best.0 {
                            best = (size, row, k);
                        }
                    }
                }
                let (size, row, k) = best;
                if size <= PIVOT_TOLERANCE {
                    break;
                }
                (0..width).for_each(|c| self.rows.swap(done * width + c, row * width + c));
                let pivot = self.rows[done * width + k];
                (0..width).for_each(|c| self.rows[done * width + c] /= pivot);
                for other in (0..self.n_rows).filter(|r| *r != done) {
                    let factor = self.rows[other * width + k];
                    if factor != 0.0 {
                        for c in 0..width {
                            self.rows[other * width + c] -= factor * self.rows[done * width + c];
                        }
                    }
                }
                self.row_of[k] = Some(done);
                done += 1;
            }
        }
    }
}

/// Largest gap of the loop joints at the position in `data`, and whose. [m or rad]
pub(crate) fn largest_gap<'a>(model: &'a Model, data: &Data) -> (f64, &'a str) {
    let mut largest = (0.0, "");
    for l in &model.loops {
        let X_WA = pose(data, l.body_a) * l.pose_in_a;
        let X_WB = pose(data, l.body_b) * l.pose_in_b;
        for (gap, _) in gap(&X_WA, &X_WB).iter().zip(&l.locked).filter(|(_, locked)| **locked) {
            if gap.abs() > largest.0 || gap.is_nan() {
                largest = (gap.abs(), l.name.as_str());
            }
        }
    }
    largest
}

fn pose(data: &Data, body: Option<BodyId>) -> Pose {
    body.map_or(Pose::IDENTITY, |b| data.pose_in_world[b.0])
}

fn moved(S: &Motion, p_OP: &Vector3) -> Motion {
    Motion::new(S.angular, S.linear + S.angular.cross(p_OP))
}

/// Visits the freedoms of the joints between two bodies: with +1 those that carry only `a`, with −1 those that carry
/// only `b`. What carries both moves neither against the other.
pub(crate) fn for_each_between(
    model: &Model,
    (mut a, mut b): (Option<BodyId>, Option<BodyId>),
    mut visit: impl FnMut(f64, usize),
) {
    // Parents come before children, so the later body is never the common one.
    while a != b {
        let (body, sign) = if a > b { (&mut a, 1.0) } else { (&mut b, -1.0) };
        let Some(BodyId(i)) = *body else { return };
        let joint = &model.joints[i];
        (joint.v_start..joint.v_start + joint.kind.nv()).for_each(|k| visit(sign, k));
        *body = model.bodies[i].parent;
    }
}

/// Rotation (its sine) and translation from A to B, in A's axes. (6)
fn gap(X_WA: &Pose, X_WB: &Pose) -> [f64; 6] {
    let X_AB = X_WA.inverse() * *X_WB;
    let (R, p) = (&X_AB.rotation, &X_AB.translation);
    let half = |a: f64, b: f64| 0.5 * (a - b);
    let rotation = [half(R.m32, R.m23), half(R.m13, R.m31), half(R.m21, R.m12)];
    [rotation[0], rotation[1], rotation[2], p.x, p.y, p.z]
}

/// `Ġ v` of all six rows on a closed loop, in A's axes: the relative acceleration while `v̇ = 0`, seen from A. (6)
fn loop_rate(
    data: &Data,
    a: Option<BodyId>,
    b: Option<BodyId>,
    X_WA: &Pose,
    X_WB: &Pose,
) -> [f64; 6] {
    let at = |body: Option<BodyId>, X: &Pose| {
        body.map_or((Motion::default(), Motion::default()), |body| {
            let p_OP = X.translation - data.origin;
            let V = moved(&data.velocity[body.0], &p_OP);
            let A = moved(&data.acceleration[body.0], &p_OP);
            // From the spatial to the classical acceleration of the point.
            (V, Motion::new(A.angular, A.linear + V.angular.cross(&V.linear)))
        })
    };
    let ((V_A, A_A), (V_B, A_B)) = (at(a, X_WA), at(b, X_WB));
    let (V, A) = (V_B - V_A, A_B - A_A);
    let w = V_A.angular;
    let angular = X_WA.rotation.tr_mul(&(A.angular - w.cross(&V.angular)));
    let linear = X_WA.rotation.tr_mul(&(A.linear - w.cross(&V.linear) * 2.0));
    [angular.x, angular.y, angular.z, linear.x, linear.y, linear.z]
}

/// Solves `A x = b` for a symmetric positive semidefinite `A` in place (`b` becomes `x`); components in its null
/// space become zero. (n × n), (n)
pub(crate) fn solve_semidefinite(a: &mut [f64], b: &mut [f64]) {
    let n = b.len();
    // LDLᵀ; a row whose pivot vanishes belongs to the null space and is left out.
    for j in 0..n {
        for k in 0..j {
            let (l, d) = (a[j * n + k], a[k * n + k]);
            a[j * n + j] -= l * l * d;
        }
        let d = a[j * n + j];
        let null = d <= 1e-12;
        a[j * n + j] = if null { 0.0 } else { d };
        for i in j + 1..n {
            let mut sum = a[i * n + j];
            for k in 0..j {
                sum -= a[i * n + k] * a[j * n + k] * a[k * n + k];
            }
            a[i * n + j] = if null { 0.0 } else { sum / d };
        }
    }
    for i in 0..n {
        for k in 0..i {
            b[i] -= a[i * n + k] * b[k];
        }
    }
    for i in 0..n {
        let d = a[i * n + i];
        b[i] = if d > 0.0 { b[i] / d } else { 0.0 };
    }
    for i in (0..n).rev() {
        for k in i + 1..n {
            b[i] -= a[k * n + i] * b[k];
        }
    }
}
