//! Efforts along a whole motion.
//!
//! Three positions suffice for a torque, so any stretch of time can be done on its own: stretches run in parallel, but
//! for variants that remember. The result does not depend on how the motion is divided.

use core::ops::Range;

use karakuri_dynamics::loops::{constrained, largest_gap};
use karakuri_dynamics::{Data, difference, forward_kinematics, forward_kinematics_of, rnea};
use karakuri_model::Model;
use karakuri_spatial::{Force, Vector3};
use rayon::prelude::*;

use super::block::{Block, STRETCH};
use super::check::{Seen, gap_limit, near_dead_point};
use super::cuts::{Closure, Cuts, Drives};
use super::nodes::is_rod;
use super::{Mechanism, NodalError, Nodes, Rule, Variant, Warning};
use crate::inverse_dynamics::{DesiredMotion, InverseDynamics, Simulated};

/// Part of the largest effort up to which an effort without a motor is rounding. [-]
const MISSING_TOLERANCE: f64 = 1e-6;

/// The scheme, set up for a mechanism.
#[derive(Debug, Clone)]
pub struct Scheme {
    /// Mechanism with its loads, drives and rule.
    pub mechanism: Mechanism,
    /// Rule from displacements to accelerations.
    pub variant: Variant,
    /// Distribution of a link's mass over nodes.
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
    /// Doubts about the result.
    pub warnings: Vec<Warning>,
}

impl Scheme {
    /// Scheme with the default variant and nodes.
    pub fn new(mechanism: Mechanism) -> Self {
        Self { mechanism, variant: Variant::default(), nodes: Nodes::default() }
    }

    /// Efforts at every sample of the target.
    ///
    /// # Errors
    ///
    /// If the target or the rule does not fit the mechanism, a loop is open, or an effort is needed where no drive acts.
    pub fn torques(&self, target: &Target<'_>) -> Result<Torques, NodalError> {
        let n = self.check(target)?;
        let nv = self.mechanism.model.nv;
        let n_lambda = Cuts::new(&self.mechanism.model).len();
        let (mut tau, mut lambda) = (vec![0.0; n * nv], vec![0.0; n * n_lambda]);
        // One worker a thread, each with neighbouring stretches; recursions need all of them in turn.
        let threads = if self.variant.remembers() { 1 } else { rayon::current_num_threads() };
        // Whole stretches for each worker, so that only the last one of all computes a partly filled block.
        let each = n.div_ceil(STRETCH).div_ceil(threads) * STRETCH;
        let mut jobs = Vec::with_capacity(threads);
        let mut rest = (&mut tau[..], &mut lambda[..]);
        for start in (0..n).step_by(each) {
            let range = start..n.min(start + each);
            // Each job owns its part of the output: nothing is locked, and nothing is put in order afterwards.
            let (rows, rest_of_tau) = rest.0.split_at_mut(range.len() * nv);
            let (cuts, rest_of_lambda) = rest.1.split_at_mut(range.len() * n_lambda);
            jobs.push((range, rows, cuts));
            rest = (rest_of_tau, rest_of_lambda);
        }
        let parts: Vec<Summary> = jobs
            .into_par_iter()
            .map(|(range, tau, lambda)| Worker::new(self).sweep(target, range, tau, lambda))
            .collect::<Result<_, NodalError>>()?;
        // In the order of time, so that equal peaks name the earlier sample at any number of threads.
        let seen = parts.into_iter().reduce(Summary::merged).unwrap_or_default();
        let warnings = self.conclude(&seen, target, n)?;
        Ok(Torques { tau, lambda, warnings })
    }

    /// Efforts by the recursive Newton-Euler algorithm, the reference for the scheme: independent of the step. Takes
    /// velocities and accelerations from the target.
    ///
    /// # Errors
    ///
    /// As [`Self::torques`], and if the target has no velocities or accelerations.
    pub fn exact(&self, target: &Target<'_>) -> Result<Torques, NodalError> {
        let n = self.check(target)?;
        let m = &self.mechanism;
        if target.v.is_empty() || target.vdot.is_empty() {
            return Err(NodalError::MissingRates("the exact method"));
        }
        let loaded = m.loaded_model();
        let (nq, nv) = (loaded.nq, loaded.nv);
        let mut worker = Worker::new(self);
        let mut data = Data::new(&loaded);
        data.gravity = m.gravity;
        let mut external = vec![Force::default(); loaded.bodies.len()];
        let (mut tau, mut lambda) = (vec![0.0; n * nv], Vec::new());
        for (sample, tau) in tau.chunks_exact_mut(nv).enumerate() {
            let q = &target.q[sample * nq..(sample + 1) * nq];
            let rates = sample * nv..(sample + 1) * nv;
            forward_kinematics(&loaded, &mut data, q);
            // Payloads are part of the loaded model; exerted forces enter as reactions.
            fill_reactions(m, &data, target, sample, &mut external);
            let (v, vdot) = (&target.v[rates.clone()], &target.vdot[rates]);
            tau.copy_from_slice(rnea(&loaded, &mut data, q, v, vdot, &external));
            worker.finish(target, sample, tau)?;
            lambda.extend_from_slice(&worker.cuts.lambda);
        }
        // Nothing was watched, as nothing is differentiated: only the cuts can give a warning.
        let warnings = self.conclude(&worker.summary, target, n)?;
        Ok(Torques { tau, lambda, warnings })
    }

