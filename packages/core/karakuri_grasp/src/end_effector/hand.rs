//! What all kinds of hands are: their trait, their common properties, and the reader of their parameters.
//!
//! Units: m, rad, N, N·m.

use dyn_clone::DynClone;
use karakuri_model::{BodyId, EndEffector as Config, FrameId};
use karakuri_spatial::Vector3;

use super::three_fingers::ThreeFingers;

/// A hand with opposed fingers and an opening: two fingers of which one drive moves both or one, or three.
pub trait EndEffector: core::fmt::Debug + DynClone + Send {
    /// Name of the kind in the registry.
    fn kind(&self) -> &'static str;

    /// Properties that all such hands have.
    fn fingers(&self) -> &Fingers;

    /// Driven joint of the hand, or the first of several that close it alike.
    fn joint(&self) -> BodyId {
        self.fingers().joint
    }

    /// Joints that close the hand, all alike.
    fn closing_joints(&self) -> Vec<BodyId> {
        vec![self.joint()]
    }

    /// The hand as one of three fingers, if it is one.
    fn three_fingers(&self) -> Option<&ThreeFingers> {
        None
    }

    /// Tool frame of the hand.
    fn tool_frame(&self) -> FrameId {
        self.fingers().tool_frame
    }

    /// Least and greatest opening. [m]
    fn opening_range(&self) -> (f64, f64) {
        self.fingers().opening
    }

    /// Largest force of a finger. [N]
    fn force_max(&self) -> f64 {
        self.fingers().force_max
    }

    /// Length of the finger pads along the tool's x. [m]
    fn pad_depth(&self) -> f64 {
        self.fingers().pad_depth
    }

    /// Width of the finger pads along the tool's z. [m]
    fn pad_width(&self) -> f64 {
        self.fingers().pad_width
    }

    /// Opening at a position of the driven joint. [m]
    fn opening(&self, position: f64) -> f64;

    /// Position of the driven joint for an opening, which is brought into range. [rad or m]
    fn position(&self, opening: f64) -> f64;

    /// Change of opening for a change of the driven joint's position. [m/rad or 1]
    fn opening_rate(&self, position: f64) -> f64;

    /// Effort of the driven joint, or of each that closes the hand, that presses each finger with `force` [N]; closing. [N·m or N]
    fn effort(&self, position: f64, force: f64) -> f64;

    /// Force of each finger for a closing effort of the driven joint: the inverse of [`effort`](Self::effort). [N]
    fn force(&self, position: f64, effort: f64) -> f64;

    /// Position of the middle of the pads along the tool frame's x. [m]
    fn tool_depth(&self, position: f64) -> f64;

    /// Angle of each finger's face against the tool's x, positive where the faces are nearer to each other at the hand: they then
    /// push an object out of it. 0 where they stay parallel. [rad]
    fn lean(&self, _position: f64) -> f64 {
        0.0
    }

    /// Height above the middle of the pads up to which an upright object that is as wide as between them fits into the hand. [m]
    fn headroom(&self, _position: f64) -> f64 {
        f64::INFINITY
    }

    /// Width of the box that stops the fingers at a position of the driven joint. [m]
    fn width_between(&self, position: f64, _reach: Reach) -> f64 {
        self.opening(position)
    }

    /// Opening at which a box of this width stops the fingers: the inverse of [`width_between`](Self::width_between). [m]
    fn opening_about(&self, width: f64, _reach: Reach) -> f64 {
        width
    }

    /// Refuses a box of this width [m] whose friction [-] the fingers' lean is too much for.
    ///
    /// # Errors
    /// When the fingers lean by more than [`LEAN_SHARE`] of the angle of friction where the box stops them.
    fn refuse_squeezed(&self, width: f64, reach: Reach, friction: f64) -> Result<(), SqueezedOut> {
        let lean = self.lean(self.position(self.opening_about(width, reach)));
        SqueezedOut::check(width, lean, friction, LEAN_SHARE * friction.atan())
    }
}

