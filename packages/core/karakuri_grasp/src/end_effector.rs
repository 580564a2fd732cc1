//! Hands: the relation of driven joint, opening and force at the object.
//!
//! A kind of hand is one file and one entry in [`KINDS`]. Openings are the free width between the fingers.
//! Units: m, rad, N, N·m. The tool frame has x towards the object and y along the opening (REP 120).

mod hand;
mod parallel_linkage;
mod parallel_slide;
mod pivoting_jaw;
mod rack_and_pinion;
mod scissor;
mod three_fingers;

pub(crate) use hand::Numbers;
pub use hand::{
    EndEffector, EndEffectorError, FingerForce, Fingers, Kind, LEAN_SHARE, Reach, SqueezedOut,
};
pub use parallel_linkage::ParallelLinkage;
pub use parallel_slide::ParallelSlide;
pub use pivoting_jaw::PivotingJaw;
pub use rack_and_pinion::RackAndPinion;
pub use scissor::Scissor;
pub use three_fingers::{Spread, ThreeFingers};

use karakuri_dynamics::{Data, frame_pose};
use karakuri_model::{FrameId, Model};
use karakuri_spatial::{Force, Vector3};

/// Registry of the kinds that [`from_model`] knows.
pub const KINDS: &[Kind] = &[
    parallel_linkage::REGISTERED,
    parallel_slide::REGISTERED,
    pivoting_jaw::REGISTERED,
    rack_and_pinion::REGISTERED,
    scissor::REGISTERED,
    three_fingers::REGISTERED,
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

/// Sensors of a hand's fingers, one each, as indices into the model's sensors: one finger a side, or a thumb and two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FingerSensors {
    sensors: Vec<usize>,
    tool: FrameId,
}

impl FingerSensors {
    /// Sensors that the model's `end_effector` names; `n` is the number of fingers.
    ///
    /// # Errors
    /// When the model has no `end_effector`, a named sensor is not the robot's, or it does not name one a finger.
    pub fn new(model: &Model, n: usize) -> Result<Self, EndEffectorError> {
        let Some(config) = &model.end_effector else {
            return Err(EndEffectorError::None { robot: model.name.clone() });
        };
        let find = |name: &String| {
            let index = model.sensors.iter().position(|s| s.name == *name);
            index.ok_or_else(|| EndEffectorError::UnknownSensor { name: name.clone() })
        };
        if config.sensors.len() != n {
            let (kind, want) = match n {
                3 => {
                    ("three fingers", "three sensors: the thumb's, the left and the right finger's")
                }
                _ => ("two fingers", "two sensors, one a finger"),
            };
            return Err(EndEffectorError::Parts { kind, want, got: config.sensors.len() });
        }
        let sensors = config.sensors.iter().map(find).collect::<Result<_, _>>()?;
        Ok(Self { sensors, tool: config.tool_frame })
    }

    /// Indices into the model's sensors, in the order of the wrenches that [`forces`](Self::forces) takes.
    pub fn indices(&self) -> &[usize] {
        &self.sensors
    }

    /// Side of the tool's y on which the first finger and the others are: 1 or −1, at the forward kinematics in `data`. (2)
    pub fn sides(&self, model: &Model, data: &Data) -> [f64; 2] {
        let X_TW = frame_pose(model, data, self.tool).inverse();
        [0, 1].map(|k| {
            let X_TF = X_TW * frame_pose(model, data, model.sensors[self.sensors[k]].frame);
            // By the fingers' places: their names and their order in the file do not say on which side they are.
            if X_TF.translation.y >= 0.0 { 1.0 } else { -1.0 }
        })
    }

    /// Forces with which three fingers press along directions in the tool frame (3), as the sensors read them, at the forward kinematics in
    /// `data`. [N] (3)
    pub(crate) fn pressing(
        &self,
        model: &Model,
        data: &Data,
        wrenches: &[Force],
        along: &[Vector3; 3],
    ) -> [f64; 3] {
        let mut forces = [0.0; 3];
        let felt = self.in_tool(model, data, wrenches).zip(along);
        for (force, (f, along)) in forces.iter_mut().zip(felt) {
            // The object presses back.
            *force = -f.dot(along);
        }
        forces
    }

    /// Forces of the object on the fingers of either side, from the sensors' wrenches (on the finger, in its link's axes), at the forward
    /// kinematics in `data`: on the first finger, and on the others together. (2)
    pub fn forces(&self, model: &Model, data: &Data, wrenches: &[Force]) -> [FingerForce; 2] {
        let sides = self.sides(model, data);
        let mut forces = [FingerForce::default(); 2];
        for (k, f) in self.in_tool(model, data, wrenches).enumerate() {
            let side = k.min(1);
            // The object presses each finger away from the middle.
            forces[side].normal += f.y * sides[side];
            forces[side].tangential += Vector3::new(f.x, 0.0, f.z);
        }
        forces
    }

    /// Forces of the sensors' wrenches in the tool's axes. [N] (3 each)
    fn in_tool(
        &self,
        model: &Model,
        data: &Data,
        wrenches: &[Force],
    ) -> impl Iterator<Item = Vector3> {
        let X_TW = frame_pose(model, data, self.tool).inverse();
        self.sensors.iter().zip(wrenches).map(move |(&sensor, wrench)| {
            let X_TF = X_TW * frame_pose(model, data, model.sensors[sensor].frame);
            X_TF.rotation * wrench.force
        })
    }
}

#[cfg(test)]
mod tests;
