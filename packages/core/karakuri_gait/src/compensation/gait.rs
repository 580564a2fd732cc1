//! A steady gait: motion of legs, arms and ZMP during one step, from samples.
//!
//! The samples describe the left leg and arm over two steps, numbered 1 to 61 at 1/30 s (61 is 1 again). In one
//! simulated step, `t` in [0, 1] s, the left leg supports and the right one swings:
//! `left(t) = sample(stance + 30 t)`, `right(t) = sample(swing + 30 t)`. [Kume 1991]

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::curve::smooth;
use super::{Curve, CurveError, Elbow, Jet, LEFT, Lengths, RIGHT};

/// Samples per second. [1/s]
const RATE: f64 = 30.0;
/// Samples of the two-step period.
const PERIOD: u32 = 60;

/// Sample values by sample number, from 1.
pub type Samples = BTreeMap<u32, f64>;

/// Method that makes joint angles from samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// Straight lines between the samples. The rate jumps at each; what such a jump would ask of the floor is left out.
    Linear,
    /// Straight lines to each 1/30 s, smoothed (degree 6 over 9 points), then a cubic spline.
    Smoothed,
    /// A spline through the samples: cubic and periodic of a steady gait, of degree 5 with given ends of a start or stop.
    Spline,
}

/// Prescribed ZMP of one step in samples 1 to 31, straight lines between them, smoothed where asked for. [m]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZmpSpec {
    /// Forward of the supporting ankle. [m]
    pub x: Samples,
    /// Left of the supporting ankle. [m]
    pub y: Samples,
    /// Smooth the lines as joints are: degree 6 over 9 points, then a cubic spline.
    #[serde(default)]
    pub smoothed: bool,
}

/// A steady gait as written in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SteadySpec {
    /// Method that makes the joint angles.
    pub interpolation: Interpolation,
    /// Sample at which the swing begins.
    pub swing_sample: u32,
    /// Sample at which the stance begins.
    pub stance_sample: u32,
    /// Factor of all leg samples. [-]
    #[serde(default = "one")]
    pub leg_factor: f64,
    /// Factor of all arm samples. [-]
    #[serde(default = "one")]
    pub arm_factor: f64,
    /// Elbow angles, constant.
    #[serde(default)]
    pub elbow: Elbow,
    /// Thigh, the study's b1. [rad]
    pub thigh: Samples,
    /// Shank, the study's b2. [rad]
    pub shank: Samples,
    /// Arm, the study's b4. [rad]
    pub arm: Samples,
    /// Pitch of the swinging foot about its ankle, toes down, of two steps as the others; none: level. The standing foot is
    /// level, so that it must be 0 where the swing begins and ends. A periodic cubic spline. [rad]
    #[serde(default)]
    pub foot: Samples,
    /// Prescribed ZMP of the step.
    pub zmp: ZmpSpec,
}

fn one() -> f64 {
    1.0
}

/// Error of a gait.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GaitError {
    /// A curve has no samples at its ends.
    #[error("`{name}` has samples {first} to {last}; it must have samples 1 and {expected}")]
    Ends {
        /// Name of the curve.
        name: &'static str,
        /// First sample given.
        first: u32,
        /// Last sample given.
        last: u32,
        /// The last one that must be there.
        expected: u32,
    },
    /// No curve goes through the samples.
    #[error("`{name}`: {error}")]
    Curve {
        /// Name of the curve.
        name: &'static str,
        /// Cause of the error.
        error: CurveError,
    },
    /// A sample number is outside the period.
    #[error("`{name}` is {value}; it must be from 1 to 60")]
    Sample {
        /// Name of the number.
        name: &'static str,
        /// Value of the number.
        value: u32,
    },
    /// The foot is not level where it leaves or meets the floor.
    #[error("`foot` is {pitch:.4} rad at sample {sample}, where it stands; make it 0")]
    Foot {
        /// Sample at which the swing begins or ends.
        sample: u32,
        /// Pitch of the foot there. [rad]
        pitch: f64,
    },
    /// The shifted waist is further from an ankle than the leg is long.
    #[error(
        "with the waist shifted by {shift:?} m a leg is too short by {short:.4} m at {time:.2} s; lower it further"
    )]
    Reach {
        /// Shift of the waist, forward and up. [m] (2)
        shift: [f64; 2],
        /// Length that the leg lacks. [m]
        short: f64,
        /// Time of the step. [s]
        time: f64,
    },
    /// A polynomial of degree 4 has no coefficient a to give.
    #[error(
        "`input` is a, which is 0 with `degree: 4`, or `standstill` and `motion` are both 0; take b or c, and some time"
    )]
    Degree,
    /// A number is not finite or not positive.
    #[error("`{name}` is {value}; it must be {remedy}")]
    Number {
        /// Name of the number.
        name: &'static str,
        /// Value of the number.
        value: f64,
        /// Values that are permitted.
        remedy: &'static str,
    },
}

