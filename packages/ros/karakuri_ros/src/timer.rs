//! Timers on the spin thread, in ROS time or in wall time.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use karakuri_spatial::Time;

use crate::Clock;

/// Handle of a running timer. Dropping it changes nothing.
#[derive(Clone)]
pub struct Timer {
    control: Arc<Control>,
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer").field("period", &self.control.period()).finish_non_exhaustive()
    }
}

struct Control {
    period_ns: AtomicU64,
    restart: AtomicBool,
    canceled: AtomicBool,
}

impl Control {
    fn period(&self) -> Duration {
        Duration::from_nanos(self.period_ns.load(Ordering::Acquire))
    }
}

impl Timer {
    fn new(period: Duration) -> Self {
        let control = Control {
            period_ns: AtomicU64::new(nanoseconds(period)),
            restart: AtomicBool::new(false),
            canceled: AtomicBool::new(false),
        };
        Self { control: Arc::new(control) }
    }

    /// Ticks every `period` from now on; zero means as often as possible.
    pub fn set_period(&self, period: Duration) {
        self.control.period_ns.store(nanoseconds(period), Ordering::Release);
        self.reset();
    }

    /// Restarts the period, also after a cancel.
    pub fn reset(&self) {
        self.control.canceled.store(false, Ordering::Release);
        self.control.restart.store(true, Ordering::Release);
    }

