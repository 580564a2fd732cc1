//! What can be wrong with a motion, and how it is found.
//!
//! Accelerations of three neighbouring samples tell how far they are to be trusted: their second difference is `h² u⁗`
//! for a smooth target, four times the amplitude of a ringing recursion, or amplified noise. Over twice the distance
//! the first grows fourfold, the last does not.

use super::Variant;
use super::nodes::NodeSet;

/// Part of the largest acceleration (gravity included) that an error must reach to be worth a warning. [-]
const WORTH_SAYING: f64 = 0.01;
/// Rounding that is worth a warning, likewise: the size of a usual truncation at 10 ms. [-]
const NOISE_LIMIT: f64 = 1e-4;
/// A dead point is near when the smallest pivot is below this part of the largest. [-]
const NEAR_DEAD_POINT: f64 = 1e-3;
/// Rounding error of a computed position over its size, rms. [-]
const POSITION_ROUNDING: f64 = 1e-16;

/// Why there are no torques.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NodalError {
    /// An array has the wrong length.
    #[error("{what} has {given} numbers, {wanted} are needed ({samples} samples)")]
    Length {
        /// Which array.
        what: &'static str,
        /// Its length.
        given: usize,
        /// The length it must have.
        wanted: usize,
        /// Samples of the target.
        samples: usize,
    },
    /// Not enough samples for differences.
    #[error("the target has {0} samples; second differences at both ends need at least 5")]
    TooFewSamples(usize),
    /// A step that is not positive.
    #[error("the time step is {0} s; it must be positive and finite")]
    Step(f64),
    /// A target that is not a number.
    #[error("the target of coordinate {coordinate} is not finite at t = {time} s")]
    NotFinite {
        /// [s]
        time: f64,
        /// Position coordinate.
        coordinate: usize,
    },
    /// The variant needs more than positions.
    #[error(
        "variant `external` takes velocities and accelerations from the target, which has none; give them or use `central`"
    )]
    MissingRates,
    /// A loop is not closed in the target.
    #[error(
        "loop `{name}` is open by {gap:.3e} (m or rad) in the target at t = {time} s, the limit at this time step is {limit:.1e}: \
             a gap enters the forces divided by the step squared; close the positions to rounding accuracy, or leave the passive joints out"
    )]
    OpenLoop {
        /// Name of the loop joint.
        name: String,
        /// [s]
        time: f64,
        /// [m or rad]
        gap: f64,
        /// [m or rad]
        limit: f64,
    },
    /// No drive can give an effort that is needed.
    #[error(
        "under-actuated: joint `{joint}` has no drive and would need {effort:.4} (N·m or N) at t = {time} s; drive it or another joint of its loop"
    )]
    UnderActuated {
        /// Joint name.
        joint: String,
        /// [s]
        time: f64,
        /// [N·m or N]
        effort: f64,
    },
    /// The mechanism passes through a dead point.
    #[error(
        "dead point at t = {time} s: the drives cannot move joint `{joint}` here, which would need {effort:.4} (N·m or N); \
             keep the motion clear of this position or drive another joint"
    )]
    DeadPoint {
        /// Joint name.
        joint: String,
        /// [s]
        time: f64,
        /// [N·m or N]
        effort: f64,
    },
    /// A rule that does not fit the mechanism.
    #[error("the rule does not fit: {0}")]
    Rule(String),
}

/// What is doubtful about torques.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// A recursion with memory rings.
    #[error("variant `{}` rings: accelerations alternate by {:.2} % of the largest, most at t = {time} s; the target starts with jerk or \
             with another velocity or acceleration than given, or jumps on its way; use `central`, or a target with zero jerk at its start",
             variant.name(), 100.0 * amplitude)]
    Ringing {
        /// The variant.
        variant: Variant,
        /// [s]
        time: f64,
        /// Over the largest acceleration. [-]
        amplitude: f64,
    },
    /// The time step is too long for the target.
    #[error("the step of {dt} s is coarse: accelerations are off by about {:.2} % of the largest, most at t = {time} s; sample more often", 100.0 * estimate)]
    Coarse {
        /// [s]
        time: f64,
        /// [s]
        dt: f64,
        /// Over the largest acceleration. [-]
        estimate: f64,
    },
    /// The target is not smooth at the scale of the time step.
    #[error("the target is rough at the step of {dt} s: accelerations are uncertain by about {:.2} % of the largest, most at t = {time} s; \
             smooth it (quantised positions, jumps of velocity or acceleration) or take a longer step", 100.0 * estimate)]
    Rough {
        /// [s]
        time: f64,
        /// [s]
        dt: f64,
        /// Over the largest acceleration. [-]
        estimate: f64,
    },
    /// Rounding dominates.
    #[error("the step of {dt} s is too small for double precision with `{}`: rounding makes {:.3} % of the largest acceleration; \
             take {suggested:.1e} s or more, or `central`", variant.name(), 100.0 * noise)]
    Rounding {
        /// The variant.
        variant: Variant,
        /// [s]
        dt: f64,
        /// Over the largest acceleration. [-]
        noise: f64,
        /// A step at which it is negligible. [s]
        suggested: f64,
    },
    /// Interface forces grow.
    #[error("near a dead point at t = {time} s: interface forces are {:.0} times as large as the levers suggest", 1.0 / condition)]
    NearDeadPoint {
        /// [s]
        time: f64,
        /// Smallest pivot over the largest. [-]
        condition: f64,
    },
}