/// A steady gait, ready to be evaluated.
#[derive(Debug, Clone)]
pub struct SteadyGait {
    thigh: Curve,
    shank: Curve,
    arm: Curve,
    foot: Option<Curve>,
    zmp: [Curve; 2],
    /// Constant added to the prescribed ZMP. [m] (2)
    zmp_shift: [f64; 2],
    waist: Option<WaistShift>,
    /// Time of the left and right limb in the samples' period when the step starts. [s] (2)
    phase: [f64; 2],
    /// Elbow angles, constant.
    pub elbow: Elbow,
}

impl SteadyGait {
    /// Makes a gait from its samples.
    ///
    /// # Errors
    /// When the swing or stance sample is not of the period, a curve lacks samples or its first or last one, or the
    /// foot is not level where it stands.
    pub fn new(spec: &SteadySpec) -> Result<Self, GaitError> {
        for (name, value) in
            [("swing_sample", spec.swing_sample), ("stance_sample", spec.stance_sample)]
        {
            if !(1..=PERIOD).contains(&value) {
                return Err(GaitError::Sample { name, value });
            }
        }
        let joint = |name, samples, factor| joint_curve(name, samples, factor, spec.interpolation);
        let zmp = |name, samples: &Samples| {
            let (times, values) = ends(name, samples, 1.0, PERIOD / 2 + 1)?;
            let curve = Curve::linear(&times, &values).and_then(|lines| {
                if spec.zmp.smoothed { smoothed(&lines, PERIOD / 2 + 1) } else { Ok(lines) }
            });
            curve.map_err(|error| GaitError::Curve { name, error })
        };
        // The spline passes through the samples, so that the foot is level where they say so.
        let foot = (!spec.foot.is_empty())
            .then(|| joint_curve("foot", &spec.foot, 1.0, Interpolation::Spline))
            .transpose()?;
        for sample in [spec.swing_sample, spec.stance_sample] {
            let pitch = foot.as_ref().map_or(0.0, |foot| foot.at(time_of(sample)).value);
            // A spline meets its samples to rounding.
            if pitch.abs() > 1e-6 {
                return Err(GaitError::Foot { sample, pitch });
            }
        }
        Ok(Self {
            foot,
            zmp_shift: [0.0; 2],
            waist: None,
            thigh: joint("thigh", &spec.thigh, spec.leg_factor)?,
            shank: joint("shank", &spec.shank, spec.leg_factor)?,
            arm: joint("arm", &spec.arm, spec.arm_factor)?,
            zmp: [zmp("zmp.x", &spec.zmp.x)?, zmp("zmp.y", &spec.zmp.y)?],
            // The left leg stands in the simulated step: it runs through the stance of its samples, the right one through the swing.
            phase: [time_of(spec.stance_sample), time_of(spec.swing_sample)],
            elbow: spec.elbow,
        })
    }

