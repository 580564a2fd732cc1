//! Band in which the joints of all copies of a rehearsal move, and the largest forces of their fingers: what a robot that is not simulated to the bit
//! must stay in.

use karakuri_rehearsal::{Act, Prediction};

/// Time between two positions of a band. [s]
pub(crate) const PERIOD: f64 = 0.02;
/// Time by which a robot may be earlier than the copies, in periods.
const EARLY: usize = 25;
/// Time by which it may be later.
// Stages that end by a touch, or by a sum of readings, take longer where samples are lost: it then is where the copies were.
const LATE: usize = 150;
/// Time by which it may be later where tools are changed.
// Nodes that start again with a tool take some seconds, and a real coupling has its own time.
const LATE_WITH_TOOLS: usize = 500;
/// Distance from the band that drives and sensors may have. [rad or m]
const TOLERANCE: f64 = 0.05;

/// Share of the largest force of all copies, and force beyond it, that a finger may feel. [-, N]
// Fingers that close on an object strike it by the samples that a busy machine loses.
const STRONGER: (f64, f64) = (1.5, 3.0);

/// Band of the joints' positions and of the fingers' forces over time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Band {
    /// Time by which a robot may be later than the copies, in periods.
    late: usize,
    /// Least and largest position of each joint at each period. [rad or m] (n × n joints × 2)
    ranges: Vec<Vec<[f64; 2]>>,
    /// Largest force of a finger at each period. [N] (n)
    forces: Vec<f64>,
}

impl Band {
    /// Band of all copies of an act. One that has ended stays where it was.
    pub(crate) fn of(act: &Act, predictions: &[Prediction]) -> Self {
        let n = predictions.iter().map(|prediction| prediction.path.len()).max().unwrap_or(0);
        let joints = predictions.first().and_then(|p| p.path.first()).map_or(0, Vec::len);
        let at = |k: usize, joint: usize| {
            let all = predictions.iter().filter_map(|p| p.path.get(k).or(p.path.last()));
            let positions = all.map(|positions| positions[joint]);
            positions.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], position| {
                [least.min(position), most.max(position)]
            })
        };
        let late = if matches!(act, Act::ChangeTool { .. }) { LATE_WITH_TOOLS } else { LATE };
        let ranges = (0..n).map(|k| (0..joints).map(|joint| at(k, joint)).collect()).collect();
        let force_at = |k: usize| {
            let all = predictions.iter().filter_map(|p| p.forces.get(k).or(p.forces.last()));
            all.copied().fold(0.0, f64::max)
        };
        Self { late, ranges, forces: (0..n).map(force_at).collect() }
    }

    /// Indices of the periods in which copies were where a robot may be at a time after the beginning. [s]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an index, of a time that is not negative"
    )]
    fn window(&self, elapsed: f64) -> Option<std::ops::RangeInclusive<usize>> {
        let k = (elapsed / PERIOD).max(0.0) as usize;
        let last = self.ranges.len().checked_sub(1)?;
        Some(k.saturating_sub(self.late).min(last)..=(k + EARLY).min(last))
    }

    /// Largest force of a finger in all copies about a time after the beginning [s], if what is felt is more than that allows. [N]
    pub(crate) fn find_exceeded(&self, elapsed: f64, felt: f64) -> Option<f64> {
        let most = self.forces[self.window(elapsed)?].iter().copied().fold(0.0, f64::max);
        let (share, beyond) = STRONGER;
        (felt > share * most + beyond).then_some(most)
    }

    /// Joint that is outside of the band at a time after the beginning [s], with its position and where it should be. [rad or m]
    pub(crate) fn find_outside(
        &self,
        elapsed: f64,
        positions: &[f64],
    ) -> Option<(usize, f64, [f64; 2])> {
        let window = self.window(elapsed)?;
        positions.iter().enumerate().find_map(|(joint, &position)| {
            let ranges = self.ranges[window.clone()].iter().map(|all| all[joint]);
            let [least, most] = ranges.fold([f64::INFINITY, f64::NEG_INFINITY], |range, other| {
                [range[0].min(other[0]), range[1].max(other[1])]
            });
            let is_inside = (least - TOLERANCE..=most + TOLERANCE).contains(&position);
            (!is_inside).then_some((joint, position, [least, most]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A joint that goes from 0 to 1 in ten seconds by one copy, and to 1.2 by another.
    fn band() -> Band {
        let range = |k: u32| {
            let t = (0.002 * f64::from(k)).min(1.0);
            vec![[t, 1.2 * t]]
        };
        // It presses from the fifth second on.
        let force = |k: u32| if k < 250 { 0.0 } else { 8.0 };
        let (ranges, forces) = ((0..1000).map(range).collect(), (0..1000).map(force).collect());
        Band { late: LATE, ranges, forces }
    }

    #[test]
    fn a_finger_may_feel_what_it_felt_in_some_copy_about_then() {
        let band = band();
        for (elapsed, felt) in [(0.0, 2.0), (4.8, 12.0), (10.0, 14.0), (90.0, 14.0)] {
            assert_eq!(band.find_exceeded(elapsed, felt), None, "{elapsed} s");
        }
        assert_eq!(band.find_exceeded(1.0, 4.0), Some(0.0));
        assert_eq!(band.find_exceeded(10.0, 16.0), Some(8.0));
        assert_eq!(Band::default().find_exceeded(0.0, 100.0), None);
    }

    #[test]
    fn a_robot_that_is_a_little_late_is_inside_and_one_that_stands_is_not() {
        let band = band();
        for (elapsed, position) in [(0.0, 0.0), (8.0, 0.8), (8.0, 0.96), (8.0, 0.5), (90.0, 1.1)] {
            assert_eq!(band.find_outside(elapsed, &[position]), None, "{elapsed} s");
        }
        for (elapsed, position) in [(8.0, 0.4), (19.0, 0.5), (1.0, 0.3), (90.0, 0.9)] {
            let outside = band.find_outside(elapsed, &[position]);
            assert!(outside.is_some_and(|(joint, ..)| joint == 0), "{elapsed} s");
        }
        assert!(band.find_outside(0.5, &[f64::NAN]).is_some());
        assert_eq!(Band::default().find_outside(0.0, &[1.0]), None);
    }
}
