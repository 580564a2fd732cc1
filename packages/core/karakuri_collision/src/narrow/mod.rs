//! Contact manifolds of one pair, from the present poses; the last manifold only decides between equals.
//!
//! 1. The normal: exact where the geometry gives it (half-space, balls, boxes by separating axes), else from
//!    GJK and EPA on the cores, replaced by a face's or axis' own normal that leaves as much room.
//! 2. The features that face each other along the normal (polygon, segment or point) are intersected in the
//!    plane across it; see [`clip`].
//! 3. Of the corners of the intersection at most four stay: see [`reduce`].
//!
//! All computation is in world axes with the origin at shape A, so that it is as accurate far from the world's
//! origin as near it.

mod balls;
mod boxes;
mod clip;
mod cores;
mod feature;
mod gjk;
mod half_space;
mod mesh;
mod reduce;
#[cfg(test)]
mod tests;

use karakuri_spatial::{Pose, Vector3};
use parry3d_f64::query::epa::EPA;
use parry3d_f64::query::gjk::VoronoiSimplex;

use self::clip::Patch;
pub(crate) use self::cores::Separation;
use self::feature::Feature;
use crate::manifold::{ContactPoint, Manifold, Memory};
use crate::scene::{ColliderId, Placed};
use crate::solid::Solid;

/// A shape, or a triangle of one.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Core<'a> {
    Shape(&'a Solid),
    /// In world axes, relative to the origin of the computation. [m]
    Triangle([Vector3; 3]),
}

/// A core at its pose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Posed<'a> {
    core: Core<'a>,
    pose: Pose,
    margin: f64,
    /// Angle of the first rim point in the last step; NaN if there was none. [rad]
    rim: f64,
}

impl<'a> Posed<'a> {
    pub(crate) fn new(shape: &'a Solid, pose: Pose) -> Self {
        Self { core: Core::Shape(shape), pose, margin: shape.margin(), rim: f64::NAN }
    }

    /// A triangle whose corners are in world axes already. [m]
    pub(crate) fn triangle(corners: [Vector3; 3]) -> Self {
        let pose = Pose::IDENTITY;
        Self { core: Core::Triangle(corners), pose, margin: 0.0, rim: f64::NAN }
    }

    /// The same, moved by `d`. [m] (3)
    fn shifted(&self, d: &Vector3) -> Self {
        let mut moved = *self;
        match &mut moved.core {
            Core::Shape(_) => moved.pose.translation += d,
            Core::Triangle(corners) => *corners = corners.map(|p| p + d),
        }
        moved
    }

    /// The core's point farthest along `d`, in world axes. [m] (3)
    fn support(&self, d: &Vector3) -> Vector3 {
        match &self.core {
            Core::Shape(shape) => {
                self.pose.transform_point(&shape.support(&self.pose.rotation.tr_mul(d)))
            }
            Core::Triangle(corners) => {
                let mut best = corners[0];
                for p in &corners[1..] {
                    if p.dot(d) > best.dot(d) {
                        best = *p;
                    }
                }
                best
            }
        }
    }

    /// Room between two planes square to `n` that bound this and `other` behind it; negative where they overlap. [m]
    pub(crate) fn gap_along(&self, other: &Self, n: &Vector3) -> f64 {
        n.dot(&(other.support(&-n) - self.support(n))) - self.margin - other.margin
    }

    /// Outward normal of the flat face that looks most along `d`, in world axes, if the core has faces. (3)
    fn face_normal(&self, d: &Vector3) -> Option<Vector3> {
        let R = &self.pose.rotation;
        match &self.core {
            Core::Triangle([a, b, c]) => {
                let n = (b - a).cross(&(c - a)).try_normalize(0.0)?;
                Some(n * 1.0_f64.copysign(n.dot(d)))
            }
            Core::Shape(Solid::Box { .. }) => {
                let d = R.tr_mul(d);
                let i = d.iamax();
                Some(R.column(i) * 1.0_f64.copysign(d[i]))
            }
            Core::Shape(Solid::Cylinder { .. }) => {
                let axis: Vector3 = R.column(2).into();
                Some(axis * 1.0_f64.copysign(axis.dot(d)))
            }
            Core::Shape(Solid::Hull(hull)) => Some(R * hull.support_face(&R.tr_mul(d)).0),
            Core::Shape(_) => None,
        }
    }

