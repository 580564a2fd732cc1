//! Convex hull by adding one point after the other [Orourke 1998, §4.3]: slower than quickhull, for points on which
//! that one fails, thin wedges and plates above all.

use std::collections::BTreeMap;

use karakuri_spatial::Vector3;

/// Part of the size by which a point must stand out of a face to see it.
const STANDS_OUT: f64 = 1e-11;

/// A triangle, counter-clockwise seen from outside.
struct Triangle {
    corners: [u32; 3],
    /// Unit normal; zero for a sliver, which nothing sees.
    normal: Vector3,
    level: f64,
}

impl Triangle {
    fn new(points: &[Vector3], corners: [u32; 3], size: f64) -> Self {
        let [a, b, c] = corners.map(|i| points[i as usize]);
        let doubled = (b - a).cross(&(c - a));
        // The area's rounding is about 1e-16 of the squared size; below 1e-13 of it a normal has no digits to see by.
        let is_sliver = doubled.norm() < 1e-13 * size * size;
        let normal = if is_sliver { Vector3::zeros() } else { doubled.normalize() };
        Self { corners, normal, level: normal.dot(&a) }
    }

    /// Height of a point above the triangle. [m]
    fn distance(&self, p: &Vector3) -> f64 {
        self.normal.dot(p) - self.level
    }

    fn edges(&self) -> [(u32, u32); 3] {
        let [a, b, c] = self.corners;
        [(a, b), (b, c), (c, a)]
    }
}

/// Outward triangles of the hull of some points. `None` where they are in one plane.
pub(super) fn hull(points: &[Vector3], size: f64) -> Option<Vec<[u32; 3]>> {
    let first = tetrahedron(points, size)?;
    let mut faces: Vec<Option<Triangle>> = Vec::new();
    let mut owner: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    let add = |corners: [u32; 3], faces: &mut Vec<Option<Triangle>>, owner: &mut BTreeMap<_, _>| {
        let triangle = Triangle::new(points, corners, size);
        owner.extend(triangle.edges().map(|edge| (edge, faces.len())));
        faces.push(Some(triangle));
    };
    let [a, b, c, d] = first;
    for corners in [[a, c, b], [a, b, d], [b, c, d], [c, a, d]] {
        add(corners, &mut faces, &mut owner);
    }
    for (i, p) in (0u32..).zip(points) {
        let seen = visible(&faces, &owner, p, STANDS_OUT * size);
        // The rim of the faces that the point sees: edges whose other face it does not see.
        let mut rim = Vec::new();
        for &f in &seen {
            // Edges keep the direction of the face that goes, so the triangle that takes its place is outward as well.
            let edges = faces[f].as_ref().map_or([(0, 0); 3], Triangle::edges);
            rim.extend(
                edges
                    .iter()
                    .filter(|(u, v)| owner.get(&(*v, *u)).is_none_or(|g| !seen.contains(g))),
            );
        }
        // These faces go, and triangles from the rim to the point close the hull.
        for &f in &seen {
            if let Some(gone) = faces[f].take() {
                for edge in gone.edges() {
                    owner.remove(&edge);
                }
            }
        }
        for (u, v) in rim {
            add([u, v, i], &mut faces, &mut owner);
        }
    }
    Some(faces.into_iter().flatten().map(|f| f.corners).collect())
}

/// Faces that a point sees: the one that it stands out of most, and those that go on from it.
fn visible(
    faces: &[Option<Triangle>],
    owner: &BTreeMap<(u32, u32), usize>,
    p: &Vector3,
    least: f64,
) -> Vec<usize> {
    // Grown as one piece from the face seen best: picked one by one, rounding could give a rim of two loops and holes.
    let sees = |f: usize| faces[f].as_ref().map_or(f64::NEG_INFINITY, |face| face.distance(p));
    let most = (0..faces.len()).max_by(|&f, &g| sees(f).total_cmp(&sees(g)));
    let mut seen: Vec<usize> = most.filter(|&f| sees(f) > least).into_iter().collect();
    let mut next = 0;
    while next < seen.len() {
        for (u, v) in faces[seen[next]].as_ref().map_or([(0, 0); 3], Triangle::edges) {
            if let Some(&f) = owner.get(&(v, u))
                && !seen.contains(&f)
                && sees(f) > least
            {
                seen.push(f);
            }
        }
        next += 1;
    }
    seen
}

/// Four points that span much: far apart, far from their line, far from their plane, the last above the others'.
fn tetrahedron(points: &[Vector3], size: f64) -> Option<[u32; 4]> {
    let farthest = |of: &dyn Fn(&Vector3) -> f64| {
        let best = points.iter().enumerate().max_by(|(_, p), (_, q)| of(p).total_cmp(&of(q)));
        best.map(|(i, p)| (i, of(p)))
    };
    let at = |i: usize| points[i];
    // A tilted direction, as along x all corners of a face across it would be equally far.
    let (a, _) = farthest(&|p| p.x + 1e-3 * p.y + 1e-6 * p.z)?;
    let (b, _) = farthest(&|p| (p - at(a)).norm())?;
    let along = at(b) - at(a);
    let (c, off_line) = farthest(&|p| along.cross(&(p - at(a))).norm())?;
    let normal = along.cross(&(at(c) - at(a)));
    if off_line <= 1e-12 * size * size {
        return None;
    }
    let (d, off_plane) = farthest(&|p| normal.dot(&(p - at(a))).abs())?;
    if off_plane <= 1e-12 * size * normal.norm() {
        return None;
    }
    let [a, b, c, d] = [a, b, c, d].map(|i| u32::try_from(i).unwrap_or(u32::MAX));
    let above = normal.dot(&(points[d as usize] - points[a as usize])) > 0.0;
    Some(if above { [a, b, c, d] } else { [a, c, b, d] })
}
