//! Convex polyhedra as sets of faces, with the mass distribution of the solid.

use karakuri_spatial::{Matrix3, Vector3};

use crate::hull::HullFace;
use crate::mass_distribution;
use crate::shape::{ColliderShape, ShapeError};
use crate::solid::Solid;

/// A convex polyhedron.
#[derive(Debug, Clone, PartialEq)]
pub struct Polyhedron {
    /// Faces, whole polygons.
    pub faces: Vec<HullFace>,
    /// Centre of mass of the solid. [m] (3)
    pub com: Vector3,
    /// Inertia about it of a kilogram. [m²] (3×3)
    pub unit_inertia: Matrix3,
}

impl Polyhedron {
    /// Convex hull of points [m] (n × 3), as it collides.
    ///
    /// # Errors
    /// When a point is not finite, or all are in one plane.
    pub fn around(points: &[Vector3]) -> Result<Self, ShapeError> {
        let built = ColliderShape::ConvexHull { points: points.to_vec() }.build()?;
        let (Solid::Hull(hull), Some((com, unit_inertia))) =
            (&built.solid, mass_distribution::of_surface(built.shape.as_ref()))
        else {
            return Err(ShapeError::Flat { n_points: points.len() });
        };
        Ok(Self { faces: hull.faces().collect(), com, unit_inertia })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pyramid on a square: five faces, and its centre of mass a quarter of its height above the base.
    #[test]
    fn a_pyramid_has_five_faces_and_its_known_middle() {
        let base = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]];
        let mut points: Vec<_> = base.iter().map(|[x, y]| Vector3::new(*x, *y, 2.0)).collect();
        points.extend([Vector3::new(0.0, 0.0, 5.0), Vector3::new(0.1, 0.1, 2.5)]);
        let pyramid = Polyhedron::around(&points).unwrap();
        let sizes: Vec<_> = pyramid.faces.iter().map(|face| face.corners.len()).collect();
        assert_eq!((sizes.len(), sizes.iter().filter(|n| **n == 4).count()), (5, 1), "{sizes:?}");
        assert!((pyramid.com - Vector3::new(0.0, 0.0, 2.75)).norm() < 1e-12, "{:?}", pyramid.com);
        // `h² 3/80 + a²/20`, a the edge of the base.
        let about_x = 3.0 / 80.0 * 9.0 + 4.0 / 20.0;
        assert!((pyramid.unit_inertia[(0, 0)] - about_x).abs() < 1e-12);
        for HullFace { normal, corners } in &pyramid.faces {
            let turn = (corners[1] - corners[0]).cross(&(corners[2] - corners[1]));
            assert!(turn.normalize().dot(normal) > 1.0 - 1e-12);
        }
        assert!(Polyhedron::around(&points[..4]).is_err());
    }
}
