//! Shapes a second time, by other formulas than the library's: signed distance, support, separation.

use karakuri_collision::ColliderShape;
use karakuri_spatial::{Pose, Vector3};

/// A convex shape, with the planes of its faces if it has any.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) collider: ColliderShape,
    /// Outward unit normals and their offsets. [m]
    planes: Vec<(Vector3, f64)>,
    corners: Vec<Vector3>,
}

impl Shape {
    pub(crate) fn new(name: &'static str, collider: ColliderShape) -> Self {
        let corners = match &collider {
            ColliderShape::ConvexHull { points: p }
            | ColliderShape::Triangles { vertices: p, .. } => p.clone(),
            _ => Vec::new(),
        };
        let planes = planes(&corners);
        Self { name, collider, planes, corners }
    }

    /// The faces of this hull as a mesh.
    pub(crate) fn as_mesh(&self) -> Self {
        let mut triangles = Vec::new();
        for (normal, offset) in &self.planes {
            let on = |p: &Vector3| (normal.dot(p) - offset).abs() < 1e-9;
            let mut corners: Vec<usize> =
                (0..self.corners.len()).filter(|&i| on(&self.corners[i])).collect();
            let middle =
                corners.iter().map(|&i| self.corners[i]).sum::<Vector3>() / corners.len() as f64;
            let first = self.corners[corners[0]] - middle;
            let angle = |i: usize| {
                let arm = self.corners[i] - middle;
                normal.dot(&first.cross(&arm)).atan2(first.dot(&arm))
            };
            corners.sort_by(|&i, &j| angle(i).total_cmp(&angle(j)));
            let index = |i: usize| u32::try_from(corners[i]).unwrap_or(0);
            triangles.extend((2..corners.len()).map(|i| [index(0), index(i - 1), index(i)]));
        }
        let vertices = self.corners.clone();
        Self::new("mesh", ColliderShape::Triangles { vertices, triangles })
    }

    /// Distance from the surface, negative inside; to first order near it where the shape has corners. [m]
    pub(crate) fn signed_distance(&self, p: &Vector3) -> f64 {
        let outside = |q: Vector3| q.sup(&Vector3::zeros()).norm() + q.max().min(0.0);
        match &self.collider {
            ColliderShape::Box { half_extents } => outside(p.abs() - half_extents),
            ColliderShape::Sphere { radius } => p.norm() - radius,
            ColliderShape::Cylinder { radius, half_length } => {
                let (across, along) = (p.x.hypot(p.y) - radius, p.z.abs() - half_length);
                across.max(0.0).hypot(along.max(0.0)) + across.max(along).min(0.0)
            }
            ColliderShape::Capsule { radius, half_length } => {
                let z = p.z.clamp(-half_length, *half_length);
                (p - Vector3::z() * z).norm() - radius
            }
            // To first order.
            ColliderShape::Ellipsoid { semi_axes } => {
                let unit = p.component_div(semi_axes);
                unit.norm() * (unit.norm() - 1.0) / unit.component_div(semi_axes).norm()
            }
            ColliderShape::HalfSpace => p.z,
            ColliderShape::ConvexHull { .. } | ColliderShape::Triangles { .. } => {
                self.planes.iter().map(|(n, d)| n.dot(p) - d).fold(f64::NEG_INFINITY, f64::max)
            }
        }
    }

    /// Greatest extent along a unit direction. [m]
    pub(crate) fn extent(&self, d: &Vector3) -> f64 {
        match &self.collider {
            ColliderShape::Box { half_extents } => d.abs().dot(half_extents),
            ColliderShape::Sphere { radius } => *radius,
            ColliderShape::Cylinder { radius, half_length } => {
                radius * d.x.hypot(d.y) + half_length * d.z.abs()
            }
            ColliderShape::Capsule { radius, half_length } => radius + half_length * d.z.abs(),
            ColliderShape::Ellipsoid { semi_axes } => semi_axes.component_mul(d).norm(),
            ColliderShape::HalfSpace => {
                if d.z > 1.0 - 1e-12 {
                    0.0
                } else {
                    f64::INFINITY
                }
            }
            ColliderShape::ConvexHull { .. } | ColliderShape::Triangles { .. } => {
                self.corners.iter().map(|p| p.dot(d)).fold(f64::NEG_INFINITY, f64::max)
            }
        }
    }

    /// Least angle between two faces. [rad]
    pub(crate) fn smallest_fold(&self) -> f64 {
        let faces = self.planes.iter().enumerate();
        let pairs =
            faces.flat_map(|(i, f)| self.planes[..i].iter().map(move |g| (f.0 - g.0).norm()));
        pairs.fold(f64::MAX, f64::min)
    }

    fn has_only_corners(&self) -> bool {
        use ColliderShape::{Box, ConvexHull, Triangles};
        matches!(self.collider, Box { .. } | ConvexHull { .. } | Triangles { .. })
    }

