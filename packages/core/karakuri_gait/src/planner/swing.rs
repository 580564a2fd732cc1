//! Path of a swinging foot, which may be changed while it swings.
//!
//! A path through the air from one place to another, followed at a rate of its own, plus an offset in the floor's plane. A change
//! gives the rest of the path another end and another landing place: progress and offset continue from their values and rates
//! along cubics. Counted in samples.

use karakuri_spatial::{Pose, Vector3};

use super::footstep::Footstep;
use super::place::Place;

/// Steps lower than this are flat. [m]
// Rounding of places on a level floor, and no stair.
pub(super) const FLAT: f64 = 1e-4;
/// Part of the advance in which the foot gathers speed, and loses it. Shorter asks for more torque, longer for more speed of the
/// servos: 1.9 times the mean with a quintic, 1.4 with 0.3. [-]
const RAMP: f64 = 0.3;
/// Part of the time left in which an offset is reached: the foot comes straight down. [-]
// The foot would else still move sideways as it touches, and drag.
const ASIDE: f64 = 0.9;

/// A value along a cubic: value and rate [per sample] at the first sample, value at the last one.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Course {
    pub(super) from: f64,
    pub(super) rate: f64,
    pub(super) to: f64,
    /// Rate at the end. [per sample]
    pub(super) end_rate: f64,
}

impl Course {
    /// Value and rate after `at` samples of `span`.
    pub(super) fn at(&self, at: f64, span: f64) -> (f64, f64) {
        // Cubic Hermite interpolation over `u = t/span`, both rates scaled to the span.
        let u = (at / span).clamp(0.0, 1.0);
        let change = self.to - self.from;
        let (r0, r1) = (self.rate * span, self.end_rate * span);
        let (c2, c3) = (3.0 * change - 2.0 * r0 - r1, r0 + r1 - 2.0 * change);
        let value = self.from + u * (r0 + u * (c2 + u * c3));
        // After its end the value stays.
        let rate = if u < 1.0 { (r0 + u * (2.0 * c2 + u * 3.0 * c3)) / span } else { 0.0 };
        (value, rate)
    }
}

/// Swing of a foot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Swing {
    /// Footstep in which the foot lands.
    pub(super) step: Footstep,
    from: Place,
    /// Place to which the path through the air leads.
    aim: Place,
    /// First sample since the last change, and first sample after landing.
    span: [u64; 2],
    progress: Course,
    /// Offset forward and left, in the aim's heading. [m] (2)
    offset: [Course; 2],
}

/// Blend from 0 to 1 without rate and acceleration at the ends. [-]
pub(super) fn quintic(u: f64) -> f64 {
    let u = u.clamp(0.0, 1.0);
    u * u * u * (10.0 + u * (6.0 * u - 15.0))
}

/// Advance from 0 to 1 at an even rate, with smooth ramps: no acceleration at the ends. [-]
fn advance(u: f64) -> f64 {
    let u = u.clamp(0.0, 1.0);
    // The ramp integrates the rate `3x² − 2x³` up to the even rate, `1/(1 − RAMP)`.
    let ramp = |u: f64| {
        let x = u / RAMP;
        RAMP * x * x * x * (1.0 - 0.5 * x) / (1.0 - RAMP)
    };
    if u < RAMP {
        ramp(u)
    } else if u > 1.0 - RAMP {
        1.0 - ramp(1.0 - u)
    } else {
        (u - 0.5 * RAMP) / (1.0 - RAMP)
    }
}

/// Parts of the swing of the motion forth, and of that up or down: up before forth, down after it, so that an edge is cleared; on
/// the flat and on slopes the foot descends vertically at the end. (2×2)
fn windows(rise: f64) -> [[f64; 2]; 2] {
    if rise > FLAT {
        [[0.3, 0.95], [0.0, 0.45]]
    } else if rise < -FLAT {
        [[0.05, 0.7], [0.55, 1.0]]
    } else {
        [[0.0, 0.95], [0.0, 1.0]]
    }
}

pub(super) fn blend(a: f64, b: f64, k: f64) -> f64 {
    a + k * (b - a)
}

