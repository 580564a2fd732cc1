//! Starting from and stopping to standstill.
//!
//! Legs and arms follow splines of degree 5 through samples with given ends. The compensating motion is prescribed
//! too, `x(t) = a t⁵ + b t⁴ + c t³ + d t² + e t + f` for `θ` and `φ` over the whole time with the standstill, and the
//! ZMP is computed and tested. Start: at rest at `t = 0`, the steady solution's angle and rate at the end. Stop: the
//! steady solution's angle and rate at `t = 0`, at rest at the end. One coefficient, `c`, is free. [Kume 1991]

mod optimize;
mod survey;

use serde::{Deserialize, Serialize};

pub use self::optimize::{OptimizeOptions, Optimum};
pub use self::survey::{SurveyGrid, SurveyPoint};
use super::gait::{Samples, ends};
use super::{
    BodyData, Curve, Elbow, GaitError, Jet, LEFT, Polygon, Posture, RIGHT, Reaction, Rectangle,
};

/// Time between two tests of the ZMP. [s]
const GRID: f64 = 1.0 / 30.0;

/// From or to standstill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Standstill, then motion.
    Start,
    /// Motion, then standstill.
    Stop,
}

/// A joint's samples (1/30 s, from 1) with its ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndJoint {
    /// [rad]
    pub samples: Samples,
    /// Rate and acceleration at the start. [rad/s, rad/s²] (2)
    #[serde(default)]
    pub start: [f64; 2],
    /// Rate and acceleration at the end. [rad/s, rad/s²] (2)
    #[serde(default)]
    pub end: [f64; 2],
}

/// Left and right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curves {
    /// Of the left side, which supports.
    pub left: EndJoint,
    /// Of the right side, which swings.
    pub right: EndJoint,
}

/// A transient as written in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransientSpec {
    /// Start or stop.
    pub kind: Kind,
    /// Standing on both feet. [s]
    pub standstill: f64,
    /// On the left foot. [s]
    pub motion: f64,
    /// Multiplies samples, rates and accelerations of the legs. [-]
    pub leg_factor: f64,
    /// The same of the arms. [-]
    pub arm_factor: f64,
    /// Constant elbows.
    #[serde(default)]
    pub elbow: Elbow,
    /// b1.
    pub thigh: Curves,
    /// b2.
    pub shank: Curves,
    /// b4.
    pub arm: Curves,
    /// `θ, φ, θ', φ'` of the steady motion where it joins. [rad, rad/s] (4)
    pub steady: [f64; 4],
    /// Where the ZMP may be on the left foot. [m]
    pub single_support: Rectangle,
    /// Where it may be on both; the hull of both soles if it is not given. [m]
    #[serde(default)]
    pub double_support: Option<Rectangle>,
}

/// `c` of `θ` and `φ`. [rad/s³]
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Coefficients {
    /// cT. [rad/s³]
    pub sway: f64,
    /// cP. [rad/s³]
    pub pitch: f64,
}

/// The prescribed compensating motion, ascending powers of time. [rad/sⁿ] (6)
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compensation {
    /// θ: f, e, d, c, b, a. [rad/sⁿ] (6)
    pub sway: [f64; 6],
    /// φ. [rad/sⁿ] (6)
    pub pitch: [f64; 6],
}

fn polynomial(c: &[f64; 6], t: f64) -> Jet {
    Jet {
        value: c.iter().rev().fold(0.0, |sum, c| sum * t + c),
        rate: (1..6).rev().fold(0.0, |sum, k| sum * t + k as f64 * c[k]),
        acceleration: (2..6).rev().fold(0.0, |sum, k| sum * t + (k * (k - 1)) as f64 * c[k]),
    }
}

/// From rest to `(x, v)` at T; a and b from c.
fn from_rest(x: f64, v: f64, c: f64, duration: f64) -> [f64; 6] {
    let t = duration;
    let (dx, dv) = (x - c * t.powi(3), (v - 3.0 * c * t * t) * t);
    [0.0, 0.0, 0.0, c, (5.0 * dx - dv) / t.powi(4), (dv - 4.0 * dx) / t.powi(5)]
}

