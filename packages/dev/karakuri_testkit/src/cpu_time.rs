//! CPU time of the calling thread, also as a measurement of criterion, so that a busy machine does not count.

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use rustix::time::{ClockId, clock_gettime};

/// CPU time that this thread has used so far. [s]
pub fn cpu_seconds() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + 1e-9 * now.tv_nsec as f64
}

/// CPU time of this thread. [ns]
#[derive(Debug, Clone, Copy, Default)]
pub struct CpuTime;

impl Measurement for CpuTime {
    type Intermediate = f64;
    type Value = f64;

    fn start(&self) -> f64 {
        1e9 * cpu_seconds()
    }

    fn end(&self, start: f64) -> f64 {
        self.start() - start
    }

    fn add(&self, a: &f64, b: &f64) -> f64 {
        a + b
    }

    fn zero(&self) -> f64 {
        0.0
    }

    fn to_f64(&self, value: &f64) -> f64 {
        *value
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}
