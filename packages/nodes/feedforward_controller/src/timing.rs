//! How long an answer takes and how evenly answers come, in wall time, from one report to the next.

use std::time::{Duration, Instant};

use karakuri_ros::Status;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Timing {
    /// When the sample in hand came.
    arrived: Option<Instant>,
    /// When the last one was answered.
    answered: Option<Instant>,
    seen: Seen,
}

/// Since the last report.
#[derive(Debug, Default)]
struct Seen {
    n_answers: u32,
    total_latency: Duration,
    longest_latency: Duration,
    shortest_interval: Option<Duration>,
    longest_interval: Duration,
}

impl Timing {
    /// A sample came.
    pub(crate) fn arrived(&mut self) {
        self.arrived = Some(Instant::now());
    }

    /// The sample in hand was answered.
    pub(crate) fn answered(&mut self) {
        let now = Instant::now();
        let seen = &mut self.seen;
        if let Some(arrived) = self.arrived.take() {
            let latency = now - arrived;
            seen.n_answers += 1;
            seen.total_latency += latency;
            seen.longest_latency = seen.longest_latency.max(latency);
        }
        if let Some(last) = self.answered.replace(now) {
            let interval = now - last;
            seen.shortest_interval =
                Some(seen.shortest_interval.map_or(interval, |shortest| shortest.min(interval)));
            seen.longest_interval = seen.longest_interval.max(interval);
        }
    }

    /// Adds what was seen since the last report. [µs]
    pub(crate) fn report(&mut self, status: Status) -> Status {
        let seen = core::mem::take(&mut self.seen);
        let mean = seen.total_latency.checked_div(seen.n_answers).unwrap_or_default();
        status
            .value("n_answers", seen.n_answers)
            .value("latency_mean_us", mean.as_micros())
            .value("latency_longest_us", seen.longest_latency.as_micros())
            .value("interval_shortest_us", seen.shortest_interval.unwrap_or_default().as_micros())
            .value("interval_longest_us", seen.longest_interval.as_micros())
    }
}
