//! Forces across the cuts of loops, and their distribution over redundant motors.
//!
//! Unknown pairs of opposite forces `λ` enter `{P}` at both sides of every cut (side A supplies `+λ` to side B), so
//! `τ = τ_tree + C λ` with `C` the superposition of unit pairs. The passive degrees of freedom demand `C_p λ = −τ_p`; full
//! pivoting finds its rank, and what it leaves free is chosen by the [`Rule`]. A mimic relation is a cut with the one
//! component of its gear. docs/theory/parallel-inverse-dynamics.md, "Loops".

use karakuri_dynamics::Data;
use karakuri_dynamics::dense::{PivotStep, reduce_column, solve_semidefinite};
use karakuri_dynamics::loops::{LoopEnds, PathDof, loop_path};
use karakuri_model::Model;

/// Part of the largest lever below which a pivot is rounding. [-]
const RANK_TOLERANCE: f64 = 1e-9;

/// Distribution of effort over redundant drives.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Rule {
    /// Least sum of squares of the driven efforts.
    #[default]
    LeastNorm,
    /// Least sum of squares of effort over rating. [N·m or N] (nv)
    Weighted(Vec<f64>),
    /// Each cut carries its share of what the passive degrees of freedom need; the shares add up to 1. [-] (n loops)
    Ratio(Vec<f64>),
    /// Forces of least norm whose component along the line between two contacts is prescribed:
    /// `(λ₁ − λ₂)·n/2 = force`, `n` from contact 1 to contact 2; positive squeezes.
    Squeeze {
        /// Indices of the two loop joints; side A of each is the finger, side B the object.
        contacts: [usize; 2],
        /// Prescribed force along the line. [N]
        force: f64,
    },
    /// No force across the cuts: every chain carries its own links. Needs all joints driven.
    NoForce,
}

/// Sources of effort by degree of freedom.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drives<'a> {
    /// Whether a motor acts on it. (nv)
    pub(crate) driven: &'a [bool],
    /// Whether the surroundings supply its effort. (nv)
    pub(crate) supported: &'a [bool],
}

impl Drives<'_> {
    /// Whether nothing gives effort.
    fn is_passive(self, k: usize) -> bool {
        !self.driven[k] && !self.supported[k]
    }
}

/// Rank and residual of a solution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Closure {
    /// Rank of the passive rows.
    pub(crate) rank: usize,
    /// Smallest pivot over the largest; 1 without passive rows. [-]
    pub(crate) condition: f64,
    /// Largest effort that a degree of freedom without motor would need, and its velocity coordinate. [N·m or N]
    pub(crate) missing: (f64, usize),
}

/// Scratch of a mechanism's cuts.
#[derive(Debug, Clone)]
pub(crate) struct Cuts {
    /// Components of λ.
    n: usize,
    nv: usize,
    /// First component of every loop joint, and the end. (n loops + 1)
    starts: Vec<usize>,
    /// Degrees of freedom in each loop, with their signs. (n loops)
    paths: Vec<Vec<PathDof>>,
    /// `C`, row-major. (nv × n)
    columns: Vec<f64>,
    /// Components with an effect on any degree of freedom; those that hold a planar loop in its plane have none. (n)
    felt: Vec<bool>,
    /// Components to solve for, the columns of the system; all others stay zero. (at most n)
    unknowns: Vec<usize>,
    /// `[C_p | −τ_p]` and the rule's own row. (at most nv + 1 rows of unknowns + 1)
    system: Vec<f64>,
    n_rows: usize,
    /// Row that determines an unknown; `None` is free. (unknowns)
    row_of: Vec<Option<usize>>,
    /// Columns that are free.
    free: Vec<usize>,
    pub(crate) lambda: Vec<f64>,
    /// `GᵀG` and `−Gᵀ b` of the free components. (n × n), (n)
    normal: Vec<f64>,
    right: Vec<f64>,
    slope: Vec<f64>,
    share: Vec<f64>,
    /// Closure for couplings alone, whose `C` is constant: the `λ` of unit efforts, and the drives they hold for. (nv × n), (nv)
    constant: Option<Closure>,
    known_for: Vec<bool>,
    by_effort: Vec<f64>,
    unit: Vec<f64>,
}

