//! Shapes of robot models as shapes of colliders.

use karakuri_model::{Convex, Mesh, Shape};
use karakuri_spatial::Vector3;

use crate::{ColliderShape, ShapeError, decompose};

impl ColliderShape {
    /// One convex shape: a mesh is its convex hull.
    pub fn convex(shape: &Shape) -> Self {
        match shape {
            Shape::Box { size } => Self::Box { half_extents: size * 0.5 },
            &Shape::Sphere { radius } => Self::Sphere { radius },
            &Shape::Cylinder { radius, length } => {
                Self::Cylinder { radius, half_length: 0.5 * length }
            }
            &Shape::Capsule { radius, length } => {
                Self::Capsule { radius, half_length: 0.5 * length }
            }
            &Shape::Ellipsoid { semi_axes } => Self::Ellipsoid { semi_axes },
            Shape::Mesh(mesh) => Self::ConvexHull { points: points(&mesh.vertices) },
        }
    }

    /// The shapes of what may move: one, but for a mesh that collides as several convex parts.
    ///
    /// # Errors
    /// [`ShapeError`] if a mesh that is to be decomposed encloses no volume.
    pub fn moving_parts(shape: &Shape) -> Result<Vec<Self>, ShapeError> {
        let hull = |points: Vec<Vector3>| Self::ConvexHull { points };
        let Shape::Mesh(mesh) = shape else { return Ok(vec![Self::convex(shape)]) };
        Ok(match &mesh.convex {
            Convex::Hull => vec![Self::convex(shape)],
            Convex::Parts(found) => found.parts.iter().map(|part| hull(points(part))).collect(),
            Convex::Decompose { tolerance } => {
                let found = decompose(&points(&mesh.vertices), &mesh.triangles, *tolerance)?;
                found.parts.into_iter().map(hull).collect()
            }
        })
    }

    /// The shape of what never moves: a mesh is its triangles.
    pub fn fixed(shape: &Shape) -> Self {
        match shape {
            Shape::Mesh(mesh) => Self::triangles(mesh),
            _ => Self::convex(shape),
        }
    }

    /// Shape that mass fills: the volume of a mesh that collides as more than its hull is its own, not its hull's.
    pub fn filled(shape: &Shape) -> Self {
        match shape {
            Shape::Mesh(mesh) if mesh.convex != Convex::Hull => Self::triangles(mesh),
            _ => Self::convex(shape),
        }
    }

    fn triangles(mesh: &Mesh) -> Self {
        Self::Triangles { vertices: points(&mesh.vertices), triangles: mesh.triangles.clone() }
    }
}

fn points(vertices: &[[f64; 3]]) -> Vec<Vector3> {
    vertices.iter().map(|&v| Vector3::from(v)).collect()
}