dyn_clone::clone_trait_object!(EndEffector);

/// Share of the angle of friction by which faces may lean.
// At all of it nothing is left to carry with; what is left of friction 0.6 at this share is a sixth. More: an error of 0.02 in it is all there is.
pub const LEAN_SHARE: f64 = 0.8;

/// Reach of a box from the middle of the pads that hold it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reach {
    /// Along the tool's x towards the hand. [m]
    pub inward: f64,
    /// Along the tool's x away from the hand. [m]
    pub outward: f64,
}

/// Refusal of an object that leaning fingers would squeeze out, whatever their force.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "fingers about {:.1} mm lean by {:.1} degrees, and friction {friction} holds up to {:.1}: the object would be squeezed out; take it by a narrower side, or by pads with more friction",
    1e3 * width, lean.to_degrees(), largest.to_degrees()
)]
pub struct SqueezedOut {
    /// Width of the object. [m]
    pub width: f64,
    /// Angle by which each finger leans there. [rad]
    pub lean: f64,
    /// Coefficient of friction. [-]
    pub friction: f64,
    /// Largest angle that it holds. [rad]
    pub largest: f64,
}

impl SqueezedOut {
    /// Refuses an object of this width [m] and friction [-] between faces that lean by more than the largest angle. [rad]
    pub(crate) fn check(width: f64, lean: f64, friction: f64, largest: f64) -> Result<(), Self> {
        let lean = lean.abs();
        if lean > largest {
            return Err(Self { width, lean, friction, largest });
        }
        Ok(())
    }
}

/// Properties that hands with an opening have in common: a section of the robot YAML.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fingers {
    /// Driven joint of the hand, or the first of several.
    pub joint: BodyId,
    /// Tool frame of the hand.
    pub tool_frame: FrameId,
    /// Least and greatest opening: `opening_min`, `opening_max`. [m]
    pub opening: (f64, f64),
    /// Number of fingers that drives move: `fingers`. [-]
    pub n: f64,
    /// Largest force of a finger: `force_max`. [N]
    pub force_max: f64,
    /// Length of the pads along the tool's x: `pad_depth`. [m]
    pub pad_depth: f64,
    /// Width of the pads along the tool's z: `pad_width`. [m]
    pub pad_width: f64,
}

/// Force of the object on one finger.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FingerForce {
    /// Normal force, positive where it presses the finger open. [N]
    pub normal: f64,
    /// Force along the pad, in the tool's axes (its y is zero). [N] (3)
    pub tangential: Vector3,
}

/// Cause that keeps a hand from being made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EndEffectorError {
    /// The robot YAML names no end effector.
    #[error(
        "robot `{robot}` has no end effector; add `end_effector: {{kind: parallel_linkage, ...}}` to its YAML"
    )]
    None {
        /// Name of the robot.
        robot: String,
    },
    /// The kind is not in the registry.
    #[error("end effector kind `{kind}` is not known; there are: {known}")]
    UnknownKind {
        /// Name of the kind given.
        kind: String,
        /// Names of the registered kinds.
        known: String,
    },
    /// A number is missing.
    #[error("end effector `{kind}` lacks parameter `{parameter}`")]
    Missing {
        /// Kind of the hand.
        kind: &'static str,
        /// Name of the parameter.
        parameter: &'static str,
    },
    /// A number is out of range.
    #[error("end effector `{kind}`: {parameter} is {value}, it must be {range}")]
    Range {
        /// Kind of the hand.
        kind: &'static str,
        /// Name of the parameter.
        parameter: &'static str,
        /// Value of the parameter.
        value: f64,
        /// Values that are permitted.
        range: &'static str,
    },
    /// Joints or sensors do not fit.
    #[error("end effector `{kind}` needs {want}, the robot YAML names {got}")]
    Parts {
        /// Kind of the hand.
        kind: &'static str,
        /// Joints or sensors that it needs.
        want: &'static str,
        /// Number of those that were named.
        got: usize,
    },
    /// A sensor that the model does not have.
    #[error("end effector sensor `{name}` is not among the robot's sensors")]
    UnknownSensor {
        /// Name of the sensor given.
        name: String,
    },
}

