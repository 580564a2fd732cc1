//! Starts from standstill and stops to it.
//!
//! Legs and arms follow splines of degree 5 through samples with given ends, or lines, smoothed or not. The compensating motion
//! is prescribed too, a polynomial of degree 5 or 4 for `θ` and `φ` over the whole time with the standstill, one coefficient of
//! each free, and the ZMP is computed and tested. [Kume 1991]

mod prescribed;

use serde::{Deserialize, Serialize};

pub use self::prescribed::{Coefficients, Compensation, Degree, Input, Inputs, Kind};
use self::prescribed::{Conditions, Polynomials, polynomial};
use super::gait::{Samples, ends, smoothed};
use super::{
    BodyData, Curve, Elbow, GaitError, Interpolation, Jet, LEFT, Posture, RIGHT, Reaction,
};
use crate::geometry::{ConvexPolygon, Rectangle};

/// Time between two tests of the ZMP. [s]
// The study's grid, on which its counts of stable motions are.
const GRID: f64 = 1.0 / 30.0;

/// Samples of a joint (1/30 s, from 1) with its ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndJoint {
    /// Joint angles by sample number. [rad]
    pub samples: Samples,
    /// Rate and acceleration at the start. [rad/s, rad/s²] (2)
    #[serde(default)]
    pub start: [f64; 2],
    /// Rate and acceleration at the end. [rad/s, rad/s²] (2)
    #[serde(default)]
    pub end: [f64; 2],
}

/// Samples of a joint on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curves {
    /// Joint of the left side, which supports.
    pub left: EndJoint,
    /// Joint of the right side, which swings.
    pub right: EndJoint,
}

/// A transient as written in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransientSpec {
    /// Start or stop.
    pub kind: Kind,
    /// Time of standing on both feet; with none of it all is single support. [s]
    pub standstill: f64,
    /// Time of the motion, on the left foot. [s]
    pub motion: f64,
    /// Method that makes joint angles from samples; rates and accelerations at the ends belong to the spline only.
    #[serde(default = "spline")]
    pub interpolation: Interpolation,
    /// Degree of the prescribed motion.
    #[serde(default)]
    pub degree: Degree,
    /// Coefficients that are given.
    #[serde(default)]
    pub input: Inputs,
    /// Factor of samples, rates and accelerations of the legs. [-]
    pub leg_factor: f64,
    /// Factor of samples, rates and accelerations of the arms. [-]
    pub arm_factor: f64,
    /// Elbow angles, constant.
    #[serde(default)]
    pub elbow: Elbow,
    /// Thighs, the study's b1. [rad]
    pub thigh: Curves,
    /// Shanks, the study's b2. [rad]
    pub shank: Curves,
    /// Arms, the study's b4. [rad]
    pub arm: Curves,
    /// `θ, φ, θ', φ'` of the steady motion where it joins. [rad, rad/s] (4)
    pub steady: [f64; 4],
    /// Permitted ZMP on the left foot. [m]
    pub single_support: Rectangle,
    /// Permitted ZMP on both feet; the hull of both soles if it is not given. [m]
    #[serde(default)]
    pub double_support: Option<Rectangle>,
}

impl TransientSpec {
    /// The transient with other times. [s] Samples of the motion are stretched with it, to whole samples; those of the standstill
    /// are the value at its end, every five samples and at the end. Rates and accelerations where it joins the steady motion
    /// stay.
    #[must_use]
    pub fn with_times(&self, motion: f64, standstill: f64) -> Self {
        let times = Times {
            was: [self.motion, self.standstill],
            is: [motion, standstill],
            kind: self.kind,
        };
        let joint =
            |joint: &EndJoint| EndJoint { samples: times.stretch(&joint.samples), ..joint.clone() };
        let curves = |c: &Curves| Curves { left: joint(&c.left), right: joint(&c.right) };
        Self {
            motion,
            standstill,
            thigh: curves(&self.thigh),
            shank: curves(&self.shank),
            arm: curves(&self.arm),
            ..self.clone()
        }
    }
}

/// Old and new times of a transient.
struct Times {
    /// Times of motion and standstill before the change. [s] (2)
    was: [f64; 2],
    is: [f64; 2],
    kind: Kind,
}

