//! Convex hulls, with whole polygons as faces.

use karakuri_spatial::Vector3;
use parry3d_f64::shape::ConvexPolyhedron;

use crate::broad_phase::Bounds;
use crate::convert;

/// A convex polyhedron.
#[derive(Debug, Clone)]
pub(crate) struct Hull {
    /// Corners. [m] (n × 3)
    pub(crate) vertices: Vec<Vector3>,
    /// Around the corners.
    pub(crate) bounds: Bounds,
    faces: Vec<Face>,
    /// Corners of all faces, counter-clockwise seen from outside.
    corners: Vec<u32>,
    /// Faces around every vertex: run in `vertex_faces`.
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

impl Hull {
    pub(crate) fn new(polyhedron: &ConvexPolyhedron) -> Self {
        let faces = polyhedron.faces().iter().map(|f| Face {
            normal: convert::from_vector(f.normal),
            first: f.first_vertex_or_edge,
            len: f.num_vertices_or_edges,
        });
        let runs = polyhedron.vertices().iter();
        let vertices: Vec<Vector3> =
            polyhedron.points().iter().map(|p| convert::from_vector(*p)).collect();
        let width = |n: Vector3| {
            let reach = |sign: f64| {
                vertices.iter().map(|p| sign * n.dot(p)).fold(f64::NEG_INFINITY, f64::max)
            };
            reach(1.0) + reach(-1.0)
        };
        let normals = polyhedron.faces().iter().map(|f| convert::from_vector(f.normal));
        let half_width = 0.5 * normals.map(width).fold(f64::INFINITY, f64::min);
        Self {
            half_width,
            bounds: Bounds::around(&vertices),
            vertices,
            faces: faces.collect(),
            corners: polyhedron.vertices_adj_to_face().to_vec(),
            vertex_runs: runs
                .map(|v| (v.first_adj_face_or_edge, v.num_adj_faces_or_edge))
                .collect(),
            vertex_faces: polyhedron.faces_adj_to_vertex().to_vec(),
        }
    }

    /// Corners. [m] (n × 3)
    pub(crate) fn vertices(&self) -> &[Vector3] {
        &self.vertices
    }

    /// Vertex farthest along `direction`; of equals the first.
    pub(crate) fn support(&self, direction: &Vector3) -> usize {
        let mut best = (0, f64::NEG_INFINITY);
        for (i, p) in self.vertices.iter().enumerate() {
            let reach = p.dot(direction);
            if reach > best.1 {
                best = (i, reach);
            }
        }
        best.0
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
