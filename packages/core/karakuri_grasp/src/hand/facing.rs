//! Forces of the two fingers that face the thumb, each by itself, and what makes all three press by their shares.

use crate::end_effector::ThreeFingers;
use crate::grip_force::filter_gain;

/// Share of both fingers' force below which one of them does not hold. [-]
const LEAST_SHARE: f64 = 0.2;
/// Time for which that may be, as the object is shifted to the second finger, or that finger led to the object. [s]
const PATIENCE: f64 = 0.8;

/// Rate at which unequal forces of three fingers are made equal. [1/s]
// Half of the rate of the force control, which it would disturb otherwise.
const LEVEL_RATE: f64 = 5.0;
/// Share of its part of the force with which each finger must press before the object is lifted. [-]
// As of two fingers, see `is_firm`.
const LEVEL: f64 = 0.7;

/// Forces of the left and the right finger.
#[derive(Debug, Clone, Default)]
pub(super) struct Facing {
    /// Filtered forces along the directions in which they close. [N] (2)
    filtered: [f64; 2],
    tare: [f64; 2],
    /// Time for which one presses and the other does not. [s]
    alone: f64,
    /// Forces by which the thumb, the left and the right finger are made to press more than their joints' common target has them. An object beside the middle
    /// would be pressed unevenly: friction, of its support and of the tips, keeps it there, and is lacking when it is lifted. [N] (3)
    corrections: [f64; 3],
    /// Largest correction: it leads a finger of arm6's hands, whose drives give 0.06 mm/N, by 1.5 mm to an object beside the middle. [N]
    largest: f64,
    /// Whether the corrections still change.
    is_levelling: bool,
    /// Whether each finger presses with enough of its share.
    is_level: bool,
}

impl Facing {
    /// Fingers of a hand of this greatest force. [N]
    pub(super) fn new(force_max: f64) -> Self {
        Self { largest: force_max, ..Self::default() }
    }

    /// Takes a sample of the forces of the left and the right finger, as they are read. [N] (2), [s]. What one finger bears alone counts once the
    /// hand grips.
    pub(super) fn feel(&mut self, read: [f64; 2], grips: bool, dt: f64) {
        for (filtered, read) in self.filtered.iter_mut().zip(read) {
            *filtered += filter_gain(dt) * (read - *filtered);
        }
        let is_alone = grips && self.missing().is_some();
        self.alone = if is_alone { self.alone + dt } else { 0.0 };
    }

    /// Forces of the left and the right finger. [N] (2)
    pub(super) fn forces(&self) -> [f64; 2] {
        core::array::from_fn(|k| self.filtered[k] - self.tare[k])
    }

    /// Begins to make the forces equal, from none corrected; `false` keeps the corrections as they are.
    pub(super) fn level(&mut self, begins: bool) {
        self.is_levelling = begins;
        if begins {
            self.corrections = [0.0; 3];
        }
    }

    /// Corrects nothing any more.
    pub(super) fn let_go(&mut self) {
        (self.corrections, self.is_levelling) = ([0.0; 3], false);
    }

    /// Corrections of the forces of the thumb, the left and the right finger, where the thumb presses with `thumb`, the hand with `force` [N], and each finger
    /// with its share of that [-]; [s]. They change while both sides touch the object.
    pub(super) fn correct(
        &mut self,
        thumb: f64,
        force: f64,
        shares: [f64; 3],
        touches: bool,
        dt: f64,
    ) -> [f64; 3] {
        let [left, right] = self.forces();
        let pressing = [thumb, left, right];
        let lacking: [f64; 3] = core::array::from_fn(|k| shares[k] * force - pressing[k]);
        let each = || lacking.iter().zip(shares);
        self.is_level = each().all(|(lacks, share)| *lacks <= (1.0 - LEVEL) * share * force);
        if self.is_levelling && touches {
            let most = self.largest;
            for (correction, lacks) in self.corrections.iter_mut().zip(lacking) {
                *correction = (*correction + LEVEL_RATE * lacks * dt).clamp(-most, most);
            }
            // The sum of both sides is the grip's control's.
            let mean = ThreeFingers::mean(self.corrections);
            self.corrections = self.corrections.map(|correction| correction - mean);
        }
        self.corrections
    }

    /// Whether each finger pressed with enough of its share at the last sample.
    pub(super) fn is_level(&self) -> bool {
        self.is_level
    }

    /// Takes the present readings as zero.
    pub(super) fn tare(&mut self) {
        self.tare = self.filtered;
    }

    /// Finger that has not come to press with the other for a while.
    pub(super) fn lagging(&self) -> Option<&'static str> {
        self.missing().filter(|_| self.alone > PATIENCE)
    }

    /// Whether both press.
    pub(super) fn is_whole(&self) -> bool {
        self.missing().is_none()
    }

    fn missing(&self) -> Option<&'static str> {
        let [left, right] = self.forces();
        let least = LEAST_SHARE * (left + right);
        // Where neither presses nothing is held by one alone.
        (least > 0.0 && left.min(right) < least).then_some(if left < right {
            "left"
        } else {
            "right"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first finger to touch shifts the object to the second: that is no fault, however long it takes.
    #[test]
    fn a_finger_lags_only_where_the_hand_grips_without_it() {
        let mut facing = Facing::new(25.0);
        let mut feel = |read, grips, seconds: u16| {
            for _ in 0..1000 * seconds {
                facing.feel(read, grips, 0.001);
            }
            (facing.is_whole(), facing.lagging())
        };
        assert_eq!(feel([2.0, 0.0], false, 2), (false, None));
        assert_eq!(feel([5.0, 4.0], true, 1), (true, None));
        assert_eq!(feel([5.0, 0.5], true, 1), (false, Some("right")));
        assert_eq!(feel([5.0, 4.0], true, 1), (true, None));
    }

    /// Fingers that give 1 N for 1 N, one of which has 4 N less of the common target than its share.
    #[test]
    fn forces_are_made_equal_while_the_hand_takes_hold_and_kept_while_it_carries() {
        let (shares, off) = ([1.0; 3], [0.0, -4.0, 0.0]);
        let mut facing = Facing::new(25.0);
        let mut corrections = [0.0; 3];
        let mut run = |facing: &mut Facing, seconds: u16| {
            for _ in 0..1000 * seconds {
                let [thumb, left, right] = core::array::from_fn(|k| 10.0 + off[k] + corrections[k]);
                let force = ThreeFingers::mean([thumb, left, right]);
                facing.feel([left, right], true, 0.001);
                corrections = facing.correct(thumb, force, shares, true, 0.001);
            }
            corrections
        };
        assert!(run(&mut facing, 1).iter().all(|correction| correction.abs() <= 0.0));
        assert!(!facing.is_level());
        facing.level(true);
        let found = run(&mut facing, 3);
        // All come to press with the mean.
        let mean = ThreeFingers::mean(off);
        assert!(
            found.iter().zip(off).all(|(found, off)| (found + off - mean).abs() < 1e-3),
            "{found:?}"
        );
        assert!(facing.is_level());
        facing.level(false);
        assert_eq!(run(&mut facing, 1).map(f64::to_bits), found.map(f64::to_bits));
        facing.let_go();
        assert!(run(&mut facing, 1).iter().all(|correction| correction.abs() <= 0.0));
    }
}
