//! One walk, from standing to standing: what is asked for, how it goes, how it ended.

use super::engine::{WalkEngine, WalkState};
use super::error::PlanError;
use super::fall::Fall;
use super::place::Place;
use super::route::WalkCommand;

/// A command is taken up within this. [s]
const PATIENCE: f64 = 0.2;
/// Time to stand until the walk counts as done. [s]
const SETTLE: f64 = 0.5;

/// Whether a walk has arrived: the robot stands, for long enough, after the command was taken up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standstill {
    begin: f64,
    settle: f64,
    stood: f64,
}

impl Standstill {
    /// Of a walk that is commanded at a time, and has arrived once it stands for `settle`. [s, s]
    pub fn new(begin: f64, settle: f64) -> Self {
        Self { begin, settle, stood: 0.0 }
    }

    /// Takes up a period `dt` at a time [s]; true when the walk has arrived. `has_end` says that it has an end, reached or in sight.
    pub fn tick(&mut self, state: WalkState, has_end: bool, time: f64, dt: f64) -> bool {
        let stands = state == WalkState::Standing && has_end && time > self.begin + PATIENCE;
        self.stood = if stands { self.stood + dt } else { 0.0 };
        self.stood >= self.settle
    }
}

/// What a walk is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct WalkGoal {
    /// What to do.
    pub command: WalkCommand,
    /// Stop after this [s]; without, the command's own end.
    pub duration: Option<f64>,
}

/// How far a walk went, as planned, in the heading of its start; turned as measured.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Travelled {
    /// [m]
    pub forward: f64,
    /// [m]
    pub left: f64,
    /// [rad]
    pub turn: f64,
}

/// Why a walk ended before its goal.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum WalkFailure {
    /// A step out of reach.
    #[error("{0}; it stands after the last step that could be made")]
    Unreachable(PlanError),
    /// The robot lies.
    #[error("{0}")]
    Fell(Fall),
}

/// How a walk stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Progress {
    /// Under way.
    Walking,
    /// Stands where it should.
    Done,
    /// Stands, stopped on request.
    Stopped,
    /// Ended before its goal.
    Failed(WalkFailure),
}

/// A walk under way.
#[derive(Debug, Clone)]
pub struct Walk {
    /// Until the stop is commanded. [s]
    remaining: Option<f64>,
    stopping: bool,
    elapsed: f64,
    standstill: Standstill,
    start: Place,
    heading: f64,
    first_step: u64,
}

impl Walk {
    /// Commands the engine.
    pub fn start(engine: &mut WalkEngine, goal: WalkGoal) -> Self {
        engine.take_clips();
        engine.take_excesses();
        engine.command(goal.command);
        Self {
            remaining: goal.duration,
            stopping: false,
            elapsed: 0.0,
            standstill: Standstill::new(0.0, SETTLE),
            start: between(&engine.feet()),
            heading: engine.heading(),
            first_step: engine.steps(),
        }
    }

    /// Ends within two steps.
    pub fn stop(&mut self, engine: &mut WalkEngine) {
        if !self.stopping {
            self.stopping = true;
            self.remaining = None;
            engine.command(WalkCommand::Stop);
        }
    }

    /// Looks at the engine after it went on by `dt`. [s]
    pub fn tick(&mut self, engine: &mut WalkEngine, dt: f64) -> Progress {
        self.elapsed += dt;
        if let Some(fall) = Fall::of(engine, self.elapsed) {
            return Progress::Failed(WalkFailure::Fell(fall));
        }
        if let Some(remaining) = &mut self.remaining {
            *remaining -= dt;
            if *remaining <= 0.0 {
                self.remaining = None;
                engine.command(WalkCommand::Stop);
            }
        }
        let has_end = self.remaining.is_none();
        if !self.standstill.tick(engine.state(), has_end, self.elapsed, dt) {
            return Progress::Walking;
        }
        match engine.failure() {
            Some(error) => Progress::Failed(WalkFailure::Unreachable(error)),
            None if self.stopping => Progress::Stopped,
            None => Progress::Done,
        }
    }

    /// Since the start. [s]
    pub fn elapsed(&self) -> f64 {
        self.elapsed
    }

    /// Begun since the start.
    pub fn steps(&self, engine: &WalkEngine) -> u64 {
        engine.steps() - self.first_step
    }

    /// To where the feet will be after the step under way.
    pub fn travelled(&self, engine: &WalkEngine) -> Travelled {
        let now = between(&engine.feet());
        let (dx, dy) =
            (now.position[0] - self.start.position[0], now.position[1] - self.start.position[1]);
        let (sin, cos) = self.start.yaw.sin_cos();
        Travelled {
            forward: dx * cos + dy * sin,
            left: dy * cos - dx * sin,
            turn: engine.heading() - self.heading,
        }
    }
}

/// The place in the middle of both feet.
fn between([a, b]: &[Place; 2]) -> Place {
    let mean = |i: usize| 0.5 * (a.position[i] + b.position[i]);
    Place::level([mean(0), mean(1), mean(2)], 0.5 * (a.yaw + b.yaw))
}
