//! Rate of acts: so many within any minute.

use std::collections::VecDeque;

use crate::refusal::{Code, Refusal};

/// Length of a minute. [s]
const MINUTE: f64 = 60.0;

/// Times of the acts of the last minute, by the latest reading of the clock so far: while a clock that was set back catches up, no
/// act leaves the minute.
#[derive(Debug, Default)]
pub(crate) struct Rate {
    acts: VecDeque<f64>,
    latest: Option<f64>,
}

impl Rate {
    /// Number of acts that are within the limit now.
    pub(crate) fn left(&mut self, most: u32, now: f64) -> u32 {
        let now = self.advance(now);
        while self.acts.front().is_some_and(|&act| now - act >= MINUTE) {
            self.acts.pop_front();
        }
        let n = u32::try_from(self.acts.len()).unwrap_or(u32::MAX);
        most.saturating_sub(n)
    }

    /// Checks that another act is within the limit.
    pub(crate) fn check(&mut self, most: u32, now: f64) -> Result<(), Refusal> {
        if self.left(most, now) > 0 {
            return Ok(());
        }
        let hint = "wait until an act is a minute ago";
        let refusal = Refusal::new(Code::OutsideEnvelope, hint);
        Err(refusal.of("acts_per_minute", self.acts.len()).within(format!("[0, {most}]")))
    }

    /// Counts an act.
    pub(crate) fn count(&mut self, now: f64) {
        let now = self.advance(now);
        self.acts.push_back(now);
    }

    fn advance(&mut self, now: f64) -> f64 {
        let latest = self.latest.map_or(now, |latest| latest.max(now));
        if latest.is_finite() {
            self.latest = Some(latest);
        }
        self.latest.unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn act(rate: &mut Rate, now: f64) -> bool {
        let is_free = rate.check(3, now).is_ok();
        if is_free {
            rate.count(now);
        }
        is_free
    }

    #[test]
    fn an_act_more_than_the_limit_waits_for_the_minute() {
        let mut rate = Rate::default();
        let times = [0.0, 10.0, 20.0, 59.9, 60.0, 60.1, 70.0];
        let free = times.map(|now| act(&mut rate, now));
        assert_eq!(free, [true, true, true, false, true, false, true]);
    }

    #[test]
    fn a_clock_that_is_set_back_frees_nothing() {
        let mut rate = Rate::default();
        assert!([100.0, 101.0, 102.0].into_iter().all(|now| act(&mut rate, now)));
        for now in [103.0, 0.0, 59.0, f64::NAN, f64::NEG_INFINITY, 159.0] {
            assert!(!act(&mut rate, now), "{now}");
        }
        assert!(act(&mut rate, 160.0));
    }

    #[test]
    fn acts_while_the_clock_was_back_count_once_it_is_right() {
        let mut rate = Rate::default();
        assert!(rate.check(3, 100.0).is_ok());
        assert!([-1000.0, -999.0, -998.0].into_iter().all(|now| act(&mut rate, now)));
        assert!(!act(&mut rate, 101.0));
    }

    #[test]
    fn a_refusal_says_how_many_there_were() {
        let refusal = Rate::default().check(0, 5.0).unwrap_err();
        assert_eq!(refusal.code, Code::OutsideEnvelope);
        assert_eq!(refusal.range.as_deref(), Some("[0, 0]"));
    }
}
