//! Errors and warnings of a motion, and their detection.
//!
//! Accelerations of three neighbouring samples tell how far they are to be trusted: their second difference is `h² u⁗`
//! for a smooth target, four times the amplitude of a ringing recursion, or amplified noise. Over twice the distance
//! the first grows fourfold, the last does not.

use super::Variant;

/// Part of the largest acceleration (gravity included) that an error must reach to be worth a warning. [-]
const WORTH_SAYING: f64 = 0.01;
/// Rounding that is worth a warning, likewise: the size of a usual truncation at 10 ms. [-]
const NOISE_LIMIT: f64 = 1e-4;
/// A dead point is near when the smallest pivot is below this part of the largest. [-]
// A lever of a thousandth of the largest takes a thousand times the force.
const NEAR_DEAD_POINT: f64 = 1e-3;
/// Rounding error of a computed position over its size, rms. [-]
const POSITION_ROUNDING: f64 = 1e-16;
/// Largest apparent acceleration of an open loop: its gap over the squared step. [m/s² or rad/s²]
const GAP_ACCELERATION: f64 = 1e-3;

/// Largest gap of a loop in samples at this step: it enters forces divided by the square of the step. [m or rad]
pub(super) fn gap_limit(dt: f64) -> f64 {
    // Below 0.1 ms the bound would come down to the round-off that closing a loop leaves, 1e-12.
    (GAP_ACCELERATION * dt * dt).max(1e-11)
}

/// Why there are no torques.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NodalError {
    /// An array has the wrong length.
    #[error("{what} has {given} numbers, {expected} are needed ({samples} samples)")]
    Length {
        /// Name of the array.
        what: &'static str,
        /// Length of the array.
        given: usize,
        /// The length it must have.
        expected: usize,
        /// Samples of the target.
        samples: usize,
    },
    /// Too few samples for differences.
    #[error("the target has {0} samples; second differences at both ends need at least 5")]
    TooFewSamples(usize),
    /// A step that is not positive.
    #[error("the time step is {0} s; it must be positive and finite")]
    Step(f64),
    /// A target that is not a number.
    #[error("the target of coordinate {coordinate} is not finite at t = {time} s")]
    NotFinite {
        /// Time of the sample. [s]
        time: f64,
        /// Index of the position coordinate.
        coordinate: usize,
    },
    /// More than positions is needed.
    #[error(
        "{0} takes velocities and accelerations from the target, which has none; give them, or use variant `central`"
    )]
    MissingRates(&'static str),
    /// A loop is not closed in the target.
    #[error(
        "loop `{name}` is open by {gap:.3e} (m or rad) in the target at t = {time} s, the limit at this time step is {limit:.1e}: \
             a gap enters the forces divided by the step squared; close the positions to rounding accuracy, or leave the passive joints out \
             and say about where they begin"
    )]
    OpenLoop {
        /// Name of the loop joint.
        name: String,
        /// Time of the sample. [s]
        time: f64,
        /// Gap of the loop. [m or rad]
        gap: f64,
        /// Largest gap at this time step. [m or rad]
        limit: f64,
    },
    /// The targets of redundant drives leave a loop open.
    #[error(
        "the targets of the driven joints {joints} contradict each other in {loops} at t = {time} s: `{joint}` would have to be {residual:.3e} \
             (rad or m) from its target to close it, the limit at this time step is {limit:.1e}; correct the targets (with all digits), or let \
             one of these joints follow: leave its target out and say about where it begins"
    )]
    Contradiction {
        /// Names of the joints.
        joints: String,
        /// Names of the loops.
        loops: String,
        /// The joint whose residual is given.
        joint: String,
        /// Time of the sample. [s]
        time: f64,
        /// Distance of the joint from its target. [rad or m]
        residual: f64,
        /// Largest distance at this time step. [rad or m]
        limit: f64,
    },
    /// An effort that no drive can give.
    #[error(
        "under-actuated: joint `{joint}` has no drive and would need {effort:.4} (N·m or N) at t = {time} s; drive it or another joint of its loop"
    )]
    UnderActuated {
        /// Name of the joint.
        joint: String,
        /// Time of the sample. [s]
        time: f64,
        /// Effort that the joint would need. [N·m or N]
        effort: f64,
    },
    /// The mechanism passes through a dead point.
    #[error(
        "dead point at t = {time} s: the drives cannot move joint `{joint}` here, which would need {effort:.4} (N·m or N); \
             keep the motion clear of this position or drive another joint"
    )]
    DeadPoint {
        /// Name of the joint.
        joint: String,
        /// Time of the sample. [s]
        time: f64,
        /// Effort that the joint would need. [N·m or N]
        effort: f64,
    },
    /// A link that is no rod, with nodes of beams.
    #[error(
        "link `{0}` is no uniform slender rod from its joint on, which nodes `beam` are for; use `com` or `point`, which take every body"
    )]
    NoRod(String),
    /// A mechanism of which no step of simulation can be taken.
    #[error(
        "method `simulated` takes steps of simulation, and cannot at t = {0} s: they need mass in every moving link; give it one, or \
             use `nodal` or `recursive`"
    )]
    NoStep(f64),
    /// Drives that cannot give what the motion takes.
    #[error(
        "method `simulated`: {effort:.4} (N·m or N) at t = {time} s without a drive for it; drive a further joint, or keep clear of dead \
             points (`nodal` names the joint)"
    )]
    NotRealised {
        /// Time of the sample. [s]
        time: f64,
        /// Effort without a drive. [N·m or N]
        effort: f64,
    },
    /// A rule that does not fit the mechanism.
    #[error("the rule does not fit: {0}")]
    Rule(String),
}

