//! Parts of a solid in convex cells, and how planes cut them.

use karakuri_spatial::{Matrix3, Vector3};

use super::excess::{Excess, Solid};
use crate::bounds::Bounds;
use crate::hull::Hull;
use crate::surface::Surface;

/// Part of the size within which points are on a plane.
const NEAR: f64 = 1e-9;

/// Half-space of the points `x` with `normal · x ≤ offset`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plane {
    normal: Vector3,
    offset: f64,
}

impl Plane {
    pub(super) fn through(point: &Vector3, normal: Vector3) -> Self {
        Self { normal, offset: normal.dot(point) }
    }

    fn flipped(&self) -> Self {
        Self { normal: -self.normal, offset: -self.offset }
    }

    /// Height of a point above the plane, along its normal. [m]
    fn height(&self, point: &Vector3) -> f64 {
        self.normal.dot(point) - self.offset
    }
}

/// A convex polygon of the mesh's surface.
#[derive(Debug, Clone)]
pub(super) struct Polygon {
    pub(super) corners: Vec<Vector3>,
    pub(super) normal: Vector3,
}

/// Part of a solid that lies in a convex cell.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// Planes that bound the cell.
    cuts: Vec<Plane>,
    polygons: Vec<Polygon>,
    /// Points of the surface and of the cell, where they bound the solid in the cell.
    points: Vec<Vector3>,
    /// Hull of the points; `None` without volume.
    hull: Option<Hull>,
    volume: f64,
    excess: Option<Excess>,
    /// Whether no plane improves it.
    pub(super) is_final: bool,
    /// Distance from a plane within which points are on it. [m]
    near: f64,
}

impl Part {
    /// Part that is all of a solid.
    pub(super) fn whole(surface: &Surface) -> Self {
        let polygon = |i: u32| Polygon {
            corners: surface.corners(i).to_vec(),
            normal: surface.face(i).normal,
        };
        let n = u32::try_from(surface.triangles.len()).unwrap_or(u32::MAX);
        let size = (surface.bounds.upper - surface.bounds.lower).norm();
        Self::of((0..n).map(polygon).collect(), surface.vertices.clone(), NEAR * size)
    }

    fn of(polygons: Vec<Polygon>, points: Vec<Vector3>, near: f64) -> Self {
        let hull = Hull::around(&points).map(|(hull, _)| hull);
        let volume = hull.as_ref().map_or(0.0, Hull::volume);
        Self {
            cuts: Vec::new(),
            polygons,
            points,
            hull,
            volume,
            excess: None,
            is_final: false,
            near,
        }
    }

    /// Volume of its hull. [m³]
    pub(super) fn volume(&self) -> f64 {
        self.volume
    }

    /// Farthest distance of its hull from the solid, as [measured](Self::measure). [m]
    pub(super) fn excess(&self) -> f64 {
        self.excess.map_or(0.0, |excess| excess.distance)
    }

    /// The point of its hull that is farthest from the solid, and the point of the solid nearest to it.
    pub(super) fn farthest(&self) -> Option<[Vector3; 2]> {
        self.excess.map(|excess| [excess.at, excess.on])
    }

    /// Measures how far its hull is from the solid; distances below half of `tolerance` do not matter. [m]
    pub(super) fn measure(&mut self, solid: &Solid, tolerance: f64) {
        // Half the tolerance as floor prunes the search, and leaves its precision of a tenth well within the tolerance.
        self.excess = self
            .hull
            .as_ref()
            .and_then(|hull| solid.excess_of(hull, &self.polygons, 0.5 * tolerance));
    }

    /// Middle of its box. [m] (3)
    pub(super) fn middle(&self) -> Vector3 {
        let Bounds { lower, upper } = Bounds::around(&self.points);
        (lower + upper) * 0.5
    }

    /// Corners of its hull.
    pub(super) fn into_points(self) -> Vec<Vector3> {
        self.hull.map(|hull| hull.vertices).unwrap_or_default()
    }

    /// Whether a segment has a piece in the cell.
    pub(super) fn reaches(&self, [a, b]: &[Vector3; 2]) -> bool {
        // The segment a + s (b − a), clipped by one half-space after the other.
        let (mut from, mut to) = (0.0_f64, 1.0_f64);
        for cut in &self.cuts {
            let (at_a, at_b) = (cut.height(a), cut.height(b));
            if at_a > self.near && at_b > self.near {
                return false;
            }
            if at_a > self.near {
                from = from.max(at_a / (at_a - at_b));
            } else if at_b > self.near {
                to = to.min(at_a / (at_a - at_b));
            }
        }
        from < to
    }