/// Watches accelerations go by.
#[derive(Debug, Clone, Default)]
pub(super) struct Watch {
    /// The last five, oldest first. (n components) each
    recent: [Vec<f64>; 5],
    n_seen: usize,
    pub(super) seen: Seen,
}

/// What was seen; merges over stretches of time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    /// Largest second difference of neighbours, and its sample. [m/s²]
    near: (f64, usize),
    /// Largest over twice the distance. [m/s²]
    far: f64,
    /// Largest component of `a − g`. [m/s²]
    largest: f64,
    /// Largest position. [m]
    reach: f64,
}

impl Seen {
    pub(super) fn merge(&mut self, other: &Self) {
        if other.near.0 > self.near.0 {
            self.near = other.near;
        }
        self.far = self.far.max(other.far);
        self.largest = self.largest.max(other.largest);
        self.reach = self.reach.max(other.reach);
    }

    /// What of it is worth a warning.
    pub(super) fn warnings(&self, variant: Variant, dt: f64, n: usize) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let largest = self.largest.max(f64::MIN_POSITIVE);
        let time = self.near.1 as f64 * dt;
        let e = POSITION_ROUNDING * self.reach;
        let duration = n as f64 * dt;
        let rung = 16.0 * e / 3.0_f64.sqrt();
        let (noise, suggested) = if variant.remembers() {
            let limit = NOISE_LIMIT * largest;
            let power = (rung * duration.powf(1.5) / limit).powf(1.0 / 3.5);
            (rung * (n as f64).powf(1.5) / (dt * dt), power)
        } else {
            (2.4 * e / (dt * dt), (2.4 * e / (NOISE_LIMIT * largest)).sqrt())
        };
        if noise > NOISE_LIMIT * largest {
            let noise = noise / largest;
            warnings.push(Warning::Rounding { variant, dt, noise, suggested });
        }
        let smooth = self.far > 2.0 * self.near.0;
        if variant.remembers() {
            let amplitude = 0.25 * self.near.0 / largest;
            if amplitude > WORTH_SAYING && !smooth {
                warnings.push(Warning::Ringing { variant, time, amplitude });
            }
            return warnings;
        }
        let estimate = self.near.0 / 12.0 / largest;
        if estimate > WORTH_SAYING {
            warnings.push(if smooth {
                Warning::Coarse { time, dt, estimate }
            } else {
                Warning::Rough { time, dt, estimate }
            });
        }
        warnings
    }
}

/// A warning for the smallest condition on the way, if it is small.
pub(super) fn near_dead_point(condition: f64, time: f64) -> Option<Warning> {
    (condition < NEAR_DEAD_POINT).then_some(Warning::NearDeadPoint { time, condition })
}

impl Watch {
    pub(super) fn new(n_components: usize) -> Self {
        Self {
            recent: core::array::from_fn(|_| vec![0.0; n_components]),
            n_seen: 0,
            seen: Seen::default(),
        }
    }

    /// Forgets the recent samples.
    pub(super) fn restart(&mut self) {
        self.n_seen = 0;
        self.seen = Seen::default();
    }

    /// The accelerations of a sample, in the order of time.
    pub(super) fn see(&mut self, nodes: &NodeSet, sample: usize, reach: f64, a: &[f64]) {
        self.recent.rotate_left(1);
        self.recent[4].copy_from_slice(a);
        self.n_seen += 1;
        self.seen.reach = self.seen.reach.max(reach);
        let [r0, _, r2, r3, r4] = &self.recent;
        for run in nodes.translations() {
            for (axis, c) in run.enumerate() {
                let g = nodes.gravity[axis];
                self.seen.largest = self.seen.largest.max((r4[c] - g).abs());
                if self.n_seen >= 3 {
                    let near = (r4[c] - 2.0 * r3[c] + r2[c]).abs();
                    if near > self.seen.near.0 {
                        self.seen.near = (near, sample - 1);
                    }
                }
                if self.n_seen >= 5 {
                    self.seen.far = self.seen.far.max((r4[c] - 2.0 * r2[c] + r0[c]).abs());
                }
            }
        }
    }
}
