//! Convex hulls, with whole polygons as faces.

use std::collections::BTreeMap;

use karakuri_spatial::{Vector3, tangent_frame};
use parry3d_f64::shape::SharedShape;
use parry3d_f64::transformation::try_convex_hull;

use crate::bounds::Bounds;
use crate::convert;

use farthest::Farthest;

mod farthest;
mod incremental;
mod thin;

/// Cosine of the angle to a face's largest triangle below which another triangle belongs to the face. (0.01°)
const FLAT: f64 = 1.0 - 1.5e-8;
/// Part of the size within which corners of slivers, whose normal is noise, lie in the plane of a face.
const IN_PLANE: f64 = 1e-9;
/// Part of the squared size below which a triangle is a sliver, and a corner lies on the edge between its neighbours.
const SLIVER: f64 = 1e-12;

/// Part of the size by which points may lie outside a face: those within it that bulge.
const OUTSIDE: f64 = 2e-4;
/// Grids that points are put on, as parts of the size: first on none.
const GRIDS: [f64; 4] = [0.0, 1e-9, 1e-7, 1e-5];

/// A convex polyhedron.
#[derive(Debug, Clone)]
pub(crate) struct Hull {
    /// Corners. [m] (n × 3)
    pub(crate) vertices: Vec<Vector3>,
    /// Box around the corners.
    pub(crate) bounds: Bounds,
    /// Search tree of the corners.
    farthest: Farthest,
    faces: Vec<Face>,
    /// Corners of all faces, counter-clockwise seen from outside.
    corners: Vec<u32>,
    /// Faces around every vertex, at least one: run in `vertex_faces`.
    vertex_runs: Vec<(u32, u32)>,
    vertex_faces: Vec<u32>,
    /// Half the least distance between a face and the vertex farthest behind it. [m]
    pub(crate) half_width: f64,
}

#[derive(Debug, Clone, Copy)]
struct Face {
    normal: Vector3,
    first: u32,
    len: u32,
}

/// A face of a hull.
#[derive(Debug, Clone, PartialEq)]
pub struct HullFace {
    /// Outward normal. (3)
    pub normal: Vector3,
    /// Corners, counter-clockwise seen from outside. [m] (n × 3)
    pub corners: Vec<Vector3>,
}

/// Triangles that make one face.
struct Region {
    normal: Vector3,
    /// Vertices of all its triangles, once each, ascending.
    vertices: Vec<u32>,
    /// Vertices that span it, counter-clockwise seen from outside.
    corners: Vec<u32>,
}

impl Hull {
    /// Hull of points, and the same for parry. `None` without volume.
    ///
    /// Where points are in one plane but for a rounding, quickhull may leave some of them outside: then all are put on
    /// a grid, on which such points are in one plane exactly, as fine as it may be. Where that does not help either, the
    /// hull is made by adding point after point, and at last as a plate or bar of a least thickness.
    pub(crate) fn around(points: &[Vector3]) -> Option<(Self, SharedShape)> {
        let size = Bounds::around(points);
        let size = (size.upper - size.lower).norm();
        let farthest = Farthest::of(points);
        let mut best: Option<(f64, Self, SharedShape)> = None;
        for grid in GRIDS {
            let step = grid * size;
            let snap = |x: f64| if step > 0.0 { (x / step).round() * step } else { x };
            let snapped: Vec<_> = points.iter().map(|p| convert::vector(&p.map(snap))).collect();
            let Ok((corners, triangles)) = try_convex_hull(&snapped) else { continue };
            let vertices: Vec<Vector3> = corners.iter().map(|p| convert::from_vector(*p)).collect();
            let Some(hull) = Self::new(&vertices, &triangles) else { continue };
            // Measured at the points given, not at the snapped ones: what the grid moved has to show.
            let outside = hull.outside(&farthest);
            // The best grid is kept, as a coarser one may be worse.
            if best.as_ref().is_none_or(|(least, ..)| outside < *least) {
                let Some(shape) = SharedShape::convex_mesh(corners, &triangles) else { continue };
                best = Some((outside, hull, shape));
            }
            if best.as_ref().is_some_and(|(least, ..)| *least <= OUTSIDE * size) {
                break;
            }
        }
        if best.as_ref().is_none_or(|(least, ..)| *least > OUTSIDE * size)
            && let Some((outside, hull, shape)) = Self::by_increments(points, &farthest, size)
            && best.as_ref().is_none_or(|(least, ..)| outside < *least)
        {
            best = Some((outside, hull, shape));
        }
        if best.as_ref().is_some_and(|(least, ..)| *least > OUTSIDE * size) {
            best = Self::thin(points, &farthest, size);
        }
        best.map(|(_, hull, shape)| (hull, shape))
    }

