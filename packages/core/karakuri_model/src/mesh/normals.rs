//! Normals of a mesh's corners, for pictures.

use std::collections::BTreeMap;

use karakuri_spatial::Vector3;

use crate::model::Mesh;

/// Cosine of the angle between faces beyond which there is an edge between them. [-]
// 37 degrees: the facets of a coarse cylinder with 10 sides are smoothed, the edges of a box stay.
const CREASE: f64 = 0.8;

impl Mesh {
    /// Unit normals at the three corners of each triangle, smooth where faces meet at a small angle: the mean, by area, of the
    /// faces there that are within an angle of cosine 0.8 of its own. `None` for a triangle without area. (m)
    pub fn corner_normals(&self) -> Vec<Option<[Vector3; 3]>> {
        let areas: Vec<Vector3> = self
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|i| Vector3::from(self.vertices[i as usize]));
                // Twice the area along the normal: a sum of these is the mean weighted by area.
                (b - a).cross(&(c - a))
            })
            .collect();
        // STL repeats each vertex in every triangle: equal places are one vertex.
        let place = |i: u32| self.vertices[i as usize].map(f64::to_bits);
        let mut faces_at: BTreeMap<[u64; 3], Vec<usize>> = BTreeMap::new();
        for (face, t) in self.triangles.iter().enumerate() {
            for &i in t {
                faces_at.entry(place(i)).or_default().push(face);
            }
        }
        let faces = self.triangles.iter().zip(&areas);
        faces
            .map(|(t, area)| {
                // A sliver without area has no side to light.
                let own = area.try_normalize(0.0)?;
                Some(t.map(|i| {
                    let around = faces_at.get(&place(i)).map_or(&[][..], Vec::as_slice);
                    let near = |a: &Vector3| a.dot(&own) > CREASE * a.norm();
                    let smooth = around.iter().map(|&f| areas[f]).filter(near);
                    smooth.sum::<Vector3>().try_normalize(0.0).unwrap_or(own)
                }))
            })
            .collect()
    }
}
