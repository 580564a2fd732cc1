//! Load of samples on the machine.

/// Meter of the wall time that samples take between two reports.
#[derive(Debug, Default)]
pub struct LoadMeter {
    /// Wall time [s] and stamp [ns] of the last report.
    since: f64,
    stamp: i64,
    busy: f64,
    longest: f64,
}

/// Load between two reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Seconds of sample time per second of wall time; 0 when the clock jumped back. [-]
    pub real_time_factor: f64,
    /// Wall time spent on samples. [s]
    pub busy: f64,
    /// Wall time spent idle. [s]
    pub idle: f64,
    /// Wall time of the longest sample. [s]
    pub longest: f64,
}

impl LoadMeter {
    /// Books a sample that took `spent` of wall time. [s]
    pub fn add(&mut self, spent: f64) {
        self.busy += spent;
        self.longest = self.longest.max(spent);
    }

    /// Load since the last report, at wall time `now` [s] and sample `stamp` [ns].
    pub fn report(&mut self, now: f64, stamp: i64) -> Load {
        let last = std::mem::replace(self, Self { since: now, stamp, ..Self::default() });
        let passed = now - last.since;
        let simulated = stamp.saturating_sub(last.stamp) as f64 / 1e9;
        Load {
            real_time_factor: (simulated / passed).max(0.0),
            busy: last.busy,
            idle: passed - last.busy,
            longest: last.longest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_covers_the_time_since_the_last_one() {
        let mut meter = LoadMeter::default();
        meter.report(1.0, 500_000_000);
        meter.add(0.25);
        meter.add(0.5);
        let load = meter.report(3.0, 4_500_000_000);
        let expected = Load { real_time_factor: 2.0, busy: 0.75, idle: 1.25, longest: 0.5 };
        assert_eq!(load, expected);
        let load = meter.report(4.0, 2_000_000);
        let expected = Load { real_time_factor: 0.0, busy: 0.0, idle: 1.0, longest: 0.0 };
        assert_eq!(load, expected, "a clock that jumped back");
    }
}