    /// The parts on both sides of a plane; `None` if one has nothing.
    pub(super) fn cut(&self, plane: &Plane, solid: &Solid) -> Option<[Self; 2]> {
        let [below, above] = [*plane, plane.flipped()].map(|side| self.on_side(side, solid));
        Some([below?, above?])
    }

    fn on_side(&self, side: Plane, solid: &Solid) -> Option<Self> {
        let clipped = self.polygons.iter().filter_map(|polygon| self.clip(polygon, &side));
        let polygons: Vec<Polygon> = clipped.collect();
        if polygons.is_empty() {
            return None;
        }
        let mut cuts = self.cuts.clone();
        cuts.push(side);
        let mut points: Vec<Vector3> =
            polygons.iter().flat_map(|polygon| &polygon.corners).copied().collect();
        // The clipped surface is open at the cuts; corners of the cell inside the solid close it, and a hull needs no caps.
        points.extend(corners_of_cell(&cuts, self.near).filter(|corner| solid.holds(corner)));
        let mut part = Self::of(polygons, points, self.near);
        part.cuts = cuts;
        Some(part)
    }

    /// Part of a polygon on a side of a plane. [Sutherland 1974] A polygon in the plane belongs to the side on which it
    /// bounds the solid.
    fn clip(&self, polygon: &Polygon, side: &Plane) -> Option<Polygon> {
        let Polygon { corners, normal } = polygon;
        let heights: Vec<f64> = corners.iter().map(|corner| side.height(corner)).collect();
        let near = self.near;
        if heights.iter().all(|height| height.abs() <= near) {
            return (normal.dot(&side.normal) > 0.0).then(|| polygon.clone());
        }
        if heights.iter().all(|height| *height >= -near) {
            return None;
        }
        let n = corners.len();
        let mut kept = Vec::with_capacity(n + 1);
        // Corners on this side are kept; an edge that passes through the plane adds its crossing.
        for i in 0..n {
            let (here, next) = (heights[i], heights[(i + 1) % n]);
            // A corner within `near` is on the plane: no edge gets a crossing beside it.
            if here <= near {
                kept.push(corners[i]);
            }
            if (here < -near && next > near) || (here > near && next < -near) {
                kept.push(corners[i].lerp(&corners[(i + 1) % n], here / (here - next)));
            }
        }
        Some(Polygon { corners: kept, normal: *normal })
    }

    /// Two parts as one; `None` where their boxes are apart.
    pub(super) fn joined(&self, other: &Self) -> Option<Self> {
        let [a, b] = [self, other].map(|part| Bounds::around(&part.points).grown(self.near));
        let apart = (0..3).any(|k| a.lower[k] > b.upper[k] || b.lower[k] > a.upper[k]);
        if apart || self.hull.is_none() || other.hull.is_none() {
            return None;
        }
        let polygons = self.polygons.iter().chain(&other.polygons).cloned().collect();
        let points = self.points.iter().chain(&other.points).copied().collect();
        // Without the cells' planes: a joined part is not cut again.
        Some(Self::of(polygons, points, self.near))
    }
}

/// Corners of a cell: the points of three planes within all others.
fn corners_of_cell(cuts: &[Plane], near: f64) -> impl Iterator<Item = Vector3> {
    let n = cuts.len();
    // Those of the newest cut come first; points are only those of this side, so those of the older cuts are needed too.
    let newest = n.saturating_sub(1);
    let pairs = (0..newest).flat_map(move |i| (i + 1..newest).map(move |j| [i, j, newest]));
    let older = (0..newest).flat_map(move |i| {
        (i + 1..newest).flat_map(move |j| (j + 1..newest).map(move |k| [i, j, k]))
    });
    pairs.chain(older).filter_map(move |triple| {
        // n_i · x = offset_i for the three planes.
        let rows = triple.map(|i| cuts[i].normal.transpose());
        let offsets = Vector3::from(triple.map(|i| cuts[i].offset));
        let corner = Matrix3::from_rows(&rows).try_inverse()? * offsets;
        // Tenfold, as the corner carries the rounding of a 3×3 solve of planes that may be nearly parallel.
        cuts.iter().all(|cut| cut.height(&corner) <= 10.0 * near).then_some(corner)
    })
}
