//! A thumb and two fingers, each with its own drive; a fourth one spreads the two.
//!
//! Every finger turns about a knuckle and ends in a ball of radius t. The tool's x is the axis of the palm. The thumb's knuckle is R from it
//! at the side of −y, and closes along y. The other two are R from it at ±60° from the side of y, and close towards it along −y, turned
//! about x by ±σ, the spread:
//!
//! | spread | closing directions | for |
//! |---|---|---|
//! | 60° | three that meet on the axis, 120° apart | what is round about the vertical, balls |
//! | 0 | the two against the thumb, `√3 R` apart | boxes, what lies |
//!
//! At the angle γ of every finger against the tool's x, positive opens, the middle of its tip is `R + L sin γ` from the axis where it is spread and
//! `L cos γ` before the knuckles. The opening is twice the distance of the tips' faces from the axis,
//!
//! `w = 2 (R + L sin γ − t)`,
//!
//! the diameter of the ball between them; where it is not spread the tips are `R/2` nearer, about a middle that is `R/4` on the thumb's side of the axis.
//!
//! The force of the hand is the thumb's, H. The other two balance it with `H/(2 cos σ)` each. By virtual work the drive of a finger that
//! presses across the tool with H has the effort `H L cos γ`.

use core::f64::consts::FRAC_PI_3;

use karakuri_model::{BodyId, EndEffector as Config};
use karakuri_spatial::Vector3;

use super::hand::{EndEffector, EndEffectorError, Fingers, Kind, Numbers};

/// Entry of the kind in the registry.
pub(super) const REGISTERED: Kind = Kind {
    name: KIND,
    joints: &["thumb", "left finger", "right finger", "spread"],
    make: |config| Ok(Box::new(ThreeFingers::new(config)?)),
    example: &[
        ("palm_radius", 0.024),
        ("finger_length", 0.090),
        ("knuckle_depth", 0.090),
        ("tip_radius", 0.008),
        ("finger_recess", 0.0125),
        ("opening_min", 0.003),
        ("opening_max", 0.090),
        ("fingers", 3.0),
        ("force_max", 25.0),
    ],
};

const KIND: &str = "three_fingers";
/// Largest angle of a finger against the tool's x: beyond it the force rises too fast with the angle. [rad]
// At 60° half of the lever is left, and the same effort presses with twice the force.
const STEEPEST: f64 = FRAC_PI_3;

/// Distance that an object keeps from the fingers' bars: errors of the arm and of the object's pose. [m]
const SPARE: f64 = 0.003;
/// Distance that an object keeps from the knuckles. [m]
const PALM: f64 = 0.02;

/// How the two fingers stand to the thumb.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spread {
    /// Side by side against the thumb.
    Closed,
    /// In between, each turned by so many times 15° from side by side: 1 to 3.
    Between(u8),
    /// All three 120° apart.
    #[default]
    Even,
}

impl Spread {
    /// Position of the joint that spreads the fingers: the angle of each. [rad]
    pub fn angle(self) -> f64 {
        match self {
            Self::Closed => 0.0,
            Self::Between(n) => f64::from(n) * FRAC_PI_3 / 4.0,
            Self::Even => FRAC_PI_3,
        }
    }
}

/// Hand with a thumb and two fingers.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreeFingers {
    fingers: Fingers,
    /// Joints of the thumb, of the left and the right finger, and of the spread.
    joints: [BodyId; 4],
    /// Distance R of the knuckles from the axis. [m]
    palm_radius: f64,
    /// Length L of a finger from its knuckle to the middle of its tip. [m]
    length: f64,
    /// Distance of the tool frame from the knuckles along the tool's x. [m]
    knuckle_depth: f64,
    /// Radius t of a tip. [m]
    tip_radius: f64,
    /// Distance of a finger's inner side from its line, outwards. [m]
    recess: f64,
}

impl ThreeFingers {
    /// Hand from the model's `end_effector`.
    ///
    /// # Errors
    /// When a parameter is missing or out of range, `fingers` is not 3, the tips meet before the least opening, or a finger would turn too far.
    pub fn new(config: &Config) -> Result<Self, EndEffectorError> {
        let numbers = Numbers { kind: KIND, config };
        let joints = numbers.joints(
            "four driven joints: the thumb's, the left and the right finger's, the spread",
        )?;
        let tip_radius = numbers.positive("tip_radius")?;
        let hand = Self {
            palm_radius: numbers.positive("palm_radius")?,
            length: numbers.positive("finger_length")?,
            knuckle_depth: numbers.positive("knuckle_depth")?,
            recess: numbers.get("finger_recess")?,
            tip_radius,
            // A ball touches at a point; as a pad it is as long and as wide as it is thick.
            fingers: numbers.fingers_with(joints[0], [2.0 * tip_radius; 2])?,
            joints,
        };
        let Fingers { n, opening: (least, greatest), .. } = hand.fingers;
        if (n - 3.0).abs() > f64::EPSILON {
            return Err(numbers.out_of_range("fingers", n, "3: a thumb and two"));
        }
        // Three balls touch each other at 2/√3 of their radius from the middle.
        if 0.5 * least + tip_radius < tip_radius / FRAC_PI_3.sin() {
            let range = "at least 0.31 of tip_radius, where the tips meet";
            return Err(numbers.out_of_range("opening_min", least, range));
        }
        for (parameter, opening) in [("opening_min", least), ("opening_max", greatest)] {
            if hand.sine(opening).abs() > STEEPEST.sin() {
                let range = "an opening at which the fingers are within 60 degrees of the tool's x";
                return Err(numbers.out_of_range(parameter, opening, range));
            }
        }
        Ok(hand)
    }

