//! Samples that piled up while the middleware stood still, and then arrive all at once: the state that they show is past.

use std::time::{Duration, Instant};

use karakuri_spatial::Time;

/// Silence after which samples may have piled up: the controller then counts the robot as without commands, too.
const SILENCE: Duration = Duration::from_millis(20);
/// Longest backlog that is skipped: beyond it the simulation runs as fast as it can, or was paused. [s]
const LONGEST: f64 = 0.4;

/// Detector of samples that piled up, from the times of arrival and the stamps.
#[derive(Debug, Default)]
pub struct Backlog {
    /// Arrival and stamp of the last sample.
    last: Option<(Instant, Time)>,
    /// Sample time that may still be piled up. [s]
    left: f64,
}

impl Backlog {
    /// Whether newer samples than this one, which came at `arrival`, are about to be received. Of a pile the last one is taken,
    /// or the first after it.
    pub fn is_outdated(&mut self, arrival: Instant, stamp: Time) -> bool {
        let Some((last_arrival, last_stamp)) = self.last.replace((arrival, stamp)) else {
            return false;
        };
        let waited = arrival.saturating_duration_since(last_arrival);
        let measured = stamp.seconds_since(last_stamp).max(0.0);
        let is_late = waited > SILENCE;
        let waited = waited.as_secs_f64();
        if is_late {
            self.left = (waited - measured).clamp(0.0, LONGEST);
        } else if waited < 0.5 * measured {
            self.left = (self.left - measured).max(0.0);
        } else {
            self.left = 0.0;
        }
        // A rest within the tolerated silence does not count as a pile.
        self.left > SILENCE.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use karakuri_spatial::Time;

    use super::Backlog;

    /// Number of answered samples, each given as the wall time and the stamp since the one before. [ms]
    fn answered(samples: impl IntoIterator<Item = (f64, f64)>) -> usize {
        let mut backlog = Backlog::default();
        let (mut arrival, mut stamp) = (Instant::now(), Time::ZERO);
        let is_answered = samples.into_iter().filter(|(waited, measured)| {
            arrival += Duration::from_secs_f64(1e-3 * waited);
            stamp = stamp.plus_seconds(1e-3 * measured);
            !backlog.is_outdated(arrival, stamp)
        });
        is_answered.count()
    }

    #[test]
    fn samples_as_they_are_measured_are_all_answered() {
        assert_eq!(answered([(2.0, 2.0); 100]), 100);
        assert_eq!(answered((0..100).map(|i| (if i % 9 == 0 { 18.0 } else { 0.01 }, 2.0))), 100);
    }

    #[test]
    fn a_pile_is_passed_over_but_its_end() {
        let still = [(2.0, 2.0); 10];
        let pile = [(0.02, 2.0); 166];
        let after = [(2.0, 2.0); 10];
        let samples = still.into_iter().chain([(334.0, 2.0)]).chain(pile).chain(after);
        let n = answered(samples);
        assert!((20..=20 + 11).contains(&n), "{n}: what is older than 20 ms is passed over");
    }

    #[test]
    fn a_pause_is_no_pile() {
        assert_eq!(answered([(2.0, 2.0), (6e5, 2.0), (2.0, 2.0), (2.0, 2.0)]), 3);
        // as fast as it can: a moment later all are answered again
        let samples = [(6e5, 2.0)].into_iter().chain([(0.1, 2.0); 1000]);
        assert!(answered([(2.0, 2.0)].into_iter().chain(samples)) > 800);
    }

    #[test]
    fn one_sample_after_a_silence_is_answered_when_it_is_new() {
        assert_eq!(answered([(2.0, 2.0), (335.0, 335.0), (2.0, 2.0)]), 3);
    }
}
