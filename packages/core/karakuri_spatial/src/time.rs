//! Instants of the clock that stamps messages, exact to the nanosecond.
//!
//! Nothing here reads a clock: whoever calls gives the time. Differences are `f64` seconds, so numerics see small
//! numbers even when the clock shows a date.

use std::{
    ops::{Add, Sub},
    time::Duration,
};

/// An instant: whole nanoseconds since the clock's zero. [ns]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time {
    nanoseconds: i64,
}

impl Time {
    /// The clock's zero; in a message's stamp it means "not set" or "now".
    pub const ZERO: Self = Self { nanoseconds: 0 };
    /// The earliest instant.
    pub const MIN: Self = Self { nanoseconds: i64::MIN };

    /// The instant that is so many nanoseconds after the clock's zero. [ns]
    pub const fn from_nanoseconds(nanoseconds: i64) -> Self {
        Self { nanoseconds }
    }

    /// The instant that is `seconds` after the clock's zero, to the nearest nanosecond. [s]
    pub fn from_seconds(seconds: f64) -> Self {
        Self::ZERO.plus_seconds(seconds)
    }

    /// Nanoseconds since the clock's zero. [ns]
    pub const fn nanoseconds(self) -> i64 {
        self.nanoseconds
    }

    /// Seconds since the clock's zero; exact to 0.5 µs for today's dates. [s]
    pub fn seconds(self) -> f64 {
        self.seconds_since(Self::ZERO)
    }

    /// Seconds from `earlier` to `self`, negative if it lies later. [s]
    pub fn seconds_since(self, earlier: Self) -> f64 {
        // Integers first: two of today's dates as `f64` seconds are only exact to 0.24 µs each.
        self.nanoseconds.saturating_sub(earlier.nanoseconds) as f64 * 1e-9
    }

    /// This instant, `seconds` later, to the nearest nanosecond; not a number moves nothing. [s]
    #[must_use]
    pub fn plus_seconds(self, seconds: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "saturates, and NaN becomes 0")]
        // An `f64` has whole nanoseconds up to 2⁵³ ns, 104 days; a longer difference is rounded.
        let nanoseconds = (seconds * 1e9).round() as i64;
        Self { nanoseconds: self.nanoseconds.saturating_add(nanoseconds) }
    }
}

impl Add<Duration> for Time {
    type Output = Self;
    fn add(self, duration: Duration) -> Self {
        // A `Duration` reaches beyond the 292 years of an `i64`: it saturates as seconds do.
        let nanoseconds = i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
        Self { nanoseconds: self.nanoseconds.saturating_add(nanoseconds) }
    }
}

impl Sub<Duration> for Time {
    type Output = Self;
    fn sub(self, duration: Duration) -> Self {
        let nanoseconds = i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
        Self { nanoseconds: self.nanoseconds.saturating_sub(nanoseconds) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_stay_exact_on_a_calendar_clock() {
        let now = Time::from_nanoseconds(1_790_000_000_000_000_001);
        let later = now.plus_seconds(0.001);
        assert_eq!(later.nanoseconds() - now.nanoseconds(), 1_000_000);
        assert!((later.seconds_since(now) - 0.001).abs() < 1e-18);
        assert!(now.seconds_since(now.plus_seconds(2.0)) < 0.0);
    }

    #[test]
    fn arithmetic_is_exact_and_saturates() {
        let start = Time::from_nanoseconds(1_700_000_000_000_000_000);
        let later = start + Duration::from_nanos(7);
        assert_eq!(later.nanoseconds(), 1_700_000_000_000_000_007);
        assert!((later.seconds_since(start) - 7e-9).abs() < f64::EPSILON * 7e-9);
        assert_eq!((start - Duration::from_nanos(7)) + Duration::from_nanos(7), start);
        assert_eq!(start.plus_seconds(-0.25).nanoseconds(), 1_699_999_999_750_000_000);
        assert_eq!(start.plus_seconds(f64::NAN), start);
        let last = Time::from_nanoseconds(i64::MAX);
        assert_eq!(last + Duration::MAX, last);
        assert_eq!(Time::MIN - Duration::MAX, Time::MIN);
    }
}
