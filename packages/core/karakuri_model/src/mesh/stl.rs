//! STL by `stl_io`, after a check of what it trusts.

use std::io::Cursor;
use std::path::Path;

use super::error::MeshError;
use crate::{Convex, Mesh};

/// Bytes before the triangles of a binary file, and bytes of each.
const HEADER: usize = 84;
const TRIANGLE: usize = 50;

pub(super) fn decode(bytes: &[u8], path: &Path) -> Result<Mesh, MeshError> {
    let damaged = |reason: String| MeshError::Damaged { format: "STL", reason };
    let count = bytes
        .get(80..HEADER)
        .and_then(|b| <[u8; 4]>::try_from(b).ok())
        .map(|b| u32::from_le_bytes(b) as usize);
    // By its length, as a binary header may hold any text; bytes after the triangles are allowed.
    let is_binary = count.is_some_and(|n| bytes.len() >= HEADER + n.saturating_mul(TRIANGLE))
        && !looks_like_text(bytes);
    let mut file;
    if is_binary {
        file = bytes.to_vec();
        // Some exporters begin the free text of a binary header with the word that marks a text file.
        file[..5].fill(b' ');
    // Blank lines before the word are forgiven; the parser wants it first.
    } else if bytes.trim_ascii_start().starts_with(b"solid") {
        file = bytes.trim_ascii_start().to_vec();
    } else {
        let said = count.unwrap_or(0);
        return Err(damaged(format!(
            "{} bytes are too few for the {said} triangles it announces",
            bytes.len()
        )));
    }
    let stl = stl_io::read_stl(&mut Cursor::new(file)).map_err(|e| damaged(e.to_string()))?;
    // Too large an index is one that does not exist, which `check` reports.
    let index = |i: usize| u32::try_from(i).unwrap_or(u32::MAX);
    Ok(Mesh {
        path: path.to_owned(),
        vertices: stl.vertices.iter().map(|v| [0, 1, 2].map(|i| f64::from(v[i]))).collect(),
        triangles: stl.faces.iter().map(|f| f.vertices.map(index)).collect(),
        convex: Convex::Hull,
    })
}

/// Whether a file is text: one long enough to look like a binary one has only text where the count would be.
fn looks_like_text(bytes: &[u8]) -> bool {
    // A binary header may begin with the word, too, but its floats soon hold bytes that are no text.
    bytes.starts_with(b"solid")
        && bytes.iter().take(512).all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace())
}
