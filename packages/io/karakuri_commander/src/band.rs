//! Band in which the joints of all copies of a rehearsal move: what a robot that is not simulated to the bit must stay in.

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

/// Band of the joints' positions over time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Band {
    /// Time by which a robot may be later than the copies, in periods.
    late: usize,
    /// Least and largest position of each joint at each period. [rad or m] (n × n joints × 2)
    ranges: Vec<Vec<[f64; 2]>>,
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
        Self { late, ranges }
    }

    /// Joint that is outside of the band at a time after the beginning [s], with its position and where it should be. [rad or m]
    pub(crate) fn find_outside(
        &self,
        elapsed: f64,
        positions: &[f64],
    ) -> Option<(usize, f64, [f64; 2])> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an index, of a time that is not negative"
        )]
        let k = (elapsed / PERIOD).max(0.0) as usize;
        let last = self.ranges.len().checked_sub(1)?;
        let window = k.saturating_sub(self.late).min(last)..=(k + EARLY).min(last);
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
        Band { late: LATE, ranges: (0..1000).map(range).collect() }
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
