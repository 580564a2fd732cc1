//! Efforts along a whole motion.
//!
//! Each sample is read, its nodes' increments taken, and three positions suffice for all that follows, so any stretch of
//! time can be done on its own: stretches run in parallel, but for variants that remember. The result does not depend on
//! how the motion is divided.

use core::ops::Range;

use karakuri_dynamics::{Data, forward_kinematics, update_accelerations, update_velocities};
use karakuri_spatial::{Force, Vector3};
use rayon::prelude::*;

use super::check::{Seen, Watch, near_dead_point};
use super::cuts::{Closure, Cuts};
use super::nodes::NodeSet;
use super::superpose::{at_point, superpose};
use super::variant::central;
use super::{Mechanism, NodalError, Nodes, Rule, Variant, Warning};
use crate::inverse_dynamics::{Constraints, largest_gap};

/// Samples that are done in one go.
const STRETCH: usize = 128;
/// Samples before a stretch, for the watch on its accelerations.
const LEAD: usize = 4;
/// A loop may be open so far that the acceleration it feigns is this large. [m/s²]
const GAP_ACCELERATION: f64 = 1e-3;
/// Effort without a motor up to this part of the largest effort is rounding. [-]
const MISSING_TOLERANCE: f64 = 1e-6;

/// The scheme, set up for a mechanism.
#[derive(Debug, Clone)]
pub struct Scheme {
    /// What is moved.
    pub mechanism: Mechanism,
    /// From displacements to accelerations.
    pub variant: Variant,
    /// Where the mass of a link sits.
    pub nodes: Nodes,
}

/// A target motion, equally spaced in time from t = 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct Target<'a> {
    /// Time step. [s]
    pub dt: f64,
    /// Positions, passive joints included, loops closed. [rad or m] (n samples × nq)
    pub q: &'a [f64],
    /// Velocities, or empty. [rad/s or m/s] (n samples × nv)
    pub v: &'a [f64],
    /// Accelerations, or empty: then recursions start from rest. [rad/s² or m/s²] (n samples × nv)
    pub vdot: &'a [f64],
    /// Forces exerted at the force points, in world axes, or empty. [N] (n samples × n points × 3)
    pub forces: &'a [f64],
}

/// Efforts along a motion.
#[derive(Debug, Clone, PartialEq)]
pub struct Torques {
    /// Efforts; zero for passive joints, the wrench of the surroundings for a floating base. [N·m or N] (n samples × nv)
    pub tau: Vec<f64>,
    /// Forces across the cuts, loop after loop in its locked directions, then mimic relations; side A supplies them.
    /// [N·m or N] (n samples × n components)
    pub lambda: Vec<f64>,
    /// What is doubtful.
    pub warnings: Vec<Warning>,
}

impl Mechanism {
    /// Moves the passive joints of every sample until the loops are closed, each from where the last one was.
    /// [rad or m] (n samples × nq)
    pub fn close(&self, q: &mut [f64]) {
        let model = &self.model;
        let mut constraints = Constraints::new(model);
        if constraints.is_empty() {
            return;
        }
        let mut data = Data::new(model);
        let mut guess: Option<Vec<f64>> = None;
        for q in q.chunks_exact_mut(model.nq) {
            if let Some(guess) = &guess {
                for joint in model.joints.iter().filter(|j| !self.driven[j.v_start]) {
                    let run = joint.q_start..joint.q_start + joint.kind.nq();
                    q[run.clone()].copy_from_slice(&guess[run]);
                }
            }
            constraints.close(model, &mut data, &self.driven, q);
            guess = Some(q.to_vec());
        }
    }
}

impl Scheme {
    /// The default variant and nodes.
    pub fn new(mechanism: Mechanism) -> Self {
        Self { mechanism, variant: Variant::default(), nodes: Nodes::default() }
    }