impl Cuts {
    pub(crate) fn new(model: &Model) -> Self {
        let mut starts = vec![0];
        for l in &model.loops {
            // One component for each locked direction: a free one transmits no force.
            starts.push(starts[starts.len() - 1] + l.locked.iter().filter(|x| **x).count());
        }
        let n = starts[starts.len() - 1] + model.couplings.len();
        let nv = model.nv;
        let mut columns = vec![0.0; nv * n];
        // Here, because the couplings' part of C never changes.
        for (c, component) in model.couplings.iter().zip(starts[starts.len() - 1]..) {
            let (f, l) = (&model.joints[c.follower.0], &model.joints[c.leader.0]);
            columns[f.v_start * n + component] = 1.0;
            columns[l.v_start * n + component] = -c.multiplier;
        }
        Self {
            n,
            nv,
            starts,
            paths: model.loops.iter().map(|l| loop_path(model, l)).collect(),
            columns,
            felt: vec![true; n],
            unknowns: Vec::with_capacity(n),
            system: vec![0.0; (nv + 1) * (n + 1)],
            n_rows: 0,
            row_of: Vec::with_capacity(n),
            free: Vec::with_capacity(n),
            lambda: vec![0.0; n],
            normal: vec![0.0; n * n],
            right: Vec::with_capacity(n),
            slope: vec![0.0; n],
            share: vec![0.0; n],
            constant: None,
            known_for: vec![false; nv],
            by_effort: vec![0.0; nv * n],
            unit: vec![0.0; nv],
        }
    }

    /// Number of components of λ.
    pub(crate) fn len(&self) -> usize {
        self.n
    }

    /// Adds `C λ` to the efforts of the cut tree, in place; coordinates in `supported` are left as they are. (nv)
    pub(crate) fn close(
        &mut self,
        model: &Model,
        data: &Data,
        drives: Drives<'_>,
        rule: &Rule,
        tau: &mut [f64],
    ) -> Closure {
        let mut closure = Closure { rank: 0, condition: 1.0, missing: (0.0, 0) };
        if self.n > 0 {
            closure = if model.loops.is_empty() {
                self.by_constants(model, data, drives, rule, tau)
            } else {
                self.fill_columns(model, data);
                self.solve(model, data, drives, rule, tau)
            };
            // τ = τ_tree + C λ.
            for (tau, row) in tau.iter_mut().zip(self.columns.chunks_exact(self.n)) {
                *tau += row.iter().zip(&self.lambda).map(|(c, x)| c * x).sum::<f64>();
            }
        }
        closure.missing = missing(drives, tau);
        closure
    }

    /// `λ` for the columns `C` at hand.
    fn solve(
        &mut self,
        model: &Model,
        data: &Data,
        drives: Drives<'_>,
        rule: &Rule,
        tau: &[f64],
    ) -> Closure {
        self.lambda.fill(0.0);
        match rule {
            Rule::NoForce => Closure { rank: 0, condition: 1.0, missing: (0.0, 0) },
            Rule::Ratio(shares) => self.by_ratio(drives, shares, tau),
            _ => self.by_least_norm(model, data, drives, rule, tau),
        }
    }

    /// `λ` by superposition of unit efforts, which are solved once.
    fn by_constants(
        &mut self,
        model: &Model,
        data: &Data,
        drives: Drives<'_>,
        rule: &Rule,
        tau: &[f64],
    ) -> Closure {
        let closure = if let Some(closure) = self.constant
            // Which rows are passive, and with it λ, depends on the drives.
            && self.known_for == drives.driven
        {
            closure
        } else {
            self.fill_columns(model, data);
            let mut closure = Closure { rank: 0, condition: 1.0, missing: (0.0, 0) };
            for k in 0..self.nv {
                // Only couplings come here, so there is no squeeze, whose force would make λ affine in the efforts.
                let mut unit = core::mem::take(&mut self.unit);
                unit[k] = 1.0;
                closure = self.solve(model, data, drives, rule, &unit);
                unit[k] = 0.0;
                self.unit = unit;
                self.by_effort[k * self.n..(k + 1) * self.n].copy_from_slice(&self.lambda);
            }
            self.constant = Some(closure);
            self.known_for.copy_from_slice(drives.driven);
            closure
        };
        // λ is linear in the efforts, so unit efforts superpose.
        self.lambda.fill(0.0);
        for (tau, row) in tau.iter().zip(self.by_effort.chunks_exact(self.n)) {
            self.lambda.iter_mut().zip(row).for_each(|(x, by)| *x += by * tau);
        }
        closure
    }

    /// `C`: effect of a unit pair of every component on all degrees of freedom. The couplings' part is constant.
    fn fill_columns(&mut self, model: &Model, data: &Data) {
        let n = self.n;
        for (i, l) in model.loops.iter().enumerate() {
            let ends = LoopEnds::at(data, l);
            let components = self.starts[i]..self.starts[i + 1];
            for (k, component) in (0..6).filter(|k| l.locked[*k]).zip(components) {
                let F = ends.unit_wrench(k, &data.origin);
                // ± S_k · F for every degree of freedom of the loop, + where it carries side A.
                for &PathDof { sign, dof } in &self.paths[i] {
                    self.columns[dof * n + component] = sign * data.subspace[dof].dot(&F);
                }
            }
        }
        let rounding = RANK_TOLERANCE * self.scale();
        self.felt.fill(false);
        for row in self.columns.chunks_exact(n) {
            self.felt.iter_mut().zip(row).for_each(|(felt, c)| *felt |= c.abs() > rounding);
        }
    }

