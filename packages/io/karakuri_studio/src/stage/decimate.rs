//! Fewer triangles: vertices of a cell of a grid become one.
//!
//! [Rossignac & Borrel 1993]: vertex clustering, each cell's vertices at their mean.

use std::collections::BTreeMap;

use karakuri_model::{Convex, Mesh};
use karakuri_spatial::Vector3;

/// Triangles up to which a mesh is drawn as it is.
pub(super) const FEW: usize = 2000;
/// Cells along the longest edge of a mesh: about a pixel's worth at a usual distance.
const CELLS: f64 = 24.0;

/// The mesh with fewer triangles; `None` where it has few.
pub(super) fn coarse(mesh: &Mesh) -> Option<Mesh> {
    if mesh.triangles.len() <= FEW {
        return None;
    }
    let points = || mesh.vertices.iter().map(|&v| Vector3::from(v));
    let low = points().fold(Vector3::repeat(f64::INFINITY), |low, p| low.inf(&p));
    let high = points().fold(Vector3::repeat(f64::NEG_INFINITY), |high, p| high.sup(&p));
    let cell = (high - low).max() / CELLS;
    #[expect(clippy::cast_possible_truncation, reason = "at most CELLS")]
    let cell_of = |p: &Vector3| ((p - low) / cell).map(|x| x.floor() as i32);
    let mut clusters: BTreeMap<[i32; 3], usize> = BTreeMap::new();
    let mut sums: Vec<(Vector3, f64)> = Vec::new();
    let mut cluster_of = Vec::with_capacity(mesh.vertices.len());
    for p in points() {
        let next = sums.len();
        let index = *clusters.entry(cell_of(&p).into()).or_insert(next);
        if index == next {
            sums.push((Vector3::zeros(), 0.0));
        }
        sums[index].0 += p;
        sums[index].1 += 1.0;
        cluster_of.push(u32::try_from(index).ok()?);
    }
    let mut triangles: Vec<[u32; 3]> = mesh
        .triangles
        .iter()
        .map(|t| t.map(|i| cluster_of[i as usize]))
        .filter(|[a, b, c]| a != b && b != c && c != a)
        .map(|t| {
            // The least first, so that equal triangles are equal; the turn stays.
            let least = (0..3).min_by_key(|&k| t[k]).unwrap_or(0);
            [t[least], t[(least + 1) % 3], t[(least + 2) % 3]]
        })
        .collect();
    triangles.sort_unstable();
    triangles.dedup();
    let vertices = sums.into_iter().map(|(sum, n)| (sum / n).into()).collect();
    Some(Mesh { path: mesh.path.clone(), vertices, triangles, convex: Convex::Hull })
}
