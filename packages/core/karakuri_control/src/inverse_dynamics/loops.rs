//! Loops and couplings as linear relations between velocities.
//!
//! `G v = 0` holds for the relative velocity of each loop joint in its locked directions (in A's axes) and for each
//! coupling `v_f − k v_l`. Gaussian elimination with pivots taken among the passive coordinates first gives
//! `v = N v_i`: the independent coordinates `v_i` are the driven ones wherever the mechanism allows it.
//! `G` has a column for each coordinate that a loop or a coupling ties, not for the others.
//!
//! Positions are closed by Newton's method. A motion that is followed closes each sample from the last one, moved on by
//! `N` of the last one: what is left is of the second order in the step, and one Newton step closes it.
//!
//! Where drives share freedoms (over-actuated), some driven coordinates are dependent. They are the same ones along a
//! motion while their pivots last. In a motion that is sampled they keep their targets, and what those leave open is a
//! contradiction; in one that is followed, whose targets are interpolated, they give way.
//! Units: m, rad, s; world axes unless stated.

mod ends;

use karakuri_dynamics::dense::{PivotStep, reduce_column, solve_semidefinite};
use karakuri_dynamics::{
    Data, forward_kinematics, forward_kinematics_of, update_accelerations_of, update_velocities,
};
use karakuri_model::{LoopJoint, Model};
use karakuri_spatial::{Force, Motion, Vector3};

use ends::Ends;
pub(crate) use ends::{for_each_between, largest_gap};

/// A pivot below this is rounding: the row repeats others.
const PIVOT_TOLERANCE: f64 = 1e-9;
/// Newton steps that close the loops; from a closed neighbour two are enough.
const CLOSING_STEPS: usize = 8;
/// A gap below this is closed where positions are differentiated: it enters forces divided by the square of a time step.
/// [m or rad]
const CLOSED: f64 = 1e-14;
/// A gap below this that does not shrink is rounding; closed where rates are given. [m or rad]
const ROUNDING: f64 = 1e-12;
/// A measured coordinate farther than this from where the last sample leads to may mean another branch. [m or rad]
const SAME_BRANCH: f64 = 0.1;
/// A driven coordinate stays dependent while its pivot is at least this part of the largest.
const LASTING_PIVOT: f64 = 0.1;
/// Part of a row's coordinate that counts when the row is told in words. [-]
const INVOLVED: f64 = 1e-6;

/// What positions are closed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Samples whose positions are differentiated: driven coordinates are held.
    Sampled,
    /// Updates with rates given: dependent driven coordinates give way.
    Followed,
}

impl Purpose {
    /// The gap that is small enough. [m or rad]
    fn closed(self) -> f64 {
        match self {
            Self::Sampled => CLOSED,
            Self::Followed => ROUNDING,
        }
    }
}

/// Driven coordinates whose targets leave loops open.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Contradiction {
    /// How far one of them would have to move to close the loops. [rad or m]
    pub(crate) residual: f64,
    /// That one, then the others, by velocity coordinate.
    pub(crate) freedoms: Vec<usize>,
    /// Indices of the loops.
    pub(crate) loops: Vec<usize>,
}

/// Position, velocity and acceleration that are completed in place.
#[derive(Debug)]
pub(crate) struct MotionMut<'a> {
    /// [rad or m] (nq)
    pub(crate) q: &'a mut [f64],
    /// [rad/s or m/s] (nv)
    pub(crate) v: &'a mut [f64],
    /// [rad/s² or m/s²] (nv)
    pub(crate) vdot: &'a mut [f64],
}

/// A candidate for a pivot.
#[derive(Debug, Clone, Copy)]
struct Pivot {
    size: f64,
    row: usize,
    column: usize,
}

