//! Fixed deadlines on the monotonic clock.

use std::time::{Duration, Instant};

use rustix::thread::{NanosleepRelativeResult, nanosleep};
use rustix::time::Timespec;

use super::ports::Ports;

/// How long a missed deadline is worth a word.
const MOMENT: Duration = Duration::from_secs(2);

/// The deadlines of cycles: a grid that nothing shifts.
#[derive(Debug)]
pub(super) struct Deadlines {
    period: Duration,
    /// Of the next cycle; none before the first.
    next: Option<Instant>,
    passed: u64,
    missed: u64,
    /// When one was missed last.
    was_late: Option<Instant>,
}

impl Deadlines {
    /// A grid of a period [s] that begins with the first cycle.
    pub(super) fn new(period: f64) -> Self {
        let period = Duration::from_secs_f64(period);
        Self { period, next: None, passed: 0, missed: 0, was_late: None }
    }

    /// Waits for the next deadline; when its cycle has to end.
    pub(super) fn wait(&mut self, ports: &mut dyn Ports) -> Instant {
        let deadline = self.next(ports.now());
        ports.sleep_until(deadline);
        deadline + self.period
    }

    /// The deadline of the next cycle, for a caller at `now`. Those that have passed by a whole period are skipped: made up for, they
    /// would be a burst.
    fn next(&mut self, now: Instant) -> Instant {
        let skipped = self.skip(now);
        self.missed += skipped;
        if skipped > 0 {
            self.was_late = Some(now);
        }
        let deadline = *self.next.get_or_insert(now);
        self.passed += 1;
        self.next = Some(deadline + self.period);
        deadline
    }

    /// Passes the deadlines until `now` by: there was no cycle to be late for.
    pub(super) fn pass_by(&mut self, now: Instant) {
        self.skip(now);
    }

    /// Leaves out the deadlines that have passed by a whole period; how many.
    fn skip(&mut self, now: Instant) -> u64 {
        let Some(next) = &mut self.next else { return 0 };
        let late = now.saturating_duration_since(*next);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and far fewer than 2^32 periods"
        )]
        let skipped = (late.as_secs_f64() / self.period.as_secs_f64()) as u32;
        *next += self.period * skipped;
        self.passed += u64::from(skipped);
        skipped.into()
    }

    /// Time until the next deadline; none before the first, which is at once. [s]
    pub(super) fn until_next(&self, now: Instant) -> f64 {
        let left = |next: Instant| next.saturating_duration_since(now);
        self.next.map_or(0.0, |next| left(next).as_secs_f64())
    }

    /// Deadlines that have passed, with those that were missed.
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    /// Whether one was missed a moment ago.
    pub(super) fn was_late(&self, now: Instant) -> bool {
        self.was_late.is_some_and(|at| now.saturating_duration_since(at) < MOMENT)
    }

    /// Deadlines that were missed.
    pub(super) fn missed(&self) -> u64 {
        self.missed
    }
}

/// Sleeps until an instant, whatever signals come.
pub(super) fn sleep_until(deadline: Instant) {
    let left = deadline.saturating_duration_since(Instant::now());
    let Ok(mut left) = Timespec::try_from(left) else { return };
    while let NanosleepRelativeResult::Interrupted(rest) = nanosleep(&left) {
        left = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::super::ports::SerialPorts;
    use super::*;

    #[test]
    fn late_cycles_keep_the_grid_and_missed_ones_are_skipped() {
        let start = Instant::now();
        let ms = |n| start + Duration::from_millis(n);
        let mut deadlines = Deadlines::new(0.010);
        assert_eq!(deadlines.next(start), start);
        assert_eq!(deadlines.next(ms(3)), ms(10), "early: it waits");
        assert_eq!(deadlines.next(ms(25)), ms(20), "late: at once");
        assert_eq!(deadlines.missed(), 0);
        assert_eq!(deadlines.next(ms(75)), ms(70), "30 ms to 60 ms are skipped");
        assert_eq!(deadlines.next(ms(76)), ms(80), "and not made up for");
        assert_eq!((deadlines.missed(), deadlines.passed()), (4, 9));
        deadlines.pass_by(ms(125));
        assert_eq!(deadlines.next(ms(126)), ms(120), "the grid stays");
        assert_eq!((deadlines.missed(), deadlines.passed()), (4, 13), "nothing was missed");
    }

    #[test]
    fn cycles_take_their_period() {
        let mut deadlines = Deadlines::new(0.005);
        let start = Instant::now();
        let end = (0..5).map(|_| deadlines.wait(&mut SerialPorts)).last().unwrap();
        assert!(start.elapsed() >= Duration::from_millis(20), "{:?}", start.elapsed());
        assert!(end >= start + Duration::from_millis(25));
    }
}
