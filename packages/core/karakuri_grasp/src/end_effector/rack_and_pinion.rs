//! Two fingers on racks on either side of one pinion.
//!
//! Pinion angle θ, positive opens, pitch radius r, opening w₀ at θ = 0: each rack moves its finger by r θ, `w = w₀ + 2 r θ`. The pinion
//! drives both: force a finger `N = τ/(2 r)`. The pads stay where they are along the tool's x.
//! The example of `docs/howto/add-an-end-effector.md`: it was written from that page.

use karakuri_model::EndEffector as Config;

use super::hand::{EndEffector, EndEffectorError, Fingers, Kind, Numbers};

/// Entry of the kind in the registry.
pub(super) const REGISTERED: Kind = Kind {
    name: KIND,
    joints: &["driven joint"],
    make: |config| Ok(Box::new(RackAndPinion::new(config)?)),
    example: &[
        ("pinion_radius", 0.012),
        ("opening_at_zero", 0.04),
        ("opening_min", 0.0),
        ("opening_max", 0.08),
        ("fingers", 2.0),
        ("force_max", 60.0),
        ("pad_depth", 0.02),
        ("pad_width", 0.02),
    ],
};

const KIND: &str = "rack_and_pinion";

/// Hand with two fingers on racks on either side of one pinion.
#[derive(Debug, Clone, PartialEq)]
pub struct RackAndPinion {
    fingers: Fingers,
    /// Pitch radius r of the pinion. [m]
    radius: f64,
    /// Opening w₀ at the pinion's zero. [m]
    opening_at_zero: f64,
}

impl RackAndPinion {
    /// Hand from the model's `end_effector`.
    ///
    /// # Errors
    /// When a parameter is missing or out of range, or `fingers` is not 2.
    pub fn new(config: &Config) -> Result<Self, EndEffectorError> {
        let numbers = Numbers { kind: KIND, config };
        let radius = numbers.positive("pinion_radius")?;
        let opening_at_zero = numbers.get("opening_at_zero")?;
        let fingers = numbers.fingers()?;
        if (fingers.n - 2.0).abs() > f64::EPSILON {
            return Err(numbers.out_of_range("fingers", fingers.n, "2: a rack on either side"));
        }
        Ok(Self { fingers, radius, opening_at_zero })
    }
}

impl EndEffector for RackAndPinion {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn fingers(&self) -> &Fingers {
        &self.fingers
    }

    fn opening(&self, position: f64) -> f64 {
        self.opening_at_zero + 2.0 * self.radius * position
    }

    fn position(&self, opening: f64) -> f64 {
        let opening = opening.clamp(self.fingers.opening.0, self.fingers.opening.1);
        0.5 * (opening - self.opening_at_zero) / self.radius
    }

    fn opening_rate(&self, _position: f64) -> f64 {
        2.0 * self.radius
    }

    fn effort(&self, _position: f64, force: f64) -> f64 {
        // Virtual work: `τ dθ + 2 N r dθ = 0`.
        -2.0 * self.radius * force
    }

    fn force(&self, _position: f64, effort: f64) -> f64 {
        -0.5 * effort / self.radius
    }

    fn tool_depth(&self, _position: f64) -> f64 {
        0.0
    }
}
