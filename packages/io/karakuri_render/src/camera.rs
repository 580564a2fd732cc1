//! Where the picture is taken from.

use karakuri_spatial::Vector3;

use crate::Item;
use crate::triangles::bounds;

/// A pinhole camera with z up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// Where it stands, in the world. [m] (3)
    pub eye: Vector3,
    /// What is in the middle of the picture. [m] (3)
    pub target: Vector3,
    /// Angle from the lower to the upper edge. [rad]
    pub field_of_view: f64,
}

/// Right, down and forward: unit vectors in the world.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CameraAxes {
    pub(crate) right: Vector3,
    pub(crate) down: Vector3,
    pub(crate) forward: Vector3,
}

impl Camera {
    /// A camera that sees all items: from `azimuth` about z (0 looks from +x) and `elevation` above the horizon. [rad]
    pub fn framing(items: &[Item], azimuth: f64, elevation: f64) -> Self {
        let (center, radius) = bounds(items);
        let field_of_view = 0.45_f64;
        let distance = radius / (field_of_view / 2.0).sin();
        Self::orbiting(center, distance, azimuth, elevation, field_of_view)
    }

    /// A camera at `distance` [m] from `target` [m], with angles as in [`Camera::framing`]. [rad]
    pub fn orbiting(
        target: Vector3,
        distance: f64,
        azimuth: f64,
        elevation: f64,
        field_of_view: f64,
    ) -> Self {
        let (sin_a, cos_a) = azimuth.sin_cos();
        let (sin_e, cos_e) = elevation.sin_cos();
        let direction = Vector3::new(cos_e * cos_a, cos_e * sin_a, sin_e);
        Self { eye: target + direction * distance, target, field_of_view }
    }

    pub(crate) fn axes(&self) -> CameraAxes {
        axes_along(&(self.target - self.eye))
    }
}

/// Axes of a view along a direction; looking straight up or down, x is to the right.
pub(crate) fn axes_along(direction: &Vector3) -> CameraAxes {
    let forward = direction.try_normalize(1e-12).unwrap_or_else(Vector3::x);
    let right = forward.cross(&Vector3::z()).try_normalize(1e-9).unwrap_or_else(Vector3::x);
    CameraAxes { right, down: forward.cross(&right), forward }
}