    /// Efforts by steps of simulation whose driven velocities are constrained to the target's: forward dynamics alone; the
    /// step divides out. Takes velocities and accelerations from the target; forces across the cuts are not known.
    ///
    /// # Errors
    ///
    /// As [`Self::exact`], and if the rule is not [`Rule::LeastNorm`] or a moving link has no mass.
    pub fn simulated(&self, target: &Target<'_>) -> Result<Torques, NodalError> {
        let n = self.check(target)?;
        let m = &self.mechanism;
        if target.v.is_empty() || target.vdot.is_empty() {
            return Err(NodalError::MissingRates("method `simulated`"));
        }
        // Shared drives get efforts of least norm; there are no cuts here for another rule to act on.
        if m.rule != Rule::LeastNorm {
            let text =
                "method `simulated` shares by `least_norm` alone; use `nodal` or `recursive`";
            return Err(NodalError::Rule(text.to_owned()));
        }
        let loaded = m.loaded_model();
        let (nq, nv) = (loaded.nq, loaded.nv);
        let mut method = Simulated::under(&loaded, m.gravity);
        let mut data = Data::new(&loaded);
        let mut external = vec![Force::default(); loaded.bodies.len()];
        // The wrench that carries a floating base is found as the effort of drives there.
        let driven: Vec<bool> = m.driven.iter().zip(&m.supported).map(|(d, s)| *d || *s).collect();
        let mut tau = vec![0.0; n * nv];
        let (mut missing, mut largest) = ((0.0, 0), 0.0_f64);
        for (sample, tau) in tau.chunks_exact_mut(nv).enumerate() {
            let q = &target.q[sample * nq..(sample + 1) * nq];
            let rates = sample * nv..(sample + 1) * nv;
            forward_kinematics(&loaded, &mut data, q);
            fill_reactions(m, &data, target, sample, &mut external);
            let (v, vdot) = (&target.v[rates.clone()], &target.vdot[rates]);
            let motion = DesiredMotion { q, v, vdot, driven: &driven, external: &external };
            let undone = method.efforts(&loaded, &motion, tau).missing_effort;
            if undone == f64::INFINITY {
                return Err(NodalError::NoStep(sample as f64 * target.dt));
            }
            if undone > missing.0 || undone.is_nan() {
                missing = (undone, sample);
            }
            largest = tau.iter().fold(largest, |l, t| l.max(t.abs()));
        }
        let (effort, sample) = missing;
        // The missing effort is a scale itself: a robot without drives has no other.
        if effort.is_nan() || effort > MISSING_TOLERANCE * largest.max(effort).max(1e-9) {
            return Err(NodalError::NotRealised { time: sample as f64 * target.dt, effort });
        }
        Ok(Torques { tau, lambda: Vec::new(), warnings: Vec::new() })
    }

    /// The scheme for the part of dynamics: as this one, but without a squeeze. With a target without exerted forces its
    /// efforts are those of motion, weight and what is carried; the rest of the efforts is the part of force.
    #[must_use]
    pub fn without_forces(&self) -> Self {
        let mut scheme = self.clone();
        if let Rule::Squeeze { force, .. } = &mut scheme.mechanism.rule {
            *force = 0.0;
        }
        scheme
    }

