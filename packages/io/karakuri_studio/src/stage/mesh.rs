//! Meshes as buffers that a page draws without reading them.
//!
//! Little-endian: `u32` number of vertices n, `u32` number of triangles m, n × 3 `f32` positions [m], n × 4 `i8` normals (127 is
//! 1, the fourth is 0), m × 3 `u32` indices.

use std::collections::BTreeMap;

use karakuri_model::Mesh;

/// Bytes of a mesh, smooth where faces meet at a small angle.
#[expect(clippy::cast_possible_truncation, reason = "pictures need no more than single precision")]
pub(super) fn buffer(mesh: &Mesh) -> Vec<u8> {
    let place = |i: u32| mesh.vertices[i as usize].map(f64::to_bits);
    let mut indices: Vec<u32> = Vec::with_capacity(3 * mesh.triangles.len());
    let mut vertices: Vec<([f64; 3], [i8; 4])> = Vec::new();
    let mut known: BTreeMap<([u64; 3], [i8; 4]), u32> = BTreeMap::new();
    for (t, normals) in mesh.triangles.iter().zip(mesh.corner_normals()) {
        let Some(normals) = normals else { continue };
        for (&i, normal) in t.iter().zip(normals) {
            let normal = [normal.x, normal.y, normal.z, 0.0].map(|x| (127.0 * x).round() as i8);
            let next = vertices.len() as u32;
            let index = *known.entry((place(i), normal)).or_insert(next);
            if index == next {
                vertices.push((mesh.vertices[i as usize], normal));
            }
            indices.push(index);
        }
    }
    let mut bytes = Vec::with_capacity(8 + 16 * vertices.len() + 4 * indices.len());
    bytes.extend((vertices.len() as u32).to_le_bytes());
    bytes.extend((indices.len() as u32 / 3).to_le_bytes());
    for (position, _) in &vertices {
        bytes.extend(position.iter().flat_map(|&x| (x as f32).to_le_bytes()));
    }
    for (_, normal) in &vertices {
        bytes.extend(normal.map(|x| x.to_le_bytes()[0]));
    }
    bytes.extend(indices.iter().flat_map(|i| i.to_le_bytes()));
    bytes
}
