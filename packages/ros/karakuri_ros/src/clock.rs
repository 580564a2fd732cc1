//! ROS time: the system clock, or `/clock` when the parameter `use_sim_time` is true.

use std::{
    ops::{Add, Sub},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::msg::builtin_interfaces::msg::Time as TimeMessage;

const NANOSECONDS: i64 = 1_000_000_000;

/// A point in ROS time. Exact: whole nanoseconds, as in messages. [ns]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time {
    nanoseconds: i64,
}

impl Time {
    /// Time zero: in a message's stamp it means "not set" or "now".
    pub const ZERO: Self = Self { nanoseconds: 0 };

    /// The time so many nanoseconds after zero. [ns]
    pub const fn from_nanoseconds(nanoseconds: i64) -> Self {
        Self { nanoseconds }
    }

    /// Nanoseconds since zero. [ns]
    pub const fn nanoseconds(self) -> i64 {
        self.nanoseconds
    }

    /// Seconds since zero; exact to 0.5 µs for today's dates. [s]
    pub fn seconds(self) -> f64 {
        self.nanoseconds as f64 / NANOSECONDS as f64
    }

    /// Seconds from `earlier` to this time, negative if it lies later. [s]
    pub fn seconds_since(self, earlier: Self) -> f64 {
        (self.nanoseconds.saturating_sub(earlier.nanoseconds)) as f64 / NANOSECONDS as f64
    }

    /// This time, `seconds` later; a non-finite value moves nothing. [s]
    #[must_use]
    pub fn plus_seconds(self, seconds: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "saturates, and NaN becomes 0")]
        let nanoseconds = (seconds * NANOSECONDS as f64).round() as i64;
        Self { nanoseconds: self.nanoseconds.saturating_add(nanoseconds) }
    }

    /// As a message's stamp.
    pub fn to_message(self) -> TimeMessage {
        let seconds = self.nanoseconds.div_euclid(NANOSECONDS);
        TimeMessage {
            sec: i32::try_from(seconds).unwrap_or(if seconds < 0 { i32::MIN } else { i32::MAX }),
            nanosec: u32::try_from(self.nanoseconds.rem_euclid(NANOSECONDS)).unwrap_or_default(),
        }
    }
}

impl From<&TimeMessage> for Time {
    fn from(stamp: &TimeMessage) -> Self {
        Self { nanoseconds: i64::from(stamp.sec) * NANOSECONDS + i64::from(stamp.nanosec) }
    }
}

impl From<Time> for TimeMessage {
    fn from(time: Time) -> Self {
        time.to_message()
    }
}

impl Add<Duration> for Time {
    type Output = Self;
    fn add(self, duration: Duration) -> Self {
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

/// The node's clock. Clones share it; reading takes no lock, from any thread.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    use_sim_time: AtomicBool,
    sim_nanoseconds: AtomicI64,
}

impl Clock {
    /// ROS time now. With `use_sim_time` it is zero until the first `/clock`.
    pub fn now(&self) -> Time {
        if self.uses_sim_time() {
            Time { nanoseconds: self.shared.sim_nanoseconds.load(Ordering::Acquire) }
        } else {
            let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Time { nanoseconds: i64::try_from(since_epoch.as_nanos()).unwrap_or(i64::MAX) }
        }
    }

    /// Whether time comes from `/clock`.
    pub fn uses_sim_time(&self) -> bool {
        self.shared.use_sim_time.load(Ordering::Acquire)
    }

    pub(crate) fn use_sim_time(&self, on: bool) {
        self.shared.use_sim_time.store(on, Ordering::Release);
    }

    /// Takes a time from `/clock`; true if it lies before the last one.
    pub(crate) fn set_sim_time(&self, time: Time) -> bool {
        let before = self.shared.sim_nanoseconds.swap(time.nanoseconds, Ordering::AcqRel);
        time.nanoseconds < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_survives_the_round_trip() {
        for nanoseconds in [0, 1, 999_999_999, 1_000_000_000, 1_700_000_000_123_456_789, -1] {
            let time = Time::from_nanoseconds(nanoseconds);
            assert_eq!(Time::from(&time.to_message()), time, "{nanoseconds} ns");
        }
    }

    #[test]
    fn arithmetic_is_exact_and_saturates() {
        let start = Time::from_nanoseconds(1_700_000_000_000_000_000);
        assert_eq!((start + Duration::from_nanos(7)).nanoseconds(), 1_700_000_000_000_000_007);
        assert!(
            ((start + Duration::from_nanos(7)).seconds_since(start) - 7e-9).abs()
                < f64::EPSILON * 7e-9
        );
        assert_eq!(start.plus_seconds(-0.25).nanoseconds(), 1_699_999_999_750_000_000);
        assert_eq!(start.plus_seconds(f64::NAN), start);
        assert_eq!(
            Time::from_nanoseconds(i64::MAX) + Duration::MAX,
            Time::from_nanoseconds(i64::MAX)
        );
    }

    #[test]
    fn sim_time_reports_a_jump_back() {
        let clock = Clock::default();
        clock.use_sim_time(true);
        assert_eq!(clock.now(), Time::ZERO);
        assert!(!clock.set_sim_time(Time::from_nanoseconds(5)));
        assert!(!clock.set_sim_time(Time::from_nanoseconds(5)));
        assert!(clock.set_sim_time(Time::from_nanoseconds(4)));
        assert_eq!(clock.now().nanoseconds(), 4);
        clock.use_sim_time(false);
        assert!(clock.now().seconds() > 1e9);
    }
}