    /// Efforts at every sample of the target.
    pub fn torques(&self, target: &Target<'_>) -> Result<Torques, NodalError> {
        let n = self.check(target)?;
        let (nv, mut worker) = (self.mechanism.model.nv, Worker::new(self));
        let width = nv + worker.cuts.len();
        let mut rows = vec![0.0; n * width];
        let seen = if self.variant.remembers() {
            worker.sweep(target, 0..n, &mut rows)?;
            worker.summary()
        } else {
            let parts: Vec<Summary> = rows
                .par_chunks_mut(STRETCH * width.max(1))
                .enumerate()
                .map_with(worker, |worker, (k, rows)| {
                    worker.reset();
                    worker.sweep(target, k * STRETCH..n.min((k + 1) * STRETCH), rows)?;
                    Ok(worker.summary())
                })
                .collect::<Result<_, NodalError>>()?;
            parts.into_iter().reduce(Summary::merged).unwrap_or_default()
        };
        let time = |sample: usize| sample as f64 * target.dt;
        let (missing, sample, dof) = seen.missing;
        if missing.is_nan() || missing > MISSING_TOLERANCE * seen.largest_effort.max(1e-9) {
            let joints = &self.mechanism.model.joints;
            let joint = joints.iter().rfind(|j| j.v_start <= dof).map_or("", |j| j.name.as_str());
            let (joint, time, effort) = (joint.to_owned(), time(sample), missing);
            return Err(if seen.rank_at_missing < seen.rank {
                NodalError::DeadPoint { joint, time, effort }
            } else {
                NodalError::UnderActuated { joint, time, effort }
            });
        }
        let mut warnings = seen.watched.warnings(self.variant, target.dt, n);
        warnings.extend(near_dead_point(seen.condition.0, time(seen.condition.1)));
        let mut torques = Torques {
            tau: Vec::with_capacity(n * nv),
            lambda: Vec::with_capacity(n * (width - nv)),
            warnings,
        };
        for row in rows.chunks_exact(width.max(1)) {
            torques.tau.extend_from_slice(&row[..nv]);
            torques.lambda.extend_from_slice(&row[nv..]);
        }
        Ok(torques)
    }

    /// Number of samples, if all arrays fit.
    fn check(&self, target: &Target<'_>) -> Result<usize, NodalError> {
        let model = &self.mechanism.model;
        if !(target.dt > 0.0 && target.dt.is_finite()) {
            return Err(NodalError::Step(target.dt));
        }
        let samples = target.q.len() / model.nq.max(1);
        let points = 3 * self.mechanism.force_points.len();
        for (what, array, width, optional) in [
            ("the target position", target.q, model.nq, false),
            ("the target velocity", target.v, model.nv, true),
            ("the target acceleration", target.vdot, model.nv, true),
            ("the exerted force", target.forces, points, true),
        ] {
            let wanted = samples * width;
            if array.len() != wanted && !(optional && array.is_empty()) {
                return Err(NodalError::Length { what, given: array.len(), wanted, samples });
            }
            if let Some(i) = array.iter().position(|x| !x.is_finite()) {
                let (sample, coordinate) = (i / width, i % width);
                return Err(NodalError::NotFinite { time: sample as f64 * target.dt, coordinate });
            }
        }
        if samples < 5 {
            return Err(NodalError::TooFewSamples(samples));
        }
        let has_rates = !target.v.is_empty() && !target.vdot.is_empty();
        if self.variant == Variant::External && !has_rates {
            return Err(NodalError::MissingRates);
        }
        self.check_rule()?;
        Ok(samples)
    }

    fn check_rule(&self) -> Result<(), NodalError> {
        let Mechanism { model, driven, supported, rule, .. } = &self.mechanism;
        let wrong = |text: String| Err(NodalError::Rule(text));
        match rule {
            Rule::Weighted(r) if r.len() != model.nv => {
                wrong(format!("{} ratings for {} velocity coordinates", r.len(), model.nv))
            }
            Rule::Weighted(r) if r.iter().any(|r| r.is_nan() || *r <= 0.0) => {
                wrong("every rating must be positive".to_owned())
            }
            Rule::Ratio(r) if r.len() != model.loops.len() => {
                wrong(format!("{} shares for {} loop joints", r.len(), model.loops.len()))
            }
            Rule::Ratio(r) if (r.iter().sum::<f64>() - 1.0).abs() > 1e-9 => {
                wrong(format!("the shares add up to {}, not to 1", r.iter().sum::<f64>()))
            }
            Rule::Squeeze { contacts: [a, b], .. } if a == b || *a.max(b) >= model.loops.len() => {
                wrong(format!("contacts {a} and {b} are not two of {} loops", model.loops.len()))
            }
            Rule::NoForce if driven.iter().zip(supported).any(|(d, s)| !d && !s) => {
                wrong("without forces across the cuts every joint needs a drive".to_owned())
            }
            _ => Ok(()),
        }
    }
}

/// What a stretch of samples showed.
#[derive(Debug, Clone, Copy, Default)]
struct Summary {
    watched: Seen,
    largest_effort: f64,
    /// Effort without motor, its sample and freedom.
    missing: (f64, usize, usize),
    rank_at_missing: usize,
    rank: usize,
    /// Smallest, and its sample.
    condition: (f64, usize),
}

impl Summary {
    fn merged(mut self, other: Self) -> Self {
        self.watched.merge(&other.watched);
        self.largest_effort = self.largest_effort.max(other.largest_effort);
        if other.missing.0 > self.missing.0 || other.missing.0.is_nan() {
            (self.missing, self.rank_at_missing) = (other.missing, other.rank_at_missing);
        }
        self.rank = self.rank.max(other.rank);
        if other.condition.0 < self.condition.0 {
            self.condition = other.condition;
        }
        self
    }
}

