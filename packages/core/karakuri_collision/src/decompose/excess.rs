//! Distance by which a convex hull stands beside the solid that it is made of.

use karakuri_spatial::Vector3;
use parry3d_f64::query::PointQuery as _;
use parry3d_f64::shape::{TriMesh, TriMeshFlags};

use super::cell::Polygon;
use crate::convert;
use crate::hull::Hull;
use crate::shape::ShapeError;
use crate::surface::Surface;

/// Part of a face's area that the mesh covers where the face is one of the mesh.
const COVERED: f64 = 1.0 - 1e-6;
/// Sine of the angle up to which a polygon has the direction of a face.
const ALIGNED: f64 = 1e-6;
/// Part of the size within which a polygon is in the plane of a face.
const IN_PLANE: f64 = 1e-7;

/// Reach of a triangle beyond the farthest point known, as a part of its distance, up to which it is left. [-]
const PRECISION: f64 = 0.1;

/// A point that is far from the solid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Excess {
    /// Distance from the solid. [m]
    pub(super) distance: f64,
    /// Point of the hull.
    pub(super) at: Vector3,
    /// The point of the solid nearest to it.
    pub(super) on: Vector3,
}

/// Solid that a mesh encloses.
pub(super) struct Solid<'a> {
    surface: &'a Surface,
    mesh: TriMesh,
    /// Diagonal of its box. [m]
    size: f64,
}

impl<'a> Solid<'a> {
    pub(super) fn new(surface: &'a Surface) -> Result<Self, ShapeError> {
        let corners = surface.vertices.iter().map(convert::vector).collect();
        let mesh = TriMesh::with_flags(corners, surface.triangles.clone(), TriMeshFlags::ORIENTED);
        let n_triangles = surface.triangles.len();
        let mesh = mesh.map_err(|e| ShapeError::Mesh { n_triangles, why: e.to_string() })?;
        let size = (surface.bounds.upper - surface.bounds.lower).norm();
        Ok(Self { surface, mesh, size })
    }

    /// The point of the surface nearest to a point, and whether the point is behind it.
    fn project(&self, point: &Vector3) -> (Vector3, bool) {
        let projection = self.mesh.project_local_point(convert::vector(point), false);
        (convert::from_vector(projection.point), projection.is_inside)
    }

    /// Whether a point is inside: the surface winds around it. Unlike the side of the nearest triangle, this holds for bodies
    /// side by side and for meshes with gaps. [Jacobson 2013], by the solid angles of [Van Oosterom 1983].
    pub(super) fn holds(&self, point: &Vector3) -> bool {
        let angle = |triangle: u32| {
            let [a, b, c] = self.surface.corners(triangle).map(|corner| corner - point);
            let [la, lb, lc] = [a.norm(), b.norm(), c.norm()];
            // Half the solid angle: tan(Ω/2) = a·(b × c)/(|a||b||c| + (a·b)|c| + (b·c)|a| + (c·a)|b|).
            let volume = a.dot(&b.cross(&c));
            volume.atan2(la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb)
        };
        let n = u32::try_from(self.surface.triangles.len()).unwrap_or(u32::MAX);
        let half_angles: f64 = (0..n).map(angle).sum();
        // The half angles add up to ±2π inside and to 0 outside.
        half_angles.abs() > std::f64::consts::PI
    }

    /// Point of a hull that is farthest from the solid; `None` if none is farther than `floor`. `polygons` are those of the
    /// mesh in the hull.
    ///
    /// Branch and bound on triangles of the hull's faces: the signed distance changes by no more than the distance moved, so a
    /// triangle whose centre is at `d` has no point farther than `d` and its radius. Found to a tenth of the distance.
    pub(super) fn excess_of(
        &self,
        hull: &Hull,
        polygons: &[Polygon],
        floor: f64,
    ) -> Option<Excess> {
        let mut open: Vec<[Vector3; 3]> = Vec::new();
        for face in hull.faces() {
            let corners = face.corners;
            if self.is_covered(&face.normal, &corners, polygons) {
                continue;
            }
            open.extend((2..corners.len()).map(|i| [corners[0], corners[i - 1], corners[i]]));
        }
        let mut farthest: Option<Excess> = None;
        while let Some([a, b, c]) = open.pop() {
            let center = (a + b + c) / 3.0;
            let radius = [a, b, c].iter().map(|p| (p - center).norm()).fold(0.0, f64::max);
            let least = farthest.map_or(floor, |found| found.distance.max(floor));
            let (on, mut is_inside) = self.project(&center);
            let distance = (center - on).norm();
            // The nearest triangle's side errs beside edges and gaps; the winding visits every triangle, so it is asked last.
            if !is_inside && distance > least {
                is_inside = self.holds(&center);
                if !is_inside {
                    farthest = Some(Excess { distance, at: center, on });
                }
            }
            // No point of the triangle is farther than the signed distance of its centre and its radius together.
            let signed = if is_inside { -distance } else { distance };
            let most = least.max(signed);
            if signed + radius > most + PRECISION * most.max(floor) {
                open.extend(halves([a, b, c]));
            }
        }
        farthest
    }

    /// Whether the mesh covers a face of a hull.
    fn is_covered(&self, normal: &Vector3, corners: &[Vector3], polygons: &[Polygon]) -> bool {
        let near = IN_PLANE * self.size;
        let level = normal.dot(&corners[0]);
        let in_face = |polygon: &&Polygon| {
            // The sine, as the cosine of 1e-6 rad differs from 1 by 5e-13 only.
            polygon.normal.dot(normal) > 0.0
                && polygon.normal.cross(normal).norm() < ALIGNED
                && polygon.corners.iter().all(|p| (normal.dot(p) - level).abs() <= near)
        };
        // By area, as the mesh may divide the face otherwise than the hull does.
        let covered: f64 = polygons.iter().filter(in_face).map(|p| area(&p.corners)).sum();
        covered >= COVERED * area(corners)
    }
}

/// Halves of a triangle, cut across its longest edge.
fn halves([a, b, c]: [Vector3; 3]) -> [[Vector3; 3]; 2] {
    // Bisection of the longest edge keeps angles from degenerating, so that radii shrink geometrically.
    let lengths = [(b - a).norm_squared(), (c - b).norm_squared(), (a - c).norm_squared()];
    let [p, q, r] = if lengths[0] >= lengths[1] && lengths[0] >= lengths[2] {
        [a, b, c]
    } else if lengths[1] >= lengths[2] {
        [b, c, a]
    } else {
        [c, a, b]
    };
    let middle = (p + q) * 0.5;
    [[p, middle, r], [middle, q, r]]
}

/// Area of a convex polygon. [m²]
fn area(corners: &[Vector3]) -> f64 {
    let fan =
        (2..corners.len()).map(|i| (corners[i - 1] - corners[0]).cross(&(corners[i] - corners[0])));
    0.5 * fan.sum::<Vector3>().norm()
}
