//! A triangle mesh and a convex solid: triangle by triangle, then merged where the surface is flat.
//!
//! An edge between two triangles is no edge of the surface unless the surface falls there: a contact that leans over a
//! flat or rising edge takes the face's normal, one that leans beyond the neighbour's normal is the neighbour's. Points
//! with one normal become one manifold of at most four; corners of the solid keep their name from triangle to triangle.
//! So a box that slides over a tessellated plane has the contact of the plane.

use karakuri_spatial::{Pose, Vector3};
use parry3d_f64::bounding_volume::BoundingVolume as _;

use super::clip::{corner_of_a, crossed_edge_of_a};
use super::posed::{Closest, Posed};
use super::{Named, Narrow, most_points};
use crate::manifold::{ContactPoint, Manifold, Manifolds, Memory};
use crate::solid::Solid;
use crate::surface::{Edge, Face};

/// `1 − cos` of the angle between normals that are one. (0.08°)
const ONE_NORMAL: f64 = 1e-6;

/// Part of the solid's size within which points are at one place.
const ONE_PLACE: f64 = 1e-9;

/// A triangle of a mesh.
#[derive(Clone, Copy)]
struct Triangle<'a> {
    index: u32,
    /// Corners in the mesh's frame. [m]
    corners: &'a [Vector3; 3],
    face: &'a Face,
}

impl Narrow {
    pub(super) fn mesh_pair(
        &mut self,
        mesh: Named,
        other: Named,
        prediction: f64,
        before: &[Manifold],
        out: &mut Manifolds,
    ) {
        let Solid::Triangles(surface) = &mesh.placed.solid else { return };
        let Some(triangles) = mesh.placed.parry.as_trimesh() else { return };
        let swapped = mesh.id > other.id;
        let X_WM = &mesh.placed.pose_in_world;
        let Some(near) = mesh.placed.box_around(other.placed) else { return };
        // Relative to the mesh's origin, as its triangles need no second translation then.
        let mut theirs = other.placed.posed(&X_WM.translation);
        let mut memory = before.first().map_or(Memory::NONE, |m| m.memory);
        theirs.rim = memory.rims[usize::from(!swapped)];
        self.gathered.clear();
        self.refused = None;
        for index in triangles.bvh().intersect_aabb(&near.loosened(prediction)) {
            let (corners, face) = (surface.corners(index), surface.face(index));
            let triangle = Triangle { index, corners: &corners, face };
            self.triangle_pair(triangle, X_WM, &theirs, prediction);
            if !self.features[1].rim.is_nan() {
                theirs.rim = self.features[1].rim;
            }
            // Above the two bits of the kind: a corner of the mesh is another one on each triangle.
            let tag = (u64::from(index) + 1) << 42;
            for p in &self.patch.points {
                // Corners and crossings on inner edges are no points of the surface.
                let edge = |k: usize| face.edges[k] == Edge::Inner;
                if let Some(k) = corner_of_a(p.feature) {
                    if edge(k) && edge((k + 2) % 3) {
                        continue;
                    }
                } else if crossed_edge_of_a(p.feature).is_some_and(edge) {
                    continue;
                }
                // Corners of the solid, kind 2, are the same on whichever triangle they are.
                let of_solid = p.feature >> 40 == 2;
                let feature = if of_solid { p.feature } else { p.feature | tag };
                self.gathered
                    .push((self.patch.normal, super::clip::between(p.position, feature, p.gap)));
            }
        }
        // Where every triangle takes the contact for another's, as at a corner inside, the shallowest has it.
        if self.gathered.is_empty() {
            self.gathered.extend(self.refused);
        }
        if !theirs.rim.is_nan() {
            memory.rims[usize::from(!swapped)] = theirs.rim;
        }
        let (a, b) = (mesh.id.min(other.id), mesh.id.max(other.id));
        let most = most_points(mesh.placed, other.placed);
        let one_place = ONE_PLACE * (near.maxs - near.mins).length();
        while let Some(&(normal, _)) = self.gathered.first() {
            // All points of one normal become one manifold.
            self.patch.reset(normal, [0.0; 2], prediction);
            let patch = &mut self.patch;
            self.gathered.retain(|(n, p)| {
                let same = 1.0 - n.dot(&normal) < ONE_NORMAL;
                // Triangles with a common edge or corner have its points both, under names of their own.
                let is_known = |known: &ContactPoint| {
                    known.feature == p.feature || (known.position - p.position).norm() <= one_place
                };
                if same && !patch.points.iter().any(is_known) {
                    patch.points.push(*p);
                }
                !same
            });
            let outward = if swapped { -normal } else { normal };
            // The manifold of last step with this normal, within 2.6°: a mesh has one per face touched.
            let last = before.iter().find(|m| m.normal.dot(&outward) > 1.0 - 1e-3);
            patch.reduce(last.map_or(&[], Manifold::points), most);
            let manifold = out.add(a, b, memory);
            patch.write(&X_WM.translation, manifold);
            manifold.normal = outward;
        }
    }

    /// Fills the patch with the points of one triangle, posed at `X_WM`, and a solid.
    fn triangle_pair(
        &mut self,
        Triangle { index, corners, face }: Triangle,
        X_WM: &Pose,
        theirs: &Posed,
        prediction: f64,
    ) {
        let R = &X_WM.rotation;
        let ours = Posed::triangle(corners.map(|p| R * p));
        self.patch.reset(Vector3::zeros(), [0.0, theirs.margin], prediction);
        let Some(closest) = self.closest(&ours, theirs, prediction + theirs.margin) else { return };
        let Some(normal) = face.admissible(corners, &R.tr_mul(&closest.normal)) else {
            // The contact is another triangle's; the shallowest such point is kept in case all leave it.
            let Closest { normal, points: [a, b] } = closest;
            let gap = normal.dot(&(b - a)) - theirs.margin;
            if gap <= prediction && self.refused.is_none_or(|(_, known)| gap > known.gap) {
                let place = a + normal * (0.5 * gap);
                let tag = (u64::from(index) + 1) << 42;
                self.refused = Some((normal, super::clip::between(place, tag, gap)));
            }
            return;
        };
        let normal = R * normal;
        self.patch.normal = normal;
        let [fa, fb] = &mut self.features;
        fa.set(&ours, &normal);
        fb.set(theirs, &-normal);
        self.patch.intersect(fa, fb);
        // What leans over an inner edge is another triangle's.
        // Equal to 1e-8 rad: `admissible` left the normal as it was.
        if (normal - closest.normal).norm_squared() < 1e-16 {
            let gap = normal.dot(&(closest.points[1] - closest.points[0]));
            self.patch.include(&closest.points, gap);
        }
    }
}
