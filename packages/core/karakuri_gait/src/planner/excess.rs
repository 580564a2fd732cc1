//! Excesses of a plan over the limits of joints.

use karakuri_model::{BodyId, Model};

use super::sample::Sample;

/// Limited quantity of a joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limited {
    /// Joint position. [rad or m]
    Position,
    /// Joint speed. [rad/s or m/s]
    Speed,
    /// Joint effort. [N·m or N]
    Effort,
}

/// Largest excess of plans over a limit of a joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Excess {
    /// Joint of the model.
    pub joint: BodyId,
    /// Quantity beyond its limit.
    pub what: Limited,
    /// Planned value. [rad, rad/s, N·m; m, m/s, N]
    pub asked: f64,
    /// Limit of the joint. [as `asked`]
    pub limit: f64,
    /// Number of the step, from the start.
    pub step: u64,
}

impl Excess {
    /// Describes the excess in a sentence for people.
    pub fn describe(&self, model: &Model) -> String {
        let Self { what, asked, limit, step, .. } = self;
        let joint = &model.joints[self.joint.0].name;
        let quantity = match what {
            Limited::Position => "to go to",
            Limited::Speed => "for a speed of",
            Limited::Effort => "for an effort of",
        };
        format!(
            "step {step} asks joint `{joint}` {quantity} {asked:.3}, beyond its limit of {limit:.3}"
        )
    }

    fn is_beyond(&self, other: &Self) -> bool {
        (self.asked - self.limit).abs() > (other.asked - other.limit).abs()
    }
}

/// The worst excess of each joint's limits.
#[derive(Debug, Clone)]
pub(super) struct Excesses {
    found: Vec<Excess>,
}

impl Excesses {
    /// Empty list with room for all that can be found.
    pub(super) fn new(model: &Model) -> Self {
        Self { found: Vec::with_capacity(3 * model.joints.len()) }
    }

    /// Takes up the excesses of samples.
    pub(super) fn check(&mut self, model: &Model, samples: &[Sample], step: u64) {
        for sample in samples {
            // Joint 0 is the floating base.
            for (i, joint) in model.joints.iter().enumerate().skip(1) {
                let limits = &joint.limits;
                let position = sample.q[joint.q_start];
                let nearest = position.clamp(limits.lower, limits.upper);
                let (v, effort) = (sample.v[joint.v_start], sample.effort[joint.v_start]);
                for (what, asked, limit) in [
                    (Limited::Position, position, nearest),
                    (Limited::Speed, v.abs(), limits.velocity),
                    (Limited::Effort, effort.abs(), limits.effort),
                ] {
                    // The nearest position within the range may be above or below.
                    if asked > limit || (what == Limited::Position && asked < limit) {
                        self.add(Excess { joint: BodyId(i), what, asked, limit, step });
                    }
                }
            }
        }
    }

    fn add(&mut self, excess: Excess) {
        let same = |e: &&mut Excess| e.joint == excess.joint && e.what == excess.what;
        match self.found.iter_mut().find(same) {
            // One for each joint and quantity: a walk beyond a limit is so at each of its steps.
            Some(known) if excess.is_beyond(known) => *known = excess,
            Some(_) => {}
            None => self.found.push(excess),
        }
    }

    /// Excesses found since the last call.
    pub(super) fn take(&mut self) -> Vec<Excess> {
        self.found.drain(..).collect()
    }
}
