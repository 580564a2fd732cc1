//! What a plan asks of a joint beyond its limits.

use karakuri_model::{BodyId, Model};

use super::sample::Sample;

/// What of a joint is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limited {
    /// [rad or m]
    Position,
    /// [rad/s or m/s]
    Speed,
    /// [N·m or N]
    Effort,
}

/// The most that plans asked of a joint, beyond a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Excess {
    /// Of the model.
    pub joint: BodyId,
    /// What is beyond.
    pub what: Limited,
    /// What is asked for. [rad, rad/s, N·m; m, m/s, N]
    pub asked: f64,
    /// What there is. [as `asked`]
    pub limit: f64,
    /// Number of the step, from the start.
    pub step: u64,
}

impl Excess {
    /// A sentence for people.
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

/// The worst of each joint's limits.
#[derive(Debug, Clone)]
pub(super) struct Excesses {
    found: Vec<Excess>,
}

impl Excesses {
    /// Room for all that can be found.
    pub(super) fn new(model: &Model) -> Self {
        Self { found: Vec::with_capacity(3 * model.joints.len()) }
    }

    /// Takes up what samples ask for.
    pub(super) fn check(&mut self, model: &Model, samples: &[Sample], step: u64) {
        for sample in samples {
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
            Some(known) if excess.is_beyond(known) => *known = excess,
            Some(_) => {}
            None => self.found.push(excess),
        }
    }

    /// What was found since this was asked last.
    pub(super) fn take(&mut self) -> Vec<Excess> {
        self.found.drain(..).collect()
    }
}
