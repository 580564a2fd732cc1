//! Two fingers on parallelogram linkages, moved by one crank.
//!
//! Crank angle θ, link length L, half opening b at θ = 0: opening `w = 2 (b + L sin θ)`; the pads stay parallel and their
//! middle moves back by `L (1 − cos θ)`. One drive moves `n` cranks: force a finger `N = τ/(n L cos θ)`.
//! The links end d behind the middle of the pads, their inner sides c outside of the pads' faces; from there they lean by θ, inwards where
//! the hand is open. With a palm that is p behind the middle of the pads at θ = 0, a wide object fits up to the height
//! `min(d + c/tan θ, p − L (1 − cos θ))` above that middle; `link_depth`, `link_recess` and `palm_depth` may be left out where nothing is in the way.
//! Limits: singular at ±90°; the crank is kept within ±60°.

use karakuri_model::EndEffector as Config;

use super::hand::{EndEffector, EndEffectorError, Fingers, Kind, Numbers};

/// Entry of the kind in the registry.
pub(super) const REGISTERED: Kind = Kind {
    name: KIND,
    joints: &["driven joint"],
    make: |config| Ok(Box::new(ParallelLinkage::new(config)?)),
    example: &[
        ("link_length", 0.05),
        ("half_opening", 0.02125),
        ("opening_min", 0.0002),
        ("opening_max", 0.085),
        ("fingers", 2.0),
        ("force_max", 40.0),
        ("pad_depth", 0.028),
        ("pad_width", 0.024),
    ],
};

const KIND: &str = "parallel_linkage";
/// Distance that an object keeps from links and palm: errors of the arm and of the object's pose. [m]
const SPARE: f64 = 0.001;
/// Largest crank angle: beyond it force and depth change too fast with the angle. [rad]
// At 60° half of the lever is left, and the same effort presses with twice the force.
const STEEPEST: f64 = core::f64::consts::FRAC_PI_3;

/// Hand with two fingers on parallelogram linkages, moved by one crank.
#[derive(Debug, Clone, PartialEq)]
pub struct ParallelLinkage {
    fingers: Fingers,
    link_length: f64,
    half_opening: f64,
    /// Depth and recess of the links, where they are in the way. [m] (2)
    links: Option<(f64, f64)>,
    palm_depth: f64,
}

impl ParallelLinkage {
    /// Hand from the model's `end_effector`.
    ///
    /// # Errors
    /// When a parameter is missing or out of range, or the crank would stand steeper than 60° at an end of the
    /// opening.
    pub fn new(config: &Config) -> Result<Self, EndEffectorError> {
        let numbers = Numbers { kind: KIND, config };
        let link_length = numbers.positive("link_length")?;
        let half_opening = numbers.get("half_opening")?;
        let fingers = numbers.fingers()?;
        let (least, greatest) = fingers.opening;
        for (parameter, value) in [("opening_min", least), ("opening_max", greatest)] {
            // The opening `w = 2 (b + L sin θ)`, solved for sin θ.
            let sine = (0.5 * value - half_opening) / link_length;
            if sine.abs() > STEEPEST.sin() {
                let range = "an opening that the crank reaches within 60 degrees";
                return Err(numbers.out_of_range(parameter, value, range));
            }
        }
        let links = numbers.optional("link_depth")?.zip(numbers.optional("link_recess")?);
        let palm_depth = numbers.optional("palm_depth")?.unwrap_or(f64::INFINITY);
        Ok(Self { fingers, link_length, half_opening, links, palm_depth })
    }

    fn lever(&self, position: f64) -> f64 {
        self.fingers.n * self.link_length * position.cos()
    }
}

impl EndEffector for ParallelLinkage {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn fingers(&self) -> &Fingers {
        &self.fingers
    }

    fn opening(&self, position: f64) -> f64 {
        2.0 * (self.half_opening + self.link_length * position.sin())
    }

    fn position(&self, opening: f64) -> f64 {
        // Into the range first, so that `asin` has an angle: the range was checked against the crank.
        let opening = opening.clamp(self.fingers.opening.0, self.fingers.opening.1);
        ((0.5 * opening - self.half_opening) / self.link_length).asin()
    }

    fn opening_rate(&self, position: f64) -> f64 {
        2.0 * self.link_length * position.cos()
    }

    fn effort(&self, position: f64, force: f64) -> f64 {
        // Virtual work: `τ dθ + n N L cos θ dθ = 0`, as each of the n fingers moves by `L cos θ dθ` against N.
        -force * self.lever(position)
    }

    fn force(&self, position: f64, effort: f64) -> f64 {
        -effort / self.lever(position)
    }

    fn headroom(&self, position: f64) -> f64 {
        let (sin, cos) = position.sin_cos();
        let palm = self.palm_depth - self.link_length * (1.0 - cos) - SPARE;
        let links = self
            .links
            .filter(|_| sin > 0.0)
            .map_or(f64::INFINITY, |(depth, recess)| depth + (recess - SPARE).max(0.0) * cos / sin);
        palm.min(links)
    }

    fn tool_depth(&self, position: f64) -> f64 {
        -self.link_length * (1.0 - position.cos())
    }
}
