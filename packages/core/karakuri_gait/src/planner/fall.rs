//! When a robot has fallen, and why.

use core::fmt;

use karakuri_model::Model;

use super::engine::WalkEngine;
use super::lost::Lost;

/// Lean beyond the plan at which a robot has fallen: that at which the top of a rod is as low as [`FALLEN_HEIGHT`] says, `acos 0.7`. [rad]
const FALLEN_LEAN: f64 = 0.8;
/// Share of its height at the start below which the root link of a robot that has fallen is. [-]
const FALLEN_HEIGHT: f64 = 0.7;

/// What is known of the root link, by which a robot counts as fallen or not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RootSign {
    /// Roll and pitch beyond the plan, from the inertial sensor: what a robot itself knows. [rad] (2)
    Lean([f64; 2]),
    /// Height above the lowest sole as planned, and the height at the start: what a simulation knows. [m]
    Height {
        /// Now.
        now: f64,
        /// At the start.
        start: f64,
    },
}

impl RootSign {
    /// Whether the robot has fallen.
    pub fn has_fallen(self) -> bool {
        match self {
            Self::Lean([roll, pitch]) => roll.hypot(pitch) > FALLEN_LEAN,
            Self::Height { now, start } => now < FALLEN_HEIGHT * start,
        }
    }
}

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
        RootSign::Lean([right, forward]).has_fallen().then_some(fall)
    }

    /// A sentence for people.
    pub fn describe(&self, model: &Model) -> String {
        self.sentence(self.lost.map(|lost| lost.describe(model)))
    }

    fn sentence(&self, lost: Option<String>) -> String {
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
        f.write_str(&self.sentence(self.lost.map(|lost| lost.to_string())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A robot that tips about its soles like a rod is judged alike by a simulation and by itself.
    #[test]
    fn lean_and_height_tell_the_same_fall() {
        for k in 0..150 {
            let lean = 0.01 * f64::from(k);
            let height = RootSign::Height { now: 0.3 * lean.cos(), start: 0.3 }.has_fallen();
            for direction in [[1.0, 0.0], [0.0, -1.0], [0.6, 0.8]] {
                let leans = RootSign::Lean(direction.map(|part: f64| part * lean)).has_fallen();
                assert!(leans == height || (lean - 0.8).abs() < 0.011, "{lean} rad");
            }
        }
    }
}