    /// The gait with the angles of the legs multiplied. [-]
    #[must_use]
    pub fn with_legs(&self, factor: f64) -> Self {
        let [thigh, shank] = [&self.thigh, &self.shank].map(|curve| curve.scaled(factor));
        Self { thigh, shank, ..self.clone() }
    }

    /// The gait with a constant added to the prescribed ZMP. [m] (2)
    #[must_use]
    pub fn with_zmp_shift(&self, shift: [f64; 2]) -> Self {
        Self { zmp_shift: shift, ..self.clone() }
    }

    /// The gait with the waist shifted in the legs' planes, forward and up, and both ankles where they were: thighs and shanks
    /// follow, knees forward. The legs have five degrees of freedom there, the foot needs two. [Kume 1991, §3.6] [m] (2)
    ///
    /// # Errors
    /// When a leg is too short for the shift at some instant of the step.
    pub fn with_waist_shift(&self, shift: [f64; 2], lengths: &Lengths) -> Result<Self, GaitError> {
        let links = [2.0 * lengths.half_thigh, 2.0 * lengths.half_shank];
        let waist = WaistShift { shift, links };
        let shifted = Self { waist: Some(waist), ..self.clone() };
        // Ten instants between two samples: the leg is longest at one of the samples or near it.
        for i in 0..=300 {
            let time = Self::DURATION * f64::from(i) / 300.0;
            for side in [LEFT, RIGHT] {
                let short = waist.missing(shifted.unshifted(time, side));
                if short > 0.0 || !short.is_finite() {
                    return Err(GaitError::Reach { shift, short, time });
                }
            }
        }
        Ok(shifted)
    }

    /// Thigh and shank of the samples, without the waist's shift. [rad] (2)
    fn unshifted(&self, t: f64, side: usize) -> [Jet; 2] {
        [self.thigh.at(self.phase[side] + t), self.shank.at(self.phase[side] + t)]
    }

    /// Thigh or shank of both legs, with the waist's shift. [rad] (2)
    fn leg(&self, t: f64, link: usize) -> [Jet; 2] {
        [LEFT, RIGHT].map(|side| {
            let leg = self.unshifted(t, side);
            self.waist.map_or(leg[link], |waist| waist.apply(leg)[link])
        })
    }

    /// Pitch of the swinging right foot about its ankle, toes down, at a time of the step [s]. [rad]
    pub fn foot(&self, t: f64) -> Jet {
        self.foot.as_ref().map_or_else(Jet::default, |foot| foot.at(self.phase[RIGHT] + t))
    }

    /// Duration of one step. [s]
    pub const DURATION: f64 = 1.0;

    /// Thighs, left and right, at a time of the step [s]. [rad] (2)
    pub fn thigh(&self, t: f64) -> [Jet; 2] {
        self.leg(t, 0)
    }

    /// Shanks, left and right. [rad] (2)
    pub fn shank(&self, t: f64) -> [Jet; 2] {
        self.leg(t, 1)
    }

    /// Arms as prescribed, left and right. [rad] (2)
    pub fn arm(&self, t: f64) -> [Jet; 2] {
        [LEFT, RIGHT].map(|side| self.arm.at(self.phase[side] + t))
    }

    /// Prescribed ZMP about the supporting ankle. [m] (2)
    pub fn zmp(&self, t: f64) -> [f64; 2] {
        [0, 1].map(|axis| self.zmp[axis].at(t).value + self.zmp_shift[axis])
    }
}

/// Shift of the waist from its place by the samples.
#[derive(Debug, Clone, Copy)]
struct WaistShift {
    /// Shift forward and up. [m] (2)
    shift: [f64; 2],
    /// Lengths of thigh and shank. [m] (2)
    links: [f64; 2],
}

impl WaistShift {
    /// Position of the shifted hip from the ankle, forward and up in the leg's plane. [m] (2)
    fn reach(&self, [thigh, shank]: [Jet; 2]) -> [Jet; 2] {
        // `x = Σ l sin b`, `z = Σ l cos b`, as both angles are from the vertical.
        let (thigh, shank) = (thigh.sin_cos(), shank.sin_cos());
        let [long, low] = self.links;
        let [forward, up] = self.shift.map(Jet::constant);
        [thigh.0 * long + shank.0 * low + forward, thigh.1 * long + shank.1 * low + up]
    }

