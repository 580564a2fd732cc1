//! Two fingers on straight guides, moved by one slide.
//!
//! Slide position x [m], positive opens, each finger moves by it: opening `w = w₀ + 2 x`, `w₀` the opening at x = 0. One
//! drive moves `n` fingers: force a finger `N = f/n`. The pads stay where they are along the tool's x.

use karakuri_model::EndEffector as Config;

use super::hand::{EndEffector, EndEffectorError, Fingers, Kind, Numbers};

/// Entry of the kind in the registry.
pub(super) const REGISTERED: Kind = Kind {
    name: KIND,
    joints: &["driven joint"],
    make: |config| Ok(Box::new(ParallelSlide::new(config)?)),
    example: &[
        ("opening_at_zero", 0.0),
        ("opening_min", 0.0),
        ("opening_max", 0.08),
        ("fingers", 2.0),
        ("force_max", 70.0),
        ("pad_depth", 0.02),
        ("pad_width", 0.02),
    ],
};

const KIND: &str = "parallel_slide";

/// Hand with two fingers on straight guides, moved by one slide.
#[derive(Debug, Clone, PartialEq)]
pub struct ParallelSlide {
    fingers: Fingers,
    opening_at_zero: f64,
}

impl ParallelSlide {
    /// Hand from the model's `end_effector`.
    ///
    /// # Errors
    /// When a parameter is missing or out of range.
    pub fn new(config: &Config) -> Result<Self, EndEffectorError> {
        let numbers = Numbers { kind: KIND, config };
        Ok(Self { fingers: numbers.fingers()?, opening_at_zero: numbers.get("opening_at_zero")? })
    }
}

impl EndEffector for ParallelSlide {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn fingers(&self) -> &Fingers {
        &self.fingers
    }

    fn opening(&self, position: f64) -> f64 {
        self.opening_at_zero + 2.0 * position
    }

    fn position(&self, opening: f64) -> f64 {
        0.5 * (opening.clamp(self.fingers.opening.0, self.fingers.opening.1) - self.opening_at_zero)
    }

    fn opening_rate(&self, _position: f64) -> f64 {
        2.0
    }

    fn effort(&self, _position: f64, force: f64) -> f64 {
        -force * self.fingers.n
    }

    fn force(&self, _position: f64, effort: f64) -> f64 {
        -effort / self.fingers.n
    }

    fn tool_depth(&self, _position: f64) -> f64 {
        0.0
    }
}
