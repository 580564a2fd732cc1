//! Instants of the clock that stamps messages, exact to the nanosecond.
//!
//! Nothing here reads a clock: whoever calls gives the time. Differences are `f64` seconds, so numerics see small
//! numbers even when the clock shows a date.

/// An instant. [ns since the clock's zero]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub i64);

impl Time {
    /// The instant that is `seconds` after the clock's zero, to the nearest nanosecond. [s]
    pub fn from_seconds(seconds: f64) -> Self {
        Self(nanoseconds(seconds))
    }

    /// Seconds since the clock's zero. [s]
    pub fn seconds(self) -> f64 {
        self.since(Self(0))
    }

    /// Seconds from `earlier` to `self`; negative if it is later. [s]
    pub fn since(self, earlier: Self) -> f64 {
        self.0.saturating_sub(earlier.0) as f64 * 1e-9
    }

    /// The instant `seconds` later. [s]
    #[must_use]
    pub fn after(self, seconds: f64) -> Self {
        Self(self.0.saturating_add(nanoseconds(seconds)))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "`as` saturates, which is what an instant needs"
)]
fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

#[cfg(test)]
mod tests {
    use super::Time;

    #[test]
    fn differences_stay_exact_on_a_calendar_clock() {
        let now = Time(1_790_000_000_000_000_001);
        assert_eq!(now.after(0.001).0 - now.0, 1_000_000);
        assert!((now.after(0.001).since(now) - 0.001).abs() < 1e-18);
        assert!(now.since(now.after(2.0)) < 0.0);
    }
}