impl Times {
    fn stretch(&self, samples: &Samples) -> Samples {
        let [was, is] = [self.was, self.is].map(|times| times.map(grid_steps));
        let ([old_start, start], new_end) = match self.kind {
            Kind::Start => ([was[1], is[1]], is[1] + is[0]),
            Kind::Stop => ([0, 0], is[0]),
        };
        // Samples of the motion keep their part of it, rounded to whole samples.
        let (first, last) = (1 + old_start, 1 + old_start + was[0]);
        let old = was[0].max(1);
        let moved = |(&k, &value): (&u32, &f64)| {
            let nearest = ((k - first) * is[0] + old / 2) / old;
            (1 + start + nearest, value)
        };
        let mut all: Samples = samples.range(first..=last).map(moved).collect();
        // The standstill has the value at its border with the motion, every five samples and at its end.
        let (from, to, still) = match self.kind {
            Kind::Start => (1, 1 + start, samples.get(&first)),
            Kind::Stop => (1 + new_end, 1 + is[0] + is[1], samples.get(&last)),
        };
        let still = still.copied().unwrap_or_default();
        all.extend((from..to).step_by(5).chain([to]).map(|k| (k, still)));
        all
    }
}

fn spline() -> Interpolation {
    Interpolation::Spline
}

/// Stability of a compensating motion.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Verdict {
    /// Least signed distance of the ZMP to the edge of its permitted region; minus infinity where the feet leave the
    /// floor. [m]
    pub margin: f64,
    /// SZ: sum over the single support of the distances to the middle, each by the side length. [-]
    pub off_center: f64,
}

impl Verdict {
    /// Whether the ZMP never leaves its permitted region.
    pub fn is_stable(&self) -> bool {
        self.margin >= 0.0
    }
}

/// An instant at which the ZMP is tested.
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
    /// Time of standstill and motion together. [s]
    pub duration: f64,
    /// Prescribed polynomials of θ and φ. (2)
    prescribed: [Polynomials; 2],
    single: Rectangle,
    on_one: ConvexPolygon,
    on_both: ConvexPolygon,
    instants: Vec<Instant>,
    /// Curves of thigh, shank and arm, each left and right. [rad] (3×2)
    curves: [[Curve; 2]; 3],
    elbow: Elbow,
}

impl Transient {
    /// Makes a transient from its samples, for a body.
    ///
    /// # Errors
    /// When a time is not within 0 to 60 s, a curve lacks samples or its first or last one, or the degree leaves the
    /// input coefficient no say.
    pub fn new(spec: &TransientSpec, body: &BodyData) -> Result<Self, GaitError> {
        for (name, value) in [("standstill", spec.standstill), ("motion", spec.motion)] {
            if !(0.0..=60.0).contains(&value) {
                return Err(GaitError::Number { name, value, remedy: "from 0 to 60 s" });
            }
        }
        let duration = spec.standstill + spec.motion;
        let steps = grid_steps(duration);
        let kind = spec.interpolation;
        let pair = |names: [&'static str; 2], c: &Curves, factor: f64| {
            Ok([
                end_curve(names[0], &c.left, kind, factor, steps)?,
                end_curve(names[1], &c.right, kind, factor, steps)?,
            ])
        };
        let prescribed = |input: Input, index: usize| {
            let steady = [spec.steady[index], spec.steady[index + 2]];
            let (kind, degree) = (spec.kind, spec.degree);
            Polynomials::new(&Conditions { kind, degree, input, duration, steady })
        };
        let curves = [
            pair(["thigh.left", "thigh.right"], &spec.thigh, spec.leg_factor)?,
            pair(["shank.left", "shank.right"], &spec.shank, spec.leg_factor)?,
            pair(["arm.left", "arm.right"], &spec.arm, spec.arm_factor)?,
        ];
        let on_both = if let Some(rectangle) = &spec.double_support {
            ConvexPolygon::around(&[*rectangle])
        } else {
            // Without a region the hull of both soles: the right one mirrors the left one across the pelvis' middle.
            let width = 2.0 * body.lengths.half_pelvis_width;
            let Rectangle { x, y } = spec.single_support;
            let right = Rectangle { x, y: [-width - y[1], -width - y[0]] };
            ConvexPolygon::around(&[spec.single_support, right])
        };
        let mut transient = Self {
            body: *body,
            duration,
            prescribed: [prescribed(spec.input.sway, 0)?, prescribed(spec.input.pitch, 1)?],
            single: spec.single_support,
            on_one: ConvexPolygon::around(&[spec.single_support]),
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
            _ if grid_steps(spec.standstill) == 0 => true,
            // The instant of the change itself still has both feet down.
            Kind::Start => index > grid_steps(spec.standstill),
            Kind::Stop => index < grid_steps(spec.motion),
        };
        // Joint curves do not depend on the coefficients, so a survey evaluates them once.
        let posture = self.posture_of(time, Jet::default(), Jet::default());
        Instant { time, posture, is_single }
    }

