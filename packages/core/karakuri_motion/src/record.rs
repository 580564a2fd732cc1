//! Recorded positions as a motion: few keys in place of many samples.

use crate::curve::Curve;
use crate::document::AngleUnit;
use crate::motion::{Ease, Key, Motion, Track};
use crate::robot::Performer;

/// Positions of joints over time, as they were measured.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Record {
    /// Names of the joints.
    pub joints: Vec<String>,
    /// Times, ascending. [s] (n)
    pub times: Vec<f64>,
    /// Positions, sample by sample; NaN where one is not known. [rad or m] (n × n joints)
    pub positions: Vec<f64>,
}

impl Record {
    /// A record of these joints without samples.
    pub fn new(joints: Vec<String>) -> Self {
        Self { joints, ..Self::default() }
    }

    /// Adds a sample of all joints [rad or m]; one that is not after the last is left out.
    pub fn add(&mut self, time: f64, positions: &[f64]) {
        let is_later = self.times.last().is_none_or(|last| time > *last);
        if is_later && time.is_finite() && positions.len() == self.joints.len() {
            self.times.push(time);
            self.positions.extend_from_slice(positions);
        }
    }

    /// The motion whose curves stay within `tolerance` [rad or m] of all samples; a track for each joint that moved farther than that, one
    /// key for each that did not. Its first sample is at zero.
    pub fn motion(&self, performer: &Performer, unit: AngleUnit, tolerance: f64) -> Motion {
        let (n, start) = (self.joints.len(), self.times.first().copied().unwrap_or_default());
        let tracks = self.joints.iter().enumerate().filter_map(|(joint, name)| {
            let id = performer.joint(name)?;
            let positions = self.positions.iter().skip(joint).step_by(n);
            let times = self.times.iter().map(|time| time - start);
            let samples = times.zip(positions).map(|(t, y)| [t, *y]);
            let samples: Vec<[f64; 2]> = samples.filter(|[_, y]| y.is_finite()).collect();
            let mut keys = fit_keys(&samples, tolerance);
            for key in &mut keys {
                key.y = performer.from_si(id, unit, key.y);
            }
            (!keys.is_empty()).then(|| (name.clone(), Track { keys, ..Track::default() }))
        });
        Motion { tracks: tracks.collect(), ..Motion::default() }
    }
}

/// Keys of a smooth curve (`Ease::Natural`) that is within `tolerance` of samples `[time, position]` of ascending time.
///
/// Begins with the ends, and adds of each interval the sample that is farthest off, as [Douglas 1973] does with straight lines.
fn fit_keys(samples: &[[f64; 2]], tolerance: f64) -> Vec<Key> {
    let key = |i: &usize| Key { t: samples[*i][0], y: samples[*i][1], ease: Ease::Natural };
    let Some(last) = samples.len().checked_sub(1) else { return Vec::new() };
    let mut chosen = vec![0];
    if samples.iter().all(|[_, y]| (y - samples[0][1]).abs() <= tolerance) {
        return chosen.iter().map(key).collect();
    }
    chosen.push(last);
    loop {
        let keys: Vec<Key> = chosen.iter().map(key).collect();
        let curve = Curve::new(&keys);
        let off = |i: usize| (curve.at(samples[i][0]).position - samples[i][1]).abs();
        let farthest = chosen.windows(2).filter_map(|pair| {
            let within = (pair[0] + 1..pair[1]).map(|i| (i, off(i)));
            let (i, distance) = within.max_by(|a, b| a.1.total_cmp(&b.1))?;
            (distance > tolerance).then_some(i)
        });
        let more: Vec<usize> = farthest.collect();
        if more.is_empty() {
            return keys;
        }
        chosen.extend(more);
        chosen.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Farthest that the curve of keys is off.
    fn deviation(samples: &[[f64; 2]], keys: &[Key]) -> f64 {
        let curve = Curve::new(keys);
        let off = samples.iter().map(|[t, y]| (curve.at(*t).position - y).abs());
        off.fold(0.0, f64::max)
    }

    /// Two swings of a second each, 60 samples a second.
    #[test]
    fn a_swing_takes_few_keys() {
        let samples: Vec<[f64; 2]> = (0..=120)
            .map(|i| f64::from(i) / 60.0)
            .map(|t| [t, (std::f64::consts::TAU * t).sin()])
            .collect();
        for (tolerance, most) in [(0.1, 10), (0.02, 15), (0.001, 40)] {
            let keys = fit_keys(&samples, tolerance);
            assert!(keys.len() <= most, "{} keys for {tolerance}", keys.len());
            assert!(deviation(&samples, &keys) <= tolerance);
        }
    }

    #[test]
    fn what_stands_still_is_one_key() {
        let samples: Vec<[f64; 2]> =
            (0..100_u8).map(|i| [f64::from(i), if i % 2 == 0 { 0.5 } else { 0.509 }]).collect();
        assert_eq!(fit_keys(&samples, 0.01).len(), 1);
        assert!(fit_keys(&[], 0.01).is_empty());
        assert_eq!(fit_keys(&[[0.0, 1.0]], 0.01).len(), 1);
    }

    proptest! {
        #[test]
        fn keys_are_within_the_tolerance_of_any_samples(
            steps in prop::collection::vec((0.001..1.0_f64, -1.0..1.0_f64), 1..80),
            tolerance in 0.0..0.5_f64,
        ) {
            let mut t = 0.0;
            let samples: Vec<[f64; 2]> = steps.iter().map(|(dt, y)| { t += dt; [t, *y] }).collect();
            let keys = fit_keys(&samples, tolerance);
            prop_assert!(deviation(&samples, &keys) <= tolerance + 1e-12);
            prop_assert!(keys.windows(2).all(|pair| pair[0].t < pair[1].t));
        }
    }
}
