//! Readings of inertial sensors.

use karakuri_spatial::{UnitQuaternion, Vector3};

/// A reading of an inertial sensor (REP 145), in the sensor link's axes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Imu {
    /// Orientation of the link in the world.
    pub orientation: UnitQuaternion,
    /// Angular velocity of the link. [rad/s] (3)
    pub angular_velocity: Vector3,
    /// Specific force: at rest +g upward. [m/s²] (3)
    pub linear_acceleration: Vector3,
}
