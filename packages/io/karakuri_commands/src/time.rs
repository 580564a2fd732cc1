//! Time that does not go back, from a clock that may be set.

/// Elapsed time. A step back of the clock counts as none, a step forward in full: what has ended does not come back.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Elapsed {
    last: Option<f64>,
    elapsed: f64,
}

impl Elapsed {
    /// Time since the first call [s], at a reading of the clock [s]; a reading that is no number counts for nothing.
    pub(crate) fn at(&mut self, now: f64) -> f64 {
        if now.is_finite() {
            self.elapsed += self.last.map_or(0.0, |last| (now - last).max(0.0));
            self.last = Some(now);
        }
        self.elapsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_back_takes_no_time() {
        let mut elapsed = Elapsed::default();
        let readings = [100.0, 101.0, 40.0, f64::NAN, 41.5, f64::INFINITY, 42.0];
        let times = readings.map(|now| elapsed.at(now));
        let expected = [0.0, 1.0, 1.0, 1.0, 2.5, 2.5, 3.0];
        let error = times.iter().zip(expected).map(|(time, expected)| (time - expected).abs());
        assert!(error.fold(0.0, f64::max) < 1e-12, "{times:?}");
    }
}
