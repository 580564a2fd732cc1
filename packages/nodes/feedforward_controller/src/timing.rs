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
    /// From a sample to its answer, and from one answer to the next; since the last report.
    latency: Spread,
    interval: Spread,
}

/// Eight bins an octave of nanoseconds, up to 17 s: each is at most an eighth wide.
const N_BINS: usize = 8 * 33;

/// How durations are spread.
#[derive(Debug)]
struct Spread {
    counts: [u32; N_BINS],
    n: u32,
    total: Duration,
    shortest: Duration,
    longest: Duration,
}

impl Default for Spread {
    fn default() -> Self {
        Self {
            counts: [0; N_BINS],
            n: 0,
            total: Duration::ZERO,
            shortest: Duration::MAX,
            longest: Duration::ZERO,
        }
    }
}

/// The bin of so many nanoseconds: below 8 one each, then by the exponent and the three bits that follow the first.
fn bin(nanoseconds: u64) -> usize {
    let n = nanoseconds.max(8);
    let exponent = n.ilog2() - 3;
    let index = 8 * u64::from(exponent) + (n >> exponent) - 8;
    usize::try_from(index).map_or(N_BINS - 1, |index| index.min(N_BINS - 1))
}

/// Where a bin ends. [ns]
fn end_of(bin: usize) -> u64 {
    let (exponent, eighths) = (bin / 8, bin % 8);
    (8 + eighths as u64 + 1) << exponent
}

impl Spread {
    fn add(&mut self, duration: Duration) {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.counts[bin(nanoseconds)] += 1;
        self.n += 1;
        self.total += duration;
        self.shortest = self.shortest.min(duration);
        self.longest = self.longest.max(duration);
    }

    /// What so many percent do not exceed, an eighth too long at most.
    fn percentile(&self, percent: u32) -> Duration {
        let wanted = u64::from(self.n) * u64::from(percent);
        let mut seen = 0;
        for (bin, count) in self.counts.iter().enumerate() {
            seen += 100 * u64::from(*count);
            if seen >= wanted {
                return Duration::from_nanos(end_of(bin)).min(self.longest);
            }
        }
        self.longest
    }

    fn mean(&self) -> Duration {
        self.total.checked_div(self.n).unwrap_or_default()
    }

    fn report(&self, status: Status, name: &str) -> Status {
        let shortest = if self.n > 0 { self.shortest } else { Duration::ZERO };
        let figures = [
            ("shortest", shortest),
            ("mean", self.mean()),
            ("p50", self.percentile(50)),
            ("p99", self.percentile(99)),
            ("longest", self.longest),
        ];
        figures.into_iter().fold(status, |status, (figure, duration)| {
            status.value(&format!("{name}_{figure}_us"), duration.as_micros())
        })
    }
}

impl Timing {
    /// A sample came.
    pub(crate) fn arrived(&mut self) {
        self.arrived = Some(Instant::now());
    }

    /// The sample in hand was answered.
    pub(crate) fn answered(&mut self) {
        let now = Instant::now();
        if let Some(arrived) = self.arrived.take() {
            self.latency.add(now - arrived);
        }
        if let Some(last) = self.answered.replace(now) {
            self.interval.add(now - last);
        }
    }

    /// Adds what was seen since the last report. [µs]
    pub(crate) fn report(&mut self, status: Status) -> Status {
        let (latency, interval) =
            (core::mem::take(&mut self.latency), core::mem::take(&mut self.interval));
        let status = status.value("n_answers", latency.n);
        interval.report(latency.report(status, "latency"), "interval")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_what_they_say() {
        for nanoseconds in (0..200).chain([1_000, 999_999, 1_000_000, 17_000_000_000]) {
            let end = end_of(bin(nanoseconds));
            assert!(nanoseconds < end, "{nanoseconds} in a bin up to {end}");
            let wide = nanoseconds.max(8) + nanoseconds.max(8) / 8 + 1;
            assert!(end <= wide, "{nanoseconds} in a bin up to {end}");
        }
        assert_eq!(bin(u64::MAX), N_BINS - 1);
    }

    #[test]
    fn percentiles_of_a_ramp() {
        let mut spread = Spread::default();
        (1..=1000).for_each(|us| spread.add(Duration::from_micros(us)));
        for (percent, exact) in [(50, 500.0), (99, 990.0), (100, 1000.0)] {
            let seen = spread.percentile(percent).as_secs_f64() * 1e6;
            assert!(seen >= exact && seen <= 1.13 * exact, "{percent} %: {seen} µs");
        }
        assert_eq!(spread.shortest, Duration::from_micros(1));
        assert_eq!(spread.longest, Duration::from_millis(1));
        assert_eq!(Spread::default().percentile(99), Duration::ZERO);
    }
}
