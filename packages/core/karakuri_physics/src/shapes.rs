//! Shapes of models as shapes of colliders.

use karakuri_collision::ColliderShape;
use karakuri_model::Shape;
use karakuri_spatial::Vector3;

/// The collider shape of a model's shape; a mesh becomes its convex hull where it moves.
pub(crate) fn collider_shape(shape: &Shape, moves: bool) -> ColliderShape {
    match shape {
        Shape::Box { size } => ColliderShape::Box { half_extents: size * 0.5 },
        &Shape::Sphere { radius } => ColliderShape::Sphere { radius },
        &Shape::Cylinder { radius, length } => {
            ColliderShape::Cylinder { radius, half_length: 0.5 * length }
        }
        &Shape::Capsule { radius, length } => {
            ColliderShape::Capsule { radius, half_length: 0.5 * length }
        }
        Shape::Mesh(mesh) => {
            let points = mesh.vertices.iter().map(|&v| Vector3::from(v)).collect();
            if moves {
                ColliderShape::ConvexHull { points }
            } else {
                ColliderShape::Triangles { vertices: points, triangles: mesh.triangles.clone() }
            }
        }
    }
}