/// A doubt about computed torques.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// A recursion with memory rings.
    #[error("variant `{}` rings: accelerations alternate by {:.2} % of the largest, most at t = {time} s; the target starts with jerk or \
             with another velocity or acceleration than given, or jumps on its way; use `central`, or a target with zero jerk at its start",
             variant.name(), 100.0 * amplitude)]
    Ringing {
        /// Variant that rings.
        variant: Variant,
        /// Time of the largest amplitude. [s]
        time: f64,
        /// Amplitude over the largest acceleration. [-]
        amplitude: f64,
    },
    /// The time step is too long for the target.
    #[error("the step of {dt} s is coarse: accelerations are off by about {:.2} % of the largest, most at t = {time} s; sample more often", 100.0 * estimate)]
    Coarse {
        /// Time of the largest error. [s]
        time: f64,
        /// Time step of the target. [s]
        dt: f64,
        /// Estimated error over the largest acceleration. [-]
        estimate: f64,
    },
    /// The target is not smooth at the scale of the time step.
    #[error("the target is rough at the step of {dt} s: accelerations are uncertain by about {:.2} % of the largest, most at t = {time} s; \
             smooth it (quantised positions, jumps of velocity or acceleration) or take a longer step", 100.0 * estimate)]
    Rough {
        /// Time of the largest error. [s]
        time: f64,
        /// Time step of the target. [s]
        dt: f64,
        /// Estimated error over the largest acceleration. [-]
        estimate: f64,
    },
    /// Rounding that dominates the result.
    #[error("the step of {dt} s is too small for double precision with `{}`: rounding makes {:.3} % of the largest acceleration; \
             take {suggested:.1e} s or more, or `central`", variant.name(), 100.0 * noise)]
    Rounding {
        /// Variant in use.
        variant: Variant,
        /// Time step of the target. [s]
        dt: f64,
        /// Rounding over the largest acceleration. [-]
        noise: f64,
        /// Time step at which rounding is negligible. [s]
        suggested: f64,
    },
    /// Interface forces grow.
    #[error("near a dead point at t = {time} s: interface forces are {:.0} times as large as the levers suggest", 1.0 / condition)]
    NearDeadPoint {
        /// Time of the smallest condition. [s]
        time: f64,
        /// Smallest pivot over the largest. [-]
        condition: f64,
    },
}

/// Watch on the accelerations of a motion.
#[derive(Debug, Clone, Default)]
pub(super) struct Watch {
    pub(super) seen: Seen,
}