    fn has_only_corners(&self) -> bool {
        match self.core {
            Core::Triangle(_) => true,
            Core::Shape(shape) => shape.has_only_corners(),
        }
    }

    /// Whether straight lines lie on the surface of the core without being edges, or the core is one.
    fn is_round(&self) -> bool {
        matches!(self.core, Core::Shape(Solid::Cylinder { .. } | Solid::Capsule { .. }))
    }

    /// From the axis of a round core to a point of the world. (3)
    fn radial(&self, p: &Vector3) -> Option<Vector3> {
        let axis: Vector3 = self.pose.rotation.column(2).into();
        let arm = p - self.pose.translation;
        (arm - axis * axis.dot(&arm)).try_normalize(1e-9).filter(|_| self.is_round())
    }

    /// Directions of straight lines on the core, and of a cylinder's rim near `p`, in world axes.
    fn axes(&self, p: &Vector3) -> impl Iterator<Item = Vector3> + '_ {
        let lines: [Option<Vector3>; 3] = match &self.core {
            Core::Triangle([a, b, c]) => [Some(b - a), Some(c - b), Some(a - c)],
            Core::Shape(Solid::Box { .. }) => {
                [0, 1, 2].map(|i| Some(self.pose.rotation.column(i).into()))
            }
            Core::Shape(Solid::Cylinder { .. } | Solid::Capsule { .. }) => {
                let axis: Vector3 = self.pose.rotation.column(2).into();
                [Some(axis), self.radial(p).map(|r| axis.cross(&r)), None]
            }
            Core::Shape(_) => [None; 3],
        };
        lines.into_iter().flatten()
    }

    fn center(&self) -> Vector3 {
        match &self.core {
            Core::Shape(_) => self.pose.translation,
            Core::Triangle([a, b, c]) => (a + b + c) / 3.0,
        }
    }
}

/// The closest points of two cores and the direction between them.
#[derive(Debug, Clone, Copy)]
struct Closest {
    normal: Vector3,
    /// On A and on B. [m]
    points: [Vector3; 2],
}

/// The algorithms' scratch.
#[derive(Default)]
pub(crate) struct Narrow {
    simplex: VoronoiSimplex,
    epa: EPA,
    features: [Feature; 2],
    patch: Patch,
    /// Points of all triangles of a mesh, with their normals.
    gathered: Vec<(Vector3, ContactPoint)>,
    /// The shallowest point that a triangle left to others, with its normal.
    refused: Option<(Vector3, ContactPoint)>,
}

impl Clone for Narrow {
    /// Scratch holds nothing from one pair to the next.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl core::fmt::Debug for Narrow {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Narrow")
    }
}

type Named<'a> = (ColliderId, &'a Placed);

impl Narrow {
    /// Adds the contacts of `a` and `b` with gaps up to `prediction`; `before` are those of the last step.
    pub(crate) fn collide(
        &mut self,
        a: Named,
        b: Named,
        prediction: f64,
        before: &[Manifold],
        out: &mut Vec<Manifold>,
    ) {
        use Solid::{HalfSpace, Triangles};
        match (&a.1.solid, &b.1.solid) {
            (HalfSpace | Triangles(_), HalfSpace | Triangles(_)) => {}
            (Triangles(mesh), _) => self.mesh_pair((mesh, a), b, prediction, before, out),
            (_, Triangles(mesh)) => self.mesh_pair((mesh, b), a, prediction, before, out),
            _ => {
                let mut manifold = Manifold::new(a.0, b.0);
                self.convex_pair(a.1, b.1, prediction, before.first(), &mut manifold);
                if !manifold.points().is_empty() {
                    out.push(manifold);
                }
            }
        }
    }

