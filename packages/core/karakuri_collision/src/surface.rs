//! Triangle meshes as surfaces: welded, cleaned, each triangle knowing its neighbours.

use std::collections::{BTreeMap, BTreeSet};

use karakuri_spatial::Vector3;

use crate::bounds::Bounds;

/// Cosine of the angle across an edge above which it is no edge of the surface. (0.06°)
const FLAT: f64 = 1.0 - 5e-7;

/// A one-sided surface.
#[derive(Debug, Clone)]
pub(crate) struct Surface {
    /// Vertices without duplicates. [m]
    pub(crate) vertices: Vec<Vector3>,
    /// Box around the vertices.
    pub(crate) bounds: Bounds,
    /// Triangles, counter-clockwise seen from outside; none without area, none twice.
    pub(crate) triangles: Vec<[u32; 3]>,
    faces: Vec<Face>,
}

/// A triangle's surroundings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Face {
    /// Outward normal. (3)
    pub(crate) normal: Vector3,
    /// Edges from corner i to i + 1.
    pub(crate) edges: [Edge; 3],
}

/// Continuation of a surface across an edge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Edge {
    /// An end of the surface, or an edge of more than two triangles.
    Border,
    /// A straight or rising continuation: nothing touches the edge before a face.
    Inner,
    /// A falling continuation, to a face with this normal.
    Ridge(Vector3),
}

impl Surface {
    pub(crate) fn new(vertices: &[Vector3], triangles: &[[u32; 3]]) -> Self {
        let (vertices, triangles) = clean(vertices, triangles);
        let corners = |t: &[u32; 3]| t.map(|i| vertices[i as usize]);
        let normal = |t: &[u32; 3]| {
            // `clean` left no triangle without area, so the length is not zero.
            let [a, b, c] = corners(t);
            (b - a).cross(&(c - a)).normalize()
        };
        let normals: Vec<Vector3> = triangles.iter().map(normal).collect();
        // Owner of the edge from one vertex to another; `None` if several have it.
        let mut owners: BTreeMap<(u32, u32), Option<usize>> = BTreeMap::new();
        for (i, t) in triangles.iter().enumerate() {
            for k in 0..3 {
                let edge = (t[k], t[(k + 1) % 3]);
                owners.entry(edge).and_modify(|owner| *owner = None).or_insert(Some(i));
            }
        }
        let faces = triangles.iter().enumerate().map(|(i, t)| {
            let edges = [0, 1, 2].map(|k| {
                let (p, q) = (t[k], t[(k + 1) % 3]);
                let Some(Some(other)) = owners.get(&(q, p)) else { return Edge::Border };
                if owners.get(&(p, q)) == Some(&None) {
                    return Edge::Border;
                }
                let along = vertices[q as usize] - vertices[p as usize];
                // Outward of this triangle across the edge, as the corners go counter-clockwise.
                let outward = along.cross(&normals[i]);
                // The neighbour falls where its normal leans outward across the edge.
                let falls = normals[*other].dot(&outward) > 0.0;
                if falls && normals[i].dot(&normals[*other]) < FLAT {
                    Edge::Ridge(normals[*other])
                } else {
                    Edge::Inner
                }
            });
            Face { normal: normals[i], edges }
        });
        let faces = faces.collect();
        Self { bounds: Bounds::around(&vertices), vertices, triangles, faces }
    }

    pub(crate) fn corners(&self, triangle: u32) -> [Vector3; 3] {
        self.triangles[triangle as usize].map(|i| self.vertices[i as usize])
    }

    pub(crate) fn face(&self, triangle: u32) -> &Face {
        &self.faces[triangle as usize]
    }
}

impl Face {
    /// The normal with which a shape in direction `n` from the triangle touches this surface; `None` if another
    /// triangle touches it. All in the mesh's frame.
    pub(crate) fn admissible(&self, corners: &[Vector3; 3], n: &Vector3) -> Option<Vector3> {
        let up = self.normal.dot(n);
        let mut touched = false;
        for (k, edge) in self.edges.iter().enumerate() {
            let along = corners[(k + 1) % 3] - corners[k];
            let outward = along.cross(&self.normal).normalize();
            // Lean of the contact's normal outward across this edge.
            let lean = n.dot(&outward);
            // Rounding of a direction straight up must not choose an edge.
            if lean <= 1e-9 {
                continue;
            }
            match edge {
                Edge::Inner => return Some(self.normal),
                Edge::Border => touched = true,
                Edge::Ridge(other) => {
                    // Beyond the neighbour's normal it is the neighbour's contact.
                    // Cross product in the plane across the edge: the sine by which n leans beyond the neighbour's normal.
                    let (most, rise) = (other.dot(&outward), other.dot(&self.normal));
                    if lean * rise - up * most > 1e-6 {
                        return None;
                    }
                    touched = true;
                }
            }
        }
        // From below, the face's own normal pushes out to the front: a mesh is one-sided.
        if touched && up > 0.0 { Some(*n) } else { Some(self.normal) }
    }
}

/// Vertices once each, triangles that have an area once each.
fn clean(vertices: &[Vector3], triangles: &[[u32; 3]]) -> (Vec<Vector3>, Vec<[u32; 3]>) {
    let mut places: BTreeMap<[u64; 3], u32> = BTreeMap::new();
    let mut kept: Vec<Vector3> = Vec::new();
    let mut index = Vec::with_capacity(vertices.len());
    for v in vertices {
        // −0 and 0 are one place.
        let bits = [v.x + 0.0, v.y + 0.0, v.z + 0.0].map(f64::to_bits);
        let next = u32::try_from(kept.len()).unwrap_or(u32::MAX);
        let place = *places.entry(bits).or_insert(next);
        if place == next {
            kept.push(*v);
        }
        index.push(place);
    }
    let mut seen = BTreeSet::new();
    let mut whole = Vec::with_capacity(triangles.len());
    for t in triangles {
        let t = t.map(|i| index[i as usize]);
        let [a, b, c] = t.map(|i| kept[i as usize]);
        // A triangle without area, and one that is there already, are left out.
        let longest =
            (b - a).norm_squared().max((c - b).norm_squared()).max((a - c).norm_squared());
        // Relative to the longest edge, so that needles as well as small triangles are judged by shape.
        let flat = (b - a).cross(&(c - a)).norm() <= 1e-12 * longest;
        // From the smallest index on, as a triangle named from another corner is the same; a reversed one is not.
        let smallest =
            t.iter().min().map_or(0, |least| t.iter().position(|i| i == least).unwrap_or(0));
        let turned = [0, 1, 2].map(|k| t[(smallest + k) % 3]);
        if !flat && seen.insert(turned) {
            whole.push(t);
        }
    }
    (kept, whole)
}
