//! Latencies of answers and the intervals between them, in wall time, from one report to the next.
//!
//! The thread that answers counts, another one reports: they share atomic numbers, and no lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::Status;

/// Latencies and intervals of answers since the last report.
#[derive(Debug, Default)]
pub struct Timing {
    /// Time from a sample to its answer.
    latency: Spread,
    /// Time from one answer to the next.
    interval: Spread,
    /// Count of the samples that came.
    n_arrived: AtomicU64,
}

/// Stopwatch that measures answers on the thread that gives them.
#[derive(Debug)]
pub struct Stopwatch {
    timing: Arc<Timing>,
    /// Arrival of the present sample.
    arrived: Option<Instant>,
    /// Instant of the last answer.
    answered: Option<Instant>,
}

/// Eight bins an octave of nanoseconds, up to 17 s: each is at most an eighth wide.
const N_BINS: usize = 8 * 33;

/// Histogram of durations, filled as they come.
#[derive(Debug)]
struct Spread {
    counts: [AtomicU32; N_BINS],
    total: AtomicU64,
    shortest: AtomicU64,
    longest: AtomicU64,
}

impl Default for Spread {
    fn default() -> Self {
        Self {
            counts: [const { AtomicU32::new(0) }; N_BINS],
            total: AtomicU64::new(0),
            shortest: AtomicU64::new(u64::MAX),
            longest: AtomicU64::new(0),
        }
    }
}

/// Histogram of durations, as taken for a report. [ns]
struct Figures {
    counts: [u32; N_BINS],
    n: u32,
    total: u64,
    shortest: u64,
    longest: u64,
}

/// Bin of a duration: below 8 ns one each, then by the exponent and the three bits that follow the leading one.
fn bin(nanoseconds: u64) -> usize {
    let n = nanoseconds.max(8);
    let exponent = n.ilog2() - 3;
    let index = 8 * u64::from(exponent) + (n >> exponent) - 8;
    usize::try_from(index).map_or(N_BINS - 1, |index| index.min(N_BINS - 1))
}

/// End of a bin. [ns]
fn end_of(bin: usize) -> u64 {
    let (exponent, eighths) = (bin / 8, bin % 8);
    (8 + eighths as u64 + 1) << exponent
}

impl Spread {
    fn add(&self, duration: Duration) {
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.counts[bin(nanoseconds)].fetch_add(1, Ordering::Relaxed);
        self.total.fetch_add(nanoseconds, Ordering::Relaxed);
        self.shortest.fetch_min(nanoseconds, Ordering::Relaxed);
        self.longest.fetch_max(nanoseconds, Ordering::Relaxed);
    }

    /// Takes the counts and starts from zero; a duration that is counted meanwhile may be split between the two.
    fn take(&self) -> Figures {
        let counts = self.counts.each_ref().map(|count| count.swap(0, Ordering::Relaxed));
        Figures {
            n: counts.iter().sum(),
            counts,
            total: self.total.swap(0, Ordering::Relaxed),
            shortest: self.shortest.swap(u64::MAX, Ordering::Relaxed),
            longest: self.longest.swap(0, Ordering::Relaxed),
        }
    }
}

impl Figures {
    /// Duration that so many percent do not exceed, at most an eighth too long. [ns]
    fn percentile(&self, percent: u32) -> u64 {
        let rank = u64::from(self.n) * u64::from(percent);
        let mut seen = 0;
        for (bin, count) in self.counts.iter().enumerate() {
            seen += 100 * u64::from(*count);
            if seen >= rank {
                return end_of(bin).min(self.longest);
            }
        }
        self.longest
    }

    /// Adds the figures to a status, in microseconds.
    fn report(&self, status: Status, name: &str) -> Status {
        let shortest = if self.n > 0 { self.shortest } else { 0 };
        let figures = [
            ("shortest", shortest),
            ("mean", self.total.checked_div(self.n.into()).unwrap_or(0)),
            ("p50", self.percentile(50)),
            ("p99", self.percentile(99)),
            ("longest", self.longest),
        ];
        figures.into_iter().fold(status, |status, (figure, nanoseconds)| {
            status.value(&format!("{name}_{figure}_us"), nanoseconds / 1000)
        })
    }
}

impl Timing {
    /// Count of the samples that came since the start.
    pub fn n_arrived(&self) -> u64 {
        self.n_arrived.load(Ordering::Relaxed)
    }

    /// Adds the figures since the last report. [µs]
    pub fn report(&self, status: Status) -> Status {
        let (latency, interval) = (self.latency.take(), self.interval.take());
        let status = status.value("n_answers", latency.n);
        interval.report(latency.report(status, "latency"), "interval")
    }
}

impl Stopwatch {
    /// Stopwatch that counts in `timing`.
    pub fn new(timing: Arc<Timing>) -> Self {
        Self { timing, arrived: None, answered: None }
    }

    /// Notes that a sample came.
    pub fn arrived(&mut self) {
        self.arrived = Some(Instant::now());
        self.timing.n_arrived.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that the present sample was answered.
    pub fn answered(&mut self) {
        let now = Instant::now();
        if let Some(arrived) = self.arrived.take() {
            self.timing.latency.add(now - arrived);
        }
        if let Some(last) = self.answered.replace(now) {
            self.timing.interval.add(now - last);
        }
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
        let spread = Spread::default();
        (1..=1000).for_each(|us| spread.add(Duration::from_micros(us)));
        let figures = spread.take();
        for (percent, exact) in [(50, 500.0), (99, 990.0), (100, 1000.0)] {
            let seen = figures.percentile(percent) as f64 * 1e-3;
            assert!(seen >= exact && seen <= 1.13 * exact, "{percent} %: {seen} µs");
        }
        assert_eq!((figures.n, figures.shortest, figures.longest), (1000, 1000, 1_000_000));
        let none = spread.take();
        assert_eq!((none.n, none.percentile(99)), (0, 0), "counted from zero");
    }
}