    /// Length that the leg lacks; negative where it is long enough. [m]
    fn missing(&self, leg: [Jet; 2]) -> f64 {
        /// Least sum of both links less the distance of hip and ankle: straighter knees turn too fast. [m]
        const BENT: f64 = 1e-4;
        let [x, z] = self.reach(leg).map(|jet| jet.value);
        x.hypot(z) + BENT - self.links[0] - self.links[1]
    }

    /// Thigh and shank of the same ankle with the shifted hip: a triangle with the knee in front. [rad] (2)
    fn apply(&self, leg: [Jet; 2]) -> [Jet; 2] {
        let [x, z] = self.reach(leg);
        let [long, low] = self.links;
        let square = x * x + z * z;
        let distance = square.sqrt();
        // Angle of the line from ankle to hip, from the vertical.
        let direction = Jet::atan2(x, z);
        // Law of cosines in jets: `cos = (d² + near² − far²)/(2 d near)`; the knee in front tilts shank forward, thigh backward.
        let angle = |near: f64, far: f64| {
            let opposite = square + Jet::constant(near * near - far * far);
            (opposite * (distance * (2.0 * near)).recip()).acos()
        };
        [direction - angle(long, low), direction + angle(low, long)]
    }
}

/// Time of a sample. [s]
pub(super) fn time_of(sample: u32) -> f64 {
    // Samples are numbered from 1, as on the study's cards.
    f64::from(sample.saturating_sub(1)) / RATE
}

/// Times and scaled values; samples 1 and `expected` must be the ends.
pub(super) fn ends(
    name: &'static str,
    samples: &Samples,
    factor: f64,
    expected: u32,
) -> Result<(Vec<f64>, Vec<f64>), GaitError> {
    let first = samples.keys().next().copied().unwrap_or(0);
    let last = samples.keys().next_back().copied().unwrap_or(0);
    if first != 1 || last != expected {
        return Err(GaitError::Ends { name, first, last, expected });
    }
    let times = samples.keys().map(|&sample| time_of(sample)).collect();
    Ok((times, samples.values().map(|value| value * factor).collect()))
}

fn joint_curve(
    name: &'static str,
    samples: &Samples,
    factor: f64,
    interpolation: Interpolation,
) -> Result<Curve, GaitError> {
    // Sample 61 is given as well, though it is sample 1 again: a curve that does not close is found so.
    let (times, values) = ends(name, samples, factor, PERIOD + 1)?;
    let curve = match interpolation {
        Interpolation::Linear => Curve::linear(&times, &values).map(Curve::repeated),
        Interpolation::Spline => Curve::periodic_cubic(&times, &values),
        Interpolation::Smoothed => Curve::linear(&times, &values).and_then(|lines| {
            // The last sample is the first of the next period, so that the smoothing goes around without it.
            let (times, mut on_grid) = grid(&lines, PERIOD + 1);
            on_grid.pop();
            let mut smooth = smooth(&on_grid, true);
            smooth.push(smooth[0]);
            Curve::periodic_cubic(&times, &smooth)
        }),
    };
    curve.map_err(|error| GaitError::Curve { name, error })
}

/// Times and values of a curve at the first samples. [s, u]
fn grid(curve: &Curve, n: u32) -> (Vec<f64>, Vec<f64>) {
    (1..=n).map(time_of).map(|t| (t, curve.at(t).value)).unzip()
}

/// Lines, smoothed over their first `n` samples, which are not periodic.
pub(super) fn smoothed(lines: &Curve, n: u32) -> Result<Curve, CurveError> {
    let (times, on_grid) = grid(lines, n);
    Curve::cubic(&times, &smooth(&on_grid, false))
}