    /// Normals of faces, and directions of edges, axes and sides, that may decide a separation.
    fn directions(&self) -> (Vec<Vector3>, Vec<Vector3>) {
        let axes = vec![Vector3::x(), Vector3::y(), Vector3::z()];
        match &self.collider {
            ColliderShape::Box { .. } => (axes.clone(), axes),
            ColliderShape::Cylinder { .. } | ColliderShape::Capsule { .. } => {
                (vec![Vector3::z()], vec![Vector3::z()])
            }
            ColliderShape::HalfSpace => (vec![Vector3::z()], vec![]),
            ColliderShape::Sphere { .. } | ColliderShape::Ellipsoid { .. } => (vec![], vec![]),
            ColliderShape::ConvexHull { .. } | ColliderShape::Triangles { .. } => {
                let on = |p: &Vector3, (n, d): &(Vector3, f64)| (n.dot(p) - d).abs() < 1e-9;
                let mut edges = Vec::new();
                for (i, p) in self.corners.iter().enumerate() {
                    for q in &self.corners[..i] {
                        if self.planes.iter().filter(|f| on(p, f) && on(q, f)).count() >= 2 {
                            edges.push((q - p).normalize());
                        }
                    }
                }
                (self.planes.iter().map(|f| f.0).collect(), edges)
            }
        }
    }
}

/// The planes of the faces of a convex hull: all that have every point behind them.
fn planes(points: &[Vector3]) -> Vec<(Vector3, f64)> {
    let mut found: Vec<(Vector3, f64)> = Vec::new();
    for (i, a) in points.iter().enumerate() {
        for (j, b) in points.iter().enumerate().take(i) {
            for c in &points[..j] {
                let Some(n) = (b - a).cross(&(c - a)).try_normalize(1e-12) else { continue };
                for n in [n, -n] {
                    let plane = (n, n.dot(a));
                    let bounds = points.iter().all(|p| n.dot(p) < plane.1 + 1e-12);
                    if bounds && found.iter().all(|f| (f.0 - n).norm() > 1e-9) {
                        found.push(plane);
                    }
                }
            }
        }
    }
    found
}

/// Room between the planes square to `n` that bound A and B. [m]
pub(crate) fn room((a, X_WA): (&Shape, &Pose), (b, X_WB): (&Shape, &Pose), n: &Vector3) -> f64 {
    let between = n.dot(&(X_WB.translation - X_WA.translation));
    between - a.extent(&X_WA.rotation.tr_mul(n)) - b.extent(&X_WB.rotation.tr_mul(&-n))
}

/// The most room along any direction, as far as searches from many find it: their distance, or minus the least
/// translation that separates them. [m]
pub(crate) fn most_room(a: (&Shape, &Pose), b: (&Shape, &Pose), near: &Vector3) -> (f64, Vector3) {
    let mut starts = vec![*near];
    let (mut faces, mut edges): (Vec<Vector3>, [Vec<Vector3>; 2]) =
        (Vec::new(), [Vec::new(), Vec::new()]);
    for (side, (shape, pose)) in [a, b].into_iter().enumerate() {
        let (normals, lines) = shape.directions();
        faces.extend(normals.iter().map(|n| pose.rotation * n));
        edges[side].extend(lines.iter().map(|n| pose.rotation * n));
    }
    for e in &edges[0] {
        for f in &edges[1] {
            faces.extend(e.cross(f).try_normalize(1e-9));
        }
    }
    starts.extend(faces.iter().flat_map(|n| [*n, -n]));
    for i in 0..64 {
        let (z, turn) = (1.0 - (2.0 * f64::from(i) + 1.0) / 64.0, 2.399_963 * f64::from(i));
        let across = (1.0 - z * z).sqrt();
        starts.push(Vector3::new(across * turn.cos(), across * turn.sin(), z));
    }
    let mut ranked: Vec<(f64, Vector3)> = starts.into_iter().map(|n| (room(a, b, &n), n)).collect();
    ranked.sort_by(|x, y| y.0.total_cmp(&x.0));
    if a.0.has_only_corners() && b.0.has_only_corners() {
        // Of polyhedra that overlap, a face or two edges decide.
        return ranked[0];
    }
    ranked.truncate(2);
    ranked.push((room(a, b, near), *near));
    let found = ranked.into_iter().map(|start| climb(a, b, start));
    found.max_by(|x, y| x.0.total_cmp(&y.0)).unwrap_or((f64::NAN, *near))
}

/// Search in eight directions with steps that shrink; a ridge is climbed by turning the pattern.
fn climb(a: (&Shape, &Pose), b: (&Shape, &Pose), start: (f64, Vector3)) -> (f64, Vector3) {
    let mut best = start;
    let (mut step, mut turn) = (0.2, 0.0_f64);
    for _ in 0..200 {
        if step < 1e-9 {
            break;
        }
        let away = if best.1.x.abs() < 0.7 { Vector3::x() } else { Vector3::y() };
        let t1 = best.1.cross(&away).normalize();
        let t2 = best.1.cross(&t1);
        let mut next = best;
        for i in 0..8 {
            let angle = turn + core::f64::consts::FRAC_PI_4 * f64::from(i);
            let n = (best.1 + (t1 * angle.cos() + t2 * angle.sin()) * step).normalize();
            let score = room(a, b, &n);
            if score > next.0 {
                next = (score, n);
            }
        }
        turn += 0.37;
        if next.0 > best.0 {
            best = next;
        } else {
            step *= 0.6;
        }
    }
    best
}
