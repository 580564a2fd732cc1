//! What a hand knows of the forces on its fingers: measured by a sensor a finger, or estimated from its drive.

use karakuri_dynamics::Data;
use karakuri_model::Model;
use karakuri_spatial::Force;

use crate::drive_force::DriveForce;
use crate::end_effector::{EndEffectorError, FingerSensors};
use crate::{EndEffector, FingerForce};

/// What is measured of a hand at an instant.
#[derive(Debug, Clone, Copy)]
pub struct HandReading<'a> {
    /// Position of the driven joint. [rad or m]
    pub position: f64,
    /// Velocity of the driven joint. [rad/s or m/s]
    pub velocity: f64,
    /// Effort of its drive; NaN where it is not known. [N·m or N]
    pub effort: f64,
    /// Wrenches of the finger sensors, in their links' axes. [N·m; N] (n sensors)
    pub wrenches: &'a [Force],
    /// Time since the last reading. [s]
    pub dt: f64,
}

/// Source of the forces on the fingers.
#[derive(Debug, Clone)]
pub enum FingerSense {
    /// A force sensor a finger.
    Sensors(FingerSensors),
    /// The effort of the drive.
    Drive(DriveForce),
}

impl FingerSense {
    /// The sensors that the model's `end_effector` names; where it names none, the effort of its drive.
    ///
    /// # Errors
    /// When it names sensors, but not one a finger, or one that the robot does not have.
    pub fn new(model: &Model, hand: &dyn EndEffector) -> Result<Self, EndEffectorError> {
        let named = model.end_effector.as_ref().map_or(0, |config| config.sensors.len());
        let n = if hand.three_fingers().is_some() { 3 } else { 2 };
        Ok(match (named, n) {
            // Of several drives each feels its own finger only.
            (0, 2) => Self::Drive(DriveForce::new(&model.joints[hand.joint().0])),
            _ => Self::Sensors(FingerSensors::new(model, n)?),
        })
    }

    /// The sensors, if there are any.
    pub fn sensors(&self) -> Option<&FingerSensors> {
        match self {
            Self::Sensors(sensors) => Some(sensors),
            Self::Drive(_) => None,
        }
    }

    /// Forgets what was measured.
    pub fn reset(&mut self) {
        if let Self::Drive(drive) = self {
            drive.reset();
        }
    }

    /// Forces of the object on the fingers, at the forward kinematics in `data`. (2)
    pub fn feel(
        &mut self,
        model: &Model,
        data: &Data,
        hand: &dyn EndEffector,
        reading: &HandReading<'_>,
    ) -> [FingerForce; 2] {
        match self {
            Self::Sensors(sensors) => sensors.forces(model, data, reading.wrenches),
            Self::Drive(drive) => {
                drive.update(reading.velocity, reading.effort, reading.dt);
                drive.forces(hand, reading.position)
            }
        }
    }
}
