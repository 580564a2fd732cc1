//! Manifolds of one pair.

use karakuri_spatial::Pose;
use parry3d_f64::math::{Pose3, Vec3};
use parry3d_f64::query::{
    ContactManifold, ContactManifoldsWorkspace, DefaultQueryDispatcher, PersistentQueryDispatcher,
};

use crate::convert;
use crate::manifold::{ContactPoint, Manifold};
use crate::rim::cylinder_on_plane;
use crate::scene::{ColliderId, Placed};
use crate::shape::ColliderShape;

/// Scratch of the narrow phase.
#[derive(Default)]
pub(crate) struct NarrowPhase {
    manifolds: Vec<ContactManifold<(), ()>>,
    workspace: Option<ContactManifoldsWorkspace>,
}

impl NarrowPhase {
    /// Appends the manifolds of colliders `a` and `b` to `out`.
    pub(crate) fn collide(
        &mut self,
        (id_a, a): (ColliderId, &Placed),
        (id_b, b): (ColliderId, &Placed),
        prediction: f64,
        out: &mut Vec<Manifold>,
    ) {
        match (&a.shape, &b.shape) {
            (ColliderShape::HalfSpace, &ColliderShape::Cylinder { radius, half_length }) => {
                rim_contacts((id_a, a), (id_b, b), (radius, half_length), prediction, out);
            }
            (&ColliderShape::Cylinder { radius, half_length }, ColliderShape::HalfSpace) => {
                let first = out.len();
                rim_contacts((id_b, b), (id_a, a), (radius, half_length), prediction, out);
                for manifold in &mut out[first..] {
                    (manifold.a, manifold.b) = (id_a, id_b);
                    manifold.normal = -manifold.normal;
                }
            }
            _ => self.generic((id_a, a), (id_b, b), prediction, out),
        }
    }

    fn generic(
        &mut self,
        (id_a, a): (ColliderId, &Placed),
        (id_b, b): (ColliderId, &Placed),
        prediction: f64,
        out: &mut Vec<Manifold>,
    ) {
        let convex = a.is_convex() && b.is_convex();
        if convex {
            // A cleared manifold is computed afresh, and from nothing but the poses.
            self.manifolds.truncate(1);
            if let Some(manifold) = self.manifolds.first_mut() {
                manifold.clear();
                manifold.local_n1 = Vec3::ZERO;
                manifold.local_n2 = Vec3::ZERO;
            }
        } else {
            self.manifolds.clear();
            self.workspace = None;
        }
        let X_ab = a.pose.inv_mul(&b.pose);
        let answer = DefaultQueryDispatcher.contact_manifolds(
            &X_ab,
            a.parry.as_ref(),
            b.parry.as_ref(),
            prediction,
            &mut self.manifolds,
            &mut self.workspace,
        );
        if answer.is_err() {
            return;
        }
        for found in &self.manifolds {
            if let Some(manifold) =
                convert_manifold(found, (id_a, id_b), &a.pose, &b.pose, prediction)
            {
                out.push(manifold);
            }
        }
    }
}

impl std::fmt::Debug for NarrowPhase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NarrowPhase").finish_non_exhaustive()
    }
}

impl Clone for NarrowPhase {
    /// Scratch carries nothing over.
    fn clone(&self) -> Self {
        Self::default()
    }
}

fn rim_contacts(
    (id_plane, plane): (ColliderId, &Placed),
    (id_cylinder, cylinder): (ColliderId, &Placed),
    sizes: (f64, f64),
    prediction: f64,
    out: &mut Vec<Manifold>,
) {
    let X_WP: &Pose = &plane.pose_in_world;
    let normal = X_WP.rotation.column(2).into();
    let mut manifold = Manifold::new(id_plane, id_cylinder, normal);
    cylinder_on_plane(
        &mut manifold,
        &cylinder.pose_in_world,
        sizes,
        (&X_WP.translation, &normal),
        prediction,
    );
    if !manifold.points().is_empty() {
        out.push(manifold);
    }
}

/// Parry's manifold in the world, or none if all its points are too far.
fn convert_manifold(
    found: &ContactManifold<(), ()>,
    (id_a, id_b): (ColliderId, ColliderId),
    pose_a: &Pose3,
    pose_b: &Pose3,
    prediction: f64,
) -> Option<Manifold> {
    let sub_a = found.subshape_pos1().map_or(*pose_a, |sub| *pose_a * *sub);
    let sub_b = found.subshape_pos2().map_or(*pose_b, |sub| *pose_b * *sub);
    let normal = convert::from_vector(sub_a.transform_vector(found.local_n1));
    let mut manifold = Manifold::new(id_a, id_b, normal);
    let clipped = found.points.iter().filter(|p| !p.fid1.is_unknown()).count();
    for point in &found.points {
        // The closest point of two convex shapes, which parry adds to a clipped face without a name, is redundant.
        if point.dist > prediction || (point.fid1.is_unknown() && clipped >= 3) {
            continue;
        }
        let on_a = sub_a.transform_point(point.local_p1);
        let on_b = sub_b.transform_point(point.local_p2);
        let subshapes = u64::from(found.subshape1) ^ (u64::from(found.subshape2) << 16);
        manifold.push(ContactPoint {
            feature: ((u64::from(point.fid1.0) << 32) | u64::from(point.fid2.0))
                ^ (subshapes << 24),
            position: convert::from_vector((on_a + on_b) * 0.5),
            gap: point.dist,
        });
    }
    manifold.keep_four();
    (!manifold.points().is_empty()).then_some(manifold)
}
