//! Objects of all shapes.

use karakuri_grasp::pick_and_place::ObjectShape;
use karakuri_model::{Mesh, Shape};
use karakuri_spatial::{Pose, Vector3};

/// Shape of an object whose box has these edges. [m]
pub(crate) fn shape(kind: &ObjectShape, [a, b, c]: [f64; 3]) -> Shape {
    let radius = 0.5 * a;
    match kind {
        ObjectShape::Box => Shape::Box { size: Vector3::new(a, b, c) },
        ObjectShape::Cylinder => Shape::Cylinder { radius, length: c },
        ObjectShape::Capsule => Shape::Capsule { radius, length: c - a },
        ObjectShape::Ball => Shape::Sphere { radius },
        ObjectShape::Cone => Shape::Mesh(Mesh::cone(radius, c).into()),
        ObjectShape::Hull(_) => panic!("a hull has more than edges"),
    }
}

/// Pose of the centre of mass of an object whose box has its middle at a pose and this height. [m]
pub(crate) fn center(kind: &ObjectShape, pose: &Pose, height: f64) -> Pose {
    let up = if *kind == ObjectShape::Cone { -0.25 * height } else { 0.0 };
    *pose * Pose::from_translation(Vector3::z() * up)
}
