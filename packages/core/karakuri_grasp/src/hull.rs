//! Convex objects.
//!
//! A hull is described about the middle of its box, along its own axes or those of a frame that is upright. Units: m, kg.

use karakuri_collision::{HullFace, Polyhedron, ShapeError};
use karakuri_spatial::{Matrix3, Vector3};

/// A convex solid of one density.
#[derive(Debug, Clone, PartialEq)]
pub struct Hull {
    solid: Polyhedron,
    /// Edges of the box around it. [m] (3)
    size: Vector3,
    /// Middle of that box in the frame from which the hull was made. [m] (3)
    middle: Vector3,
}

impl Hull {
    /// Convex hull of vertices. [m] (n × 3)
    ///
    /// # Errors
    /// When a vertex is not finite, or all are in one plane.
    pub fn around(vertices: &[Vector3]) -> Result<Self, ShapeError> {
        Ok(Self::centered(Polyhedron::around(vertices)?))
    }

    /// The same about the middle of its box.
    fn centered(mut solid: Polyhedron) -> Self {
        let corners = || solid.faces.iter().flat_map(|face| &face.corners);
        let none = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
        let (low, high) = corners().fold(none, |(low, high), p| (low.inf(p), high.sup(p)));
        let middle = 0.5 * (low + high);
        solid.faces.iter_mut().flat_map(|face| &mut face.corners).for_each(|p| *p -= middle);
        solid.com -= middle;
        Self { solid, size: high - low, middle }
    }

    /// The hull along other axes, whose columns are its own: its middle is from where it was.
    pub(crate) fn turned(&self, R: &Matrix3) -> Self {
        let faces = self.solid.faces.iter().map(|face| HullFace {
            normal: R * face.normal,
            corners: face.corners.iter().map(|corner| R * corner).collect(),
        });
        Self::centered(Polyhedron {
            faces: faces.collect(),
            com: R * self.solid.com,
            unit_inertia: R * self.solid.unit_inertia * R.transpose(),
        })
    }

    /// Edges of the box around it. [m] (3)
    pub fn size(&self) -> Vector3 {
        self.size
    }

    /// Middle of that box, in the frame of the vertices. [m] (3)
    pub fn middle(&self) -> Vector3 {
        self.middle
    }

    /// Reach along a direction from the middle of the box. [m]
    pub(crate) fn reach(&self, direction: &Vector3) -> f64 {
        let corners = self.faces().iter().flat_map(|face| &face.corners);
        corners.map(|corner| corner.dot(direction)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Faces, their corners from the middle of the box.
    pub(crate) fn faces(&self) -> &[HullFace] {
        &self.solid.faces
    }

    /// Centre of mass from the middle of the box. [m] (3)
    pub(crate) fn com(&self) -> Vector3 {
        self.solid.com
    }

    /// Inertia about the centre of mass of a kilogram. [m²] (3×3)
    pub(crate) fn unit_inertia(&self) -> Matrix3 {
        self.solid.unit_inertia
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wedge whose frame is in a corner: its box has its middle elsewhere, and so has the wedge that lies on its slope.
    #[test]
    fn a_hull_is_about_the_middle_of_its_box() {
        let corner = |x: f64, y: f64, z: f64| Vector3::new(x, y, z);
        let section = [[0.0, 0.0], [0.3, 0.0], [0.0, 0.4]];
        let vertices: Vec<_> =
            section.iter().flat_map(|[y, z]| [0.0, 0.1].map(|x| corner(x, *y, *z))).collect();
        let wedge = Hull::around(&vertices).unwrap();
        assert!((wedge.size() - corner(0.1, 0.3, 0.4)).norm() < 1e-15);
        assert!((wedge.middle() - corner(0.05, 0.15, 0.2)).norm() < 1e-15);
        assert!((wedge.com() - corner(0.0, -0.05, -0.4 / 6.0)).norm() < 1e-15);
        // By the angle of its slope about x, the slope is below: 0.5 long, with the right angle 0.24 above it.
        let slope = (0.4_f64).atan2(0.3);
        let R = *nalgebra::Rotation3::from_axis_angle(
            &Vector3::x_axis(),
            slope + core::f64::consts::PI,
        )
        .matrix();
        let lying = wedge.turned(&R);
        assert!((lying.size() - corner(0.1, 0.5, 0.24)).norm() < 1e-15, "{:?}", lying.size());
        // A third of its height above the slope.
        assert!((lying.com().z + 0.24 / 6.0).abs() < 1e-15);
        // The right angle, seen from both middles.
        let seen = R * (-wedge.middle()) - lying.middle();
        assert!((seen.z - 0.12).abs() < 1e-15, "{seen}");
    }
}
