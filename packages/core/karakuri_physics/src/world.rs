//! The world: robots, bodies, ground, and what can be asked of them.

mod attached_joints;
mod gears;
mod joint_dynamics;
pub(crate) mod long_turns;
mod loops;
mod masses;
mod materials;
mod members;
mod motors;
mod noises;
mod overlaps;
mod prescribed_bodies;
mod prescribed_joints;
mod pushes;
pub(crate) mod queries;
pub(crate) mod reports;
mod springs;
pub(crate) mod states;
mod suctions;
pub(crate) mod views;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::constraint::ConstraintSet;
use crate::pipeline::ledger::WorkAccount;
use crate::pipeline::scratch::Pipeline;
use crate::solver::Solution;
use crate::state::State;
use crate::state::ids::{BodyId, RobotId};
use crate::{StepOutcome, WorldSettings};

/// A world of robots, bodies and ground, and the constraints between them.
#[derive(Debug, Clone)]
pub struct World {
    pub(crate) settings: WorldSettings,
    pub(crate) steps: u64,
    time_offset: f64,
    /// Robots and bodies by name; a copy of the world shares it until one of the two changes.
    names: Arc<BTreeMap<String, Named>>,
    pub(crate) state: State,
    pub(crate) constraints: ConstraintSet,
    pub(crate) pipeline: Pipeline,
    pub(crate) account: WorkAccount,
    pub(crate) last: LastStep,
}

/// Solution and outcome of the last step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastStep {
    pub(crate) solution: Solution,
    pub(crate) outcome: StepOutcome,
}

/// A robot or body that has a name of its own in the world.
#[derive(Debug, Clone, Copy)]
enum Named {
    Robot(RobotId),
    Body(BodyId),
}

impl World {
    /// An empty world without ground.
    pub fn new(settings: WorldSettings) -> Self {
        Self {
            settings,
            steps: 0,
            time_offset: 0.0,
            names: Arc::default(),
            state: State::default(),
            constraints: ConstraintSet::default(),
            pipeline: Pipeline::default(),
            account: WorkAccount::default(),
            last: LastStep {
                solution: Solution::default(),
                outcome: StepOutcome::Solved { level: 0, iterations: 0, residual: 0.0 },
            },
        }
    }

    /// Settings of the world.
    pub fn settings(&self) -> &WorldSettings {
        &self.settings
    }

    /// Changes settings from the next step on.
    pub fn set_settings(&mut self, settings: WorldSettings) {
        // The number of threads changes no bit.
        if (WorldSettings { threads: self.settings.threads, ..settings }) != self.settings {
            self.wake_all();
            // Time goes on where it is: `steps` counts steps of both lengths.
            self.time_offset = self.time() - self.steps as f64 * settings.dt;
        }
        if settings.gravity == self.settings.gravity {
            self.settings = settings;
        } else {
            self.book_change(|world| world.settings = settings);
        }
    }

    /// Simulated time of the world. [s]
    pub fn time(&self) -> f64 {
        // A product, not a sum, so that rounding does not add up over a run.
        self.time_offset + self.steps as f64 * self.settings.dt
    }

    /// Simulated time at the end of the step that begins. [s]
    pub(crate) fn time_at_end(&self) -> f64 {
        self.time_offset + (self.steps + 1) as f64 * self.settings.dt
    }
}