    fn posture_of(&self, time: f64, sway: Jet, pitch: Jet) -> Posture {
        let pair = |i: usize| [LEFT, RIGHT].map(|side| self.curves[i][side].at(time));
        Posture {
            sway,
            pitch,
            thigh: pair(0),
            shank: pair(1),
            arm: pair(2),
            foot: Jet::default(),
            elbow: self.elbow,
        }
    }

    /// The posture at a time [s].
    pub fn posture(&self, compensation: &Compensation, time: f64) -> Posture {
        let sway = polynomial(&compensation.sway, time);
        self.posture_of(time, sway, polynomial(&compensation.pitch, time))
    }

    /// The compensating motion with these coefficients.
    pub fn compensation(&self, c: Coefficients) -> Compensation {
        let [sway, pitch] = &self.prescribed;
        Compensation { sway: sway.with(c.sway), pitch: pitch.with(c.pitch) }
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

    /// Stability of the motion with these coefficients.
    pub fn verdict(&self, c: Coefficients) -> Verdict {
        self.verdict_above(c, f64::NEG_INFINITY)
            .unwrap_or(Verdict { margin: f64::NEG_INFINITY, off_center: f64::INFINITY })
    }

    /// The verdict, or `None` as soon as the margin falls below a limit. [m]
    pub(super) fn verdict_above(&self, c: Coefficients, limit: f64) -> Option<Verdict> {
        let compensation = self.compensation(c);
        let (middle, size) = (self.single.center(), self.single.size());
        let mut verdict = Verdict { margin: f64::INFINITY, off_center: 0.0 };
        for instant in &self.instants {
            let (zmp, margin) = self.test(instant, &compensation);
            // A survey leaves a motion at its first bad instant: most are bad, and early.
            if margin < limit || margin.is_nan() {
                return None;
            }
            verdict.margin = verdict.margin.min(margin);
            // SZ sums the distances to the middle over the instants of single support.
            if instant.is_single {
                verdict.off_center += (zmp[0] - middle[0]).abs() / size[0];
                verdict.off_center += (zmp[1] - middle[1]).abs() / size[1];
            }
        }
        Some(verdict)
    }

    /// ZMP of an instant [m] (2), and its margin [m].
    fn test(&self, instant: &Instant, compensation: &Compensation) -> ([f64; 2], f64) {
        let mut posture = instant.posture;
        posture.sway = polynomial(&compensation.sway, instant.time);
        posture.pitch = polynomial(&compensation.pitch, instant.time);
        let reaction = Reaction::of(&self.body, &posture);
        let zmp = reaction.zmp();
        // A floor that must pull cannot hold the walker: no margin.
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
    interpolation: Interpolation,
    factor: f64,
    steps: u32,
) -> Result<Curve, GaitError> {
    let (times, values) = ends(name, &joint.samples, factor, steps + 1)?;
    // Rates and accelerations at the ends are of the same joint, so they have its factor.
    let scale = |x: [f64; 2]| x.map(|x| x * factor);
    let curve = match interpolation {
        Interpolation::Linear => Curve::linear(&times, &values),
        Interpolation::Smoothed => {
            Curve::linear(&times, &values).and_then(|lines| smoothed(&lines, steps + 1))
        }
        Interpolation::Spline => {
            Curve::quintic(&times, &values, scale(joint.start), scale(joint.end))
        }
    };
    curve.map_err(|error| GaitError::Curve { name, error })
}
