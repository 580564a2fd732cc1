//! Closes the loops of a motion: the passive joints follow the driven ones, on one branch from sample to sample.
//!
//! Units: rad or m, s.

use karakuri_dynamics::Data;
use karakuri_dynamics::loops::{ConstraintEmbedding, Contradiction, MotionMut, largest_gap};

use super::check::gap_limit;
use super::{Mechanism, NodalError};

/// Motion of a passive coordinate in a step beyond which the path between is divided in steps of `STRIDE`. [rad or m]
const FAR: f64 = 0.1;
/// Motion of that coordinate in one of these steps. [rad or m]
const STRIDE: f64 = 0.02;
/// Most steps of one path. [-]
// 200 strides are 4 rad, more than a passive joint turns between two samples of any motion that is followed.
const MOST_STRIDES: f64 = 200.0;
/// Difference below which two closed positions are the same. [rad or m]
// Solutions on one branch agree to the tolerance of closing, 1e-14; only at a dead point do two branches come this near.
const SAME: f64 = 1e-6;

impl Mechanism {
    /// Closes the loops by the passive joints of every sample, each starting from the last one. `dt`: [s],
    /// `q`: [rad or m] (n samples × nq)
    ///
    /// # Errors
    ///
    /// If a loop stays open by more than the time step allows, or driven joints contradict each other.
    pub fn close(&self, dt: f64, q: &mut [f64]) -> Result<(), NodalError> {
        let mut still = vec![0.0; q.len() / self.model.nq.max(1) * self.model.nv];
        let mut rates = still.clone();
        self.complete(dt, q, &mut still, &mut rates)
    }

    /// As [`Self::close`], with the velocities and accelerations of the passive joints. Driven joints keep their target.
    /// [rad/s or m/s], [rad/s² or m/s²] (n samples × nv) each
    ///
    /// # Errors
    ///
    /// As [`Self::close`].
    pub fn complete(
        &self,
        dt: f64,
        q: &mut [f64],
        v: &mut [f64],
        vdot: &mut [f64],
    ) -> Result<(), NodalError> {
        let model = &self.model;
        let mut closing = Closing::new(self);
        if closing.constraints.is_empty() {
            return Ok(());
        }
        let mut last: Option<Vec<f64>> = None;
        let rates = v.chunks_exact_mut(model.nv).zip(vdot.chunks_exact_mut(model.nv));
        for (sample, (q, (v, vdot))) in q.chunks_exact_mut(model.nq).zip(rates).enumerate() {
            if let Some(last) = &last {
                // What the target has for passive joints is no command and may lie on another branch; the last sample does not.
                closing.each_passive(|i| q[i] = last[i]);
            }
            let mut gap = closing.complete(q, v, vdot);
            if let Some(last) = &last
                && closing.leaves_the_branch(last, q)
            {
                // Once more, from the end of the divided path, whose rates were those of no sample.
                gap = closing.complete(q, v, vdot);
            }
            let limit = gap_limit(dt);
            if let Some(found) = closing.constraints.contradiction(model, limit) {
                return Err(self.contradiction(&found, sample as f64 * dt, limit));
            }
            if gap > limit || gap.is_nan() {
                let (gap, name) = largest_gap(model, &closing.data);
                let (name, time) = (name.to_owned(), sample as f64 * dt);
                return Err(NodalError::OpenLoop { name, time, gap, limit });
            }
            last = Some(q.to_vec());
        }
        Ok(())
    }

