//! Cost and accuracy of the steps of a simulation.

use std::time::{Duration, Instant};

use karakuri_physics::{Stage, StageObserver, Statistics, StepOutcome, World};

/// Sums over the steps of a world.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Number of steps.
    pub steps: u64,
    /// Number of steps whose contacts were not solved to the tolerance.
    pub unconverged: u64,
    /// Largest number of iterations of the solver in a step.
    pub most_iterations: usize,
    /// Number of iterations of the solver, all steps together.
    pub all_iterations: usize,
    /// Largest residual of the solver. [m/s or rad/s]
    pub worst_residual: f64,
    /// Wall time by stage, all steps together, in the order of [`Stage::ALL`].
    pub stages: [Duration; Stage::ALL.len()],
}

impl Tally {
    /// Steps a world and adds the cost; a step that [`StepOutcome::NonFinite`] refused does not count.
    pub fn step(&mut self, world: &mut World) -> StepOutcome {
        let mut watch = StageClock { sums: &mut self.stages, open: None };
        let outcome = world.step_observed(&mut watch);
        watch.close();
        self.add(&outcome, &world.statistics());
        outcome
    }

    /// Adds a step whose stages were not timed.
    pub fn add(&mut self, outcome: &StepOutcome, now: &Statistics) {
        if matches!(outcome, StepOutcome::NonFinite(_)) {
            return;
        }
        self.steps += 1;
        self.unconverged += u64::from(matches!(outcome, StepOutcome::MaxIterations { .. }));
        self.most_iterations = self.most_iterations.max(now.iterations);
        self.all_iterations += now.iterations;
        self.worst_residual = self.worst_residual.max(now.residual);
    }

    /// Mean wall time of a step in each stage. [s]
    pub fn stage_times(&self) -> [f64; Stage::ALL.len()] {
        self.stages.map(|sum| self.per_step(sum.as_secs_f64()))
    }

    /// Mean over the steps of a total.
    pub fn per_step(&self, total: f64) -> f64 {
        total / self.steps.max(1) as f64
    }
}

/// Observer that times each stage.
struct StageClock<'a> {
    sums: &'a mut [Duration; Stage::ALL.len()],
    open: Option<(Stage, Instant)>,
}

impl StageClock<'_> {
    fn close(&mut self) {
        if let Some((stage, since)) = self.open.take() {
            self.sums[stage as usize] += since.elapsed();
        }
    }
}

impl StageObserver for StageClock<'_> {
    fn enter(&mut self, stage: Stage) {
        self.close();
        self.open = Some((stage, Instant::now()));
    }
}
