//! Convex parts of meshes, kept on disk by content.
//!
//! Decomposing a mesh takes seconds. The parts go to `$XDG_CACHE_HOME/karakuri/convex` (else `~/.cache/...`), in a file named by
//! a hash of the way they are found and of the mesh's numbers; a file that cannot be read or written costs the time
//! again, and nothing else.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use karakuri_collision::{DECOMPOSITION, ShapeError, decompose};
use karakuri_model::{Convex, Mesh, Model, Shape};
use karakuri_spatial::Vector3;

use crate::write_atomic;

/// The user's folder for parts, if the environment names a home.
pub fn convex_cache() -> Option<PathBuf> {
    let folder = |name: &str| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let cache = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))?;
    Some(cache.join("karakuri/convex"))
}

/// Finds the parts of a mesh that asks for them, in the folder `cache`, or computes them.
///
/// # Errors
/// When the mesh cannot be decomposed. A cache that cannot be read or written is no error.
pub fn find_parts(mesh: &mut Arc<Mesh>, cache: Option<&Path>) -> Result<(), ShapeError> {
    if mesh.convex != Convex::Decompose {
        return Ok(());
    }
    let file = cache.map(|folder| folder.join(format!("{:032x}.json", content_hash(mesh))));
    let kept = file.as_deref().and_then(read);
    let parts = if let Some(parts) = kept {
        parts
    } else {
        let vertices: Vec<Vector3> = mesh.vertices.iter().map(|&v| v.into()).collect();
        let parts = decompose(&vertices, &mesh.triangles)?;
        let parts = parts.into_iter().map(|part| part.into_iter().map(Into::into).collect());
        let parts: Vec<Vec<[f64; 3]>> = parts.collect();
        if let (Some(file), Ok(text)) = (&file, serde_json::to_vec(&parts)) {
            // Without a cache the next start is slower, no more.
            drop(write_atomic(file, &text));
        }
        parts
    };
    Arc::make_mut(mesh).convex = Convex::Parts(parts);
    Ok(())
}

/// [`find_parts`] of all meshes that a robot collides with; the link at fault with the error.
pub(crate) fn find_robot_parts(model: &mut Model) -> Result<(), (String, ShapeError)> {
    let cache = convex_cache();
    let frames = &model.frames;
    for geometry in &mut model.collisions {
        if let Shape::Mesh(mesh) = &mut geometry.shape
            && geometry.body.is_some()
        {
            let found = find_parts(mesh, cache.as_deref());
            found.map_err(|e| (frames[geometry.frame.0].name.clone(), e))?;
        }
    }
    Ok(())
}

/// Parts as they were written; `None` if they were not, or are damaged.
fn read(file: &Path) -> Option<Vec<Vec<[f64; 3]>>> {
    let parts: Vec<Vec<[f64; 3]>> = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    let sound =
        |part: &Vec<[f64; 3]>| part.len() >= 4 && part.iter().flatten().all(|x| x.is_finite());
    (!parts.is_empty() && parts.iter().all(sound)).then_some(parts)
}

/// FNV-1a of the numbers of a mesh and of the way its parts are found.
fn content_hash(mesh: &Mesh) -> u128 {
    let vertices = mesh.vertices.iter().flatten().flat_map(|x| x.to_bits().to_le_bytes());
    let triangles = mesh.triangles.iter().flatten().flat_map(|i| i.to_le_bytes());
    let lengths = [mesh.vertices.len() as u64, mesh.triangles.len() as u64];
    DECOMPOSITION
        .bytes()
        .chain(lengths.into_iter().flat_map(u64::to_le_bytes))
        .chain(vertices)
        .chain(triangles)
        .fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash: u128, byte| {
            (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
        })
}
