//! Centre of mass and inertia of a solid by its surface.
//!
//! Each triangle and a common point are a tetrahedron, whose second moments are `V/20 (Σ pᵢ pᵢᵀ + s sᵀ)`, `pᵢ` its other corners from that point and
//! `s` their sum; signed volumes make the solid of them. parry's own sums are the same, but it keeps them as principal moments, whose axes
//! its eigenvalue solver confuses where two of the moments are nearly equal: in a prism, a cone, a gear.

use karakuri_spatial::{Matrix3, Vector3};
use parry3d_f64::shape::Shape;

use crate::convert;

/// Corners of a triangle. [m] (3 × 3)
type Triangle = [Vector3; 3];

/// Centre of mass [m] (3) and inertia about it of a unit mass [m²] (3×3), of a polyhedron or a mesh; `None` of other shapes. Both are zero where the
/// surface encloses nothing.
pub(crate) fn of_surface(shape: &dyn Shape) -> Option<(Vector3, Matrix3)> {
    let (vertices, triangles) = if let Some(hull) = shape.as_convex_polyhedron() {
        hull.to_trimesh()
    } else {
        let mesh = shape.as_trimesh()?;
        (mesh.vertices().to_vec(), mesh.indices().to_vec())
    };
    let vertices: Vec<_> = vertices.into_iter().map(convert::from_vector).collect();
    let corners = triangles.iter().map(|t| t.map(|i| vertices[i as usize]));
    Some(of(&corners.collect::<Vec<_>>()))
}

fn of(triangles: &[Triangle]) -> (Vector3, Matrix3) {
    let nothing = (Vector3::zeros(), Matrix3::zeros());
    let Some([origin, ..]) = triangles.first().copied() else { return nothing };
    // From a point of the surface, as from a distant origin the volumes would cancel.
    let (mut volume, mut first) = (0.0, Vector3::zeros());
    for corners in triangles {
        let [a, b, c] = corners.map(|p| p - origin);
        let part = a.dot(&b.cross(&c)) / 6.0;
        volume += part;
        first += (a + b + c) * (part / 4.0);
    }
    let com = origin + first / volume;
    let mut second = Matrix3::zeros();
    for corners in triangles {
        let [a, b, c] = corners.map(|p| p - com);
        let (part, sum) = (a.dot(&b.cross(&c)) / 6.0, a + b + c);
        let squares = [a, b, c, sum].iter().fold(Matrix3::zeros(), |s, p| s + p * p.transpose());
        second += squares * (part / 20.0);
    }
    // Of a surface whose triangles look inwards both are negative.
    let unit = second / volume;
    let inertia = Matrix3::identity() * unit.trace() - unit;
    if inertia.iter().chain(&com).all(|x| x.is_finite()) { (com, inertia) } else { nothing }
}

#[cfg(test)]
mod tests {
    use core::f64::consts::{PI, TAU};
    use std::sync::Arc;

    use karakuri_model::{Convex, Mesh, Shape};
    use karakuri_spatial::Pose;

    use crate::ColliderShape;

    use super::*;

    fn hull(points: &[Vector3]) -> ColliderShape {
        let vertices = points.iter().map(|p| [p.x, p.y, p.z]).collect();
        let (path, triangles) = ("hull.stl".into(), vec![[0, 1, 2]]);
        ColliderShape::convex(&Shape::Mesh(Arc::new(Mesh {
            path,
            vertices,
            triangles,
            convex: Convex::Hull,
        })))
    }

    /// Regular prisms of n sides have `r²/12 (1 + 2 cos²(π/n)) + h²/12` across their axis and twice the first part along it, however they are turned.
    #[test]
    fn prisms_have_the_inertia_of_the_textbook() {
        let (radius, height) = (0.05_f64, 0.12_f64);
        for n in [3_u16, 4, 5, 6, 8, 16, 64] {
            let sides = f64::from(n);
            let flat = radius.powi(2) / 12.0 * (1.0 + 2.0 * (PI / sides).cos().powi(2));
            let across = flat + height.powi(2) / 12.0;
            let known = Matrix3::from_diagonal(&Vector3::new(across, across, 2.0 * flat));
            for rpy in [[0.0, 0.0, 0.0], [0.3, -0.2, 0.9], [0.5 * PI, 0.0, 0.0]] {
                let X = Pose::from_xyz_rpy([0.4, -0.1, 0.2], rpy);
                let corner = |i: u16, z: f64| {
                    let (sin, cos) = (TAU * f64::from(i) / sides).sin_cos();
                    X.transform_point(&Vector3::new(radius * cos, radius * sin, z))
                };
                let points: Vec<_> =
                    (0..n).flat_map(|i| [-0.5, 0.5].map(|z| corner(i, z * height))).collect();
                let (com, inertia) = hull(&points).unit_inertia().unwrap();
                let turned = X.rotation * known * X.rotation.transpose();
                assert!((com - X.translation).norm() < 1e-12, "{n} sides: {com:?}");
                let error = (inertia - turned).norm() / turned.norm();
                assert!(error < 1e-10, "{n} sides, turned by {rpy:?}: {error:.1e}");
            }
        }
    }

    /// A surface whose triangles look inwards is the same solid, and one without volume is none.
    #[test]
    fn the_sides_of_triangles_do_not_matter() {
        let corner = |x: f64, y: f64, z: f64| Vector3::new(x, y, z);
        let [o, a, b, c] = [
            corner(0.0, 0.0, 0.0),
            corner(1.0, 0.0, 0.0),
            corner(0.0, 2.0, 0.0),
            corner(0.0, 0.0, 3.0),
        ];
        let outwards = [[o, b, a], [o, a, c], [o, c, b], [a, b, c]];
        let inwards = outwards.map(|[p, q, r]| [p, r, q]);
        let ((com, one), (_, other)) = (of(&outwards), of(&inwards));
        assert!((com - corner(0.25, 0.5, 0.75)).norm() < 1e-15 && (one - other).norm() < 1e-15);
        // `3/80 (b² + c²)` about the first axis.
        assert!((one[(0, 0)] - 3.0 / 80.0 * (4.0 + 9.0)).abs() < 1e-14, "{one}");
        assert_eq!(of(&outwards[..1]), (Vector3::zeros(), Matrix3::zeros()));
    }
}