/// Scratch of one thread.
#[derive(Debug, Clone)]
struct Worker<'a> {
    scheme: &'a Scheme,
    nodes: NodeSet,
    /// Positions before, at and after the sample in hand.
    data: [Data; 3],
    du: [Vec<f64>; 2],
    v: Vec<f64>,
    a: Vec<f64>,
    spare: Vec<f64>,
    wrenches: Vec<Force>,
    cuts: Cuts,
    watch: Watch,
    summary: Summary,
    has_rotors: bool,
}

impl<'a> Worker<'a> {
    fn new(scheme: &'a Scheme) -> Self {
        let m = &scheme.mechanism;
        let nodes = NodeSet::new(&m.model, scheme.nodes, m.payloads.clone(), m.gravity);
        let n = nodes.n_components();
        let data = Data::new(&m.model);
        Self {
            scheme,
            data: [data.clone(), data.clone(), data],
            du: [vec![0.0; n], vec![0.0; n]],
            v: vec![0.0; n],
            a: vec![0.0; n],
            spare: vec![0.0; n],
            wrenches: vec![Force::default(); m.model.bodies.len()],
            cuts: Cuts::new(&m.model),
            watch: Watch::new(n),
            summary: Summary { condition: (1.0, 0), ..Summary::default() },
            has_rotors: m.model.joints.iter().any(|j| j.armature != 0.0 || j.damping != 0.0),
            nodes,
        }
    }

    fn reset(&mut self) {
        self.watch.restart();
        self.summary = Summary { condition: (1.0, 0), ..Summary::default() };
    }

    fn summary(&self) -> Summary {
        Summary { watched: self.watch.seen, ..self.summary }
    }

    fn place(&mut self, target: &Target<'_>, slot: usize, sample: usize) {
        let model = &self.scheme.mechanism.model;
        let q = &target.q[sample * model.nq..(sample + 1) * model.nq];
        forward_kinematics(model, &mut self.data[slot], q);
    }

    /// Increments into `du[slot]` over the step that ends at `sample`; beyond the ends of the target the second
    /// difference goes on linearly.
    fn increments(&mut self, target: &Target<'_>, slot: usize, sample: usize, n: usize) {
        let terms: &[(usize, f64)] = match sample {
            0 => &[(1, 3.0), (2, -3.0), (3, 1.0)],
            s if s == n => &[(n - 1, 3.0), (n - 2, -3.0), (n - 3, 1.0)],
            s => &[(s, 1.0)],
        };
        let mut sum = core::mem::take(&mut self.du[slot]);
        let mut part = core::mem::take(&mut self.spare);
        sum.fill(0.0);
        for (end, factor) in terms {
            self.place(target, 0, end - 1);
            self.place(target, 2, *end);
            self.nodes.increments(&self.data[0], &self.data[2], &mut part);
            sum.iter_mut().zip(&part).for_each(|(s, p)| *s += factor * p);
        }
        (self.du[slot], self.spare) = (sum, part);
    }

    /// Rows of efforts and cut forces for the samples in `range`.
    fn sweep(
        &mut self,
        target: &Target<'_>,
        range: Range<usize>,
        rows: &mut [f64],
    ) -> Result<(), NodalError> {
        let model = &self.scheme.mechanism.model;
        let (n, width) = (target.q.len() / model.nq, model.nv + self.cuts.len());
        let first = range.start.saturating_sub(if range.start > 0 { LEAD } else { 0 });
        let mut placed = None;
        for sample in first..range.end {
            match self.scheme.variant {
                Variant::Central => {
                    if placed == Some(sample) {
                        // `du[1]` and `data[2]` of the last sample are this one's past and present.
                        self.du.swap(0, 1);
                        self.data.swap(1, 2);
                    } else {
                        self.increments(target, 0, sample, n);
                        self.place(target, 1, sample);
                    }
                    if sample + 1 < n {
                        self.place(target, 2, sample + 1);
                        self.nodes.increments(&self.data[1], &self.data[2], &mut self.du[1]);
                        placed = Some(sample + 1);
                    } else {
                        self.increments(target, 1, n, n);
                    }
                    let [before, after] = &self.du;
                    central(target.dt, before, after, &mut self.v, &mut self.a);
                }
                variant => self.step_forward(variant, target, sample),
            }
            let reach = self.data[1]
                .pose_in_world
                .iter()
                .fold(0.0, |r: f64, X| r.max(X.translation.amax()));
            self.watch.see(&self.nodes, sample, reach, &self.a);
            if sample >= range.start {
                let row = &mut rows[(sample - range.start) * width..][..width];
                self.finish(target, sample, n, row)?;
            }
        }
        Ok(())
    }