/// Scratch of a model's loops.
#[derive(Debug, Clone)]
pub(crate) struct Constraints {
    nv: usize,
    n_rows: usize,
    /// `[G | 1]`, row-major; after elimination `[R | T]`: the rows read `v_dep = T c − R v_i` for `G v = c`.
    /// `(n_rows × (n columns + n_rows))`
    rows: Vec<f64>,
    /// The coordinates of the columns, passive ones first for the drives in hand. (n columns)
    columns: Vec<usize>,
    n_passive: usize,
    /// The column of a coordinate. (nv)
    column_of: Vec<Option<usize>>,
    /// The row that a dependent column was eliminated with. (n columns)
    row_of: Vec<Option<usize>>,
    /// Columns of independent coordinates.
    free: Vec<usize>,
    /// Driven columns that are dependent, in the order of their elimination; kept while they last.
    driven_pivots: Vec<usize>,
    /// The driven column that is farthest from where its loops want it, and how far, where driven coordinates are held.
    /// [rad or m]
    farthest: Option<(usize, f64)>,
    /// Positions that the last sample leads to; NaN for coordinates that are not predicted. (n columns)
    predicted: Vec<f64>,
    /// `c`. (`n_rows`)
    right: Vec<f64>,
    /// Only loops move; couplings alone are eliminated once, for the drives in hand.
    moves: bool,
    eliminated_for: Vec<bool>,
    /// What each loop joins, at the position in hand. (n loops)
    ends: Vec<Ends>,
    /// The freedoms between A and B of each loop: with +1 those that carry A, with −1 those that carry B.
    paths: Vec<Vec<(f64, usize)>>,
    /// Bodies that move with the columns' coordinates, and the others that carry them.
    bodies: Vec<usize>,
    carriers: Vec<usize>,
    /// The position coordinate of a velocity coordinate, of joints with one freedom. (nv)
    position_of: Vec<Option<usize>>,
    /// Positions of the columns when the last followed sample was closed, if there was one. (n columns)
    last: Vec<f64>,
    follows: bool,
    /// Zeros. (nv)
    still: Vec<f64>,
    /// `M Mᵀ`, its right side, and efforts of the drives. (nv × nv), (nv), (nv)
    normal: Vec<f64>,
    factor: Vec<f64>,
    given: Vec<f64>,
}

/// The freedoms between the bodies of a loop joint, with the sign of [`for_each_between`].
pub(crate) fn path(model: &Model, l: &LoopJoint) -> Vec<(f64, usize)> {
    let mut path = Vec::new();
    for_each_between(model, l.body_a, l.body_b, |sign, k| path.push((sign, k)));
    path
}

/// The coordinates that loops and couplings tie, and the bodies that move with them.
pub(crate) fn tied(model: &Model) -> (Vec<usize>, Vec<usize>) {
    let mut is_tied = vec![false; model.nv];
    for l in &model.loops {
        for_each_between(model, l.body_a, l.body_b, |_, k| is_tied[k] = true);
    }
    for c in &model.couplings {
        is_tied[model.joints[c.follower.0].v_start] = true;
        is_tied[model.joints[c.leader.0].v_start] = true;
    }
    let mut moves = vec![false; model.bodies.len()];
    for (i, (body, joint)) in model.bodies.iter().zip(&model.joints).enumerate() {
        let by_itself = is_tied[joint.v_start..joint.v_start + joint.kind.nv()].contains(&true);
        moves[i] = by_itself || body.parent.is_some_and(|p| moves[p.0]);
    }
    let chosen = |flags: &[bool]| (0..flags.len()).filter(|&k| flags[k]).collect();
    (chosen(&is_tied), chosen(&moves))
}

