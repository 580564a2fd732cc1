//! Constraint embedding: the dependent coordinates of loops and couplings, eliminated.
//!
//! `G v = 0` holds for the relative velocity of each loop joint in its locked directions (in A's axes) and for each
//! coupling `v_f − k v_l`. Gauss-Jordan elimination with pivots taken among the passive coordinates first gives
//! `v = N v_i`: the independent coordinates `v_i` are the driven ones wherever the mechanism allows it. Then
//! `v̇ = N v̇_i + g` with `G g = −Ġ v`, and efforts reduce to `Nᵀ τ`. `G` has a column for each coordinate that a loop
//! or a coupling constrains, not for the others. [Wehage & Haug 1982; Nakamura & Ghodoussi 1989]
//!
//! Positions are closed by Newton's method. Along a motion each sample is closed from the last one, advanced by its `N`:
//! the remaining gap is of second order in the step, and one Newton step closes it.
//!
//! Where several drives act on one degree of freedom (over-actuated), some driven coordinates are dependent. The choice
//! is kept along a motion while their pivots stay large enough. In sampled motions they keep their targets, and a gap
//! that these leave open is a contradiction; in followed motions, whose targets are interpolated, they are corrected.
//! Units: m, rad, s; world axes unless stated.

mod efforts;
mod elimination;

use karakuri_model::Model;
use karakuri_spatial::Motion;

use super::ends::LoopEnds;
use super::n_constraints;
use super::path::{Constrained, PathDof, constrained, loop_path};
use crate::Data;
use crate::kinematics::{
    forward_kinematics, forward_kinematics_of, update_accelerations_of, update_velocities,
};

/// Newton steps that close the loops; from a closed neighbour two are enough.
const CLOSING_STEPS: usize = 8;
/// Gap that counts as closed where positions are differentiated: it enters forces divided by the square of a time step.
/// [m or rad]
const CLOSED: f64 = 1e-14;
/// Gap below which one that does not shrink is rounding; closed where rates are given. [m or rad]
const ROUNDING: f64 = 1e-12;
/// Distance of a measured coordinate from its prediction beyond which it may be on another branch. [m or rad]
// Narrower, and fast motions lose the prediction and are closed as they were measured; wider, and a mechanism that was moved
// to its other branch is put back on the one before.
const SAME_BRANCH: f64 = 0.1;
/// Coefficient in a row below which a coordinate is not named in a [`Contradiction`]. [-]
const INVOLVED: f64 = 1e-6;

/// Use of the closed positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Samples whose positions are differentiated: driven coordinates are held.
    Sampled,
    /// Updates with rates given: dependent driven coordinates are corrected.
    Followed,
}

impl Purpose {
    /// Largest gap that counts as closed. [m or rad]
    fn closed(self) -> f64 {
        match self {
            Self::Sampled => CLOSED,
            Self::Followed => ROUNDING,
        }
    }
}

/// Driven coordinates whose targets leave a loop open.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    /// Displacement of one of them that would close the loops. [rad or m]
    pub residual: f64,
    /// That coordinate first, then the others involved, by velocity coordinate.
    pub dofs: Vec<usize>,
    /// Indices of the loops.
    pub loops: Vec<usize>,
}

/// Position, velocity and acceleration that are completed in place.
#[derive(Debug)]
pub struct MotionMut<'a> {
    /// Positions; dependent ones are closed. [rad or m] (nq)
    pub q: &'a mut [f64],
    /// Velocities; dependent ones are completed. [rad/s or m/s] (nv)
    pub v: &'a mut [f64],
    /// Accelerations; dependent ones are completed. [rad/s² or m/s²] (nv)
    pub vdot: &'a mut [f64],
}

/// Eliminates the dependent coordinates of a model's loops and couplings.
///
/// Owns all scratch: nothing allocates after [`ConstraintEmbedding::new`] except in [`ConstraintEmbedding::contradiction`].
#[derive(Debug, Clone)]
pub struct ConstraintEmbedding {
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
    /// The driven column farthest from where its loops would close, and that distance, where driven coordinates are held.
    /// [rad or m]
    farthest: Option<(usize, f64)>,
    /// The position as it was given, before the prediction. (nq)
    measured: Vec<f64>,
    /// Positions that the last sample leads to; NaN for coordinates that are not predicted. (n columns)
    predicted: Vec<f64>,
    /// Right sides `c` of the rows. (`n_rows`)
    right: Vec<f64>,
    /// Whether the rows depend on the position, as those of loops do; couplings alone are eliminated once for the drives in hand.
    moves: bool,
    eliminated_for: Vec<bool>,
    /// Joint frames of each loop, at the current position. (n loops)
    ends: Vec<LoopEnds>,
    /// Degrees of freedom between A and B of each loop. (n loops)
    paths: Vec<Vec<PathDof>>,
    /// Bodies that move with the columns' coordinates, and the others that carry them.
    bodies: Vec<usize>,
    carriers: Vec<usize>,
    /// The position coordinate of a velocity coordinate, of joints with one degree of freedom. (nv)
    position_of: Vec<Option<usize>>,
    /// Positions of the columns when the last followed sample was closed, if there was one. (n columns)
    last: Vec<f64>,
    follows: bool,
    /// Accelerations of a steady motion: zeros. (nv)
    still: Vec<f64>,
    /// `M Mᵀ`, its right side, and efforts of the drives. (nv × nv), (nv), (nv)
    normal: Vec<f64>,
    factor: Vec<f64>,
    given: Vec<f64>,
}

