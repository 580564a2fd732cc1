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
pub(crate) mod posed;
mod reduce;
#[cfg(test)]
mod tests;

use karakuri_spatial::Vector3;
use parry3d_f64::query::epa::EPA;
use parry3d_f64::query::gjk::VoronoiSimplex;

use self::boxes::PosedBox;
use self::clip::Patch;
pub(crate) use self::cores::Separation;
use self::feature::Feature;
use self::posed::{Core, Posed};
use crate::collider::{ColliderId, Placed};
use crate::manifold::{ContactPoint, MAX_POINTS, MAX_TURNING, Manifold, Manifolds, Memory};
use crate::solid::Solid;

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
    /// Fresh scratch: nothing passes from one pair to the next.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl core::fmt::Debug for Narrow {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Narrow")
    }
}

/// A collider and its name.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    pub(crate) id: ColliderId,
    pub(crate) placed: &'a Placed,
}

/// Most points of a pair. What joints hold does not tumble: all its motion is in theirs.
fn most_points(a: &Placed, b: &Placed) -> usize {
    if a.jointed || b.jointed { MAX_POINTS } else { MAX_TURNING }
}

impl Narrow {
    /// Adds the contacts of `a` and `b` with gaps up to `prediction`; `before` are those of the last step.
    pub(crate) fn collide(
        &mut self,
        a: Named,
        b: Named,
        prediction: f64,
        before: &[Manifold],
        out: &mut Manifolds,
    ) {
        use Solid::{HalfSpace, Triangles};
        match (&a.placed.solid, &b.placed.solid) {
            // Both are for what does not move, and neither has a convex core.
            (HalfSpace | Triangles(_), HalfSpace | Triangles(_)) => {}
            (Triangles(_), _) => self.mesh_pair(a, b, prediction, before, out),
            (_, Triangles(_)) => self.mesh_pair(b, a, prediction, before, out),
            _ => {
                let memory = self.convex_pair(a.placed, b.placed, prediction, before.first());
                // Most pairs are apart: a manifold is made for those that are not.
                if !self.patch.points.is_empty() {
                    let manifold = out.add(a.id, b.id, memory);
                    self.patch.write(&a.placed.pose_in_world.translation, manifold);
                }
            }
        }
    }

    /// Fills the patch with the points of a pair, about the origin of `a`; what decides between equals in the next step.
    fn convex_pair(
        &mut self,
        a: &Placed,
        b: &Placed,
        prediction: f64,
        before: Option<&Manifold>,
    ) -> Memory {
        // A's origin, so that gaps far from the world's origin have as many digits.
        let origin = a.pose_in_world.translation;
        // One by one: a pair of them would be copied.
        let mut A = a.posed(&origin);
        let mut B = b.posed(&origin);
        let mut memory = before.map_or(Memory::NONE, |before| before.memory);
        if before.is_some() {
            [A.rim, B.rim] = memory.rims;
        }
        self.patch.reset(Vector3::zeros(), [A.margin, B.margin], prediction);
        self.touch(&A, &B, &mut memory);
        self.patch.reduce(before.map_or(&[], Manifold::points), most_points(a, b));
        memory
    }

    /// Fills the patch with all points of two convex solids.
    fn touch(&mut self, A: &Posed, B: &Posed, memory: &mut Memory) {
        use Solid::{Box, HalfSpace, Sphere};
        let (Core::Shape(a), Core::Shape(b)) = (A.core, B.core) else { return };
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
                let box_a = PosedBox { posed: A, half_extents: ha };
                let box_b = PosedBox { posed: B, half_extents: hb };
                if !boxes::collide(patch, box_a, box_b, &mut memory.axis, &mut self.features) {
                    // Boxes nearest at corners: no axis is their normal, so no point of that patch may remain.
                    patch.points.clear();
                    self.generic(A, B);
                }
            }
            _ => memory.rims = self.generic(A, B),
        }
    }

    /// Fills the patch with the points of any two convex cores; returns the angles of their rims.
    fn generic(&mut self, A: &Posed, B: &Posed) -> [f64; 2] {
        // Cores are apart by the margins more than the surfaces.
        let reach = self.patch.prediction() + A.margin + B.margin;
        let Some(closest) = self.closest(A, B, reach) else { return [A.rim, B.rim] };
        self.patch.normal = closest.normal;
        let [fa, fb] = &mut self.features;
        fa.set(A, &closest.normal);
        fb.set(B, &-closest.normal);
        self.patch.intersect(fa, fb);
        let gap = closest.normal.dot(&(closest.points[1] - closest.points[0]));
        self.patch.include(&closest.points, gap);
        // The rim's angle outlives steps in which another feature faces the other shape.
        let keep = |now: f64, before: f64| if now.is_nan() { before } else { now };
        [keep(fa.rim, A.rim), keep(fb.rim, B.rim)]
    }
}