    /// Velocities and accelerations at `sample` by a Newmark step, and its position in `data[1]`.
    fn step_forward(&mut self, variant: Variant, target: &Target<'_>, sample: usize) {
        let has_rates = !target.v.is_empty() && !target.vdot.is_empty();
        if sample == 0 {
            self.place(target, 1, 0);
            self.v.fill(0.0);
            self.a.fill(0.0);
            if has_rates {
                self.rates_from_outside(target, 0);
            }
            return;
        }
        self.data.swap(0, 1);
        self.place(target, 1, sample);
        if variant == Variant::External {
            self.place(target, 0, sample - 1);
            self.data.swap(0, 1);
            self.rates_from_outside(target, sample - 1);
            self.data.swap(0, 1);
        }
        self.nodes.increments(&self.data[0], &self.data[1], &mut self.du[0]);
        variant.advance(target.dt, &self.du[0], &mut self.v, &mut self.a);
    }

    fn rates_from_outside(&mut self, target: &Target<'_>, sample: usize) {
        let model = &self.scheme.mechanism.model;
        let run = sample * model.nv..(sample + 1) * model.nv;
        let data = &mut self.data[1];
        update_velocities(model, data, &target.v[run.clone()]);
        update_accelerations(model, data, &target.v[run.clone()], &target.vdot[run]);
        self.nodes.exact(data, &mut self.v, &mut self.a);
    }

    /// Forces, efforts, rotors and cuts at the position in `data[1]`.
    fn finish(
        &mut self,
        target: &Target<'_>,
        sample: usize,
        n: usize,
        row: &mut [f64],
    ) -> Result<(), NodalError> {
        let m = &self.scheme.mechanism;
        let (model, data) = (&m.model, &self.data[1]);
        self.nodes.forces(data, &self.v, &self.a, &mut self.wrenches);
        let n_points = m.force_points.len();
        for (point, F) in
            m.force_points.iter().zip(target.forces[..].chunks_exact(3).skip(sample * n_points))
        {
            let p_WP = data.pose_in_world[point.body.0].transform_point(&point.point);
            self.wrenches[point.body.0] += at_point(data, &p_WP, Vector3::new(F[0], F[1], F[2]));
        }
        let (tau, lambda) = row.split_at_mut(model.nv);
        superpose(model, data, &mut self.wrenches, tau);
        if self.has_rotors {
            add_rotors(m, target, sample, n, tau);
        }
        if !model.loops.is_empty() || !model.couplings.is_empty() {
            let limit = GAP_ACCELERATION * target.dt * target.dt;
            let (gap, name) = largest_gap(model, data);
            if gap > limit.max(1e-11) || gap.is_nan() {
                let (name, time) = (name.to_owned(), sample as f64 * target.dt);
                return Err(NodalError::OpenLoop { name, time, gap, limit });
            }
        }
        let who = (m.driven.as_slice(), m.supported.as_slice());
        let closure = self.cuts.close(model, data, who, &m.rule, tau);
        lambda.copy_from_slice(&self.cuts.lambda);
        self.note(sample, &closure, tau);
        Ok(())
    }

    fn note(&mut self, sample: usize, closure: &Closure, tau: &[f64]) {
        let s = &mut self.summary;
        s.largest_effort = tau.iter().fold(s.largest_effort, |l, t| l.max(t.abs()));
        s.rank = s.rank.max(closure.rank);
        let (missing, dof) = closure.missing;
        s.largest_effort = s.largest_effort.max(if missing.is_finite() { missing } else { 0.0 });
        if missing > s.missing.0 || missing.is_nan() {
            (s.missing, s.rank_at_missing) = ((missing, sample, dof), closure.rank);
        }
        if closure.condition < s.condition.0 {
            s.condition = (closure.condition, sample);
        }
    }
}

/// Armature and damping of the joints, by the target's rates or by differences of its positions.
fn add_rotors(m: &Mechanism, target: &Target<'_>, sample: usize, n: usize, tau: &mut [f64]) {
    let model = &m.model;
    // At the ends the differences of the neighbour stand in: rotors are one component that changes slowly.
    let at = sample.clamp(1, n - 2);
    for joint in model.joints.iter().filter(|j| j.kind.nv() == 1) {
        let k = joint.v_start;
        let (v, vdot) = if target.v.is_empty() || target.vdot.is_empty() {
            let q = |s: usize| target.q[s * model.nq + joint.q_start];
            let (before, here, after) = (q(at - 1), q(at), q(at + 1));
            let dt = target.dt;
            ((after - before) / (2.0 * dt), (after - 2.0 * here + before) / (dt * dt))
        } else {
            (target.v[sample * model.nv + k], target.vdot[sample * model.nv + k])
        };
        tau[k] += joint.armature * vdot + joint.damping * v;
    }
}
