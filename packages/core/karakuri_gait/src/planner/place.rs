//! Places where feet stand.

use karakuri_spatial::{Matrix3, Pose, Vector3};
use serde::{Deserialize, Serialize};

/// Place of a standing sole: its frame's origin on the floor, its heading, and the slope of the floor there.
/// `R_WSole = R_z(yaw) R_y(pitch) R_x(roll)`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Place {
    /// Position in the world. [m] (3)
    pub position: [f64; 3],
    /// Heading, about the vertical. [rad]
    pub yaw: f64,
    /// Roll and pitch of the floor; it falls ahead where the pitch is positive. [rad] (2)
    #[serde(default)]
    pub tilt: [f64; 2],
}

impl Place {
    /// Place on a level floor.
    pub fn level(position: [f64; 3], yaw: f64) -> Self {
        Self { position, yaw, tilt: [0.0; 2] }
    }

    /// Rotation of the sole, `R_WSole`. (3×3)
    pub fn rotation(&self) -> Matrix3 {
        let [roll, pitch] = self.tilt;
        Pose::from_xyz_rpy([0.0; 3], [roll, pitch, self.yaw]).rotation
    }

    /// Pose of the sole, `X_WSole`.
    pub fn pose(&self) -> Pose {
        Pose::new(self.rotation(), Vector3::from(self.position))
    }

    /// The place moved forward and left, as seen from above, in the plane of the sole. [m] (2)
    #[must_use]
    pub fn moved(&self, [forward, left]: [f64; 2]) -> Self {
        let (sin, cos) = self.yaw.sin_cos();
        // Steps are lengths seen from above, on a slope as on the level.
        let (dx, dy) = (cos * forward - sin * left, sin * forward + cos * left);
        let [x, y, z] = self.position;
        Self { position: [x + dx, y + dy, z + self.rise(dx, dy)], ..*self }
    }

    /// The place on the same floor with another heading. [rad]
    #[must_use]
    pub fn headed(&self, yaw: f64) -> Self {
        // The floor's normal in the new heading determines roll and pitch: `n = R_y(pitch) R_x(roll) ẑ`.
        let n = turned(yaw).tr_mul(&self.rotation().column(2).into_owned());
        Self { yaw, tilt: [-n.y.asin(), n.x.atan2(n.z)], ..*self }
    }

    /// Rise of the plane of the sole at an offset in the world. [m]
    pub fn rise(&self, dx: f64, dy: f64) -> f64 {
        let n = self.rotation().column(2).into_owned();
        // The plane `n · d = 0` through the sole's origin; n_z is far from 0 on any floor that a foot can stand on.
        -(n.x * dx + n.y * dy) / n.z
    }

    /// A point of the sole in the world, seen from above. [m] (2)
    pub fn point(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let p = self.pose().transform_point(&Vector3::new(x, y, 0.0));
        [p.x, p.y]
    }
}

/// Rotation about the vertical.
pub(super) fn turned(yaw: f64) -> Matrix3 {
    Pose::from_axis_angle(&Vector3::z(), yaw).rotation
}
