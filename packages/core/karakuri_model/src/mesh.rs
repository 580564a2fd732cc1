//! Mesh files to triangles: STL (text and binary), OBJ, COLLADA.

mod dae;
mod error;
mod normals;
mod obj;
mod stl;

use std::path::Path;

pub use self::error::MeshError;
use crate::{Asset, Convex, Mesh};

/// Reads a mesh, in the file's own size; COLLADA's unit is applied.
///
/// # Errors
/// When the extension is none of STL, OBJ and COLLADA, the file is damaged, or it holds no triangles.
pub fn decode(asset: &Asset) -> Result<Mesh, MeshError> {
    // By the name: a binary STL has no mark, and what a name says wrongly its reader refuses.
    let extension = asset
        .path
        .extension()
        .map(|e| e.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default();
    let mesh = match extension.as_str() {
        "stl" | "stlb" => stl::decode(&asset.bytes, &asset.path),
        "obj" => obj::decode(&asset.bytes, &asset.path),
        "dae" => dae::decode(&asset.bytes, &asset.path),
        _ => Err(MeshError::UnknownFormat(extension)),
    }?;
    // Of all formats at the end, so that no reader of them has to be trusted with indices.
    mesh.check()
}

impl Mesh {
    pub(crate) fn named(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            vertices: Vec::new(),
            triangles: Vec::new(),
            convex: Convex::Hull,
        }
    }

    fn check(self) -> Result<Self, MeshError> {
        let damaged =
            |reason: &str| MeshError::Damaged { format: "mesh", reason: reason.to_owned() };
        // A file of points or lines, or of primitives that are not read.
        if self.triangles.is_empty() {
            return Err(MeshError::Empty);
        }
        if self.vertices.iter().flatten().any(|x| !x.is_finite()) {
            return Err(damaged("a vertex holds NaN or infinity"));
        }
        let n = self.vertices.len();
        if self.triangles.iter().flatten().any(|&i| i as usize >= n) {
            return Err(damaged("a triangle names a vertex that does not exist"));
        }
        Ok(self)
    }

    /// Scales along the axes; a mirrored mesh has its triangles turned, so that outside stays outside.
    pub(crate) fn scale(&mut self, scale: [f64; 3]) {
        for vertex in &mut self.vertices {
            for (x, s) in vertex.iter_mut().zip(scale) {
                *x *= s;
            }
        }
        // One or three mirrored axes reverse the sense of a triangle's corners, two do not.
        if scale.iter().product::<f64>() < 0.0 {
            self.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
    }

    /// Largest edge of its bounding box. [m]
    pub(crate) fn extent(&self) -> f64 {
        (0..3)
            .map(|axis| {
                let along = || self.vertices.iter().map(|v| v[axis]);
                along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
            })
            .fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests;