    /// Joint that spreads the fingers.
    pub fn spread_joint(&self) -> BodyId {
        self.joints[3]
    }

    /// Radius of a tip. [m]
    pub fn tip_radius(&self) -> f64 {
        self.tip_radius
    }

    /// Height above the tips' middles up to which anything fits under the palm. [m]
    pub fn palm_height(&self, position: f64) -> f64 {
        (self.length - PALM) * position.cos()
    }

    /// Distance between the two fingers where they are side by side. [m]
    pub fn finger_distance(&self) -> f64 {
        2.0 * self.palm_radius * FRAC_PI_3.sin()
    }

    /// How much nearer to each other than the opening the tips' faces are. [m]
    pub fn nearer(&self, spread: Spread) -> f64 {
        match spread {
            Spread::Closed => 0.5 * self.palm_radius,
            Spread::Even => 0.0,
            Spread::Between(_) => {
                // From the middle that is as far from the thumb's tip as from the others', each along the way on which it closes.
                let angle = spread.angle();
                2.0 * self.palm_radius * (1.0 - (FRAC_PI_3 - angle).cos()) / (1.0 + angle.cos())
            }
        }
    }

    /// Place of the middle between the tips along the tool's y. [m]
    pub fn middle(&self, spread: Spread) -> f64 {
        -0.5 * self.nearer(spread)
    }

    /// Places of the ways on which the thumb, the left and the right finger close, beside the middle between the tips, in the tool frame. [m] (3×3)
    pub fn beside(&self, spread: Spread) -> [Vector3; 3] {
        let (sin, cos) = spread.angle().sin_cos();
        let (sin_knuckle, cos_knuckle) = FRAC_PI_3.sin_cos();
        let [y, z] =
            [self.palm_radius * cos_knuckle - self.middle(spread), self.palm_radius * sin_knuckle];
        let off = match spread {
            Spread::Even => 0.0,
            _ => z * cos - y * sin,
        };
        [0.0, off, -off].map(|off| Vector3::new(0.0, -sin * off.abs(), cos * off))
    }

    /// Directions in which the thumb, the left and the right finger close, in the tool frame. [-] (3×3)
    pub fn closing(spread: Spread) -> [Vector3; 3] {
        let (sin, cos) = spread.angle().sin_cos();
        [Vector3::y(), Vector3::new(0.0, -cos, -sin), Vector3::new(0.0, -cos, sin)]
    }

    /// Shares of the hand's force that the thumb, the left and the right finger press with. [-] (3)
    pub fn shares(spread: Spread) -> [f64; 3] {
        let share = 0.5 / spread.angle().cos();
        [1.0, share, share]
    }

    /// Position of the hand by those of its joints: the fingers of either side count as one half. [rad]
    pub fn mean([thumb, left, right]: [f64; 3]) -> f64 {
        0.5 * thumb + 0.25 * (left + right)
    }

    /// Sine of the fingers' angle at an opening. [-]
    fn sine(&self, opening: f64) -> f64 {
        (0.5 * opening + self.tip_radius - self.palm_radius) / self.length
    }
}

impl EndEffector for ThreeFingers {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn fingers(&self) -> &Fingers {
        &self.fingers
    }

    fn closing_joints(&self) -> Vec<BodyId> {
        self.joints[..3].to_vec()
    }

    fn three_fingers(&self) -> Option<&ThreeFingers> {
        Some(self)
    }

    fn opening(&self, position: f64) -> f64 {
        2.0 * (self.palm_radius + self.length * position.sin() - self.tip_radius)
    }

    fn position(&self, opening: f64) -> f64 {
        // Into the range first, so that `asin` has an angle: the range was checked against the finger.
        self.sine(opening.clamp(self.fingers.opening.0, self.fingers.opening.1)).asin()
    }

    fn opening_rate(&self, position: f64) -> f64 {
        2.0 * self.length * position.cos()
    }

    fn effort(&self, position: f64, force: f64) -> f64 {
        // Virtual work of one finger: `τ dγ + H dr = 0`.
        -force * self.length * position.cos()
    }

    fn force(&self, position: f64, effort: f64) -> f64 {
        -effort / (self.length * position.cos())
    }

    fn headroom(&self, position: f64) -> f64 {
        let (sin, cos) = position.sin_cos();
        // What the bars leave beside the tips' faces; they lean inwards where the hand is open.
        let room = self.recess * cos + self.tip_radius - SPARE;
        let bars = if sin > 0.0 { (room * cos / sin).max(0.0) } else { f64::INFINITY };
        bars.min(self.palm_height(position))
    }

    fn tool_depth(&self, position: f64) -> f64 {
        self.length * position.cos() - self.knuckle_depth
    }
}
