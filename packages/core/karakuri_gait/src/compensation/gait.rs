//! A steady gait: what legs, arms and ZMP do during one step, from samples.
//!
//! The samples describe the left leg and arm over two steps, numbered 1 to 61 at 1/30 s (61 is 1 again). In one
//! simulated step, `t` in [0, 1] s, the left leg supports and the right one swings:
//! `left(t) = sample(stance + 30 t)`, `right(t) = sample(swing + 30 t)`. [Kume 1991]

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::curve::smooth;
use super::{Curve, CurveError, Elbow, Jet, LEFT, RIGHT};

/// Samples a second.
const RATE: f64 = 30.0;
/// Samples of the two-step period.
const PERIOD: u32 = 60;

/// Sample values by sample number, from 1.
pub type Samples = BTreeMap<u32, f64>;

/// How joint angles are made from samples.
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
    /// Forward. [m]
    pub x: Samples,
    /// Left. [m]
    pub y: Samples,
    /// Smooth the lines as joints are: degree 6 over 9 points, then a cubic spline.
    #[serde(default)]
    pub smoothed: bool,
}

/// A steady gait as written in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SteadySpec {
    /// How joint angles are made.
    pub interpolation: Interpolation,
    /// Sample at which the swing begins.
    pub swing_sample: u32,
    /// Sample at which the stance begins.
    pub stance_sample: u32,
    /// Multiplies all leg samples. [-]
    #[serde(default = "one")]
    pub leg_factor: f64,
    /// Multiplies all arm samples. [-]
    #[serde(default = "one")]
    pub arm_factor: f64,
    /// Constant elbows.
    #[serde(default)]
    pub elbow: Elbow,
    /// b1. [rad]
    pub thigh: Samples,
    /// b2. [rad]
    pub shank: Samples,
    /// b4. [rad]
    pub arm: Samples,
    /// Prescribed ZMP.
    pub zmp: ZmpSpec,
}

fn one() -> f64 {
    1.0
}

/// Why a gait makes no sense.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GaitError {
    /// A curve has no samples at its ends.
    #[error("`{name}` has samples {first} to {last}; it must have samples 1 and {wanted}")]
    Ends {
        /// Which curve.
        name: &'static str,
        /// First sample given.
        first: u32,
        /// Last sample given.
        last: u32,
        /// The last one that must be there.
        wanted: u32,
    },
    /// No curve goes through the samples.
    #[error("`{name}`: {error}")]
    Curve {
        /// Which curve.
        name: &'static str,
        /// Why.
        error: CurveError,
    },
    /// A sample number is outside the period.
    #[error("`{name}` is {value}; it must be from 1 to 60")]
    Sample {
        /// Which number.
        name: &'static str,
        /// What it is.
        value: u32,
    },
    /// A polynomial of degree 4 has no coefficient a to give.
    #[error(
        "`input` is a, which is 0 with `degree: 4`, or `standstill` and `motion` are both 0; take b or c, and some time"
    )]
    Degree,
    /// A number is not finite or not positive.
    #[error("`{name}` is {value}; it must be {remedy}")]
    Number {
        /// Which number.
        name: &'static str,
        /// What it is.
        value: f64,
        /// What it must be.
        remedy: &'static str,
    },
}

/// A steady gait, ready to be evaluated.
#[derive(Debug, Clone)]
pub struct SteadyGait {
    thigh: Curve,
    shank: Curve,
    arm: Curve,
    zmp: [Curve; 2],
    /// Time of the left and right limb in the samples' period when the step starts. [s] (2)
    phase: [f64; 2],
    /// Constant elbows.
    pub elbow: Elbow,
}

impl SteadyGait {
    /// From its samples.
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
        Ok(Self {
            thigh: joint("thigh", &spec.thigh, spec.leg_factor)?,
            shank: joint("shank", &spec.shank, spec.leg_factor)?,
            arm: joint("arm", &spec.arm, spec.arm_factor)?,
            zmp: [zmp("zmp.x", &spec.zmp.x)?, zmp("zmp.y", &spec.zmp.y)?],
            phase: [time_of(spec.stance_sample), time_of(spec.swing_sample)],
            elbow: spec.elbow,
        })
    }

    /// With the angles of the legs multiplied. [-]
    #[must_use]
    pub fn with_legs(&self, factor: f64) -> Self {
        let [thigh, shank] = [&self.thigh, &self.shank].map(|curve| curve.scaled(factor));
        Self { thigh, shank, ..self.clone() }
    }

    /// Duration of one step. [s]
    pub const DURATION: f64 = 1.0;

    fn pair(&self, curve: &Curve, t: f64) -> [Jet; 2] {
        [LEFT, RIGHT].map(|i| curve.at(self.phase[i] + t))
    }

    /// Thighs, left and right, at a time of the step [s]. [rad] (2)
    pub fn thigh(&self, t: f64) -> [Jet; 2] {
        self.pair(&self.thigh, t)
    }

    /// Shanks, left and right. [rad] (2)
    pub fn shank(&self, t: f64) -> [Jet; 2] {
        self.pair(&self.shank, t)
    }

    /// Arms as prescribed, left and right. [rad] (2)
    pub fn arm(&self, t: f64) -> [Jet; 2] {
        self.pair(&self.arm, t)
    }

    /// Prescribed ZMP about the supporting ankle. [m] (2)
    pub fn zmp(&self, t: f64) -> [f64; 2] {
        [self.zmp[0].at(t).value, self.zmp[1].at(t).value]
    }
}

/// Time of a sample. [s]
pub(super) fn time_of(sample: u32) -> f64 {
    f64::from(sample.saturating_sub(1)) / RATE
}

/// Times and scaled values; samples 1 and `wanted` must be the ends.
pub(super) fn ends(
    name: &'static str,
    samples: &Samples,
    factor: f64,
    wanted: u32,
) -> Result<(Vec<f64>, Vec<f64>), GaitError> {
    let first = samples.keys().next().copied().unwrap_or(0);
    let last = samples.keys().next_back().copied().unwrap_or(0);
    if first != 1 || last != wanted {
        return Err(GaitError::Ends { name, first, last, wanted });
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
    let (times, values) = ends(name, samples, factor, PERIOD + 1)?;
    let curve = match interpolation {
        Interpolation::Linear => Curve::linear(&times, &values).map(Curve::repeated),
        Interpolation::Spline => Curve::periodic_cubic(&times, &values),
        Interpolation::Smoothed => Curve::linear(&times, &values).and_then(|lines| {
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
