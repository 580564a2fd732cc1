//! Pacing by wall time.

/// Delay beyond which a late sample is not caught up with. [s]
const LARGEST_LAG: f64 = 0.01;

/// Sample time as a linear function of wall time.
#[derive(Debug, Default)]
pub(super) struct WallPace {
    /// Wall time [s] and sample time [ns] at which pacing began; none before the first sample that is paced.
    origin: Option<(f64, i64)>,
}

impl WallPace {
    /// Begins again with the next sample.
    pub(super) fn restart(&mut self) {
        self.origin = None;
    }

    /// Wall time from `now` until the sample `period` after `stamp` [ns] is due at `factor` seconds of sample time per wall
    /// second. Negative when it is late; a very late one restarts the pacing, or a burst of samples would follow every pause of
    /// the machine. [s]
    pub(super) fn wait(&mut self, now: f64, stamp: i64, period: i64, factor: f64) -> f64 {
        let (wall, first) = *self.origin.get_or_insert((now, stamp));
        let next = (stamp + period - first) as f64 * 1e-9;
        let due = wall + next / factor;
        if now - due > LARGEST_LAG {
            self.origin = None;
        }
        due - now
    }
}