    /// Largest lever of all columns.
    fn scale(&self) -> f64 {
        self.columns.iter().fold(0.0, |s: f64, c| s.max(c.abs()))
    }

    fn by_least_norm(
        &mut self,
        model: &Model,
        data: &Data,
        drives: Drives<'_>,
        rule: &Rule,
        tau: &[f64],
    ) -> Closure {
        let squeeze = match rule {
            Rule::Squeeze { contacts, force } => Some((*contacts, *force)),
            _ => None,
        };
        // A component without effect on any degree of freedom may be the squeeze.
        self.select(|j, felt| felt[j] || squeeze.is_some());
        self.fill_system(drives, tau);
        if let Some((contacts, force)) = squeeze {
            self.add_squeeze(model, data, contacts, force);
        }
        // λ = base + Σ slope_f z_f: the elimination leaves the components `z` free. They minimise |W (τ + C λ)|² over the
        // drives, or |λ|² for a squeeze, by the normal equations GᵀG z = −Gᵀ b.
        let closure = self.eliminate();
        self.free.clear();
        self.free.extend((0..self.unknowns.len()).filter(|c| self.row_of[*c].is_none()));
        let n_free = self.free.len();
        self.normal.fill(0.0);
        self.right.clear();
        self.right.resize(n_free, 0.0);
        if squeeze.is_some() {
            for column in 0..self.unknowns.len() {
                let base = self.base(column);
                for (k, &f) in self.free.iter().enumerate() {
                    self.slope[k] = self.slope_of(column, f);
                }
                add_normal(&mut self.normal, &mut self.right, &self.slope[..n_free], base);
            }
        } else {
            let largest = match rule {
                Rule::Weighted(ratings) => ratings.iter().copied().fold(0.0, f64::max),
                _ => 1.0,
            };
            // Without free components there is nothing to minimise.
            for k in (0..self.nv).filter(|k| drives.driven[*k] && n_free > 0) {
                let weight = match rule {
                    // The common factor changes no minimum; it keeps entries near one, as the solver's rank tolerance asks.
                    Rule::Weighted(ratings) => largest / ratings[k],
                    _ => 1.0,
                };
                // The effort of this drive as a function of the free components: base + slope · z.
                let mut base = tau[k];
                self.slope.fill(0.0);
                for (column, &j) in self.unknowns.iter().enumerate() {
                    let c = self.columns[k * self.n + j];
                    base += c * self.base(column);
                    for (i, &f) in self.free.iter().enumerate() {
                        self.slope[i] += c * self.slope_of(column, f);
                    }
                }
                self.slope.iter_mut().for_each(|s| *s *= weight);
                let slopes = &self.slope[..n_free];
                add_normal(&mut self.normal, &mut self.right, slopes, base * weight);
            }
        }
        // The free components of least norm, and λ = base + Σ slope_f z_f with them.
        // Components that change no driven effort have no pivot and stay zero: reactions that statics leaves open.
        solve_semidefinite(&mut self.normal[..n_free * n_free], &mut self.right);
        for (column, &j) in self.unknowns.iter().enumerate() {
            let steps = self.right.iter().zip(&self.free);
            let along: f64 = steps.map(|(z, &f)| z * self.slope_of(column, f)).sum();
            self.lambda[j] = self.base(column) + along;
        }
        closure
    }

    /// Solves every cut alone for the whole load and takes its share of that.
    fn by_ratio(&mut self, drives: Drives<'_>, shares: &[f64], tau: &[f64]) -> Closure {
        let mut worst = Closure { rank: usize::MAX, condition: 1.0, missing: (0.0, 0) };
        self.share.fill(0.0);
        for (l, share) in shares.iter().enumerate() {
            let run = self.starts[l]..self.starts[l + 1];
            self.select(|j, felt| felt[j] && run.contains(&j));
            self.fill_system(drives, tau);
            let closure = self.eliminate();
            // Each cut has to carry the whole demand alone, so the poorest of them counts.
            worst.rank = worst.rank.min(closure.rank);
            worst.condition = worst.condition.min(closure.condition);
            for (column, &j) in self.unknowns.iter().enumerate() {
                // Components that a cut leaves free stay zero: its share is of what it must carry.
                self.share[j] = share * self.base(column);
            }
        }
        self.lambda.copy_from_slice(&self.share);
        worst
    }

    /// Selects the unknowns, by number and effect.
    fn select(&mut self, is_unknown: impl Fn(usize, &[bool]) -> bool) {
        let Self { unknowns, felt, n, .. } = self;
        unknowns.clear();
        unknowns.extend((0..*n).filter(|j| is_unknown(*j, felt)));
    }

