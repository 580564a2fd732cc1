//! Detection of a fall, and its cause.

use core::fmt;

use karakuri_model::Model;

use super::engine::WalkEngine;
use super::lost::Lost;

/// Lean beyond the plan at which a robot has fallen: the top of a rod is as low as [`FALLEN_HEIGHT`] says, `acos 0.7`. [rad]
const FALLEN_LEAN: f64 = 0.8;
/// Share of its height at the start below which the root link of a fallen robot is. [-]
const FALLEN_HEIGHT: f64 = 0.7;

/// Sign of the root link by which a robot counts as fallen or not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RootSign {
    /// Roll and pitch beyond the plan, from the inertial sensor: known to the robot itself. [rad] (2)
    Lean([f64; 2]),
    /// Height above the lowest sole as planned, and the height at the start: known to a simulation. [m]
    Height {
        /// Height now. [m]
        now: f64,
        /// Height at the start. [m]
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

/// A fall: time, lean and cause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fall {
    /// Time since the walk began. [s]
    pub elapsed: f64,
    /// Lean to the left, beyond the plan. [rad]
    pub left: f64,
    /// Lean forward, beyond the plan. [rad]
    pub forward: f64,
    /// Loss before the fall; none where steps could have captured the capture point until the end.
    pub lost: Option<Lost>,
    /// Time from the loss to the fall. [s]
    pub since: f64,
}

impl Fall {
    /// Fall of the robot `elapsed` after the walk began [s]; `None` while it does not lie.
    pub fn of(engine: &WalkEngine, elapsed: f64) -> Option<Self> {
        // Roll is positive to the right: about x forward, the left side goes up.
        let [right, forward] = engine.correction().lean;
        let lost = engine.lost();
        let since = lost.map_or(0.0, |lost| engine.time() - lost.time);
        let fall = Self { elapsed, left: -right, forward, lost, since };
        RootSign::Lean([right, forward]).has_fallen().then_some(fall)
    }

    /// Describes the fall in a sentence for people.
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
