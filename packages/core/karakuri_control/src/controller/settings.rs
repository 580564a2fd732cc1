//! Settings of the controller, and their errors.

use karakuri_dynamics::EARTH_GRAVITY;
use karakuri_model::{BodyId, FrameId, Model};
use karakuri_spatial::{Inertia, Matrix3, Vector3};

use super::{ForceSettings, Gains};
use crate::inverse_dynamics::{InverseDynamics, METHODS, method};

/// Settings of the controller.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedforwardSettings {
    /// Name of the inverse-dynamics method.
    pub method: String,
    /// Gravitational acceleration where the robot works, in world axes. [m/s²] (3)
    pub gravity: Vector3,
    /// Factor of the feed-forward: 0 leaves it out, 1 applies all of it. [-]
    pub feedforward_scale: f64,
    /// Whether the joints' dry friction is added in the direction of the desired motion.
    pub friction_compensation: bool,
    /// Speed below which dry friction is compensated in proportion. [rad/s or m/s]
    pub friction_speed: f64,
    /// Fastest change of a joint's effort, as a share of its limit; infinite: no bound. [1/s]
    pub effort_rate: f64,
    /// Longest time between two states before every group holds; 0 never. [s]
    pub state_timeout: f64,
    /// Payloads of links beside their own mass.
    pub payload: Option<Payload>,
    /// Feedback of the joints, in the model's order; empty: none. (n joints)
    pub gains: Vec<Gains>,
    /// Settings of exerted forces.
    pub force: ForceSettings,
}

impl Default for FeedforwardSettings {
    fn default() -> Self {
        Self {
            method: "recursive".to_owned(),
            gravity: Vector3::new(0.0, 0.0, -EARTH_GRAVITY),
            feedforward_scale: 1.0,
            friction_compensation: true,
            // Narrower: the compensation jumps by twice the friction where a motion turns round; wider: slow motions get too little.
            friction_speed: 0.01,
            // 0.16 of the limit in 2 ms. Without a bound, preempted motions and goals faster than a joint make steps of more
            // than half of the limit.
            effort_rate: 80.0,
            state_timeout: 0.5,
            payload: None,
            gains: Vec::new(),
            force: ForceSettings::default(),
        }
    }
}

/// A point mass that a link carries.
#[derive(Debug, Clone, PartialEq)]
pub struct Payload {
    /// Name of the link.
    pub link: String,
    /// Mass of the payload. [kg]
    pub mass: f64,
    /// Centre of mass in the link's frame. [m] (3)
    pub com: Vector3,
}

/// Why a controller cannot be made or changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ControllerError {
    /// No such method.
    #[error("inverse-dynamics method `{name}` is not known; there are: {known}")]
    UnknownMethod {
        /// The name given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The robot has no joint group, as none of its joints is driven.
    #[error(
        "robot `{robot}` has no driven joint to command; give its joints drives in the robot YAML: `drives: {{joint: {{stiffness: ..., damping: ...}}}}`"
    )]
    NoGroups {
        /// Name of the robot.
        robot: String,
    },
    /// A joint of a group has several degrees of freedom, or none.
    #[error(
        "joint `{joint}` of group `{group}` has {dofs} degrees of freedom; only joints with one can be commanded"
    )]
    NotOneDof {
        /// Name of the joint.
        joint: String,
        /// Name of the group.
        group: String,
        /// Number of its degrees of freedom.
        dofs: usize,
    },
    /// No such link.
    #[error("link `{link}` is not in robot `{robot}`; its last link is `{last}`")]
    UnknownLink {
        /// The name given.
        link: String,
        /// Name of the robot.
        robot: String,
        /// Name of its last link.
        last: String,
    },
    /// Nothing moves the link.
    #[error("link `{link}` is part of the fixed base; name one that a joint moves")]
    FixedLink {
        /// Name of the link.
        link: String,
    },
    /// A payload with invalid numbers.
    #[error(
        "payload of link `{link}`: mass {mass} kg at {com:?} m; the mass must be 0 or more, and all numbers finite"
    )]
    BadPayload {
        /// Name of the link.
        link: String,
        /// Mass of the payload. [kg]
        mass: f64,
        /// Centre of mass in the link's frame. [m] (3)
        com: [f64; 3],
    },
    /// Gains for another number of joints.
    #[error("{given} feedback gains for {joints} joints; give one a joint of the model, or none")]
    GainCount {
        /// Number of gains given.
        given: usize,
        /// Number of joints of the model.
        joints: usize,
    },
}