    /// Hull as a plate or bar of a least thickness; `None` where even that leaves points outside: what stands for the points
    /// would be another shape.
    fn thin(
        points: &[Vector3],
        farthest: &Farthest,
        size: f64,
    ) -> Option<(f64, Self, SharedShape)> {
        let corners = thin::corners(points, size)?;
        Self::by_increments(&corners, farthest, size)
            .filter(|(outside, ..)| *outside <= OUTSIDE * size)
    }

    fn by_increments(
        points: &[Vector3],
        farthest: &Farthest,
        size: f64,
    ) -> Option<(f64, Self, SharedShape)> {
        let mut triangles = incremental::hull(points, size)?;
        // parry wants no vertex without a face.
        let mut used: Vec<u32> = triangles.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        for corner in triangles.iter_mut().flatten() {
            *corner = u32::try_from(used.binary_search(corner).ok()?).ok()?;
        }
        let vertices: Vec<Vector3> = used.iter().map(|&i| points[i as usize]).collect();
        let hull = Self::new(&vertices, &triangles)?;
        let corners = vertices.iter().map(convert::vector).collect();
        let shape = SharedShape::convex_mesh(corners, &triangles)?;
        Some((hull.outside(farthest), hull, shape))
    }

    /// Greatest distance by which one of some points lies outside a face. [m]
    fn outside(&self, points: &Farthest) -> f64 {
        let above = |face: &Face| {
            let corners = &self.corners[face.first as usize..(face.first + face.len) as usize];
            let level = corners.iter().map(|&i| face.normal.dot(&self.vertices[i as usize]));
            // The highest corner's level: a face is a plane only to the tolerances of `regions`.
            let level = level.fold(f64::NEG_INFINITY, f64::max);
            points.along(&face.normal).1 - level
        };
        self.faces.iter().map(above).fold(0.0, f64::max)
    }

    /// Hull from the outward triangles of a closed convex surface. `None` without volume.
    ///
    /// Vertices of real meshes stand a rounding proud of their face or stay behind it. Those within a face, and not at
    /// its rim, are none of the hull's: it is the hull of the corners of its faces.
    fn new(points: &[Vector3], triangles: &[[u32; 3]]) -> Option<Self> {
        let regions = regions(points, triangles);
        let mut place = vec![u32::MAX; points.len()];
        for &i in regions.iter().flat_map(|r| &r.corners) {
            place[i as usize] = 0;
        }
        let mut vertices = Vec::new();
        for (place, p) in place.iter_mut().zip(points) {
            if *place == 0 {
                *place = u32::try_from(vertices.len()).ok()?;
                vertices.push(*p);
            }
        }
        // Fewer enclose no volume.
        if regions.len() < 4 || vertices.len() < 4 {
            return None;
        }
        let (mut faces, mut corners) = (Vec::new(), Vec::new());
        let mut around: Vec<Vec<u32>> = vec![Vec::new(); vertices.len()];
        for (f, region) in (0u32..).zip(&regions) {
            let (first, len) = (corners.len(), region.corners.len());
            let (first, len) = (u32::try_from(first).ok()?, u32::try_from(len).ok()?);
            faces.push(Face { normal: region.normal, first, len });
            corners.extend(region.corners.iter().map(|&i| place[i as usize]));
            // All its vertices, not only its corners: one on a straight rim is a corner of the neighbour's.
            for &i in &region.vertices {
                if let Some(around) = around.get_mut(place[i as usize] as usize) {
                    around.push(f);
                }
            }
        }
        let (mut vertex_runs, mut vertex_faces) = (Vec::new(), Vec::new());
        for around in around {
            let (first, len) = (vertex_faces.len(), around.len());
            vertex_runs.push((u32::try_from(first).ok()?, u32::try_from(len).ok()?));
            vertex_faces.extend(around);
        }
        let farthest = Farthest::of(&vertices);
        let half_width = half_width(&farthest, &faces);
        let bounds = Bounds::around(&vertices);
        Some(Self {
            vertices,
            bounds,
            farthest,
            faces,
            corners,
            vertex_runs,
            vertex_faces,
            half_width,
        })
    }

