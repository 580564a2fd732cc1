//! Throttle of warnings: at most one per period.

use std::{
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Throttle that is `ready` at most once per period. Thread-safe and lock-free.
///
/// ```
/// use std::time::Duration;
/// static LATE: karakuri_ros::Throttle = karakuri_ros::Throttle::new(Duration::from_secs(5));
/// if LATE.ready() {
///     karakuri_ros::warn!("command is late");
/// }
/// assert!(!LATE.ready());
/// ```
#[derive(Debug)]
pub struct Throttle {
    period_ms: u64,
    /// Instant of the next allowed event, in milliseconds since the process started.
    next_ms: AtomicU64,
}

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Throttle {
    /// Throttle of one event per `period`, the first at once.
    pub const fn new(period: Duration) -> Self {
        Self {
            period_ms: period.as_secs() * 1000 + period.subsec_millis() as u64,
            next_ms: AtomicU64::new(0),
        }
    }

    /// Whether an event may pass now.
    pub fn ready(&self) -> bool {
        let now = u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX);
        let next = self.next_ms.load(Ordering::Relaxed);
        now >= next
            && self
                .next_ms
                .compare_exchange(next, now + self.period_ms, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }
}