impl FeedforwardSettings {
    /// Checks what depends on the model; gives the model with the payload on it, if there is any.
    pub(super) fn check(&self, model: &Model) -> Result<Option<Model>, ControllerError> {
        // No gains at all stand for no feedback; some of them would leave it open whose they are.
        let (given, joints) = (self.gains.len(), model.joints.len());
        if given != 0 && given != joints {
            return Err(ControllerError::GainCount { given, joints });
        }
        self.payload.as_ref().map(|payload| payload.on(model)).transpose()
    }

    pub(super) fn find_method(
        &self,
        model: &Model,
    ) -> Result<Box<dyn InverseDynamics>, ControllerError> {
        let mut method = method(&self.method, model).ok_or_else(|| {
            ControllerError::UnknownMethod { name: self.method.clone(), known: METHODS.join(", ") }
        })?;
        // A method is made for a model; gravity is a setting and may change with it.
        method.set_gravity(&self.gravity);
        Ok(method)
    }
}

/// Settings that were checked, with all the memory that they take.
#[derive(Debug)]
pub struct PreparedSettings {
    pub(super) settings: FeedforwardSettings,
    /// Another method, or the same for another payload, and the model with that payload.
    pub(super) rebuilt: Option<(Box<dyn InverseDynamics>, Option<Model>)>,
}

impl PreparedSettings {
    /// Checks `settings` that are to follow those `in_force`.
    ///
    /// # Errors
    ///
    /// If a number is out of range, an array does not fit the joints, or the method or the payload's link is unknown.
    pub fn new(
        model: &Model,
        in_force: &FeedforwardSettings,
        settings: FeedforwardSettings,
    ) -> Result<Self, ControllerError> {
        let loaded = settings.check(model)?;
        // Methods hold the model's payload and gravity; all other settings are read at each update.
        let is_rebuilt = settings.method != in_force.method
            || settings.payload != in_force.payload
            || settings.gravity != in_force.gravity;
        let rebuilt = if is_rebuilt {
            Some((settings.find_method(loaded.as_ref().unwrap_or(model))?, loaded))
        } else {
            None
        };
        Ok(Self { settings, rebuilt })
    }
}

impl Payload {
    /// The model that carries it.
    ///
    /// # Errors
    ///
    /// If the robot has no such link, the link does not move, or mass or place of the payload are invalid.
    pub fn on(&self, model: &Model) -> Result<Model, ControllerError> {
        let (frame, body) = moving_link(model, &self.link)?;
        let finite = self.com.iter().all(|x| x.is_finite());
        if !(self.mass.is_finite() && self.mass >= 0.0 && finite) {
            let (link, mass, com) = (self.link.clone(), self.mass, self.com.into());
            return Err(ControllerError::BadPayload { link, mass, com });
        }
        // A point mass has no inertia about its own centre; the parallel-axis theorem gives the rest.
        let point = Inertia { mass: self.mass, com: self.com, about_com: Matrix3::zeros() };
        let mut loaded = model.clone();
        let inertia = &mut loaded.bodies[body.0].inertia;
        *inertia = inertia.combined(&point.transformed(&model.frames[frame.0].pose_in_body));
        Ok(loaded)
    }
}

/// A link and the body that carries it.
pub(super) fn moving_link(model: &Model, link: &str) -> Result<(FrameId, BodyId), ControllerError> {
    let frame = model.frame(link).ok_or_else(|| ControllerError::UnknownLink {
        link: link.to_owned(),
        robot: model.name.clone(),
        last: model.frames.last().map_or_else(String::new, |f| f.name.clone()),
    })?;
    let fixed = || ControllerError::FixedLink { link: link.to_owned() };
    model.frames[frame.0].body.map(|body| (frame, body)).ok_or_else(fixed)
}