/// From `(x, v)` to rest at zero at T; a, b and d from c.
fn to_rest(x: f64, v: f64, c: f64, duration: f64) -> [f64; 6] {
    let t = duration;
    // In u = t/T: a' + b' + d' = -p, 5a' + 4b' + 2d' = -q, 20a' + 12b' + 2d' = -r.
    let c_u = c * t.powi(3);
    let (p, q, r) = (x + v * t + c_u, v * t + 3.0 * c_u, 6.0 * c_u);
    let (s, w) = (2.0 * p - q, q - r); // 3a' + 2b' = s, 15a' + 8b' = w
    let a = (w - 4.0 * s) / 3.0;
    let b = (s - 3.0 * a) / 2.0;
    let d = -p - a - b;
    [x, v, d / t.powi(2), c, b / t.powi(4), a / t.powi(5)]
}

/// Whether a compensating motion is stable, and by how much.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Verdict {
    /// Least signed distance of the ZMP to the edge of where it may be; minus infinity where the feet leave the
    /// floor. [m]
    pub margin: f64,
    /// SZ: sum over the single support of the distances to the middle, each by the side length. [-]
    pub off_center: f64,
}

impl Verdict {
    /// The ZMP never leaves.
    pub fn is_stable(&self) -> bool {
        self.margin >= 0.0
    }
}

/// One instant that is tested.
#[derive(Debug, Clone)]
struct Instant {
    time: f64,
    posture: Posture,
    is_single: bool,
}

/// A transient, ready to be evaluated.
#[derive(Debug, Clone)]
pub struct Transient {
    body: BodyData,
    kind: Kind,
    /// Standstill and motion. [s]
    pub duration: f64,
    steady: [f64; 4],
    single: Rectangle,
    on_one: Polygon,
    on_both: Polygon,
    instants: Vec<Instant>,
    /// thigh, shank, arm; left, right.
    curves: [[Curve; 2]; 3],
    elbow: Elbow,
}

impl Transient {
    /// From its samples, for a body.
    pub fn new(spec: &TransientSpec, body: &BodyData) -> Result<Self, GaitError> {
        for (name, value) in [("standstill", spec.standstill), ("motion", spec.motion)] {
            if !(0.0..=60.0).contains(&value) {
                return Err(GaitError::Number { name, value, remedy: "from 0 to 60 s" });
            }
        }
        let duration = spec.standstill + spec.motion;
        let steps = grid_steps(duration);
        let pair = |names: [&'static str; 2], c: &Curves, factor: f64| {
            Ok([
                end_curve(names[0], &c.left, factor, steps)?,
                end_curve(names[1], &c.right, factor, steps)?,
            ])
        };
        let curves = [
            pair(["thigh.left", "thigh.right"], &spec.thigh, spec.leg_factor)?,
            pair(["shank.left", "shank.right"], &spec.shank, spec.leg_factor)?,
            pair(["arm.left", "arm.right"], &spec.arm, spec.arm_factor)?,
        ];
        let on_both = if let Some(rectangle) = &spec.double_support {
            Polygon::around(&[*rectangle])
        } else {
            let width = 2.0 * body.lengths.half_pelvis_width;
            let Rectangle { x, y } = spec.single_support;
            let right = Rectangle { x, y: [-width - y[1], -width - y[0]] };
            Polygon::around(&[spec.single_support, right])
        };
        let mut transient = Self {
            body: *body,
            kind: spec.kind,
            duration,
            steady: spec.steady,
            single: spec.single_support,
            on_one: Polygon::around(&[spec.single_support]),
            on_both,
            instants: Vec::new(),
            curves,
            elbow: spec.elbow,
        };
        transient.instants = (0..=steps).map(|i| transient.instant(spec, i)).collect();
        Ok(transient)
    }

    fn instant(&self, spec: &TransientSpec, index: u32) -> Instant {
        let time = f64::from(index) * GRID;
        let is_single = match spec.kind {
            Kind::Start => index > grid_steps(spec.standstill),
            Kind::Stop => index < grid_steps(spec.motion),
        };
        let posture = self.posture_of(time, Jet::default(), Jet::default());
        Instant { time, posture, is_single }
    }