    fn contradiction(&self, found: &Contradiction, time: f64, limit: f64) -> NodalError {
        let model = &self.model;
        let name = |k: usize| {
            let joint = model.joints.iter().rfind(|joint| joint.v_start <= k);
            joint.map_or("", |joint| joint.name.as_str())
        };
        let quoted = |names: &mut dyn Iterator<Item = &str>| {
            names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        let mut dofs = found.dofs.clone();
        dofs.sort_unstable();
        let loops = quoted(&mut found.loops.iter().map(|&l| model.loops[l].name.as_str()));
        let several = if found.loops.len() > 1 { "loops" } else { "loop" };
        NodalError::Contradiction {
            joints: quoted(&mut dofs.iter().map(|&k| name(k))),
            loops: format!("{several} {loops}"),
            joint: name(found.dofs[0]).to_owned(),
            time,
            residual: found.residual,
            limit,
        }
    }
}

/// Scratch for a motion.
struct Closing<'a> {
    mechanism: &'a Mechanism,
    constraints: ConstraintEmbedding,
    data: Data,
    /// Positions between two samples. (nq)
    between: Vec<f64>,
    /// Rates that nobody asks for. (nv) each
    idle: [Vec<f64>; 2],
}

impl<'a> Closing<'a> {
    fn new(mechanism: &'a Mechanism) -> Self {
        let model = &mechanism.model;
        Self {
            mechanism,
            constraints: ConstraintEmbedding::new(model),
            data: Data::new(model),
            between: vec![0.0; model.nq],
            idle: [vec![0.0; model.nv], vec![0.0; model.nv]],
        }
    }

    fn complete(&mut self, q: &mut [f64], v: &mut [f64], vdot: &mut [f64]) -> f64 {
        let Mechanism { model, driven, .. } = self.mechanism;
        self.constraints.complete(model, &mut self.data, driven, MotionMut { q, v, vdot })
    }

    /// Whether a closed position is on another branch than the path from the last sample; that path's end is then left in `q`.
    fn leaves_the_branch(&mut self, last: &[f64], q: &mut [f64]) -> bool {
        let mut far = 0.0_f64;
        self.each_passive(|i| far = far.max((q[i] - last[i]).abs()));
        if far <= FAR {
            return false;
        }
        let mut between = core::mem::take(&mut self.between);
        let [mut v, mut vdot] = core::mem::take(&mut self.idle);
        between.copy_from_slice(last);
        // Bounded, because across a dead point a passive joint may jump by any amount for a small step of the drives.
        let n = (far / STRIDE).ceil().min(MOST_STRIDES);
        // The driven coordinates go from the last sample to this one in n parts, the loops closed after each.
        let mut done = 0.0;
        while done < n {
            done += 1.0;
            self.each_driven(|i, divides| {
                // Parts of a quaternion are no rotations in between: joints with several degrees of freedom move at once.
                let part = if divides { done / n } else { 1.0 };
                between[i] = last[i] + part * (q[i] - last[i]);
            });
            // Gaps on the way do not count: the end is closed once more by the caller.
            self.complete(&mut between, &mut v, &mut vdot);
        }
        // Where the divided path ends elsewhere, the direct solution was on another branch.
        let mut apart = 0.0_f64;
        self.each_passive(|i| apart = apart.max((q[i] - between[i]).abs()));
        if apart > SAME {
            self.each_passive(|i| q[i] = between[i]);
        }
        (self.between, self.idle) = (between, [v, vdot]);
        apart > SAME
    }

    fn each_passive(&self, mut visit: impl FnMut(usize)) {
        let Mechanism { model, driven, supported, .. } = self.mechanism;
        let follows = |k: usize| !driven[k] && !supported[k];
        for joint in model.joints.iter().filter(|j| follows(j.v_start)) {
            (joint.q_start..joint.q_start + joint.kind.nq()).for_each(&mut visit);
        }
    }

    /// Position coordinates of driven joints, and whether they may be divided into parts.
    fn each_driven(&self, mut visit: impl FnMut(usize, bool)) {
        let Mechanism { model, driven, supported, .. } = self.mechanism;
        let leads = |k: usize| driven[k] || supported[k];
        for joint in model.joints.iter().filter(|j| leads(j.v_start)) {
            let run = joint.q_start..joint.q_start + joint.kind.nq();
            run.for_each(|i| visit(i, joint.kind.nv() == 1));
        }
    }
}