    /// Corners of the hull. [m] (n × 3)
    pub(crate) fn vertices(&self) -> &[Vector3] {
        &self.vertices
    }

    /// Faces of the hull.
    pub(crate) fn faces(&self) -> impl Iterator<Item = HullFace> {
        self.faces.iter().map(|face| {
            let run = face.first as usize..(face.first + face.len) as usize;
            let corners = self.corners[run].iter().map(|&i| self.vertices[i as usize]).collect();
            HullFace { normal: face.normal, corners }
        })
    }

    /// Volume by the divergence theorem. [m³]
    pub(crate) fn volume(&self) -> f64 {
        // Cones to a corner of the hull, as to a distant frame's origin they would cancel.
        let origin = self.vertices[0];
        // A face and the origin span a cone: a third of the area times the height.
        let cone = |face: HullFace| {
            let [first, rest @ ..] = &face.corners[..] else { return 0.0 };
            let fan = rest.windows(2).map(|edge| (edge[0] - first).cross(&(edge[1] - first)));
            (first - origin).dot(&fan.sum()) / 6.0
        };
        self.faces().map(cone).sum()
    }

    /// Vertex farthest along `direction`; of equals the first.
    pub(crate) fn support(&self, direction: &Vector3) -> usize {
        self.farthest.along(direction).0
    }

    /// The face at the support vertex that looks most along `direction`: its normal and its corners.
    pub(crate) fn support_face(&self, direction: &Vector3) -> (Vector3, &[u32]) {
        let (first, len) = self.vertex_runs[self.support(direction)];
        let around = &self.vertex_faces[first as usize..(first + len) as usize];
        let mut best = (around[0], f64::NEG_INFINITY);
        for &f in around {
            let along = self.faces[f as usize].normal.dot(direction);
            if along > best.1 {
                best = (f, along);
            }
        }
        let face = self.faces[best.0 as usize];
        (face.normal, &self.corners[face.first as usize..(face.first + face.len) as usize])
    }
}

/// Half the least distance between a face and the vertex farthest behind it. [m]
fn half_width(vertices: &Farthest, faces: &[Face]) -> f64 {
    let width = |face: &Face| vertices.along(&face.normal).1 + vertices.along(&-face.normal).1;
    0.5 * faces.iter().map(width).fold(f64::INFINITY, f64::min)
}

