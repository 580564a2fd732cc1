//! Convex parts of meshes, cached on disk by content.
//!
//! Decomposing a mesh takes seconds. The parts go to `$XDG_CACHE_HOME/karakuri/convex` (else `~/.cache/...`), in a file named
//! by a hash of the method and of the mesh's numbers; if a file cannot be read or written, the mesh is decomposed again.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use karakuri_collision::{DECOMPOSITION, ShapeError, decompose};
use karakuri_model::{Convex, ConvexParts, Diagnostic, Mesh, Model, Place, Severity, Shape};
use karakuri_spatial::Vector3;

use crate::write_atomic;

/// Folder of the user for parts, if the environment names a home.
pub fn convex_cache() -> Option<PathBuf> {
    let folder = |name: &str| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let cache = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))?;
    Some(cache.join("karakuri/convex"))
}

/// Summary of the parts that were found for a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// Number of parts.
    pub n_parts: usize,
    /// Largest distance of the parts from the mesh. [m]
    pub deviation: f64,
}

/// Finds the parts of a mesh that asks for them, in the folder `cache`, or computes them. The summary is for a warning: it is
/// given where the mesh sets no tolerance and the parts are not exact.
///
/// # Errors
/// When the mesh cannot be decomposed. A cache that cannot be read or written is no error.
pub fn find_parts(mesh: &mut Arc<Mesh>, cache: Option<&Path>) -> Result<Option<Found>, ShapeError> {
    let Convex::Decompose { tolerance } = mesh.convex else { return Ok(None) };
    let hash = content_hash(mesh, tolerance);
    let file = cache.map(|folder| folder.join(format!("{hash:032x}.json")));
    let kept = file.as_deref().and_then(read);
    let found = if let Some(kept) = kept {
        kept
    } else {
        let vertices: Vec<Vector3> = mesh.vertices.iter().map(|&v| v.into()).collect();
        let found = decompose(&vertices, &mesh.triangles, tolerance)?;
        let parts = found.parts.into_iter();
        let parts = parts.map(|part| part.into_iter().map(Into::into).collect()).collect();
        let found = Kept { parts, deviation_m: found.deviation };
        if let (Some(file), Ok(text)) = (&file, serde_json::to_vec(&found)) {
            // A cache that cannot be written only makes the next start slower.
            drop(write_atomic(file, &text));
        }
        found
    };
    let Kept { parts, deviation_m: deviation } = found;
    let said = Found { n_parts: parts.len(), deviation };
    Arc::make_mut(mesh).convex = Convex::Parts(ConvexParts { parts, deviation });
    Ok(Some(said).filter(|said| tolerance.is_none() && said.deviation > 0.0))
}

impl Found {
    /// Message for the user who loads the mesh, and the remedy.
    pub fn warning(&self) -> [String; 2] {
        let Self { n_parts, deviation } = self;
        let message = format!(
            "collides as {n_parts} convex parts, which are up to {:.1} mm beside it",
            1e3 * deviation
        );
        let remedy = format!(
            "write `tolerance: {:.4}` if that will do, or less for nearer parts",
            (1e4 * deviation).ceil() * 1e-4
        );
        [message, remedy]
    }
}

/// Applies [`find_parts`] to all meshes that a robot collides with; the warnings, or the link with its error.
pub(crate) fn find_robot_parts(
    model: &mut Model,
    file: &str,
) -> Result<Vec<Diagnostic>, (String, ShapeError)> {
    let cache = convex_cache();
    let frames = &model.frames;
    let mut warnings = Vec::new();
    for geometry in &mut model.collisions {
        if let Shape::Mesh(mesh) = &mut geometry.shape
            && geometry.body.is_some()
        {
            let link = &frames[geometry.frame.0].name;
            let found = find_parts(mesh, cache.as_deref());
            if let Some(found) = found.map_err(|e| (link.clone(), e))? {
                let [message, remedy] = found.warning();
                let name = mesh.path.display();
                let message = format!("link `{link}`: mesh `{name}` {message}");
                let (severity, place) = (Severity::Warning, Place::file(file));
                let remedy = format!("under `collision.convex.{link}`, {remedy}");
                warnings.push(Diagnostic { severity, place, message, remedy });
            }
        }
    }
    Ok(warnings)
}

/// Content of a file of the cache.
#[derive(serde::Serialize, serde::Deserialize)]
struct Kept {
    parts: Vec<Vec<[f64; 3]>>,
    deviation_m: f64,
}

/// Reads parts from the cache; `None` if there are none, or the file is damaged.
fn read(file: &Path) -> Option<Kept> {
    let kept: Kept = serde_json::from_slice(&fs::read(file).ok()?).ok()?;
    let sound =
        |part: &Vec<[f64; 3]>| part.len() >= 4 && part.iter().flatten().all(|x| x.is_finite());
    (!kept.parts.is_empty() && kept.parts.iter().all(sound)).then_some(kept)
}

/// FNV-1a of the numbers of a mesh, and of the method and tolerance of its parts.
fn content_hash(mesh: &Mesh, tolerance: Option<f64>) -> u128 {
    let vertices = mesh.vertices.iter().flatten().flat_map(|x| x.to_bits().to_le_bytes());
    let triangles = mesh.triangles.iter().flatten().flat_map(|i| i.to_le_bytes());
    let lengths = [mesh.vertices.len() as u64, mesh.triangles.len() as u64];
    DECOMPOSITION
        .bytes()
        .chain(tolerance.into_iter().flat_map(|x| x.to_bits().to_le_bytes()))
        .chain(lengths.into_iter().flat_map(u64::to_le_bytes))
        .chain(vertices)
        .chain(triangles)
        .fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash: u128, byte| {
            (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
        })
}
