//! Samples of a planned walk, and rows of them.

use karakuri_spatial::Pose;

use super::side::{Side, Support};

/// An instant of a planned walk.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sample {
    /// Number of the sample, from the start.
    pub index: u64,
    /// Position of the centre of mass, `p_WCom`. [m] (3)
    pub com: [f64; 3],
    /// Velocity of the centre of mass, horizontal. [m/s] (2)
    pub com_velocity: [f64; 2],
    /// ZMP reference. [m] (2)
    pub zmp_reference: [f64; 2],
    /// ZMP of the whole robot's motion. [m] (2)
    pub zmp: [f64; 2],
    /// Signed distance of that ZMP to the edge of the soles that stand, positive inside. [m]
    pub margin: f64,
    /// Moment about the vertical through that ZMP that the floor must exert by friction. [N·m]
    pub yaw_moment: f64,
    /// Poses of the soles, `X_WSole`, left and right. (2)
    pub soles: [Pose; 2],
    /// Feet that stand.
    pub support: Support,
    /// Positions of base and joints. [m or rad] (nq)
    pub q: Vec<f64>,
    /// Velocities of base and joints. [m/s or rad/s] (nv)
    pub v: Vec<f64>,
    /// Efforts of the joints, the floor's wrench taken by the soles that stand. [N·m or N] (nv)
    pub effort: Vec<f64>,
}

impl Sample {
    /// Soles that stand, with their poses `X_WSole`.
    pub fn standing(&self) -> impl Iterator<Item = (Side, Pose)> {
        Side::BOTH.into_iter().zip(self.soles).filter(|(side, _)| self.support.stands(*side))
    }

    /// Becomes another sample, in the memory that it has.
    fn assign(&mut self, other: &Self) {
        // The vectors are taken out and put back: a struct update would free them.
        let [mut q, mut v, mut effort] =
            [&mut self.q, &mut self.v, &mut self.effort].map(core::mem::take);
        q.clone_from(&other.q);
        v.clone_from(&other.v);
        effort.clone_from(&other.effort);
        *self = Self { q, v, effort, ..*other };
    }

    /// Part of the weight that each foot carries by plan: by the lever rule in double support. (2)
    pub(super) fn loads(&self) -> [f64; 2] {
        match self.support {
            Support::One(side) => Side::BOTH.map(|s| if s == side { 1.0 } else { 0.0 }),
            Support::Both => {
                // The lever rule: the ZMP's place on the line between the soles, 0 at the left one and 1 at the right one.
                let [l, r] = self.soles.map(|sole| sole.translation.xy());
                let along = r - l;
                let p = nalgebra::Vector2::new(self.zmp_reference[0], self.zmp_reference[1]);
                // By the reference, not the measured ZMP: loads then change smoothly, whatever noise there is.
                let k = ((p - l).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
                [1.0 - k, k]
            }
        }
    }
}

/// A row of samples, whose memory is used again.
#[derive(Debug, Clone, Default)]
pub struct Samples {
    all: Vec<Sample>,
    len: usize,
}

impl Samples {
    /// Keeps only the newest one.
    pub(super) fn keep_last(&mut self) {
        if self.len > 1 {
            // Swapped, so that no sample's vectors are given up.
            self.all.swap(0, self.len - 1);
            self.len = 1;
        }
    }

    /// Keeps only the first ones.
    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Replaces the samples from the first other one's index on by others.
    pub(super) fn replace_end(&mut self, others: &[Sample]) {
        let Some(first) = others.first() else { return };
        self.truncate(self.partition_point(|sample| sample.index < first.index));
        for other in others {
            self.push().assign(other);
        }
    }

    /// Adds a sample, to be written.
    pub(super) fn push(&mut self) -> &mut Sample {
        if self.len == self.all.len() {
            self.all.push(Sample::default());
        }
        self.len += 1;
        &mut self.all[self.len - 1]
    }
}

impl core::ops::Deref for Samples {
    type Target = [Sample];

    fn deref(&self) -> &[Sample] {
        &self.all[..self.len]
    }
}
