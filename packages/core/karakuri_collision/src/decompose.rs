//! Meshes as unions of convex parts: V-HACD. [Mamou, Lengyel, Peters 2016]
//!
//! The mesh is filled with voxels, which planes part until each part nearly fills its hull; a part then becomes the
//! hull of the mesh's own surface in it. Equal meshes give equal parts. Takes seconds: decompose once and keep the parts.

use karakuri_spatial::Vector3;
use parry3d_f64::math::Vec3;
use parry3d_f64::transformation::vhacd::{VHACD, VHACDParameters};

use crate::convert;
use crate::shape::{ColliderShape, ShapeError};
use crate::surface::Surface;

/// Says how parts are found: it changes when they do, so that kept parts are not mistaken for new ones.
pub const DECOMPOSITION: &str = "vhacd-64-0.01-32";

/// Voxels along the longest side.
const RESOLUTION: u32 = 64;
/// Empty part of a hull's volume, relative to the mesh's, below which it is not parted.
const CONCAVITY: f64 = 0.01;
/// Most parts: a link with more touches as slowly as its mesh would.
const MOST_PARTS: u32 = 32;

/// Convex parts of a mesh, each the hull of points. [m] (n × 3 each)
///
/// # Errors
/// When a vertex is not finite, the triangles form no mesh, or no part has a volume.
pub fn decompose(
    vertices: &[Vector3],
    triangles: &[[u32; 3]],
) -> Result<Vec<Vec<Vector3>>, ShapeError> {
    let mesh =
        ColliderShape::Triangles { vertices: vertices.to_vec(), triangles: triangles.to_vec() };
    mesh.build()?;
    let surface = Surface::new(vertices, triangles);
    let corners: Vec<Vec3> = surface.vertices.iter().map(convert::vector).collect();
    let parameters = VHACDParameters {
        resolution: RESOLUTION,
        concavity: CONCAVITY,
        max_convex_hulls: MOST_PARTS,
        ..VHACDParameters::default()
    };
    let found = VHACD::decompose(&parameters, &corners, &surface.triangles, true);
    let parts = found.compute_exact_convex_hulls(&corners, &surface.triangles);
    let parts = parts.into_iter().map(|(points, _)| points.into_iter().map(convert::from_vector));
    // Slivers that voxels leave at the surface have no volume, and nothing rests on them.
    let parts: Vec<Vec<Vector3>> = parts
        .map(Iterator::collect)
        .filter(|points: &Vec<Vector3>| {
            ColliderShape::ConvexHull { points: points.clone() }.build().is_ok()
        })
        .collect();
    if parts.is_empty() {
        return Err(ShapeError::Flat { n_points: vertices.len() });
    }
    Ok(parts)
}
