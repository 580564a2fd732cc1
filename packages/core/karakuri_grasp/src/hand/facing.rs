//! Forces of the two fingers that face the thumb, each by itself.

use crate::grip_force::filter_gain;

/// Share of both fingers' force below which one of them does not hold. [-]
const LEAST_SHARE: f64 = 0.2;
/// Time for which that may be, as the object is shifted to the second finger. [s]
const PATIENCE: f64 = 0.3;

/// Forces of the left and the right finger.
#[derive(Debug, Default)]
pub(super) struct Facing {
    /// Filtered forces along the directions in which they close. [N] (2)
    filtered: [f64; 2],
    tare: [f64; 2],
    /// Time for which one presses and the other does not. [s]
    alone: f64,
}

impl Facing {
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
        let mut facing = Facing::default();
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
}