/// Observations, merged over stretches of time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    /// Largest second difference of neighbours, and its sample. [m/s²]
    near: (f64, usize),
    /// Largest second difference over twice the distance. [m/s²]
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

    /// Warnings of these observations.
    pub(super) fn warnings(&self, variant: Variant, dt: f64, n: usize) -> Vec<Warning> {
        let mut warnings = Vec::new();
        // A target at rest without gravity has no acceleration to compare with.
        let largest = self.largest.max(f64::MIN_POSITIVE);
        let time = self.near.1 as f64 * dt;
        // Rounding grows as (16 e/h²) n^{3/2}/√3 in a recursion and stays 2.4 e/h² in central differences.
        let e = POSITION_ROUNDING * self.reach;
        let duration = n as f64 * dt;
        let rung = 16.0 * e / 3.0_f64.sqrt();
        let (noise, suggested) = if variant.remembers() {
            let limit = NOISE_LIMIT * largest;
            // With n = T/h the rounding of a recursion falls as h^{−7/2}.
            let power = (rung * duration.powf(1.5) / limit).powf(1.0 / 3.5);
            (rung * (n as f64).powf(1.5) / (dt * dt), power)
        } else {
            (2.4 * e / (dt * dt), (2.4 * e / (NOISE_LIMIT * largest)).sqrt())
        };
        if noise > NOISE_LIMIT * largest {
            let noise = noise / largest;
            warnings.push(Warning::Rounding { variant, dt, noise, suggested });
        }
        // Over twice the distance the second difference of a smooth target grows fourfold, that of ringing or noise does not.
        // Twice is halfway, as a ratio, between the one of noise and the four of a smooth target.
        let smooth = self.far > 2.0 * self.near.0;
        if variant.remembers() {
            // An alternating part has a second difference of four times its amplitude.
            let amplitude = 0.25 * self.near.0 / largest;
            if amplitude > WORTH_SAYING && !smooth {
                warnings.push(Warning::Ringing { variant, time, amplitude });
            }
            // The estimate below is that of central differences; a recursion is judged by its ringing alone.
            return warnings;
        }
        // Truncation of the central difference: h² u⁗/12.
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

/// A warning for the smallest condition of a motion, if it is small.
pub(super) fn near_dead_point(condition: f64, time: f64) -> Option<Warning> {
    (condition < NEAR_DEAD_POINT).then_some(Warning::NearDeadPoint { time, condition })
}

impl Watch {
    /// Positions and accelerations of one component of a mass, along time; `first` is the sample of column 0, which
    /// counts only if it is the target's first. `g`: the component of gravity. [m], [m/s²] (n)
    pub(super) fn see(&mut self, first: usize, u: &[f64], a: &[f64], g: f64, n: usize) {
        let begin = usize::from(first > 0);
        let (u, a) = (&u[begin..n], &a[begin..n]);
        let seen = &mut self.seen;
        seen.reach = seen.reach.max(peak(u, |u| u[0]));
        seen.largest = seen.largest.max(peak(a, |a| a[0] - g));
        let near = |a: &[f64]| a[2] - 2.0 * a[1] + a[0];
        let largest = peak_of::<3>(a, near);
        if largest > seen.near.0 {
            // Its place is searched for only where a row sets a new peak, which keeps the search for peaks free of it.
            let at = a.windows(3).position(|a| near(a).abs() >= largest);
            seen.near = (largest, first + begin + 1 + at.unwrap_or(0));
        }
        seen.far = seen.far.max(peak_of::<5>(a, |a| a[4] - 2.0 * a[2] + a[0]));
    }
}

fn peak(row: &[f64], f: impl Fn(&[f64]) -> f64) -> f64 {
    peak_of::<1>(row, f)
}

/// Largest magnitude of `f` over all runs of `N` neighbours; four running peaks, so that it pipelines.
fn peak_of<const N: usize>(row: &[f64], f: impl Fn(&[f64]) -> f64) -> f64 {
    let mut peaks = [0.0_f64; 4];
    let higher = |peak: f64, x: f64| if x > peak { x } else { peak };
    let mut rest = row;
    while rest.len() >= N + 3 {
        for (k, peak) in peaks.iter_mut().enumerate() {
            *peak = higher(*peak, f(&rest[k..k + N]).abs());
        }
        rest = &rest[4..];
    }
    let last = rest.windows(N).fold(0.0, |peak, run| higher(peak, f(run).abs()));
    peaks.into_iter().fold(last, higher)
}
