//! Contact manifolds of one pair, from the present poses alone.
//!
//! 1. The normal: exact where the geometry gives it (half-space, balls, boxes by separating axes), else from
//!    GJK and EPA on the cores, replaced by the normal of a face that it misses by less than 1e-3 rad.
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
mod reduce;
#[cfg(test)]
mod tests;

use karakuri_spatial::{Pose, Vector3};
use parry3d_f64::bounding_volume::BoundingVolume as _;
use parry3d_f64::query::epa::EPA;
use parry3d_f64::query::gjk::VoronoiSimplex;

use self::clip::Patch;
pub(crate) use self::cores::Separation;
use self::feature::Feature;
use crate::convert;
use crate::manifold::{ContactPoint, Manifold};
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
}

impl<'a> Posed<'a> {
    pub(crate) fn new(shape: &'a Solid, pose: Pose) -> Self {
        Self { core: Core::Shape(shape), pose, margin: shape.margin() }
    }

    /// A triangle whose corners are in world axes already. [m]
    pub(crate) fn triangle(corners: [Vector3; 3]) -> Self {
        Self { core: Core::Triangle(corners), pose: Pose::IDENTITY, margin: 0.0 }
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
    /// Adds the contacts of `a` and `b` with gaps up to `prediction`.
    pub(crate) fn collide(&mut self, a: Named, b: Named, prediction: f64, out: &mut Vec<Manifold>) {
        use Solid::{HalfSpace, Triangles};
        match (&a.1.solid, &b.1.solid) {
            (HalfSpace | Triangles, HalfSpace | Triangles) => {}
            (Triangles, _) => self.with_triangles((a, b), prediction, false, out),
            (_, Triangles) => self.with_triangles((b, a), prediction, true, out),
            _ => {
                let mut manifold = Manifold::new(a.0, b.0);
                self.convex_pair(a.1, b.1, prediction, &mut manifold);
                if !manifold.points().is_empty() {
                    out.push(manifold);
                }
            }
        }
    }

    /// Every triangle near the other shape makes its own manifold; `swapped` if the mesh has the higher id.
    fn with_triangles(
        &mut self,
        (a, b): (Named, Named),
        prediction: f64,
        swapped: bool,
        out: &mut Vec<Manifold>,
    ) {
        let Some(mesh) = a.1.parry.as_trimesh() else { return };
        let near = b.1.parry.compute_aabb(&a.1.pose.inv_mul(&b.1.pose)).loosened(prediction);
        let origin = a.1.pose_in_world.translation;
        let theirs = Posed::new(&b.1.solid, relative(&b.1.pose_in_world, &origin));
        for index in mesh.bvh().intersect_aabb(&near) {
            let t = mesh.triangle(index);
            let corners =
                [t.a, t.b, t.c].map(|p| a.1.pose_in_world.rotation * convert::from_vector(p));
            let ours = Posed::triangle(corners);
            let mut manifold = Manifold::new(a.0, b.0);
            self.generic(&ours, &theirs, prediction, &mut |normal, patch| {
                manifold.normal = normal;
                patch.write(&origin, u64::from(index) << 42, &mut manifold);
            });
            if !manifold.points().is_empty() {
                if swapped {
                    manifold.swap();
                }
                out.push(manifold);
            }
        }
    }

    fn convex_pair(&mut self, a: &Placed, b: &Placed, prediction: f64, out: &mut Manifold) {
        use Solid::{Box, HalfSpace, Sphere};
        let origin = a.pose_in_world.translation;
        let A = Posed::new(&a.solid, relative(&a.pose_in_world, &origin));
        let B = Posed::new(&b.solid, relative(&b.pose_in_world, &origin));
        let mut write = |normal: Vector3, patch: &Patch| {
            out.normal = normal;
            patch.write(&origin, 0, out);
        };
        match (&a.solid, &b.solid) {
            (HalfSpace, _) => half_space::collide(&A.pose, &B, prediction, 1.0, &mut write),
            (_, HalfSpace) => half_space::collide(&B.pose, &A, prediction, -1.0, &mut write),
            (Sphere { .. }, Sphere { .. }) => balls::two_balls(&A, &B, prediction, &mut write),
            (Box { half_extents }, Sphere { .. }) => {
                balls::box_and_ball(half_extents, &A, &B, prediction, 1.0, &mut write);
            }
            (Sphere { .. }, Box { half_extents }) => {
                balls::box_and_ball(half_extents, &B, &A, prediction, -1.0, &mut write);
            }
            (Box { half_extents: ha }, Box { half_extents: hb }) => {
                boxes::collide((&A, ha), (&B, hb), prediction, &mut write);
            }
            _ => self.generic(&A, &B, prediction, &mut write),
        }
    }

    /// Any two convex cores.
    fn generic(&mut self, A: &Posed, B: &Posed, prediction: f64, write: &mut Write) {
        let margins = A.margin + B.margin;
        let Some(closest) = self.closest(A, B, prediction + margins) else { return };
        let (fa, fb) = (Feature::of(A, &closest.normal), Feature::of(B, &-closest.normal));
        let normal = snap(&closest.normal, &fa, &fb);
        let mut patch = Patch::new(normal, [A.margin, B.margin], prediction);
        patch.intersect(&fa, &fb);
        patch.include(&closest.points);
        patch.reduce();
        write(normal, &patch);
    }
}

type Write<'a> = dyn FnMut(Vector3, &Patch) + 'a;

fn relative(pose: &Pose, origin: &Vector3) -> Pose {
    Pose::new(pose.rotation, pose.translation - origin)
}

/// `1 − cos` of the angle within which a face's own normal is better than the one that GJK found.
const SNAP: f64 = 5e-7;

/// The normal of a face or side that `normal` nearly is; faces before sides, A before B.
fn snap(normal: &Vector3, fa: &Feature, fb: &Feature) -> Vector3 {
    let candidates = [(fa, 1.0), (fb, -1.0)];
    for faces in [true, false] {
        for (feature, sign) in candidates {
            if let Some(n) = feature.normal
                && feature.is_face() == faces
                && 1.0 - sign * n.dot(normal) < SNAP
            {
                return n * sign;
            }
        }
    }
    *normal
}

/// Two unit vectors that make a right-handed frame with `n`.
pub(crate) fn tangents(n: &Vector3) -> (Vector3, Vector3) {
    let away = if n.x.abs() < 0.7 { Vector3::x() } else { Vector3::y() };
    let t1 = (away - n * n.dot(&away)).normalize();
    (t1, n.cross(&t1))
}

/// A point between two surfaces at heights `low` and `high` along `n`.
fn between(p: Vector3, feature: u64, gap: f64) -> ContactPoint {
    ContactPoint { feature, position: p, gap }
}