    fn fill_system(&mut self, drives: Drives<'_>, tau: &[f64]) {
        let (m, width) = (self.unknowns.len(), self.unknowns.len() + 1);
        self.n_rows = 0;
        // C_p λ = −τ_p, a row for every passive degree of freedom.
        for k in (0..self.nv).filter(|k| drives.is_passive(*k)) {
            let row = &mut self.system[self.n_rows * width..(self.n_rows + 1) * width];
            let columns = &self.columns[k * self.n..(k + 1) * self.n];
            row.iter_mut().zip(&self.unknowns).for_each(|(x, j)| *x = columns[*j]);
            row[m] = -tau[k];
            self.n_rows += 1;
        }
    }

    /// `(λ₁ − λ₂)·n/2 = f_s` in the translational components of both contacts.
    fn add_squeeze(&mut self, model: &Model, data: &Data, contacts: [usize; 2], force: f64) {
        // All components are unknowns.
        let width = self.n + 1;
        let row = &mut self.system[self.n_rows * width..(self.n_rows + 1) * width];
        row.fill(0.0);
        let ends = contacts.map(|c| LoopEnds::at(data, &model.loops[c]));
        // Contacts in one place have no direction: the row stays empty, and nothing is squeezed.
        let n_W = (ends[1].p_WB - ends[0].p_WB).try_normalize(f64::EPSILON).unwrap_or_default();
        for ((contact, ends), sign) in contacts.into_iter().zip(&ends).zip([0.5, -0.5]) {
            // Half the component of λ along n from either contact, opposite in sign.
            let l = &model.loops[contact];
            for (i, k) in (0..6).filter(|k| l.locked[*k]).enumerate().filter(|(_, k)| *k >= 3) {
                row[self.starts[contact] + i] = sign * ends.R_WA.column(k - 3).dot(&n_W);
            }
        }
        row[self.n] = force;
        self.n_rows += 1;
    }

    /// Gauss-Jordan elimination with full pivoting: the rank of `C_p` decides which forces are free.
    fn eliminate(&mut self) -> Closure {
        let (m, width) = (self.unknowns.len(), self.unknowns.len() + 1);
        self.row_of.clear();
        self.row_of.resize(m, None);
        let rounding = RANK_TOLERANCE * self.scale();
        let (mut largest, mut smallest): (f64, f64) = (0.0, f64::INFINITY);
        let rows = &mut self.system[..self.n_rows * width];
        let mut done = 0;
        while done < self.n_rows {
            // The largest entry that is left becomes the pivot; once all are rounding, the rank is found.
            // Against the levers and not the pivots: a system that is singular altogether has no pivot to compare with.
            let mut best = (rounding, None);
            for (i, row) in rows.chunks_exact(width).enumerate().skip(done) {
                for (j, x) in row[..m].iter().enumerate() {
                    if x.abs() > best.0 {
                        best = (x.abs(), Some((i, j)));
                    }
                }
            }
            let Some((row, j)) = best.1 else { break };
            (largest, smallest) = (largest.max(best.0), smallest.min(best.0));
            reduce_column(rows, width, PivotStep { row, column: j, target: done });
            self.row_of[j] = Some(done);
            done += 1;
        }
        let condition = if largest > 0.0 { smallest / largest } else { 1.0 };
        Closure { rank: done, condition, missing: (0.0, 0) }
    }

    /// Value of an unknown while the free ones are zero.
    fn base(&self, column: usize) -> f64 {
        let m = self.unknowns.len();
        self.row_of[column].map_or(0.0, |row| self.system[row * (m + 1) + m])
    }

    /// Derivative of an unknown by a free one.
    fn slope_of(&self, column: usize, free: usize) -> f64 {
        match self.row_of[column] {
            // A reduced row reads λ_dep = base − Σ row_f z_f.
            Some(row) => -self.system[row * (self.unknowns.len() + 1) + free],
            None => f64::from(u8::from(column == free)),
        }
    }
}

/// Adds `g gᵀ` and `−b g`.
fn add_normal(normal: &mut [f64], right: &mut [f64], g: &[f64], b: f64) {
    let n = g.len();
    for (i, gi) in g.iter().enumerate() {
        right[i] -= b * gi;
        for (j, gj) in g.iter().enumerate() {
            normal[i * n + j] += gi * gj;
        }
    }
}

/// Removes the efforts of degrees of freedom without motor; returns the largest.
fn missing(drives: Drives<'_>, tau: &mut [f64]) -> (f64, usize) {
    let mut worst = (0.0, 0);
    for k in (0..tau.len()).filter(|k| drives.is_passive(*k)) {
        let effort = core::mem::take(&mut tau[k]).abs();
        // NaN is not larger than anything, and must not be lost for that.
        if effort > worst.0 || effort.is_nan() {
            worst = (effort, k);
        }
    }
    worst
}