/// Faces: from the largest triangle down, each with all triangles that go on from it nearly in its plane. The angle
/// is that to the largest triangle, so that a smooth surface of many small steps does not become one face.
fn regions(points: &[Vector3], triangles: &[[u32; 3]]) -> Vec<Region> {
    let corners = |t: &[u32; 3]| t.map(|i| points[i as usize]);
    let doubled = |t: &[u32; 3]| {
        let [a, b, c] = corners(t);
        (b - a).cross(&(c - a))
    };
    let doubled: Vec<Vector3> = triangles.iter().map(doubled).collect();
    let size = Bounds::around(points);
    let size = (size.upper - size.lower).norm();
    let mut owner: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for (i, t) in triangles.iter().enumerate() {
        owner.extend([0, 1, 2].map(|k| ((t[k], t[(k + 1) % 3]), i)));
    }
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    order.sort_by(|&i, &j| doubled[j].norm().total_cmp(&doubled[i].norm()));
    let mut taken = vec![false; triangles.len()];
    let mut regions = Vec::new();
    for seed in order {
        // Slivers seed no face: their normal is noise.
        let Some(normal) = doubled[seed].try_normalize(SLIVER * size * size) else { continue };
        if core::mem::replace(&mut taken[seed], true) {
            continue;
        }
        let (level, near) = (normal.dot(&points[triangles[seed][0] as usize]), IN_PLANE * size);
        // A triangle belongs by its normal; a sliver, whose normal is noise, by its distance from the plane.
        let belongs = |i: usize| {
            normal.dot(&doubled[i]) > FLAT * doubled[i].norm()
                || corners(&triangles[i]).iter().all(|p| (normal.dot(p) - level).abs() <= near)
        };
        let mut members = vec![seed];
        let mut next = 0;
        while let Some(&i) = members.get(next) {
            next += 1;
            let t = triangles[i];
            for k in 0..3 {
                // The neighbour has the common edge in the opposite direction.
                let Some(&j) = owner.get(&(t[(k + 1) % 3], t[k])) else { continue };
                if !taken[j] && belongs(j) {
                    taken[j] = true;
                    members.push(j);
                }
            }
        }
        // The normal of a face is that of the sum of its triangles' areas.
        // Areas as weights: a large triangle's normal has the smaller rounding.
        let sum: Vector3 = members.iter().map(|&i| doubled[i]).sum();
        let normal = sum.try_normalize(0.0).unwrap_or(normal);
        let mut vertices: Vec<u32> = members.iter().flat_map(|&i| triangles[i]).collect();
        vertices.sort_unstable();
        vertices.dedup();
        let corners = outline(points, &vertices, &normal);
        if corners.len() >= 3 {
            regions.push(Region { normal, vertices, corners });
        }
    }
    regions
}

/// The corners of the convex polygon around points, seen against `normal`: counter-clockwise. [Andrew 1979]
fn outline(points: &[Vector3], vertices: &[u32], normal: &Vector3) -> Vec<u32> {
    let [t1, t2] = tangent_frame(normal);
    let origin = points[vertices[0] as usize];
    let flat = |&i: &u32| {
        let p = points[i as usize] - origin;
        (t1.dot(&p), t2.dot(&p), i)
    };
    let mut flat: Vec<(f64, f64, u32)> = vertices.iter().map(flat).collect();
    flat.sort_by(|p, q| p.0.total_cmp(&q.0).then(p.1.total_cmp(&q.1)));
    let mut corners: Vec<(f64, f64, u32)> = Vec::new();
    let mut chain = |points: &mut dyn Iterator<Item = &(f64, f64, u32)>| {
        let first = corners.len();
        for &p in points {
            // Andrew's monotone chain: a corner without a turn to the left is dropped.
            while corners.len() >= first + 2 {
                let (a, b) = (corners[corners.len() - 2], corners[corners.len() - 1]);
                let (ab, bp) = ((b.0 - a.0, b.1 - a.1), (p.0 - b.0, p.1 - b.1));
                // Compared with both lengths, the threshold is a sine: short edges keep their corners.
                let (along, onward) = (ab.0.hypot(ab.1), bp.0.hypot(bp.1));
                if ab.0 * bp.1 - ab.1 * bp.0 > IN_PLANE * along * onward {
                    break;
                }
                corners.pop();
            }
            corners.push(p);
        }
        // The last of a chain is the first of the other.
        corners.pop();
    };
    chain(&mut flat.iter());
    chain(&mut flat.iter().rev());
    corners.into_iter().map(|(_, _, i)| i).collect()
}

#[cfg(test)]
mod tests;
