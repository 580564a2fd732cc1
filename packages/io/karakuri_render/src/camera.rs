//! Pinhole camera of a picture.

use karakuri_spatial::Vector3;

use crate::Item;
use crate::triangles::{Ball, bounds};

/// Pinhole camera with z up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// Position of the eye in the world. [m] (3)
    pub eye: Vector3,
    /// Point in the middle of the picture, in the world. [m] (3)
    pub target: Vector3,
    /// Angle of view from the lower to the upper edge. [rad]
    pub field_of_view: f64,
}

/// Axes of a view, right, down and forward: unit vectors in the world.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CameraAxes {
    pub(crate) right: Vector3,
    pub(crate) down: Vector3,
    pub(crate) forward: Vector3,
}

impl Camera {
    /// Camera that sees all items: from `azimuth` about z (0 looks from +x) and `elevation` above the horizon. [rad]
    pub fn framing(items: &[Item], azimuth: f64, elevation: f64) -> Self {
        let Ball { center, radius } = bounds(items);
        let field_of_view = 0.45_f64;
        let distance = radius / (field_of_view / 2.0).sin();
        Self::orbiting(center, distance, azimuth, elevation, field_of_view)
    }

    /// Camera at `distance` [m] from `target` [m], with angles as in [`Camera::framing`]. [rad]
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

    /// Pixel of a point of the world in a picture of this size, from its upper left corner; `None` behind the camera. [pixels]
    pub fn pixel(&self, point: &Vector3, width: usize, height: usize) -> Option<[f64; 2]> {
        let CameraAxes { right, down, forward } = self.axes();
        let from_eye = point - self.eye;
        let depth = from_eye.dot(&forward);
        if depth <= 0.0 {
            return None;
        }
        // Pinhole projection: offsets shrink with the depth along the viewing direction.
        let scale = 0.5 * height as f64 / (0.5 * self.field_of_view).tan() / depth;
        let from_middle = [right, down].map(|axis| scale * from_eye.dot(&axis));
        Some([0.5 * width as f64 + from_middle[0], 0.5 * height as f64 + from_middle[1]])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_where_a_pinhole_camera_has_them() {
        let camera = Camera {
            eye: Vector3::new(2.0, 0.0, 1.0),
            target: Vector3::new(0.0, 0.0, 1.0),
            field_of_view: std::f64::consts::FRAC_PI_2,
        };
        assert_eq!(camera.pixel(&camera.target, 400, 200), Some([200.0, 100.0]));
        // at a distance of 2 m the upper edge is 2 m above the middle; seen from +x, +y is to the right
        let [x, y] = camera.pixel(&Vector3::new(0.0, 1.0, 3.0), 400, 200).unwrap_or_default();
        assert!((x - 250.0).abs() < 1e-9 && y.abs() < 1e-9, "{x} {y}");
        assert_eq!(camera.pixel(&Vector3::new(3.0, 0.0, 1.0), 400, 200), None);
    }
}