    /// Stops ticking until [`Timer::reset`].
    pub fn cancel(&self) {
        self.control.canceled.store(true, Ordering::Release);
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[derive(Clone, Copy, PartialEq)]
enum Due {
    Wall(Instant),
    Ros(Time),
}

struct Entry<S> {
    control: Arc<Control>,
    due: Due,
    callback: Box<dyn FnMut(&mut S)>,
}

/// All timers of a node.
pub(crate) struct Timers<S> {
    entries: Vec<Entry<S>>,
}

impl<S> Timers<S> {
    pub(crate) fn new() -> Self {
        Self { entries: Vec::new() }
    }

    pub(crate) fn add_wall(&mut self, period: Duration, callback: Box<dyn FnMut(&mut S)>) -> Timer {
        let due = Due::Wall(Instant::now() + period.min(Duration::from_secs(1 << 31)));
        self.add(period, due, callback)
    }

    pub(crate) fn add_ros(
        &mut self,
        period: Duration,
        clock: &Clock,
        callback: Box<dyn FnMut(&mut S)>,
    ) -> Timer {
        self.add(period, Due::Ros(clock.now() + period), callback)
    }

    fn add(&mut self, period: Duration, due: Due, callback: Box<dyn FnMut(&mut S)>) -> Timer {
        let timer = Timer::new(period);
        self.entries.push(Entry { control: Arc::clone(&timer.control), due, callback });
        timer
    }

    /// Time until the next tick; at most `limit`. Periods that were changed since the last round count from now.
    pub(crate) fn until_next(&mut self, clock: &Clock, limit: Duration) -> Duration {
        self.entries.iter_mut().for_each(|entry| entry.restart_if_asked(clock));
        let running = self.entries.iter().filter(|e| !e.control.canceled.load(Ordering::Acquire));
        running.fold(limit, |wait, entry| match entry.due {
            Due::Wall(due) => wait.min(due.saturating_duration_since(Instant::now())),
            // simulated time advances only when a message comes
            Due::Ros(due) if clock.uses_sim_time() => {
                if clock.now() >= due {
                    Duration::ZERO
                } else {
                    wait
                }
            }
            Due::Ros(due) => {
                let left = due.nanoseconds().saturating_sub(clock.now().nanoseconds());
                wait.min(Duration::from_nanos(u64::try_from(left).unwrap_or(0)))
            }
        })
    }

    /// Calls the callbacks that are due; true if there were any.
    pub(crate) fn run(&mut self, state: &mut S, clock: &Clock) -> bool {
        let mut ticked = false;
        for entry in &mut self.entries {
            entry.restart_if_asked(clock);
            let period = entry.control.period();
            if entry.control.canceled.load(Ordering::Acquire) || !entry.is_due(period, clock) {
                continue;
            }
            entry.advance(period, clock);
            (entry.callback)(state);
            ticked = true;
        }
        ticked
    }
}

impl<S> Entry<S> {
    fn restart_if_asked(&mut self, clock: &Clock) {
        if !self.control.restart.swap(false, Ordering::AcqRel) {
            return;
        }
        let period = self.control.period();
        self.due = match self.due {
            Due::Wall(_) => Due::Wall(Instant::now() + period),
            Due::Ros(_) => Due::Ros(clock.now() + period),
        };
    }

    fn is_due(&mut self, period: Duration, clock: &Clock) -> bool {
        match self.due {
            Due::Wall(due) => Instant::now() >= due,
            Due::Ros(due) => {
                let now = clock.now();
                if now + period < due {
                    // the clock jumped back: wait one period of the new time
                    self.due = Due::Ros(now + period);
                    return false;
                }
                // before the first `/clock` there is no time
                now >= due && now > Time::ZERO
            }
        }
    }

    /// Advances to the next multiple of the period after now: missed ticks are skipped, the phase is kept.
    fn advance(&mut self, period: Duration, clock: &Clock) {
        self.due = match self.due {
            Due::Wall(due) => {
                let late = Instant::now().saturating_duration_since(due);
                Due::Wall(due + next_multiple(late, period))
            }
            Due::Ros(due) => {
                let late = clock.now().nanoseconds().saturating_sub(due.nanoseconds());
                let late = Duration::from_nanos(u64::try_from(late).unwrap_or(0));
                Due::Ros(due + next_multiple(late, period))
            }
        };
    }
}

fn next_multiple(late: Duration, period: Duration) -> Duration {
    let period_ns = nanoseconds(period);
    match nanoseconds(late).checked_div(period_ns) {
        Some(missed) => Duration::from_nanos(period_ns.saturating_mul(missed + 1)),
        None => late,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missed_ticks_are_skipped_and_the_phase_is_kept() {
        let ms = Duration::from_millis;
        assert_eq!(next_multiple(ms(0), ms(10)), ms(10));
        assert_eq!(next_multiple(ms(9), ms(10)), ms(10));
        assert_eq!(next_multiple(ms(25), ms(10)), ms(30));
        assert_eq!(next_multiple(ms(25), ms(0)), ms(25));
    }

    #[test]
    fn a_new_period_counts_before_the_next_wait() {
        let clock = Clock::default();
        let mut timers = Timers::<()>::new();
        let (long, short) = (Duration::from_secs(60), Duration::from_millis(1));
        let timer = timers.add_wall(long, Box::new(|()| {}));
        assert!(timers.until_next(&clock, long) > short);
        timer.set_period(short);
        assert!(timers.until_next(&clock, long) <= short);
    }

    #[test]
    fn a_ros_timer_follows_the_simulated_clock() {
        let clock = Clock::default();
        clock.use_sim_time(true);
        let mut timers = Timers::<u32>::new();
        let timer =
            timers.add_ros(Duration::from_millis(10), &clock, Box::new(|count| *count += 1));
        let mut count = 0;
        let mut at = |ms: i64, timers: &mut Timers<u32>| {
            clock.set_sim_time(Time::from_nanoseconds(ms * 1_000_000));
            timers.run(&mut count, &clock);
            count
        };
        assert_eq!(at(0, &mut timers), 0);
        assert_eq!(at(10, &mut timers), 1);
        assert_eq!(at(19, &mut timers), 1);
        assert_eq!(at(45, &mut timers), 2, "one tick for a jump ahead");
        assert_eq!(at(50, &mut timers), 3, "and the phase stays");
        assert_eq!(at(5, &mut timers), 3, "a jump back starts a new period");
        assert_eq!(at(15, &mut timers), 4);
        timer.cancel();
        assert_eq!(at(100, &mut timers), 4);
        timer.reset();
        assert_eq!(at(101, &mut timers), 4);
        assert_eq!(at(111, &mut timers), 5);
    }
}
