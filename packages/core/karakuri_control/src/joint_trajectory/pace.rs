//! Pace of a motion that was interrupted: it goes on from the instant of its path that is nearest to where the robot came to
//! be, at the speed that the robot still has, and regains the time of its points from there.
//!
//! A path that went on at full speed would ask a robot that had stopped for an infinite acceleration; the error of that leaves
//! any tolerance that means something.

use super::JointSettings;
use crate::trajectory::JointSample;

/// Time in which a motion regains full pace from rest, as a cancelled motion brakes from full speed. [s]
const RAMP: f64 = 0.25;
/// Longest stretch of the path in which the robot is looked for: drives that keep their last target run ahead of it no further. [s]
const REACH: f64 = 0.25;
/// Instants looked at, and halvings of the stretch around the nearest.
// At most 8 ms a part, halved down to half a nanosecond: no robot moves noticeably in that.
const PARTS: u32 = 32;
const HALVINGS: u32 = 24;

/// Seconds of a path that pass in a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pace(f64);

impl Pace {
    /// That of a motion that nothing has interrupted.
    pub(super) const FULL: Self = Self(1.0);

    /// Pace at which the path's velocities are nearest to the measured ones; full where the path rests. (n)
    pub(super) fn of(
        path: &[JointSample],
        actual: &[JointSample],
        joints: &[JointSettings],
    ) -> Self {
        let (mut along, mut square) = (0.0, 0.0);
        for ((path, actual), joint) in path.iter().zip(actual).zip(joints) {
            // Least squares of `p q'_d − v` over the joints, each in units of its own speed limit: metres and radians compare.
            let weight = 1.0 / joint.speed_scale().powi(2);
            along += weight * path.velocity * actual.velocity;
            square += weight * path.velocity.powi(2);
        }
        // Never backwards and never faster than the path: a robot that was thrown back starts at rest.
        if square > 0.0 { Self((along / square).clamp(0.0, 1.0)) } else { Self::FULL }
    }

    /// Rate of its growth. [1/s]
    fn growth(self) -> f64 {
        if self.0 < 1.0 { 1.0 / RAMP } else { 0.0 }
    }

    /// Seconds of the path that pass in `dt`, and the pace after them. [s]
    pub(super) fn advance(self, dt: f64) -> (f64, Self) {
        // The pace grows linearly up to 1; within the ramp the path passes by its mean, after it by dt.
        let ramp = ((1.0 - self.0) * RAMP).min(dt);
        let after = (self.0 + self.growth() * ramp).min(1.0);
        (
            0.5 * (self.0 + after) * ramp + (dt - ramp),
            if ramp < dt { Self::FULL } else { Self(after) },
        )
    }

    /// Applies the pace to what was sampled at full pace.
    pub(super) fn apply(self, samples: &mut [JointSample]) {
        if self == Self::FULL {
            return;
        }
        for sample in samples {
            let velocity = sample.velocity;
            sample.velocity = self.0 * velocity;
            // With `q(s(t))` and pace p = ṡ: q̇ = p q', q̈ = p² q'' + ṗ q'.
            sample.acceleration = self.0.powi(2) * sample.acceleration + self.growth() * velocity;
        }
    }
}

/// The instant from `from` on, at most `gap` later, at which `distance` is least. [s]
pub(super) fn nearest(from: f64, gap: f64, mut distance: impl FnMut(f64) -> f64) -> f64 {
    let part = gap.min(REACH) / f64::from(PARTS);
    let at = |i: u32| from + part * f64::from(i);
    let mut best = (distance(from), from);
    // Sampled first, because along a path that turns back the distance has several minima.
    for i in 1..=PARTS {
        let here = (distance(at(i)), at(i));
        if here.0 < best.0 {
            best = here;
        }
    }
    let mut step = part;
    for _ in 0..HALVINGS {
        step *= 0.5;
        for t in [best.1 - step, best.1 + step] {
            let t = t.clamp(from, at(PARTS));
            let here = (distance(t), t);
            if here.0 < best.0 {
                best = here;
            }
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::{Pace, RAMP, nearest};

    #[test]
    fn full_pace_is_regained_in_the_time_of_a_ramp_whatever_the_periods() {
        for dt in [0.001, 0.007, 0.1, 1.0] {
            let (mut pace, mut passed, mut time) = (Pace(0.0), 0.0, 0.0);
            while pace != Pace::FULL {
                let (seconds, after) = pace.advance(dt);
                assert!(seconds <= dt && after.0 >= pace.0, "{dt} s: {pace:?} -> {after:?}");
                (pace, passed, time) = (after, passed + seconds, time + dt);
            }
            assert!((time - passed - 0.5 * RAMP).abs() < 1e-9, "{dt} s: {} s lost", time - passed);
            assert!(time < RAMP + dt, "{dt} s: after {time} s");
        }
        assert_eq!(Pace::FULL.advance(0.002), (0.002, Pace::FULL));
    }

    #[test]
    fn the_nearest_instant_is_found_between_the_parts() {
        for place in [0.0, 0.0123, 0.04, 0.05] {
            let found = nearest(1.0, 0.05, |t: f64| (t - 1.0 - place).powi(2));
            assert!((found - 1.0 - place).abs() < 1e-7, "{found}");
        }
    }
}
