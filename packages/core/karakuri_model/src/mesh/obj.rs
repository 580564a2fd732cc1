//! Wavefront OBJ by `tobj`; materials are not read.

use std::io::Cursor;
use std::path::Path;

use super::error::MeshError;
use crate::Mesh;

pub(super) fn decode(bytes: &[u8], path: &Path) -> Result<Mesh, MeshError> {
    let options = tobj::LoadOptions { triangulate: true, ..tobj::LoadOptions::default() };
    // Material files would have to be asked for like meshes; colours come from the URDF.
    let no_materials = |_: &Path| Err(tobj::LoadError::OpenFileFailed);
    let (models, _) = tobj::load_obj_buf(&mut Cursor::new(bytes), &options, no_materials)
        .map_err(|e| MeshError::Damaged { format: "OBJ", reason: e.to_string() })?;
    let mut mesh = Mesh::named(path);
    for model in models {
        // Each object counts its corners from zero.
        let first = u32::try_from(mesh.vertices.len()).unwrap_or(u32::MAX);
        let (vertices, _) = model.mesh.positions.as_chunks::<3>();
        let (triangles, _) = model.mesh.indices.as_chunks::<3>();
        mesh.vertices.extend(vertices.iter().map(|v| v.map(f64::from)));
        mesh.triangles.extend(triangles.iter().map(|t| t.map(|i| i.saturating_add(first))));
    }
    Ok(mesh)
}
