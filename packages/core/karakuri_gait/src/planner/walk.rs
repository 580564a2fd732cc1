//! One walk, from standing to standing: goal, progress, result.

use karakuri_model::Model;

use super::engine::{WalkEngine, WalkState};
use super::error::PlanError;
use super::fall::Fall;
use super::place::Place;
use super::route::WalkCommand;

/// Time within which a command is taken up. [s]
// Twice the chunk of standing at whose end the engine takes a command up.
const PATIENCE: f64 = 0.2;
/// Time to stand until the walk counts as done. [s]
const SETTLE: f64 = 0.5;

/// Monitor of arrival: the robot stands, for long enough, after the command was taken up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standstill {
    begin: f64,
    settle: f64,
    stood: f64,
}

impl Standstill {
    /// Monitor of a walk that is commanded at a time, and has arrived once it stands for `settle`. [s, s]
    pub fn new(begin: f64, settle: f64) -> Self {
        Self { begin, settle, stood: 0.0 }
    }

    /// Takes up a period `dt` at a time [s]; true when the walk has arrived. `has_end` says that it has an end, reached or in
    /// sight.
    pub fn tick(&mut self, state: WalkState, has_end: bool, time: f64, dt: f64) -> bool {
        // Right after its command the robot still stands as before: that is no arrival.
        let stands = state == WalkState::Standing && has_end && time > self.begin + PATIENCE;
        self.stood = if stands { self.stood + dt } else { 0.0 };
        self.stood >= self.settle
    }
}

/// Goal of a walk.
#[derive(Debug, Clone, PartialEq)]
pub struct WalkGoal {
    /// Command of the walk.
    pub command: WalkCommand,
    /// Turn on the spot after it, to the left of where the command leads; none without. [rad]
    pub turn: Option<f64>,
    /// Time after which it stops [s]; without, at the command's own end.
    pub duration: Option<f64>,
}

impl From<WalkCommand> for WalkGoal {
    /// Goal of a command alone, to its own end.
    fn from(command: WalkCommand) -> Self {
        Self { command, turn: None, duration: None }
    }
}

/// Displacement of a walk, as planned, in the heading of its start; turned as measured.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Travelled {
    /// Displacement forward. [m]
    pub forward: f64,
    /// Displacement to the left. [m]
    pub left: f64,
    /// Turn to the left. [rad]
    pub turn: f64,
}

/// Cause of a walk's end before its goal.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum WalkFailure {
    /// A step is out of reach.
    #[error("{0}; it stands after the last step that could be made")]
    Unreachable(PlanError),
    /// The robot has fallen.
    #[error("{0}")]
    Fell(Fall),
}

/// State of a walk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Progress {
    /// The walk goes on.
    Walking,
    /// The robot stands at its goal.
    Done,
    /// The robot stands, stopped on request.
    Stopped,
    /// The walk ended before its goal.
    Failed(WalkFailure),
}

impl Progress {
    /// Describes how the walk ended in a sentence for people.
    pub fn describe(&self, model: &Model) -> String {
        match self {
            Self::Walking | Self::Done => "stands where it should".to_owned(),
            Self::Stopped => "stopped on request; it stands".to_owned(),
            Self::Failed(WalkFailure::Fell(fall)) => fall.describe(model),
            Self::Failed(failure) => failure.to_string(),
        }
    }
}

/// A walk in progress.
#[derive(Debug, Clone)]
pub struct Walk {
    /// Time until the stop is commanded. [s]
    remaining: Option<f64>,
    /// Heading to which it turns in the end. [rad]
    turn_to: Option<f64>,
    stopping: bool,
    elapsed: f64,
    standstill: Standstill,
    start: Place,
    heading: f64,
    first_step: u64,
}

impl Walk {
    /// Starts a walk: commands the engine.
    pub fn start(engine: &mut WalkEngine, goal: WalkGoal) -> Self {
        // What earlier walks left is not this one's.
        engine.take_clips();
        engine.take_excesses();
        // Of the line: what the walk makes of it is corrected by the turn.
        let ahead = match &goal.command {
            WalkCommand::Straight(straight) => straight.heading,
            _ => 0.0,
        };
        let turn_to = goal.turn.map(|turn| engine.heading() + ahead + turn);
        engine.command(goal.command);
        Self {
            remaining: goal.duration,
            turn_to,
            stopping: false,
            elapsed: 0.0,
            standstill: Standstill::new(0.0, SETTLE),
            start: between(&engine.feet()),
            heading: engine.heading(),
            first_step: engine.steps(),
        }
    }

    /// Commands a stop, which takes two steps.
    pub fn stop(&mut self, engine: &mut WalkEngine) {
        if !self.stopping {
            self.stopping = true;
            (self.remaining, self.turn_to) = (None, None);
            engine.command(WalkCommand::Stop);
        }
    }

    /// Evaluates the engine after it went on by `dt` [s].
    pub fn tick(&mut self, engine: &mut WalkEngine, dt: f64) -> Progress {
        self.elapsed += dt;
        // First: a robot that lies still would count as standing at its goal.
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
        // Until its time is over, a walk that stands still may be one of no velocity, which has not arrived.
        let has_end = self.remaining.is_none();
        if !self.standstill.tick(engine.state(), has_end, self.elapsed, dt) {
            return Progress::Walking;
        }
        if let Some(error) = engine.failure() {
            return Progress::Failed(WalkFailure::Unreachable(error));
        }
        if let Some(heading) = self.turn_to.take() {
            self.standstill = Standstill::new(self.elapsed, SETTLE);
            engine.command(WalkCommand::Turn(heading - engine.heading()));
            return Progress::Walking;
        }
        if self.stopping { Progress::Stopped } else { Progress::Done }
    }

    /// Time since the start. [s]
    pub fn elapsed(&self) -> f64 {
        self.elapsed
    }

    /// Number of steps begun since the start.
    pub fn steps(&self, engine: &WalkEngine) -> u64 {
        engine.steps() - self.first_step
    }

    /// Displacement to the feet's place after the current step.
    pub fn travelled(&self, engine: &WalkEngine) -> Travelled {
        let now = between(&engine.feet());
        let (dx, dy) =
            (now.position[0] - self.start.position[0], now.position[1] - self.start.position[1]);
        let (sin, cos) = self.start.yaw.sin_cos();
        Travelled {
            forward: dx * cos + dy * sin,
            left: dy * cos - dx * sin,
            // By the heading of the sensor, which counts full turns, and not that of the planned feet.
            turn: engine.heading() - self.heading,
        }
    }
}

/// Place in the middle of both feet.
fn between([a, b]: &[Place; 2]) -> Place {
    let mean = |i: usize| 0.5 * (a.position[i] + b.position[i]);
    Place::level([mean(0), mean(1), mean(2)], 0.5 * (a.yaw + b.yaw))
}