    fn posture_of(&self, time: f64, sway: Jet, pitch: Jet) -> Posture {
        let pair = |i: usize| [LEFT, RIGHT].map(|side| self.curves[i][side].at(time));
        Posture { sway, pitch, thigh: pair(0), shank: pair(1), arm: pair(2), elbow: self.elbow }
    }

    /// The posture at a time. [s]
    pub fn posture(&self, compensation: &Compensation, time: f64) -> Posture {
        let sway = polynomial(&compensation.sway, time);
        self.posture_of(time, sway, polynomial(&compensation.pitch, time))
    }

    /// The compensating motion with these free coefficients.
    pub fn compensation(&self, c: Coefficients) -> Compensation {
        let [theta, phi, theta_rate, phi_rate] = self.steady;
        let t = self.duration;
        match self.kind {
            Kind::Start => Compensation {
                sway: from_rest(theta, theta_rate, c.sway, t),
                pitch: from_rest(phi, phi_rate, c.pitch, t),
            },
            Kind::Stop => Compensation {
                sway: to_rest(theta, theta_rate, c.sway, t),
                pitch: to_rest(phi, phi_rate, c.pitch, t),
            },
        }
    }

    /// The ZMP at each 1/30 s: time [s], ZMP [m] (2), margin [m].
    pub fn zmp_path(&self, c: Coefficients) -> Vec<(f64, [f64; 2], f64)> {
        let compensation = self.compensation(c);
        let at = |i: &Instant| {
            let (zmp, margin) = self.test(i, &compensation);
            (i.time, zmp, margin)
        };
        self.instants.iter().map(at).collect()
    }

    /// Whether it is stable.
    pub fn verdict(&self, c: Coefficients) -> Verdict {
        self.verdict_above(c, f64::NEG_INFINITY)
            .unwrap_or(Verdict { margin: f64::NEG_INFINITY, off_center: f64::INFINITY })
    }

    /// The verdict, or `None` as soon as the margin falls below a limit. [m]
    fn verdict_above(&self, c: Coefficients, limit: f64) -> Option<Verdict> {
        let compensation = self.compensation(c);
        let (middle, size) = (self.single.center(), self.single.size());
        let mut verdict = Verdict { margin: f64::INFINITY, off_center: 0.0 };
        for instant in &self.instants {
            let (zmp, margin) = self.test(instant, &compensation);
            if margin < limit || margin.is_nan() {
                return None;
            }
            verdict.margin = verdict.margin.min(margin);
            if instant.is_single {
                verdict.off_center += (zmp[0] - middle[0]).abs() / size[0];
                verdict.off_center += (zmp[1] - middle[1]).abs() / size[1];
            }
        }
        Some(verdict)
    }

    /// ZMP and its margin.
    fn test(&self, instant: &Instant, compensation: &Compensation) -> ([f64; 2], f64) {
        let mut posture = instant.posture;
        posture.sway = polynomial(&compensation.sway, instant.time);
        posture.pitch = polynomial(&compensation.pitch, instant.time);
        let reaction = Reaction::of(&self.body, &posture);
        let zmp = reaction.zmp();
        if reaction.force[2] <= 0.0 {
            return (zmp, f64::NEG_INFINITY);
        }
        let region = if instant.is_single { &self.on_one } else { &self.on_both };
        (zmp, region.margin(zmp))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 120 s, checked")]
fn grid_steps(time: f64) -> u32 {
    (time / GRID).round() as u32
}

fn end_curve(
    name: &'static str,
    joint: &EndJoint,
    factor: f64,
    steps: u32,
) -> Result<Curve, GaitError> {
    let (times, values) = ends(name, &joint.samples, factor, steps + 1)?;
    let scale = |x: [f64; 2]| x.map(|x| x * factor);
    Curve::quintic(&times, &values, scale(joint.start), scale(joint.end))
        .map_err(|error| GaitError::Curve { name, error })
}
