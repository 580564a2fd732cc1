//! What a client would state of an object of the world that is to be picked and placed.

use std::sync::Arc;

use karakuri_grasp::pick_and_place::{Hull, ObjectShape, Part, Statement, centered, upright};
use karakuri_model::{Mesh, Shape};
use karakuri_physics::Owner;
use karakuri_spatial::{Pose, Vector3};

use crate::Cell;
use crate::error::RehearsalError;

/// What a client would state of an object as it is in the cell's world, to be placed with its middle at `place` [m] (3), turned about the vertical by `turn` [rad].
///
/// # Errors
/// When there is no such object, or no hand takes its shape.
pub fn state(
    cell: &Cell,
    object: &str,
    place: &Vector3,
    turn: f64,
) -> Result<Statement, RehearsalError> {
    let world = cell.io.world();
    let Some(id) = world.find_body(object) else {
        return Err(RehearsalError::NoObject { name: object.to_owned() });
    };
    let body = world.body(id);
    let description = body.description();
    let shape = shape_of(&description.shape)
        .map_err(|why| RehearsalError::Shape { name: object.to_owned(), why })?;
    let (middle, size) = description.shape.bounds();
    // The frame of a hull is that of its vertices; that of all else is in the middle.
    let middle = Pose::from_translation(middle);
    let at = body.shape_pose() * middle;
    let own = |at: Pose| if let ObjectShape::Hull(_) = shape { at * middle.inverse() } else { at };
    let turned = Pose::from_axis_angle(&Vector3::z(), turn).rotation * at.rotation;
    Ok(Statement {
        part: Part::Whole,
        size,
        object: own(at),
        place: own(Pose::new(turned, *place)),
        shape,
        mass: description.mass,
        friction: world.surface(Owner::Body(id)).map_or(description.friction, |of| of.friction),
        max_grip_force: 0.0,
        approach_height: 0.0,
        width_tolerance: 0.0,
        speed_scale: 0.0,
        grasps: Vec::new(),
    })
}

/// As [`state`], of an object that may lean: where it neither stands nor lies, it is stated as the convex polyhedron that it is.
///
/// # Errors
/// As those of [`state`].
pub fn state_as_it_lies(
    cell: &Cell,
    object: &str,
    place: &Vector3,
    turn: f64,
) -> Result<Statement, RehearsalError> {
    let stated = state(cell, object, place, turn)?;
    let Statement { shape, size, object: at, .. } = &stated;
    if upright(shape, &centered(shape, at), size).is_ok() {
        return Ok(stated);
    }
    let hull = shape
        .as_hull(size)
        .map_err(|why| RehearsalError::Shape { name: object.to_owned(), why: why.to_string() })?;
    Ok(Statement { shape: hull, ..stated })
}

fn shape_of(shape: &Shape) -> Result<ObjectShape, String> {
    Ok(match shape {
        Shape::Box { .. } => ObjectShape::Box,
        Shape::Sphere { .. } => ObjectShape::Ball,
        Shape::Cylinder { .. } => ObjectShape::Cylinder,
        Shape::Capsule { .. } => ObjectShape::Capsule,
        Shape::Ellipsoid { .. } => {
            return Err("no hand takes ellipsoids; make it a mesh".to_owned());
        }
        Shape::Mesh(mesh) if is_cone(mesh) => ObjectShape::Cone,
        Shape::Mesh(mesh) => {
            let vertices: Vec<_> = mesh.vertices.iter().map(|&v| Vector3::from(v)).collect();
            ObjectShape::Hull(Arc::new(Hull::around(&vertices).map_err(|why| why.to_string())?))
        }
    })
}

/// Whether a mesh is what scenes make of a cone.
fn is_cone(mesh: &Mesh) -> bool {
    let (_, size) = mesh.bounds();
    *mesh == Mesh::cone(0.5 * size.x, size.z)
}