impl Constraints {
    pub(crate) fn new(model: &Model) -> Self {
        let locked: usize =
            model.loops.iter().map(|l| l.locked.iter().filter(|x| **x).count()).sum();
        let n_rows = locked + model.couplings.len();
        let (columns, bodies) = tied(model);
        let n = columns.len();
        let mut position_of = vec![None; model.nv];
        for joint in model.joints.iter().filter(|j| j.kind.nv() == 1 && j.kind.nq() == 1) {
            position_of[joint.v_start] = Some(joint.q_start);
        }
        Self {
            nv: model.nv,
            n_rows,
            rows: vec![0.0; n_rows * (n + n_rows)],
            n_passive: n,
            column_of: vec![None; model.nv],
            row_of: vec![None; n],
            free: Vec::with_capacity(n),
            driven_pivots: Vec::with_capacity(n),
            farthest: None,
            predicted: vec![0.0; n],
            right: vec![0.0; n_rows],
            moves: !model.loops.is_empty(),
            eliminated_for: Vec::with_capacity(model.nv),
            ends: Vec::with_capacity(model.loops.len()),
            paths: model.loops.iter().map(|l| path(model, l)).collect(),
            carriers: {
                let parents = bodies.iter().filter_map(|&i| model.bodies[i].parent);
                parents.map(|p| p.0).filter(|p| !bodies.contains(p)).collect()
            },
            bodies,
            position_of,
            last: vec![0.0; n],
            follows: false,
            columns,
            still: vec![0.0; model.nv],
            normal: vec![0.0; model.nv * model.nv],
            factor: vec![0.0; model.nv],
            given: vec![0.0; model.nv],
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.n_rows == 0
    }

    /// Whether there are loops: then [`Self::follow`] and [`Self::complete`] leave poses and velocities in `data`.
    pub(crate) fn moves(&self) -> bool {
        self.moves
    }

    /// The next sample is closed from where it is measured, not from the last one.
    pub(crate) fn restart(&mut self) {
        self.follows = false;
        self.driven_pivots.clear();
    }

    /// Copies a wanted motion into `q`, `v`, `vdot` and completes it; gives the loops' gap.
    pub(crate) fn follow(
        &mut self,
        model: &Model,
        data: &mut Data,
        motion: &super::Motion<'_>,
        completed: MotionMut<'_>,
    ) -> f64 {
        let MotionMut { q, v, vdot } = completed;
        q.copy_from_slice(motion.q);
        v.copy_from_slice(motion.v);
        vdot.copy_from_slice(motion.vdot);
        if self.is_empty() {
            return 0.0;
        }
        let predicted = self.predict(motion.driven, q);
        let parts = MotionMut { q: &mut *q, v: &mut *v, vdot: &mut *vdot };
        let mut gap = self.complete_for(Purpose::Followed, model, data, motion.driven, parts);
        if predicted && (gap.is_nan() || gap > ROUNDING) {
            q.copy_from_slice(motion.q);
            let parts = MotionMut { q: &mut *q, v: &mut *v, vdot: &mut *vdot };
            gap = self.complete_for(Purpose::Followed, model, data, motion.driven, parts);
        }
        self.follows = gap <= ROUNDING;
        for (last, k) in self.last.iter_mut().zip(&self.columns) {
            *last = self.position_of[*k].map_or(0.0, |i| q[i]);
        }
        gap
    }

    /// Moves the dependent coordinates of `q` to where the last sample leads to; false, and nothing done, where that may
    /// be another branch.
    fn predict(&mut self, driven: &[bool], q: &mut [f64]) -> bool {
        if !(self.follows && self.moves && self.eliminated_for == driven) {
            return false;
        }
        let width = self.columns.len() + self.n_rows;
        let way = |c: usize| self.position_of[self.columns[c]].map_or(0.0, |i| q[i] - self.last[c]);
        let predicted = self.row_of.iter().enumerate().map(|(c, row)| {
            let (i, row) = (self.position_of[self.columns[c]]?, (*row)?);
            let row = &self.rows[row * width..(row + 1) * width];
            let way = self.free.iter().map(|&f| row[f] * way(f)).sum::<f64>();
            Some((i, self.last[c] - way))
        });
        for (value, predicted) in self.predicted.iter_mut().zip(predicted) {
            *value = f64::NAN;
            if let Some((i, predicted)) = predicted {
                let same = (predicted - q[i]).abs() < SAME_BRANCH;
                if !same {
                    return false;
                }
                *value = predicted;
            }
        }
        for (k, value) in self.columns.iter().zip(&self.predicted) {
            if let Some(i) = self.position_of[*k].filter(|_| !value.is_nan()) {
                q[i] = *value;
            }
        }
        true
    }

    /// Moves the passive coordinates of `q` until loops and couplings are closed, and the passive velocities and
    /// accelerations with them; gives the gap left. Leaves poses and velocities in `data` when there are loops.
    /// Driven coordinates stay as they are: see [`Self::contradiction`].
    pub(crate) fn complete(
        &mut self,
        model: &Model,
        data: &mut Data,
        driven: &[bool],
        parts: MotionMut<'_>,
    ) -> f64 {
        self.complete_for(Purpose::Sampled, model, data, driven, parts)
    }

    fn complete_for(
        &mut self,
        purpose: Purpose,
        model: &Model,
        data: &mut Data,
        driven: &[bool],
        parts: MotionMut<'_>,
    ) -> f64 {
        let MotionMut { q, v, vdot } = parts;
        let gap = self.close(purpose, model, data, driven, q);
        self.right.fill(0.0);
        self.set_dependent(purpose, v);
        if self.moves {
            update_velocities(model, data, v);
            // The rates that accelerations along the independent coordinates leave over.
            // What both ends of a loop share does not count: what carries them may stand still.
            self.carriers.iter().for_each(|&i| data.acceleration[i] = Motion::default());
            update_accelerations_of(model, data, v, &self.still, &self.bodies);
            self.fill_rates(model, data);
        }
        self.set_dependent(purpose, vdot);
        gap
    }

    /// Moves the dependent coordinates of `q` until loops and couplings are closed; gives the gap left. Leaves the rows
    /// eliminated at this very position.
    fn close(
        &mut self,
        purpose: Purpose,
        model: &Model,
        data: &mut Data,
        driven: &[bool],
        q: &mut [f64],
    ) -> f64 {
        let mut gap = 0.0;
        for step in 0..=CLOSING_STEPS {
            if self.moves {
                if step == 0 {
                    forward_kinematics(model, data, q);
                } else {
                    forward_kinematics_of(model, data, q, &self.bodies);
                }
                self.ends.clear();
                self.ends.extend(model.loops.iter().map(|l| Ends::at(data, l)));
            }
            self.fill_errors(model, q);
            self.prepare(model, data, driven);
            let last = gap;
            gap = self.right.iter().fold(0.0, |gap: f64, c| gap.max(c.abs()));
            let stuck = step > 0 && gap < ROUNDING && gap > 0.5 * last;
            if gap < purpose.closed() || stuck || step == CLOSING_STEPS {
                break;
            }
            for (c, row) in self.row_of[..self.movable(purpose)].iter().enumerate() {
                // Only joints of one freedom can be dependent in a loop of hinges and slides.
                if let (Some(row), Some(i)) = (*row, self.position_of[self.columns[c]]) {
                    q[i] += self.solved(row);
                }
            }
        }
        self.farthest = None;
        for c in self.movable(purpose)..self.columns.len() {
            let off = self.row_of[c].map_or(0.0, |row| self.solved(row).abs());
            if off > self.farthest.map_or(0.0, |(_, most)| most) || off.is_nan() {
                self.farthest = Some((c, off));
            }
        }
        gap
    }

    /// How many columns may move to close the loops; passive ones come first.
    fn movable(&self, purpose: Purpose) -> usize {
        match purpose {
            Purpose::Sampled => self.n_passive,
            Purpose::Followed => self.columns.len(),
        }
    }

    /// What the driven coordinates left open in the last [`Self::complete`], where it is farther than `limit`.
    /// [rad or m]
    pub(crate) fn contradiction(&self, model: &Model, limit: f64) -> Option<Contradiction> {
        let (column, residual) = self.farthest.filter(|(_, off)| off.is_nan() || *off > limit)?;
        let row = self.row(self.row_of[column]?);
        let involved = self.free.iter().filter(|&&f| row[f].abs() > INVOLVED);
        let mut freedoms = vec![self.columns[column]];
        freedoms.extend(involved.map(|&f| self.columns[f]));
        let mut parts = row[self.columns.len()..].iter();
        let mut loops = Vec::new();
        for (i, l) in model.loops.iter().enumerate() {
            let n_locked = l.locked.iter().filter(|x| **x).count();
            if parts.by_ref().take(n_locked).fold(false, |any, t| any | (t.abs() > INVOLVED)) {
                loops.push(i);
            }
        }
        Some(Contradiction { residual, freedoms, loops })
    }

    /// `Nᵀ τ`, left in the independent coordinates; zero in the dependent ones.
    pub(crate) fn reduce_effort(&self, tau: &mut [f64]) {
        for (c, row) in self.row_of.iter().enumerate() {
            if let Some(row) = *row {
                let effort = core::mem::take(&mut tau[self.columns[c]]);
                let row = self.row(row);
                self.free.iter().for_each(|&f| tau[self.columns[f]] -= row[f] * effort);
            }
        }
    }

    /// How much an effort at coordinate `k` counts in independent coordinate `i`: `N[k, i]`.
    fn share(&self, k: usize, i: usize) -> f64 {
        match self.row_that_gives(k) {
            Some(row) => self.column_of[i].map_or(0.0, |c| -self.row(row)[c]),
            None => f64::from(u8::from(k == i)),
        }
    }

    /// The row that gives a dependent coordinate.
    fn row_that_gives(&self, k: usize) -> Option<usize> {
        self.column_of[k].and_then(|c| self.row_of[c])
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
        self.row_that_gives(k).is_some()
    }

    /// Writes the row `G̃ v̇ = c̃` that gives a dependent acceleration, after [`Self::complete`], and gives `c̃`; 1 at the
    /// coordinate itself. `None`, and nothing done, at an independent one. (nv)
    pub(crate) fn acceleration_row(&self, k: usize, into: &mut [f64]) -> Option<f64> {
        let row = self.row_that_gives(k)?;
        into.fill(0.0);
        for (k, value) in self.columns.iter().zip(self.row(row)) {
            into[*k] = *value;
        }
        Some(self.solved(row))
    }

    fn row(&self, row: usize) -> &[f64] {
        let width = self.columns.len() + self.n_rows;
        &self.rows[row * width..(row + 1) * width]
    }

    /// `T c` of a row.
    fn solved(&self, row: usize) -> f64 {
        self.row(row)[self.columns.len()..].iter().zip(&self.right).map(|(t, c)| t * c).sum()
    }

    fn set_dependent(&self, purpose: Purpose, v: &mut [f64]) {
        for (c, index) in self.row_of[..self.movable(purpose)].iter().enumerate() {
            if let Some(index) = *index {
                let row = self.row(index);
                let given = self.free.iter().map(|&f| row[f] * v[self.columns[f]]).sum::<f64>();
                v[self.columns[c]] = self.solved(index) - given;
            }
        }
    }

    /// Negated position errors.
    fn fill_errors(&mut self, model: &Model, q: &[f64]) {
        let mut right = self.right.iter_mut();
        for (l, ends) in model.loops.iter().zip(&self.ends) {
            let error = ends.gap();
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
        for (l, ends) in model.loops.iter().zip(&self.ends) {
            let rate = ends.rate(data, l);
            let locked = (0..6).filter(|k| l.locked[*k]);
            locked.zip(&mut right).for_each(|(k, right)| *right = -rate[k]);
        }
        right.for_each(|right| *right = 0.0);
    }

    /// Sorts the columns, passive ones first.
    fn sort_columns(&mut self, driven: &[bool]) {
        self.columns.sort_unstable_by_key(|&k| (driven[k], k));
        self.n_passive = self.columns.iter().filter(|k| !driven[**k]).count();
        for (c, k) in self.columns.iter().enumerate() {
            self.column_of[*k] = Some(c);
        }
        self.driven_pivots.clear();
        self.eliminated_for.clear();
        self.eliminated_for.extend_from_slice(driven);
    }

    /// `[G | 1]` of the position in `data`, eliminated.
    fn prepare(&mut self, model: &Model, data: &Data, driven: &[bool]) {
        if self.eliminated_for != driven {
            self.sort_columns(driven);
        } else if !self.moves {
            return;
        }
        self.rows.fill(0.0);
        let (n, width) = (self.columns.len(), self.columns.len() + self.n_rows);
        for (i, row) in self.rows.chunks_exact_mut(width).enumerate() {
            row[n + i] = 1.0;
        }
        let mut rows = self.rows.chunks_exact_mut(width);
        for ((l, ends), path) in model.loops.iter().zip(&self.ends).zip(&self.paths) {
            for (k, row) in (0..6).filter(|k| l.locked[*k]).zip(&mut rows) {
                let e: Vector3 = ends.R_WA.column(k % 3).into();
                // Both bodies' motion is taken at B's point: the gap is seen from A, which turns.
                let F = if k < 3 {
                    Force::new(e, Vector3::zeros())
                } else {
                    Force::new((ends.p_WB - data.origin).cross(&e), e)
                };
                for (sign, j) in path {
                    if let Some(c) = self.column_of[*j] {
                        row[c] = -sign * data.subspace[*j].dot(&F);
                    }
                }
            }
        }
        for (c, row) in model.couplings.iter().zip(rows) {
            for (joint, factor) in [(c.follower, 1.0), (c.leader, -c.multiplier)] {
                if let Some(c) = self.column_of[model.joints[joint.0].v_start] {
                    row[c] = factor;
                }
            }
        }
        self.eliminate();
    }

    /// Reduced row echelon form; pivots in passive coordinates while there are any.
    fn eliminate(&mut self) {
        let (n, width) = (self.columns.len(), self.columns.len() + self.n_rows);
        self.row_of.fill(None);
        let (mut done, mut n_driven) = (0, 0);
        for candidates in [0..self.n_passive, self.n_passive..n] {
            let is_driven = candidates.start == self.n_passive;
            while done < self.n_rows {
                let mut pivot = self.largest(done, candidates.clone());
                if pivot.size <= PIVOT_TOLERANCE {
                    break;
                }
                if is_driven {
                    pivot = self.lasting(done, n_driven, pivot);
                    n_driven += 1;
                }
                let Pivot { row, column, .. } = pivot;
                reduce_column(&mut self.rows, width, PivotStep { row, column, target: done });
                self.row_of[column] = Some(done);
                done += 1;
            }
        }
        self.free.clear();
        self.free.extend((0..n).filter(|c| self.row_of[*c].is_none()));
    }

    /// The `k`th pivot among the driven columns: the last one's while it lasts, else the largest.
    fn lasting(&mut self, done: usize, k: usize, largest: Pivot) -> Pivot {
        if let Some(&last) = self.driven_pivots.get(k) {
            let here = self.largest(done, last..last + 1);
            if here.size >= LASTING_PIVOT * largest.size {
                return here;
            }
        }
        self.driven_pivots.truncate(k);
        self.driven_pivots.push(largest.column);
        largest
    }

    /// The largest entry of the rows from `done` on in some columns.
    fn largest(&self, done: usize, columns: core::ops::Range<usize>) -> Pivot {
        let width = self.columns.len() + self.n_rows;
        let mut best = Pivot { size: 0.0, row: 0, column: 0 };
        for (row, line) in self.rows.chunks_exact(width).enumerate().skip(done) {
            for (c, value) in columns.clone().zip(&line[columns.clone()]) {
                if value.abs() > best.size {
                    best = Pivot { size: value.abs(), row, column: c };
                }
            }
        }
        best
    }
}
