//! ROS time: the system clock, or `/clock` when the parameter `use_sim_time` is true.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use karakuri_spatial::Time;

use crate::{IntoMessage, msg::builtin_interfaces::msg::Time as TimeMessage};

const NANOSECONDS: i64 = 1_000_000_000;

impl IntoMessage<TimeMessage> for Time {
    fn to_message(&self) -> TimeMessage {
        let seconds = self.nanoseconds().div_euclid(NANOSECONDS);
        TimeMessage {
            sec: i32::try_from(seconds).unwrap_or(if seconds < 0 { i32::MIN } else { i32::MAX }),
            nanosec: u32::try_from(self.nanoseconds().rem_euclid(NANOSECONDS)).unwrap_or_default(),
        }
    }
}

/// Instant of a stamp.
pub fn time_from_message(stamp: &TimeMessage) -> Time {
    Time::from_nanoseconds(i64::from(stamp.sec) * NANOSECONDS + i64::from(stamp.nanosec))
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
            Time::from_nanoseconds(self.shared.sim_nanoseconds.load(Ordering::Acquire))
        } else {
            let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Time::from_nanoseconds(i64::try_from(since_epoch.as_nanos()).unwrap_or(i64::MAX))
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
        let before = self.shared.sim_nanoseconds.swap(time.nanoseconds(), Ordering::AcqRel);
        time.nanoseconds() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_survives_the_round_trip() {
        for nanoseconds in [0, 1, 999_999_999, 1_000_000_000, 1_700_000_000_123_456_789, -1] {
            let time = Time::from_nanoseconds(nanoseconds);
            assert_eq!(time_from_message(&time.to_message()), time, "{nanoseconds} ns");
        }
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
