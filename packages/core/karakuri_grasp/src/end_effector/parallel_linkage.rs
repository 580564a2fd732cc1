//! Two fingers on parallelogram linkages, moved by one crank.
//!
//! Crank angle θ, link length L, half opening b at θ = 0: opening `w = 2 (b + L sin θ)`; the pads stay parallel and their
//! middle moves back by `L (1 − cos θ)`. One drive moves `n` cranks: force a finger `N = τ/(n L cos θ)`.
//! Limits: singular at ±90°; the crank is kept within ±60°.

use karakuri_model::{BodyId, EndEffector as Config, FrameId};

use super::{EndEffector, EndEffectorError, Kind, Numbers};

/// Its entry in the registry.
pub(super) const REGISTERED: Kind = Kind {
    name: KIND,
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
/// Beyond it force and depth change too fast with the angle. [rad]
const STEEPEST: f64 = core::f64::consts::FRAC_PI_3;

/// See the module.
#[derive(Debug, Clone, PartialEq)]
pub struct ParallelLinkage {
    joint: BodyId,
    tool_frame: FrameId,
    link_length: f64,
    half_opening: f64,
    opening: (f64, f64),
    fingers: f64,
    force_max: f64,
    pad_depth: f64,
    pad_width: f64,
}

impl ParallelLinkage {
    /// From the model's `end_effector`.
    pub fn new(config: &Config) -> Result<Self, EndEffectorError> {
        let numbers = Numbers { kind: KIND, config };
        let link_length = numbers.positive("link_length")?;
        let half_opening = numbers.get("half_opening")?;
        let opening = numbers.opening()?;
        for (parameter, value) in [("opening_min", opening.0), ("opening_max", opening.1)] {
            let sine = (0.5 * value - half_opening) / link_length;
            if sine.abs() > STEEPEST.sin() {
                let range = "an opening that the crank reaches within 60 degrees";
                return Err(EndEffectorError::Range { kind: KIND, parameter, value, range });
            }
        }
        Ok(Self {
            joint: numbers.joint()?,
            tool_frame: config.tool_frame,
            link_length,
            half_opening,
            opening,
            fingers: numbers.positive("fingers")?,
            force_max: numbers.positive("force_max")?,
            pad_depth: numbers.positive("pad_depth")?,
            pad_width: numbers.positive("pad_width")?,
        })
    }

    fn lever(&self, position: f64) -> f64 {
        self.fingers * self.link_length * position.cos()
    }
}

impl EndEffector for ParallelLinkage {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn joint(&self) -> BodyId {
        self.joint
    }

    fn tool_frame(&self) -> FrameId {
        self.tool_frame
    }

    fn opening_range(&self) -> (f64, f64) {
        self.opening
    }

    fn force_max(&self) -> f64 {
        self.force_max
    }

    fn pad_depth(&self) -> f64 {
        self.pad_depth
    }

    fn pad_width(&self) -> f64 {
        self.pad_width
    }

    fn opening(&self, position: f64) -> f64 {
        2.0 * (self.half_opening + self.link_length * position.sin())
    }

    fn position(&self, opening: f64) -> f64 {
        let opening = opening.clamp(self.opening.0, self.opening.1);
        ((0.5 * opening - self.half_opening) / self.link_length).asin()
    }

    fn opening_rate(&self, position: f64) -> f64 {
        2.0 * self.link_length * position.cos()
    }

    fn effort(&self, position: f64, force: f64) -> f64 {
        -force * self.lever(position)
    }

    fn force(&self, position: f64, effort: f64) -> f64 {
        -effort / self.lever(position)
    }

    fn tool_depth(&self, position: f64) -> f64 {
        -self.link_length * (1.0 - position.cos())
    }
}
