//! One jaw that turns against a fixed one.
//!
//! In the plane of the tool's x and y: the fixed jaw's face is y = 0 and the tool's origin lies on it; the pivot P = (−a, b) is a
//! behind the origin and b above the face. Shut, both faces are parallel, g apart. The opening is the distance from the fixed face of
//! the point of the moving face that is above the tool's origin when shut. That point is (a, −h) from P, h = b − g, and turned by φ from shut
//!
//! `w = b + a sin φ − h cos φ = b + r sin(φ − α)`,  `r = √(a² + h²)`,  `α = atan2(h, a)`,
//!
//! and it is `r cos(φ − α) − a` before the tool's origin. The jaw presses along y with `N = τ/(dw/dφ) = τ/(r cos(φ − α))`.
//!
//! Limits: faces that are not parallel touch a wide object elsewhere than at that point. A box of width w whose nearer edge is at x
//! stops the jaw where its face passes through that edge: `w = b + (a + x) tan φ − h/cos φ`, at a larger opening than w where x is behind the
//! point; there it is pressed harder than at the point, without friction by `r cos(φ − α) cos²φ/(a + x − h sin φ)`.

use karakuri_model::EndEffector as Config;

use super::hand::{EndEffector, EndEffectorError, Fingers, Kind, Numbers};

/// Entry of the kind in the registry.
pub(super) const REGISTERED: Kind = Kind {
    name: KIND,
    joints: &["driven joint"],
    make: |config| Ok(Box::new(PivotingJaw::new(config)?)),
    example: &[
        ("pivot_depth", 0.0747),
        ("pivot_height", 0.0281),
        ("shut_position", -0.174_533),
        ("shut_gap", 0.0005),
        ("opening_min", 0.0005),
        ("opening_max", 0.095),
        ("fingers", 1.0),
        ("force_max", 15.0),
        ("pad_depth", 0.056),
        ("pad_width", 0.018),
    ],
};

const KIND: &str = "pivoting_jaw";
/// Largest angle of the arm from the pivot to the point against the tool's x: beyond it the force rises too fast with the angle. [rad]
// At 70° a third of the lever is left, and the same effort presses with three times the force.
const STEEPEST: f64 = 70.0 * core::f64::consts::PI / 180.0;

/// Hand with one driven jaw that turns against a fixed one.
#[derive(Debug, Clone, PartialEq)]
pub struct PivotingJaw {
    fingers: Fingers,
    /// Depth a and height b of the pivot. [m]
    pivot: (f64, f64),
    /// Position at which the faces are parallel. [rad]
    shut_position: f64,
    /// Length r and angle −α of the arm from the pivot to the point, shut. [m], [rad]
    arm: (f64, f64),
}

impl PivotingJaw {
    /// Hand from the model's `end_effector`.
    ///
    /// # Errors
    /// When a parameter is missing or out of range, `fingers` is not 1, or the jaw would turn too far at an end of the opening.
    pub fn new(config: &Config) -> Result<Self, EndEffectorError> {
        let numbers = Numbers { kind: KIND, config };
        let (depth, height) = (numbers.positive("pivot_depth")?, numbers.positive("pivot_height")?);
        let (shut_position, gap) = (numbers.get("shut_position")?, numbers.get("shut_gap")?);
        let fingers = numbers.fingers()?;
        if (fingers.n - 1.0).abs() > f64::EPSILON {
            return Err(numbers.out_of_range("fingers", fingers.n, "1: the other jaw is fixed"));
        }
        let (least, greatest) = fingers.opening;
        // An opening below the gap would turn one jaw into the other.
        if !(0.0..=least).contains(&gap) {
            return Err(numbers.out_of_range("shut_gap", gap, "from 0 to opening_min"));
        }
        // h: the point of the moving face lies so far below the pivot when the jaw is shut.
        let below = height - gap;
        let hand = Self {
            fingers,
            pivot: (depth, height),
            shut_position,
            arm: (depth.hypot(below), -below.atan2(depth)),
        };
        for (parameter, value) in [("opening_min", least), ("opening_max", greatest)] {
            // (w − b)/r is the sine of the arm's angle.
            if ((value - height) / hand.arm.0).abs() > STEEPEST.sin() {
                let reach =
                    "an opening at which the jaw's arm is within 70 degrees of the tool's x";
                return Err(numbers.out_of_range(parameter, value, reach));
            }
        }
        Ok(hand)
    }

    /// Angle of the arm from the pivot to the point against the tool's x. [rad]
    fn angle(&self, position: f64) -> f64 {
        self.arm.1 + position - self.shut_position
    }
}

impl EndEffector for PivotingJaw {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn fingers(&self) -> &Fingers {
        &self.fingers
    }

    fn opening(&self, position: f64) -> f64 {
        self.pivot.1 + self.arm.0 * self.angle(position).sin()
    }

    fn position(&self, opening: f64) -> f64 {
        // Into the range first, so that `asin` has an angle: the range was checked against the arm.
        let opening = opening.clamp(self.fingers.opening.0, self.fingers.opening.1);
        ((opening - self.pivot.1) / self.arm.0).asin() - self.arm.1 + self.shut_position
    }

    fn opening_rate(&self, position: f64) -> f64 {
        self.arm.0 * self.angle(position).cos()
    }

    fn effort(&self, position: f64, force: f64) -> f64 {
        // Virtual work: `τ dφ + N dw = 0`; the fixed jaw's force does none.
        -force * self.opening_rate(position)
    }

    fn force(&self, position: f64, effort: f64) -> f64 {
        -effort / self.opening_rate(position)
    }

    fn tool_depth(&self, position: f64) -> f64 {
        self.arm.0 * self.angle(position).cos() - self.pivot.0
    }
}