    fn convex_pair(
        &mut self,
        a: &Placed,
        b: &Placed,
        prediction: f64,
        before: Option<&Manifold>,
        out: &mut Manifold,
    ) {
        let origin = a.pose_in_world.translation;
        let (mut A, mut B) = (a.posed(&origin), b.posed(&origin));
        if let Some(before) = before {
            out.memory = before.memory;
            [A.rim, B.rim] = before.memory.rims;
        }
        self.patch.reset(Vector3::zeros(), [A.margin, B.margin], prediction);
        self.touch((&a.solid, &A), (&b.solid, &B), &mut out.memory);
        self.patch.reduce(before.map_or(&[], Manifold::points));
        self.patch.write(&origin, out);
    }

    /// All points of the overlap of two convex solids, unreduced, and the normal.
    pub(crate) fn polygon(
        &mut self,
        a: &Placed,
        b: &Placed,
        prediction: f64,
        out: &mut Vec<ContactPoint>,
    ) -> Option<Vector3> {
        let origin = a.pose_in_world.translation;
        let (A, B) = (a.posed(&origin), b.posed(&origin));
        self.patch.reset(Vector3::zeros(), [A.margin, B.margin], prediction);
        self.touch((&a.solid, &A), (&b.solid, &B), &mut Memory::NONE.clone());
        let points = self.patch.points.iter();
        out.extend(points.map(|p| ContactPoint { position: p.position + origin, ..*p }));
        (!self.patch.is_empty()).then_some(self.patch.normal)
    }

    /// Fills the patch with all points of two convex solids.
    fn touch(&mut self, (a, A): (&Solid, &Posed), (b, B): (&Solid, &Posed), memory: &mut Memory) {
        use Solid::{Box, HalfSpace, Sphere};
        let patch = &mut self.patch;
        let [fa, fb] = &mut self.features;
        match (a, b) {
            (HalfSpace, _) => memory.rims[1] = half_space::collide(patch, fb, &A.pose, B, 1.0),
            (_, HalfSpace) => memory.rims[0] = half_space::collide(patch, fa, &B.pose, A, -1.0),
            (Sphere { .. }, Sphere { .. }) => balls::two_balls(patch, A, B),
            (Box { half_extents }, Sphere { .. }) => {
                balls::box_and_ball(patch, half_extents, A, B, 1.0);
            }
            (Sphere { .. }, Box { half_extents }) => {
                balls::box_and_ball(patch, half_extents, B, A, -1.0);
            }
            (Box { half_extents: ha }, Box { half_extents: hb }) => {
                let (A, B) = ((A, ha), (B, hb));
                if !boxes::collide(patch, A, B, &mut memory.axis, &mut self.features) {
                    patch.points.clear();
                    self.generic(A.0, B.0);
                }
            }
            _ => memory.rims = self.generic(A, B),
        }
    }

    /// Any two convex cores; the angles of their rims.
    fn generic(&mut self, A: &Posed, B: &Posed) -> [f64; 2] {
        let reach = self.patch.prediction() + A.margin + B.margin;
        let Some(closest) = self.closest(A, B, reach) else { return [A.rim, B.rim] };
        self.patch.normal = closest.normal;
        let [fa, fb] = &mut self.features;
        fa.set(A, &closest.normal);
        fb.set(B, &-closest.normal);
        self.patch.intersect(fa, fb);
        let gap = closest.normal.dot(&(closest.points[1] - closest.points[0]));
        self.patch.include(&closest.points, gap);
        let keep = |now: f64, before: f64| if now.is_nan() { before } else { now };
        [keep(fa.rim, A.rim), keep(fb.rim, B.rim)]
    }
}

/// Two unit vectors that make a right-handed frame with `n`.
pub(crate) fn tangents(n: &Vector3) -> (Vector3, Vector3) {
    let away = if n.x.abs() < 0.7 { Vector3::x() } else { Vector3::y() };
    let t1 = (away - n * n.dot(&away)).normalize();
    (t1, n.cross(&t1))
}

fn between(p: Vector3, feature: u64, gap: f64) -> ContactPoint {
    ContactPoint { feature, position: p, gap }
}
