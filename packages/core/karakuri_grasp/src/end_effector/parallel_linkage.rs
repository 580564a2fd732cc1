//! Two fingers on parallelogram linkages, moved by one crank.
//!
//! Crank angle θ, link length L, half opening b at θ = 0: opening `w = 2 (b + L sin θ)`; the pads stay parallel and their
//! middle moves back by `L (1 − cos θ)`. One drive moves `n` cranks: force a finger `N = τ/(n L cos θ)`.
//! Limits: singular at ±90°; the crank is kept within ±60°.

use karakuri_model::{BodyId, EndEffector as Config, FrameId};

use super::{EndEffector, EndEffectorError};

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
}

impl ParallelLinkage {
    /// From the model's `end_effector`.
    pub fn new(config: &Config) -> Result<Self, EndEffectorError> {
        let get = |parameter: &'static str| {
            let found = config.parameters.iter().find(|(name, _)| name == parameter);
            found.map(|(_, v)| *v).ok_or(EndEffectorError::Missing { kind: KIND, parameter })
        };
        let positive = |parameter: &'static str| match get(parameter)? {
            value if value > 0.0 && value.is_finite() => Ok(value),
            value => {
                Err(EndEffectorError::Range { kind: KIND, parameter, value, range: "above 0" })
            }
        };
        let [joint] = config.joints[..] else {
            let got = config.joints.len();
            return Err(EndEffectorError::Parts { kind: KIND, want: "one driven joint", got });
        };
        let link_length = positive("link_length")?;
        let half_opening = get("half_opening")?;
        let opening = (get("opening_min")?, positive("opening_max")?);
        for (parameter, value) in [("opening_min", opening.0), ("opening_max", opening.1)] {
            let sine = (0.5 * value - half_opening) / link_length;
            if sine.abs() > STEEPEST.sin() || value < 0.0 || value > opening.1 {
                let range = "an opening that the crank reaches within 60 degrees, min below max";
                return Err(EndEffectorError::Range { kind: KIND, parameter, value, range });
            }
        }
        Ok(Self {
            joint,
            tool_frame: config.tool_frame,
            link_length,
            half_opening,
            opening,
            fingers: positive("fingers")?,
            force_max: positive("force_max")?,
            pad_depth: positive("pad_depth")?,
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
