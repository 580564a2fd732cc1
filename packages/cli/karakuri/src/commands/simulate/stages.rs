//! Wall time of a step by stage.

use std::collections::BTreeMap;
use std::time::Instant;

use karakuri_physics::{Stage, StepOutcome, Watch, World};

/// Wall time in each stage, summed over steps.
#[derive(Debug, Default)]
pub(super) struct StageTimes {
    /// In the order of [`Stage::ALL`]. [s]
    sums: [f64; Stage::ALL.len()],
    open: Option<(Stage, Instant)>,
}

impl StageTimes {
    /// Steps the world.
    pub(super) fn step(&mut self, world: &mut World) -> StepOutcome {
        let outcome = world.step_watched(self);
        self.close();
        outcome
    }

    /// Mean time of a step in each stage. [µs]
    pub(super) fn means(&self, steps: u64) -> BTreeMap<&'static str, f64> {
        let mean = |sum: f64| 1e6 * sum / steps.max(1) as f64;
        Stage::ALL.iter().zip(self.sums).map(|(stage, sum)| (stage.name(), mean(sum))).collect()
    }

    fn close(&mut self) {
        if let Some((stage, since)) = self.open.take()
            && let Some(i) = Stage::ALL.iter().position(|s| *s == stage)
        {
            self.sums[i] += since.elapsed().as_secs_f64();
        }
    }
}

impl Watch for StageTimes {
    fn enter(&mut self, stage: Stage) {
        self.close();
        self.open = Some((stage, Instant::now()));
    }
}