impl ConstraintEmbedding {
    /// Allocates for a model.
    pub fn new(model: &Model) -> Self {
        let n_rows = n_constraints(model);
        let Constrained { dofs: columns, bodies } = constrained(model);
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
            measured: vec![0.0; model.nq],
            predicted: vec![0.0; n],
            right: vec![0.0; n_rows],
            moves: !model.loops.is_empty(),
            eliminated_for: Vec::with_capacity(model.nv),
            ends: Vec::with_capacity(model.loops.len()),
            paths: model.loops.iter().map(|l| loop_path(model, l)).collect(),
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

    /// Whether the model has neither loops nor couplings.
    pub fn is_empty(&self) -> bool {
        self.n_rows == 0
    }

    /// Whether the rows depend on the position: true with loops, when [`Self::follow`] and [`Self::complete`] leave poses and
    /// velocities in `data`; couplings alone are constant.
    pub fn moves(&self) -> bool {
        self.moves
    }

    /// Forgets the last sample: the next one is closed from its own position.
    pub fn restart(&mut self) {
        self.follows = false;
        self.driven_pivots.clear();
    }

    /// Completes the next sample of a motion in place; returns the largest gap left. [m or rad]
    ///
    /// Coordinates that are dependent are only read as a hint to the branch of the loop.
    pub fn follow(
        &mut self,
        model: &Model,
        data: &mut Data,
        driven: &[bool],
        motion: MotionMut<'_>,
    ) -> f64 {
        let MotionMut { q, v, vdot } = motion;
        if self.is_empty() {
            return 0.0;
        }
        self.measured.copy_from_slice(q);
        let predicted = self.predict(driven, q);
        let parts = MotionMut { q: &mut *q, v: &mut *v, vdot: &mut *vdot };
        let mut gap = self.complete_for(Purpose::Followed, model, data, driven, parts);
        // The prediction did not lead to a closed loop; the sample as it was given may still be on the right branch.
        if predicted && (gap.is_nan() || gap > ROUNDING) {
            q.copy_from_slice(&self.measured);
            let parts = MotionMut { q: &mut *q, v: &mut *v, vdot: &mut *vdot };
            gap = self.complete_for(Purpose::Followed, model, data, driven, parts);
        }
        self.follows = gap <= ROUNDING;
        for (last, k) in self.last.iter_mut().zip(&self.columns) {
            *last = self.position_of[*k].map_or(0.0, |i| q[i]);
        }
        gap
    }

    /// Predicts the dependent coordinates of `q` from the last sample, to first order; false, and `q` unchanged, where the
    /// prediction may be on another branch.
    fn predict(&mut self, driven: &[bool], q: &mut [f64]) -> bool {
        // R of another choice of drives has other coordinates as dependent, and an open last sample leads nowhere.
        if !(self.follows && self.moves && self.eliminated_for == driven) {
            return false;
        }
        let width = self.columns.len() + self.n_rows;
        let moved =
            |c: usize| self.position_of[self.columns[c]].map_or(0.0, |i| q[i] - self.last[c]);
        let predicted = self.row_of.iter().enumerate().map(|(c, row)| {
            let (i, row) = (self.position_of[self.columns[c]]?, (*row)?);
            let row = &self.rows[row * width..(row + 1) * width];
            // Δq_dep = −R Δq_i, to first order in the motion since the last sample.
            let change = self.free.iter().map(|&f| row[f] * moved(f)).sum::<f64>();
            Some((i, self.last[c] - change))
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
        // All of them or none: a part of a prediction would open the loop further.
        for (k, value) in self.columns.iter().zip(&self.predicted) {
            if let Some(i) = self.position_of[*k].filter(|_| !value.is_nan()) {
                q[i] = *value;
            }
        }
        true
    }

    /// Closes loops and couplings by the passive coordinates of `q`, and completes their velocities and accelerations;
    /// returns the largest gap left. Leaves poses and velocities in `data` when there are loops. [m or rad]
    ///
    /// Driven coordinates are held: see [`Self::contradiction`].
    pub fn complete(
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
            // `−Ġ v`: the accelerations of the ends for `v̇ = 0`. What both ends of a loop share cancels, so the bodies
            // that carry the loop may count as unaccelerated.
            self.carriers.iter().for_each(|&i| data.acceleration[i] = Motion::default());
            update_accelerations_of(model, data, v, &self.still, &self.bodies);
            self.fill_rates(model, data);
        }
        // The rows of the velocities with c = −Ġ v: v̇_dep = T c − R v̇_i.
        self.set_dependent(purpose, vdot);
        gap
    }

    /// Moves the dependent coordinates of `q` until loops and couplings are closed; returns the largest gap left. Leaves the rows
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
        // One pass more than steps: the last only measures, and eliminates the rows at the position that is returned.
        for step in 0..=CLOSING_STEPS {
            if self.moves {
                if step == 0 {
                    forward_kinematics(model, data, q);
                } else {
                    // From step to step only the bodies of the loops move.
                    forward_kinematics_of(model, data, q, &self.bodies);
                }
                self.ends.clear();
                self.ends.extend(model.loops.iter().map(|l| LoopEnds::at(data, l)));
            }
            self.fill_errors(model, q);
            self.prepare(model, data, driven);
            let last = gap;
            gap = self.right.iter().fold(0.0, |gap: f64, c| gap.max(c.abs()));
            // Rounding of long lever arms may stay above the tolerance; a gap that no longer halves is as small as it gets.
            let stuck = step > 0 && gap < ROUNDING && gap > 0.5 * last;
            if gap < purpose.closed() || stuck || step == CLOSING_STEPS {
                break;
            }
            // A Newton step: q_dep ← q_dep + T c with c = −g.
            for (c, row) in self.row_of[..self.movable(purpose)].iter().enumerate() {
                // Only joints of one degree of freedom can be dependent in a loop of hinges and slides.
                if let (Some(row), Some(i)) = (*row, self.position_of[self.columns[c]]) {
                    q[i] += self.solved(row);
                }
            }
        }
        self.farthest = None;
        // `T c` is the distance of a dependent coordinate that is held from where the loops would close.
        for c in self.movable(purpose)..self.columns.len() {
            let off = self.row_of[c].map_or(0.0, |row| self.solved(row).abs());
            if off > self.farthest.map_or(0.0, |(_, most)| most) || off.is_nan() {
                self.farthest = Some((c, off));
            }
        }
        gap
    }

    /// Number of columns that may move to close the loops; passive ones come first.
    fn movable(&self, purpose: Purpose) -> usize {
        match purpose {
            Purpose::Sampled => self.n_passive,
            Purpose::Followed => self.columns.len(),
        }
    }

    /// The gap that the driven coordinates left open in the last [`Self::complete`], if it is larger than `limit`.
    /// [rad or m]
    pub fn contradiction(&self, model: &Model, limit: f64) -> Option<Contradiction> {
        let (column, residual) = self.farthest.filter(|(_, off)| off.is_nan() || *off > limit)?;
        let row = self.row(self.row_of[column]?);
        let involved = self.free.iter().filter(|&&f| row[f].abs() > INVOLVED);
        let mut dofs = vec![self.columns[column]];
        dofs.extend(involved.map(|&f| self.columns[f]));
        // The part T of the row tells of which right sides it was combined, and so which loops it is about.
        let mut parts = row[self.columns.len()..].iter();
        let mut loops = Vec::new();
        for (i, l) in model.loops.iter().enumerate() {
            let n_locked = l.locked.iter().filter(|x| **x).count();
            // `fold` and not `any`, which ends at the first hit and would leave the rest of this loop's entries to the next one.
            if parts.by_ref().take(n_locked).fold(false, |any, t| any | (t.abs() > INVOLVED)) {
                loops.push(i);
            }
        }
        Some(Contradiction { residual, dofs, loops })
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
                // v_dep = T c − R v_i.
                let given = self.free.iter().map(|&f| row[f] * v[self.columns[f]]).sum::<f64>();
                v[self.columns[c]] = self.solved(index) - given;
            }
        }
    }

    /// Fills the right sides with the negated gaps `−g`.
    fn fill_errors(&mut self, model: &Model, q: &[f64]) {
        let mut right = self.right.iter_mut();
        for (l, ends) in model.loops.iter().zip(&self.ends) {
            let error = ends.gap();
            let locked = (0..6).filter(|k| l.locked[*k]);
            // The directions first: the other way round `zip` would take a right side too many at the end of each loop.
            locked.zip(&mut right).for_each(|(k, right)| *right = -error[k]);
        }
        for (c, right) in model.couplings.iter().zip(right) {
            let (f, l) = (&model.joints[c.follower.0], &model.joints[c.leader.0]);
            *right = c.multiplier * q[l.q_start] + c.offset - q[f.q_start];
        }
    }

    /// Fills the right sides with `−Ġ v`, by the velocities in `data` and its accelerations for `v̇ = 0`.
    fn fill_rates(&mut self, model: &Model, data: &Data) {
        let mut right = self.right.iter_mut();
        for (l, ends) in model.loops.iter().zip(&self.ends) {
            let rate = ends.convective_acceleration(data, l);
            let locked = (0..6).filter(|k| l.locked[*k]);
            locked.zip(&mut right).for_each(|(k, right)| *right = -rate[k]);
        }
        // Couplings are linear: Ġ = 0.
        right.for_each(|right| *right = 0.0);
    }
}