    /// Warnings and errors of a whole motion.
    fn conclude(
        &self,
        seen: &Summary,
        target: &Target<'_>,
        n: usize,
    ) -> Result<Vec<Warning>, NodalError> {
        let time = |sample: usize| sample as f64 * target.dt;
        let (missing, sample, dof) = seen.missing;
        // The floor is for mechanisms without weight at rest, whose efforts are all round-off.
        if missing.is_nan() || missing > MISSING_TOLERANCE * seen.largest_effort.max(1e-9) {
            let joints = &self.mechanism.model.joints;
            let joint = joints.iter().rfind(|j| j.v_start <= dof).map_or("", |j| j.name.as_str());
            let (joint, time, effort) = (joint.to_owned(), time(sample), missing);
            // A rank below that elsewhere on the path is a matter of the position; the same rank, of too few drives.
            return Err(if seen.rank_at_missing < seen.rank {
                NodalError::DeadPoint { joint, time, effort }
            } else {
                NodalError::UnderActuated { joint, time, effort }
            });
        }
        let mut warnings = seen.watched.warnings(self.variant, target.dt, n);
        warnings.extend(near_dead_point(seen.condition.0, time(seen.condition.1)));
        Ok(warnings)
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
            let expected = samples * width;
            if array.len() != expected && !(optional && array.is_empty()) {
                return Err(NodalError::Length { what, given: array.len(), expected, samples });
            }
            // Here it has a time and a coordinate; in the efforts nobody could tell where it came from.
            if let Some(i) = array.iter().position(|x| !x.is_finite()) {
                let (sample, coordinate) = (i / width, i % width);
                return Err(NodalError::NotFinite { time: sample as f64 * target.dt, coordinate });
            }
        }
        // Central differences, extrapolated at both ends, and the watch's differences over twice the distance.
        if samples < 5 {
            return Err(NodalError::TooFewSamples(samples));
        }
        let has_rates = !target.v.is_empty() && !target.vdot.is_empty();
        if self.variant == Variant::External && !has_rates {
            return Err(NodalError::MissingRates("variant `external`"));
        }
        if let Nodes::Beam { elements, .. } = self.nodes {
            if !(1..=Nodes::MOST_ELEMENTS).contains(&elements) {
                let most = Nodes::MOST_ELEMENTS;
                let text = format!("{elements} elements of a link; there are 1 to {most}");
                return Err(NodalError::Rule(text));
            }
            if let Some(body) = model.bodies.iter().find(|body| !is_rod(&body.inertia)) {
                return Err(NodalError::NoRod(body.name.clone()));
            }
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

/// Summary of a stretch of samples.
#[derive(Debug, Clone, Copy, Default)]
struct Summary {
    watched: Seen,
    largest_effort: f64,
    /// Largest effort without motor, its sample and velocity coordinate.
    missing: (f64, usize, usize),
    rank_at_missing: usize,
    rank: usize,
    /// Smallest condition of the cuts, and its sample.
    condition: (f64, usize),
}

impl Summary {
    fn merged(mut self, other: Self) -> Self {
        self.watched.merge(&other.watched);
        self.largest_effort = self.largest_effort.max(other.largest_effort);
        // NaN is not larger than anything, and has to get through to the error.
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
    block: Block,
    /// Places of the bodies that loops move, for the cuts; those that carry them stand still here.
    data: Data,
    constrained: Vec<usize>,
    cuts: Cuts,
    summary: Summary,
    has_rotors: bool,
    /// Rates of the joints before and after a sample. [rad/s or m/s] (nv each)
    rates: [Vec<f64>; 2],
}

impl<'a> Worker<'a> {
    fn new(scheme: &'a Scheme) -> Self {
        let m = &scheme.mechanism;
        let mut data = Data::new(&m.model);
        forward_kinematics(&m.model, &mut data, &m.model.neutral_position());
        Self {
            scheme,
            block: Block::new(m, scheme.nodes, scheme.variant),
            data,
            constrained: constrained(&m.model).bodies,
            cuts: Cuts::new(&m.model),
            summary: Summary { condition: (1.0, 0), ..Summary::default() },
            has_rotors: m.model.joints.iter().any(|j| j.armature != 0.0 || j.damping != 0.0),
            rates: [vec![0.0; m.model.nv], vec![0.0; m.model.nv]],
        }
    }

    /// Efforts and cut forces for the samples in `range`, and what they showed.
    fn sweep(
        mut self,
        target: &Target<'_>,
        range: Range<usize>,
        tau: &mut [f64],
        lambda: &mut [f64],
    ) -> Result<Summary, NodalError> {
        let m = &self.scheme.mechanism;
        let (nv, n_lambda) = (m.model.nv, self.cuts.len());
        for start in range.clone().step_by(STRETCH) {
            let stretch = start..range.end.min(start + STRETCH);
            self.block.run(m, self.scheme.variant, target, &stretch);
            for sample in stretch {
                let row = sample - range.start;
                let tau = &mut tau[row * nv..(row + 1) * nv];
                for (dof, tau) in tau.iter_mut().enumerate() {
                    *tau = self.block.effort(dof, sample - start);
                }
                self.finish(target, sample, tau)?;
                lambda[row * n_lambda..(row + 1) * n_lambda].copy_from_slice(&self.cuts.lambda);
            }
        }
        Ok(Summary { watched: self.block.watch.seen, ..self.summary })
    }

    /// Adds the rotors and closes the cuts of a sample.
    fn finish(
        &mut self,
        target: &Target<'_>,
        sample: usize,
        tau: &mut [f64],
    ) -> Result<(), NodalError> {
        let m = &self.scheme.mechanism;
        let model = &m.model;
        if self.has_rotors {
            add_rotors(model, target, sample, &mut self.rates, tau);
        }
        if !model.loops.is_empty() {
            let data = &mut self.data;
            let q = &target.q[sample * model.nq..][..model.nq];
            // The bodies of the loops suffice: what carries them moves both sides of a cut alike.
            forward_kinematics_of(model, data, q, &self.constrained);
            let limit = gap_limit(target.dt);
            let (gap, name) = largest_gap(model, data);
            if gap > limit || gap.is_nan() {
                let (name, time) = (name.to_owned(), sample as f64 * target.dt);
                return Err(NodalError::OpenLoop { name, time, gap, limit });
            }
        }
        let drives = Drives { driven: &m.driven, supported: &m.supported };
        let closure = self.cuts.close(model, &self.data, drives, &m.rule, tau);
        self.note(sample, &closure, tau);
        Ok(())
    }

    fn note(&mut self, sample: usize, closure: &Closure, tau: &[f64]) {
        let s = &mut self.summary;
        s.largest_effort = tau.iter().fold(s.largest_effort, |l, t| l.max(t.abs()));
        s.rank = s.rank.max(closure.rank);
        let (missing, dof) = closure.missing;
        // `close` has taken the missing effort out of `tau`; without drives it would be the only scale.
        s.largest_effort = s.largest_effort.max(if missing.is_finite() { missing } else { 0.0 });
        if missing > s.missing.0 || missing.is_nan() {
            (s.missing, s.rank_at_missing) = ((missing, sample, dof), closure.rank);
        }
        if closure.condition < s.condition.0 {
            s.condition = (closure.condition, sample);
        }
    }
}

/// Reactions to the exerted forces, as wrenches on the bodies at their origins.
fn fill_reactions(
    m: &Mechanism,
    data: &Data,
    target: &Target<'_>,
    sample: usize,
    external: &mut [Force],
) {
    external.fill(Force::default());
    let forces = target.forces.chunks_exact(3).skip(sample * m.force_points.len());
    for (point, F) in m.force_points.iter().zip(forces) {
        let R = &data.pose_in_world[point.body.0].rotation;
        // The reaction −F acts at the point; about the body's origin its moment is p × (−F).
        let reaction = -Vector3::new(F[0], F[1], F[2]);
        external[point.body.0] += Force::new((R * point.point).cross(&reaction), reaction);
    }
}

/// Armature and damping of the joints, by the target's rates or by differences of its positions. (2 × nv; nv)
fn add_rotors(
    model: &Model,
    target: &Target<'_>,
    sample: usize,
    [before, after]: &mut [Vec<f64>; 2],
    tau: &mut [f64],
) {
    let given = !(target.v.is_empty() || target.vdot.is_empty());
    if !given {
        // At the ends the differences of the neighbour stand in: rotors are one component that changes slowly.
        let at = sample.clamp(1, target.q.len() / model.nq - 2);
        let q = |s: usize| &target.q[s * model.nq..(s + 1) * model.nq];
        // The rates of a rotation are in the axes of the joint's parent side, so those before and after add like numbers.
        difference(model, q(at - 1), q(at), before);
        difference(model, q(at), q(at + 1), after);
    }
    for joint in &model.joints {
        for k in joint.v_start..joint.v_start + joint.kind.nv() {
            let (v, vdot) = if given {
                (target.v[sample * model.nv + k], target.vdot[sample * model.nv + k])
            } else {
                // v = (q⁺ ⊖ q⁻)/(2h), v̇ = ((q⁺ ⊖ q) − (q ⊖ q⁻))/h².
                let dt = target.dt;
                ((after[k] + before[k]) / (2.0 * dt), (after[k] - before[k]) / (dt * dt))
            };
            tau[k] += joint.armature * vdot + joint.damping * v;
        }
    }
}
