//! Two fingers that turn in opposite directions about one pivot, by one drive.
//!
//! The pivot is on the tool's x. From it the middle of a pad is a along the finger and e beside the finger's line, outwards; the pad's
//! face is parallel to that line. At the angle γ of each finger against the tool's x, positive opens,
//!
//! `w = 2 (a sin γ + e cos γ) = 2 r sin(γ + β)`,  `r = √(a² + e²)`,  `β = atan2(e, a)`,
//!
//! and the middle of the pads is `r cos(γ + β)` before the pivot. The driven joint's position is γ. By virtual work a drive that turns both
//! fingers presses each across the tool with `H = τ/(dw/dγ) = τ/(2 r cos(γ + β))` at the middle of the pad.
//!
//! The faces are parallel at w = 2 e; at any other opening they lean by γ against the tool's x, and push what is between them along it:
//! `docs/theory/grasping.md` (1), (2). A box touches them along its edge that is nearer to where the faces meet, or, where it reaches beyond the
//! pads, along an end of theirs. With l the length of a pad and h the reach of the box to that side, the fingers stop at
//!
//! `w = b + 2 min(h tan|γ|, l/2 sin|γ|)`
//!
//! about a box of width b. Limits: an end of a pad on a flat side presses across it and pushes nothing; the lean is counted there, too. An edge of the
//! box bears twisting only by what it bends the pads: rigid ones would rest on one end of it.

use karakuri_model::EndEffector as Config;

use super::hand::{EndEffector, EndEffectorError, Fingers, Kind, Numbers, Reach};

/// Entry of the kind in the registry.
pub(super) const REGISTERED: Kind = Kind {
    name: KIND,
    joints: &["driven joint"],
    make: |config| Ok(Box::new(Scissor::new(config)?)),
    example: &[
        ("pivot_depth", 0.083),
        ("pad_distance", 0.083),
        ("pad_offset", 0.010),
        ("opening_min", 0.003),
        ("opening_max", 0.095),
        ("fingers", 2.0),
        ("force_max", 30.0),
        ("pad_depth", 0.028),
        ("pad_width", 0.024),
    ],
};

const KIND: &str = "scissor";
/// Largest angle of the arm from the pivot to the pad against the tool's x: beyond it the force rises too fast with the angle. [rad]
// At 60° half of the lever is left, and the same effort presses with twice the force.
const STEEPEST: f64 = core::f64::consts::FRAC_PI_3;
/// Rounds of the iteration for the opening about a box: each leaves at most half of the error.
const ROUNDS: usize = 40;

/// Hand with two fingers that turn in opposite directions about one pivot.
#[derive(Debug, Clone, PartialEq)]
pub struct Scissor {
    fingers: Fingers,
    /// Distance of the tool frame from the pivot along the tool's x. [m]
    pivot_depth: f64,
    /// Length r and angle β of the arm from the pivot to the middle of a pad, against the finger. [m], [rad]
    arm: (f64, f64),
}

impl Scissor {
    /// Hand from the model's `end_effector`.
    ///
    /// # Errors
    /// When a parameter is missing or out of range, `fingers` is not 2, the pads reach to the pivot or into each other at the least opening, or a
    /// finger would turn too far at the greatest.
    pub fn new(config: &Config) -> Result<Self, EndEffectorError> {
        let numbers = Numbers { kind: KIND, config };
        let (along, beside) = (numbers.positive("pad_distance")?, numbers.get("pad_offset")?);
        let pivot_depth = numbers.positive("pivot_depth")?;
        let fingers = numbers.fingers()?;
        if (fingers.n - 2.0).abs() > f64::EPSILON {
            return Err(numbers.out_of_range("fingers", fingers.n, "2: one drive turns both"));
        }
        if beside < 0.0 {
            return Err(numbers.out_of_range("pad_offset", beside, "at least 0"));
        }
        if fingers.pad_depth > along {
            return Err(numbers.out_of_range(
                "pad_depth",
                fingers.pad_depth,
                "at most pad_distance",
            ));
        }
        let (least, greatest) = fingers.opening;
        let hand = Self { fingers, pivot_depth, arm: (along.hypot(beside), beside.atan2(along)) };
        if 0.5 * greatest / hand.arm.0 > STEEPEST.sin() {
            let reach =
                "an opening at which the arm to the pad is within 60 degrees of the tool's x";
            return Err(numbers.out_of_range("opening_max", greatest, reach));
        }
        // Shut beyond parallel faces, the ends of the pads meet first.
        let outside = Reach { inward: f64::INFINITY, outward: f64::INFINITY };
        if hand.width_between(hand.position(least), outside) < 0.0 {
            return Err(numbers.out_of_range(
                "opening_min",
                least,
                "an opening at which the ends of the pads are apart",
            ));
        }
        Ok(hand)
    }

    /// Half of what the opening at the middle of the pads is wider than a box that stops the fingers. [m]
    fn margin(&self, position: f64, reach: Reach) -> f64 {
        // The faces meet at the hand's side where they lean outwards, else before the hand.
        let towards = if position >= 0.0 { reach.inward } else { reach.outward };
        let lean = position.abs();
        (towards * lean.tan()).min(0.5 * self.fingers.pad_depth * lean.sin())
    }
}

impl EndEffector for Scissor {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn fingers(&self) -> &Fingers {
        &self.fingers
    }

    fn opening(&self, position: f64) -> f64 {
        2.0 * self.arm.0 * (position + self.arm.1).sin()
    }

    fn position(&self, opening: f64) -> f64 {
        // Into the range first, so that `asin` has an angle: the range was checked against the arm.
        let opening = opening.clamp(self.fingers.opening.0, self.fingers.opening.1);
        (0.5 * opening / self.arm.0).asin() - self.arm.1
    }

    fn opening_rate(&self, position: f64) -> f64 {
        2.0 * self.arm.0 * (position + self.arm.1).cos()
    }

    fn effort(&self, position: f64, force: f64) -> f64 {
        // Virtual work: `τ dγ + H dw = 0`, as each of the two fingers moves by dw/2 against H.
        -force * self.opening_rate(position)
    }

    fn force(&self, position: f64, effort: f64) -> f64 {
        -effort / self.opening_rate(position)
    }

    fn tool_depth(&self, position: f64) -> f64 {
        self.arm.0 * (position + self.arm.1).cos() - self.pivot_depth
    }

    fn lean(&self, position: f64) -> f64 {
        position
    }

    fn width_between(&self, position: f64, reach: Reach) -> f64 {
        self.opening(position) - 2.0 * self.margin(position, reach)
    }

    fn opening_about(&self, width: f64, reach: Reach) -> f64 {
        // The margin changes by less than the opening does, as a pad is shorter than twice its distance from the pivot.
        let mut opening = width;
        for _ in 0..ROUNDS {
            opening = width + 2.0 * self.margin(self.position(opening), reach);
        }
        opening
    }
}