impl Swing {
    /// Swing from a place, over a span of samples.
    pub(super) fn new(step: Footstep, from: Place, span: [u64; 2]) -> Self {
        // Progress itself is even; the ramps of `advance` are for the path, so a change under way keeps them.
        let even = 1.0 / (span[1] - span[0]).max(1) as f64;
        let progress = Course { from: 0.0, rate: even, to: 1.0, end_rate: even };
        Self { step, from, aim: step.to, span, progress, offset: [Course::default(); 2] }
    }

    /// Swing that from a sample on goes to another place of the same height, in another time.
    pub(super) fn changed(&self, index: u64, end: u64, to: Place) -> Self {
        let (part, rate) = self.progress(index);
        let left = end.saturating_sub(index).max(1) as f64;
        // Starting from the present rate, a foot that is hurried gathers speed; a new even rate would make its speed jump.
        let progress = Course { from: part, rate, to: 1.0, end_rate: (1.0 - part) / left };
        let aside = self.aside(to);
        let now = self.offsets(index);
        let offset = [0, 1].map(|i| {
            let (from, rate) = now[i];
            Course { from, rate, to: aside[i], end_rate: 0.0 }
        });
        Self { step: Footstep { to, ..self.step }, span: [index, end], progress, offset, ..*self }
    }

    /// Offset of a place from the aim of the path: forward, left. [m] (2)
    fn aside(&self, place: Place) -> [f64; 2] {
        let (sin, cos) = self.aim.yaw.sin_cos();
        let [dx, dy] = [0, 1].map(|i| place.position[i] - self.aim.position[i]);
        [cos * dx + sin * dy, cos * dy - sin * dx]
    }

    /// Height of the stairs that it goes up or down; slopes are none. [m]
    pub(super) fn climb(&self) -> f64 {
        if self.is_on_slope() {
            return 0.0;
        }
        (self.aim.position[2] - self.from.position[2]).abs()
    }

    fn is_on_slope(&self) -> bool {
        [self.from, self.aim].iter().flat_map(|place| place.tilt).any(|angle| angle.abs() > 1e-6)
    }

    /// Part of the path that is covered, and its rate. [-, per sample]
    pub(super) fn progress(&self, index: u64) -> (f64, f64) {
        let [from, to] = self.span;
        self.progress.at(index.saturating_sub(from) as f64, to.saturating_sub(from).max(1) as f64)
    }

    /// Offsets and their rates. [m, m per sample] (2)
    fn offsets(&self, index: u64) -> [(f64, f64); 2] {
        let [from, to] = self.span;
        let span = ASIDE * to.saturating_sub(from).max(1) as f64;
        self.offset.map(|course| course.at(index.saturating_sub(from) as f64, span))
    }

    /// Pose of the sole, `X_WSole`, lifted by `height` at the middle of the path. [m]
    pub(super) fn pose(&self, index: u64, height: f64) -> Pose {
        let (part, _) = self.progress(index);
        let [(forward, _), (left, _)] = self.offsets(index);
        let (from, to) = (self.from.moved([forward, left]), self.aim.moved([forward, left]));
        let (a, b) = (Vector3::from(from.position), Vector3::from(to.position));
        let is_slope = self.is_on_slope();
        // On a slope height follows from the place ahead; split into forth and up, the foot would cut into the floor.
        let rise = if is_slope { 0.0 } else { b.z - a.z };
        // The path goes forth and up or down each in its own part of the swing; the lift `16 (s (1 − s))²` is 1 at the middle.
        let [forth, up] = windows(rise).map(|[from, to]| (part - from) / (to - from));
        let k = advance(forth);
        let mut p = a.lerp(&b, k);
        if !is_slope {
            p.z = blend(a.z, b.z, quintic(up));
        }
        // Zero with its rate at both ends, so that the sole lifts and lands without speed.
        p.z += height * 16.0 * (part * (1.0 - part)).powi(2);
        let tilt = [0, 1].map(|i| blend(from.tilt[i], to.tilt[i], k));
        // Angles blend one by one: the tilts of floors and the turn of a step are small.
        let yaw = blend(from.yaw, to.yaw, k);
        Pose::new(Place { position: p.into(), yaw, tilt }.rotation(), p)
    }
}
