//! Hands: the relation of driven joint, opening and force at the object.
//!
//! A kind of hand is one file and one entry in [`KINDS`]. Openings are the free width between the fingers.
//! Units: m, rad, N, N·m. The tool frame has x towards the object and y along the opening (REP 120).

mod hand;
mod parallel_linkage;
mod parallel_slide;
mod pivoting_jaw;
mod scissor;

pub(crate) use hand::Numbers;
pub use hand::{
    EndEffector, EndEffectorError, FingerForce, Fingers, Kind, LEAN_SHARE, Reach, SqueezedOut,
};
pub use parallel_linkage::ParallelLinkage;
pub use parallel_slide::ParallelSlide;
pub use pivoting_jaw::PivotingJaw;
pub use scissor::Scissor;

use karakuri_dynamics::{Data, frame_pose};
use karakuri_model::{FrameId, Model};
use karakuri_spatial::{Force, Vector3};

/// Registry of the kinds that [`from_model`] knows.
pub const KINDS: &[Kind] = &[
    parallel_linkage::REGISTERED,
    parallel_slide::REGISTERED,
    pivoting_jaw::REGISTERED,
    scissor::REGISTERED,
];

/// Makes the hand that a model's `end_effector` describes.
///
/// # Errors
/// When the model has no `end_effector`, its kind is not registered, or its parameters, joints or sensors do not fit
/// the kind.
pub fn from_model(model: &Model) -> Result<Box<dyn EndEffector>, EndEffectorError> {
    let Some(config) = &model.end_effector else {
        return Err(EndEffectorError::None { robot: model.name.clone() });
    };
    match KINDS.iter().find(|kind| kind.name == config.kind) {
        Some(kind) => (kind.make)(config),
        None => Err(EndEffectorError::UnknownKind {
            kind: config.kind.clone(),
            known: KINDS
                .iter()
                .map(|kind| kind.name)
                .chain(["suction"])
                .collect::<Vec<_>>()
                .join(", "),
        }),
    }
}

/// The two finger sensors of a hand, as indices into the model's sensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FingerSensors {
    sensors: [usize; 2],
    tool: FrameId,
}

impl FingerSensors {
    /// Sensors that the model's `end_effector` names.
    ///
    /// # Errors
    /// When the model has no `end_effector`, a named sensor is not the robot's, or it does not name two.
    pub fn new(model: &Model) -> Result<Self, EndEffectorError> {
        let Some(config) = &model.end_effector else {
            return Err(EndEffectorError::None { robot: model.name.clone() });
        };
        let find = |name: &String| {
            let index = model.sensors.iter().position(|s| s.name == *name);
            index.ok_or_else(|| EndEffectorError::UnknownSensor { name: name.clone() })
        };
        match config.sensors.as_slice() {
            [a, b] => Ok(Self { sensors: [find(a)?, find(b)?], tool: config.tool_frame }),
            other => Err(EndEffectorError::Parts {
                kind: "two fingers",
                want: "two sensors, one a finger",
                got: other.len(),
            }),
        }
    }

    /// Indices into the model's sensors, in the order of the wrenches that [`forces`](Self::forces) takes.
    pub fn indices(&self) -> [usize; 2] {
        self.sensors
    }

    /// Side of the tool's y on which each finger is: 1 or −1, at the forward kinematics in `data`. (2)
    pub fn sides(&self, model: &Model, data: &Data) -> [f64; 2] {
        let X_TW = frame_pose(model, data, self.tool).inverse();
        self.sensors.map(|s| {
            let X_TF = X_TW * frame_pose(model, data, model.sensors[s].frame);
            // By the fingers' places: their names and their order in the file do not say on which side they are.
            if X_TF.translation.y >= 0.0 { 1.0 } else { -1.0 }
        })
    }

    /// Forces of the object on the fingers, from the sensors' wrenches (on the finger, in its link's axes), at the forward
    /// kinematics in `data`. (2)
    pub fn forces(&self, model: &Model, data: &Data, wrenches: &[Force; 2]) -> [FingerForce; 2] {
        let X_TW = frame_pose(model, data, self.tool).inverse();
        let sides = self.sides(model, data);
        core::array::from_fn(|k| {
            let X_TF = X_TW * frame_pose(model, data, model.sensors[self.sensors[k]].frame);
            let f = X_TF.rotation * wrenches[k].force;
            // The object presses each finger away from the middle.
            FingerForce { normal: f.y * sides[k], tangential: Vector3::new(f.x, 0.0, f.z) }
        })
    }
}

#[cfg(test)]
mod tests;
