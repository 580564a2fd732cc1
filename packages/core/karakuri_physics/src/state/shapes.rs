//! Shapes of models as shapes of colliders.

use karakuri_collision::{ColliderShape, ShapeError, decompose};
use karakuri_model::{Convex, Mesh, Shape};
use karakuri_spatial::Vector3;

/// The collider shapes of a model's shape: one, but for a mesh that moves in convex parts.
pub(crate) fn collider_shapes(
    shape: &Shape,
    moves: bool,
) -> Result<Vec<ColliderShape>, ShapeError> {
    Ok(vec![match shape {
        Shape::Box { size } => ColliderShape::Box { half_extents: size * 0.5 },
        &Shape::Sphere { radius } => ColliderShape::Sphere { radius },
        &Shape::Cylinder { radius, length } => {
            ColliderShape::Cylinder { radius, half_length: 0.5 * length }
        }
        &Shape::Capsule { radius, length } => {
            ColliderShape::Capsule { radius, half_length: 0.5 * length }
        }
        &Shape::Ellipsoid { semi_axes } => ColliderShape::Ellipsoid { semi_axes },
        Shape::Mesh(mesh) if !moves => triangles(mesh),
        Shape::Mesh(mesh) => {
            let hull = |points: Vec<Vector3>| ColliderShape::ConvexHull { points };
            match &mesh.convex {
                Convex::Hull => hull(points(&mesh.vertices)),
                Convex::Parts(parts) => {
                    return Ok(parts.iter().map(|part| hull(points(part))).collect());
                }
                Convex::Decompose => {
                    let parts = decompose(&points(&mesh.vertices), &mesh.triangles)?;
                    return Ok(parts.into_iter().map(hull).collect());
                }
            }
        }
    }])
}

/// The shape that mass fills: a mesh's own volume, where it is to collide as more than its hull.
pub(crate) fn solid_shape(shape: &Shape, colliders: &[ColliderShape]) -> Option<ColliderShape> {
    match shape {
        Shape::Mesh(mesh) if mesh.convex != Convex::Hull => Some(triangles(mesh)),
        _ => colliders.first().cloned(),
    }
}

fn points(vertices: &[[f64; 3]]) -> Vec<Vector3> {
    vertices.iter().map(|&v| Vector3::from(v)).collect()
}

fn triangles(mesh: &Mesh) -> ColliderShape {
    ColliderShape::Triangles { vertices: points(&mesh.vertices), triangles: mesh.triangles.clone() }
}
