//! Angles to counts and back.

/// How counts of a servo are angles of its joint: `counts = zero + trim ± counts_per_radian · angle`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ServoMap {
    /// Counts at which the joint is at 0, with the trim. [counts]
    pub zero: f64,
    /// Counts of a radian or metre, negative where the servo turns against its joint. [counts/rad or counts/m]
    pub counts_per_radian: f64,
    /// Least and largest position that it is sent to. [rad or m]
    pub limits: (f64, f64),
    /// Least and greatest goal that the servo takes. [counts]
    pub range: (i32, i32),
    /// Torque of the joint by the current; 0 where unknown. [N·m/A or N/A]
    pub torque_per_amp: f64,
}

impl ServoMap {
    /// Goal of a position, limited to what the servo takes. [counts]
    pub fn counts(&self, position: f64) -> i32 {
        let counts = self.exact_counts(position).round();
        #[expect(clippy::cast_possible_truncation, reason = "limited to numbers of 32 bits")]
        let counts = counts.clamp(self.range.0.into(), self.range.1.into()) as i32;
        counts
    }

    /// The same, neither rounded nor limited. [counts]
    pub(super) fn exact_counts(&self, position: f64) -> f64 {
        self.zero + self.counts_per_radian * position
    }

    /// Position of counts. [rad or m]
    pub fn position(&self, counts: f64) -> f64 {
        (counts - self.zero) / self.counts_per_radian
    }

    /// Velocity of counts per second. [rad/s or m/s]
    pub(super) fn velocity(&self, counts_per_second: f64) -> f64 {
        counts_per_second / self.counts_per_radian
    }

    /// Effort of a current; NaN where the servo does not measure it, or its torque is unknown. [N·m or N]
    pub(super) fn effort(&self, current: Option<f64>) -> f64 {
        let current = current.filter(|_| self.torque_per_amp > 0.0).unwrap_or(f64::NAN);
        current * self.torque_per_amp * self.counts_per_radian.signum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_is_half_a_count_at_most() {
        for counts_per_radian in [651.9, -651.9, 57.3, -1697.65] {
            let zero = 2048.0 + 13.0;
            let limits = (-3.0, 3.0);
            let range = (-100_000, 100_000);
            let map = ServoMap { zero, counts_per_radian, limits, range, torque_per_amp: 0.0 };
            for step in -3000..3000 {
                let angle = f64::from(step) * 1e-3;
                let error = (map.position(map.counts(angle).into()) - angle) * counts_per_radian;
                assert!(error.abs() <= 0.5 + 1e-9, "{angle}: {error} counts");
            }
        }
    }

    #[test]
    fn goals_stay_within_what_the_servo_takes() {
        let map = ServoMap {
            zero: 2048.0,
            counts_per_radian: -650.0,
            limits: (-1.0, 1.0),
            range: (1500, 4095),
            torque_per_amp: 1.2,
        };
        assert_eq!(map.counts(-1.0), 2698);
        assert_eq!(map.counts(5.0), 1500);
        assert!((map.velocity(650.0) + 1.0).abs() < 1e-12);
        assert!((map.effort(Some(0.5)) + 0.6).abs() < 1e-12, "turned against the joint");
        assert!(map.effort(None).is_nan(), "nothing is measured");
        assert!(ServoMap { torque_per_amp: 0.0, ..map }.effort(Some(0.5)).is_nan());
    }
}