/// A kind of hand.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Name of the kind in a robot YAML.
    pub name: &'static str,
    /// Driven joints that the robot YAML names.
    pub joints: &'static [&'static str],
    /// Constructor from a robot YAML's section.
    pub make: fn(&Config) -> Result<Box<dyn EndEffector>, EndEffectorError>,
    /// Parameters of a sensible hand of this kind: documentation, and input of the conformance tests.
    pub example: &'static [(&'static str, f64)],
}

/// Reader of the numbers of a robot YAML's section.
pub(crate) struct Numbers<'a> {
    pub(crate) kind: &'static str,
    pub(crate) config: &'a Config,
}

impl Numbers<'_> {
    pub(crate) fn get(&self, parameter: &'static str) -> Result<f64, EndEffectorError> {
        let found = self.config.parameters.iter().find(|(name, _)| name == parameter);
        match found {
            Some(&(_, value)) if value.is_finite() => Ok(value),
            Some(&(_, value)) => Err(self.out_of_range(parameter, value, "finite")),
            None => Err(EndEffectorError::Missing { kind: self.kind, parameter }),
        }
    }

    /// A number that may be left out, and is not negative.
    pub(crate) fn optional(
        &self,
        parameter: &'static str,
    ) -> Result<Option<f64>, EndEffectorError> {
        if self.config.parameters.iter().all(|(name, _)| name != parameter) {
            return Ok(None);
        }
        match self.get(parameter)? {
            value if value >= 0.0 => Ok(Some(value)),
            value => Err(self.out_of_range(parameter, value, "at least 0")),
        }
    }

    pub(crate) fn positive(&self, parameter: &'static str) -> Result<f64, EndEffectorError> {
        match self.get(parameter)? {
            value if value > 0.0 => Ok(value),
            value => Err(self.out_of_range(parameter, value, "above 0")),
        }
    }

    /// Error of a parameter whose value is not in its range.
    pub(crate) fn out_of_range(
        &self,
        parameter: &'static str,
        value: f64,
        range: &'static str,
    ) -> EndEffectorError {
        EndEffectorError::Range { kind: self.kind, parameter, value, range }
    }

    /// Properties that all hands have.
    pub(crate) fn fingers(&self) -> Result<Fingers, EndEffectorError> {
        let [joint] = self.joints("one driven joint")?;
        self.fingers_with(joint, [self.positive("pad_depth")?, self.positive("pad_width")?])
    }

    /// As [`fingers`](Self::fingers), with the first joint that closes the hand and the depth and width of its pads. [m] (2)
    pub(crate) fn fingers_with(
        &self,
        joint: BodyId,
        [pad_depth, pad_width]: [f64; 2],
    ) -> Result<Fingers, EndEffectorError> {
        Ok(Fingers {
            joint,
            tool_frame: self.config.tool_frame,
            opening: self.opening()?,
            n: self.positive("fingers")?,
            force_max: self.positive("force_max")?,
            pad_depth,
            pad_width,
        })
    }

    /// The joints that are driven; `want` says which.
    pub(crate) fn joints<const N: usize>(
        &self,
        want: &'static str,
    ) -> Result<[BodyId; N], EndEffectorError> {
        let (kind, joints) = (self.kind, &self.config.joints[..]);
        joints.try_into().map_err(|_| EndEffectorError::Parts { kind, want, got: joints.len() })
    }

    /// Least and greatest opening, `opening_min` and `opening_max`. [m]
    fn opening(&self) -> Result<(f64, f64), EndEffectorError> {
        let (lowest, highest) = (self.get("opening_min")?, self.positive("opening_max")?);
        if lowest < 0.0 || lowest >= highest {
            let range = "at least 0 and below opening_max";
            return Err(self.out_of_range("opening_min", lowest, range));
        }
        Ok((lowest, highest))
    }
}
