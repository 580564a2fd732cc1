//! Triangulation of shapes, with a normal at each corner.

use std::f64::consts::{FRAC_PI_2, TAU};

use karakuri_model::{Mesh, Shape};
use karakuri_spatial::{Pose, Vector3};

use crate::Item;

/// Number of sides of a circle.
const SIDES: usize = 48;

/// Triangle in the world. Normals are unit vectors, outwards.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Triangle {
    pub(crate) corners: [Vector3; 3],
    pub(crate) normals: [Vector3; 3],
    /// Index of the item that it is part of.
    pub(crate) item: usize,
}

/// Triangles of all items.
pub(crate) fn triangulate(items: &[Item]) -> Vec<Triangle> {
    let mut triangles = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let first = triangles.len();
        match &item.shape {
            Shape::Box { size } => add_box(&mut triangles, size),
            Shape::Sphere { radius } => add_round(&mut triangles, *radius, 0.0),
            Shape::Capsule { radius, length } => add_round(&mut triangles, *radius, *length),
            Shape::Cylinder { radius, length } => add_cylinder(&mut triangles, *radius, *length),
            Shape::Ellipsoid { semi_axes } => add_ellipsoid(&mut triangles, semi_axes),
            Shape::Mesh(mesh) => add_mesh(&mut triangles, mesh),
        }
        for triangle in &mut triangles[first..] {
            triangle.item = index;
            triangle.corners = triangle.corners.map(|p| item.pose.transform_point(&p));
            triangle.normals = triangle.normals.map(|n| item.pose.transform_vector(&n));
        }
    }
    triangles
}

/// Ball around the drawn items.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ball {
    /// Centre in the world. [m] (3)
    pub(crate) center: Vector3,
    /// Radius, at least a millimetre. [m]
    pub(crate) radius: f64,
}

/// Ball around all items.
pub(crate) fn bounds(items: &[Item]) -> Ball {
    let points = items.iter().flat_map(|item| corners(&item.shape, &item.pose));
    let (low, high) = points.fold(
        (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY)),
        |(low, high), p| (low.inf(&p), high.sup(&p)),
    );
    if low.x > high.x {
        return Ball { center: Vector3::zeros(), radius: 1.0 };
    }
    Ball { center: (low + high) / 2.0, radius: ((high - low).norm() / 2.0).max(1e-3) }
}

/// Points whose box contains the shape.
fn corners(shape: &Shape, pose: &Pose) -> Vec<Vector3> {
    let half = match shape {
        Shape::Box { size } => size / 2.0,
        Shape::Sphere { radius } => Vector3::repeat(*radius),
        Shape::Cylinder { radius, length } => Vector3::new(*radius, *radius, length / 2.0),
        Shape::Capsule { radius, length } => Vector3::new(*radius, *radius, length / 2.0 + radius),
        Shape::Ellipsoid { semi_axes } => *semi_axes,
        Shape::Mesh(mesh) => {
            return mesh.vertices.iter().map(|&v| pose.transform_point(&v.into())).collect();
        }
    };
    let signs = [-1.0, 1.0];
    let corner = |x, y, z| {
        pose.transform_point(&half.component_mul(&Vector3::new(signs[x], signs[y], signs[z])))
    };
    (0..8).map(|i| corner(i & 1, i >> 1 & 1, i >> 2 & 1)).collect()
}

fn flat(corners: [Vector3; 3], normal: Vector3) -> Triangle {
    Triangle { corners, normals: [normal; 3], item: 0 }
}

fn add_box(triangles: &mut Vec<Triangle>, size: &Vector3) {
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            let mut normal = Vector3::zeros();
            normal[axis] = sign;
            let (mut u, mut v) = (Vector3::zeros(), Vector3::zeros());
            u[(axis + 1) % 3] = size[(axis + 1) % 3] / 2.0;
            v[(axis + 2) % 3] = size[(axis + 2) % 3] / 2.0;
            let center = normal * (size[axis] / 2.0);
            let [a, b, c, d] = [-u - v, u - v, u + v, v - u].map(|p| center + p);
            triangles.push(flat([a, b, c], normal));
            triangles.push(flat([a, c, d], normal));
        }
    }
}

/// Adds a ball, or a capsule if `length` is not zero.
fn add_round(triangles: &mut Vec<Triangle>, radius: f64, length: f64) {
    let rings: Vec<Vec<(Vector3, Vector3)>> = (0..=SIDES / 2 + 1)
        .map(|k| {
            // The equator occurs twice: once for each end of the cylindrical part.
            let lower = k <= SIDES / 4;
            let step = if lower { k } else { k - 1 };
            let latitude = FRAC_PI_2 * (step as f64 / (SIDES / 4) as f64 - 1.0);
            let shift = if lower { -length / 2.0 } else { length / 2.0 };
            circle()
                .map(|(cos, sin)| {
                    let (up, out) = latitude.sin_cos();
                    let normal = Vector3::new(out * cos, out * sin, up);
                    (normal * radius + Vector3::z() * shift, normal)
                })
                .collect()
        })
        .collect();
    for pair in rings.windows(2) {
        add_band(triangles, &pair[0], &pair[1]);
    }
}

/// Adds a unit ball scaled to the semi-axes; its normals scale by the inverse.
fn add_ellipsoid(triangles: &mut Vec<Triangle>, semi_axes: &Vector3) {
    let first = triangles.len();
    add_round(triangles, 1.0, 0.0);
    for triangle in &mut triangles[first..] {
        triangle.corners = triangle.corners.map(|p| p.component_mul(semi_axes));
        triangle.normals = triangle.normals.map(|n| n.component_div(semi_axes).normalize());
    }
}

fn add_cylinder(triangles: &mut Vec<Triangle>, radius: f64, length: f64) {
    let ring = |z: f64| -> Vec<(Vector3, Vector3)> {
        circle()
            .map(|(cos, sin)| {
                (Vector3::new(radius * cos, radius * sin, z), Vector3::new(cos, sin, 0.0))
            })
            .collect()
    };
    let (low, high) = (ring(-length / 2.0), ring(length / 2.0));
    add_band(triangles, &low, &high);
    for (ring, normal) in [(&low, -Vector3::z()), (&high, Vector3::z())] {
        let center = normal * (length / 2.0);
        for i in 0..SIDES {
            triangles.push(flat([center, ring[i].0, ring[(i + 1) % SIDES].0], normal));
        }
    }
}

/// Cosines and sines around a circle.
fn circle() -> impl Iterator<Item = (f64, f64)> {
    (0..SIDES).map(|i| {
        let (sin, cos) = (TAU * i as f64 / SIDES as f64).sin_cos();
        (cos, sin)
    })
}

fn add_band(
    triangles: &mut Vec<Triangle>,
    low: &[(Vector3, Vector3)],
    high: &[(Vector3, Vector3)],
) {
    for i in 0..SIDES {
        let j = (i + 1) % SIDES;
        for [a, b, c] in [[low[i], low[j], high[j]], [low[i], high[j], high[i]]] {
            triangles.push(Triangle {
                corners: [a.0, b.0, c.0],
                normals: [a.1, b.1, c.1],
                item: 0,
            });
        }
    }
}

/// Adds a mesh, smooth where faces meet at a small angle.
fn add_mesh(triangles: &mut Vec<Triangle>, mesh: &Mesh) {
    let faces = mesh.triangles.iter().zip(mesh.corner_normals());
    triangles.extend(faces.filter_map(|(t, normals)| {
        let corners = t.map(|i| Vector3::from(mesh.vertices[i as usize]));
        Some(Triangle { corners, normals: normals?, item: 0 })
    }));
}
