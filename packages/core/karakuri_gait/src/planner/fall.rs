//! What is told of a robot that lies.

use core::fmt;

use karakuri_model::Model;

use super::engine::WalkEngine;
use super::lost::Lost;

/// Leaning further than this beyond the plan, the robot has fallen. [rad]
const FALLEN: f64 = 0.8;

/// A robot that lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fall {
    /// Since the walk began. [s]
    pub elapsed: f64,
    /// Lean beyond the plan. [rad]
    pub left: f64,
    /// [rad]
    pub forward: f64,
    /// When it was lost, and how; not where its capture point could have been caught until the end.
    pub lost: Option<Lost>,
    /// From then to the end. [s]
    pub since: f64,
}

impl Fall {
    /// Whether the robot lies, and why, so long after the walk began. [s]
    pub fn of(engine: &WalkEngine, elapsed: f64) -> Option<Self> {
        let [right, forward] = engine.correction().lean;
        let lost = engine.lost();
        let since = lost.map_or(0.0, |lost| engine.time() - lost.time);
        let fall = Self { elapsed, left: -right, forward, lost, since };
        (right.hypot(forward) > FALLEN).then_some(fall)
    }

    /// A sentence for people.
    pub fn describe(&self, model: &Model) -> String {
        self.told(self.lost.map(|lost| lost.describe(model)))
    }

    fn told(&self, lost: Option<String>) -> String {
        let Self { elapsed, left, forward, since, .. } = self;
        let why = lost.map_or_else(
            || "steps could have caught it until the end: it slipped or was held, or its feet do not stand as planned".to_owned(),
            |lost| format!("it was lost at {:.2} s: {lost}", elapsed - since),
        );
        format!(
            "fell {elapsed:.2} s after the walk began, leaning {left:.2} rad left and {forward:.2} rad forward; {why}. Set it up in its standing posture again"
        )
    }
}

impl fmt::Display for Fall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(self.lost.map(|lost| lost.to_string())))
    }
}
