//! Questions about a scene that move nothing: nearest points, rays.

use karakuri_spatial::{Pose, Vector3};
use parry3d_f64::bounding_volume::BoundingVolume as _;
use parry3d_f64::query::Ray;

use crate::collider::{ColliderId, Placed};
use crate::convert;
use crate::narrow::posed::Posed;
use crate::narrow::{Narrow, Separation};
use crate::scene::CollisionScene;
use crate::solid::Solid;

/// Hit of a ray on a collider.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RayHit {
    /// Collider that is hit.
    pub collider: ColliderId,
    /// Distance from the ray's origin. [m]
    pub distance: f64,
    /// Outward unit normal, in the world. (3)
    pub normal: Vector3,
}

/// Nearest points of two colliders, or those of their least overlap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClosestPoints {
    /// Points on the surfaces of A and B, in the world. [m] (3 each)
    pub points: [Vector3; 2],
    /// Unit vector from A to B, in the world. (3)
    pub normal: Vector3,
    /// Distance along the normal; negative where they overlap. [m]
    pub gap: f64,
}

impl CollisionScene {
    /// Nearest collider on the ray from `origin` along the unit `direction`, within `range` [m], but for those that `is_passed` names.
    ///
    /// A ray that starts inside a solid hits it at once, with a zero normal. Of equals the lower id.
    pub fn cast_ray(
        &self,
        origin: &Vector3,
        direction: &Vector3,
        range: f64,
        is_passed: impl Fn(ColliderId) -> bool,
    ) -> Option<RayHit> {
        let ray = Ray::new(convert::vector(origin), convert::vector(direction));
        let mut nearest: Option<RayHit> = None;
        for (id, placed) in self.placed().filter(|(id, _)| !is_passed(*id)) {
            let reach = nearest.map_or(range, |hit| hit.distance);
            if let Some(hit) =
                placed.parry.cast_ray_and_get_normal(&placed.parry_pose(), &ray, reach, true)
                // Strictly nearer: of equals the lower id, which comes first.
                && nearest.is_none_or(|n| hit.time_of_impact < n.distance)
            {
                let (distance, normal) = (hit.time_of_impact, convert::from_vector(hit.normal));
                nearest = Some(RayHit { collider: id, distance, normal });
            }
        }
        nearest
    }

    /// Nearest points of two colliders that are at most `reach` apart. [m]
    ///
    /// `None` also if one is gone, or both are half-spaces or meshes. The overlap with a mesh is that with its worst
    /// triangle.
    pub fn closest_points(
        &self,
        a: ColliderId,
        b: ColliderId,
        reach: f64,
    ) -> Option<ClosestPoints> {
        use Solid::{HalfSpace, Triangles};
        let (a, b) = (self.get(a)?, self.get(b)?);
        let origin = a.pose_in_world.translation;
        let mut narrow = Narrow::default();
        let near = match (&a.solid, &b.solid) {
            (HalfSpace | Triangles(_), HalfSpace | Triangles(_)) => None,
            (Triangles(_), _) => nearest_triangle(&mut narrow, a, b, reach, &origin),
            (_, Triangles(_)) => nearest_triangle(&mut narrow, b, a, reach, &origin).map(swapped),
            _ => narrow.separation(&a.posed(&origin), &b.posed(&origin), reach),
        }?;
        let points = near.points.map(|p| p + origin);
        Some(ClosestPoints { points, normal: near.normal, gap: near.gap })
    }

    /// Distance between two colliders: 0 when they touch. [m] See [`Self::closest_points`].
    pub fn distance(&self, a: ColliderId, b: ColliderId) -> Option<f64> {
        self.closest_points(a, b, f64::INFINITY).map(|near| near.gap.max(0.0))
    }
}

fn swapped(near: Separation) -> Separation {
    let [a, b] = near.points;
    Separation { normal: -near.normal, points: [b, a], ..near }
}

fn nearest_triangle(
    narrow: &mut Narrow,
    mesh: &Placed,
    other: &Placed,
    reach: f64,
    origin: &Vector3,
) -> Option<Separation> {
    let triangles = mesh.parry.as_trimesh()?;
    let pose = Pose::new(mesh.pose_in_world.rotation, mesh.pose_in_world.translation - origin);
    let theirs = other.posed(origin);
    // An infinite reach would make an infinite box, which meets nothing.
    let near = mesh.box_around(other)?.loosened(reach.min(1e9));
    let mut nearest: Option<Separation> = None;
    for index in triangles.bvh().intersect_aabb(&near) {
        let t = triangles.triangle(index);
        let corners = [t.a, t.b, t.c].map(|p| pose.transform_point(&convert::from_vector(p)));
        // Overlapping triangles are compared by depth: the search must reach 0 at least, or it ends at the first.
        let left = nearest.map_or(reach, |n| n.gap);
        let found = narrow.separation(&Posed::triangle(corners), &theirs, left.max(0.0));
        if let Some(found) = found
            && nearest.is_none_or(|n| found.gap < n.gap)
        {
            nearest = Some(found);
        }
    }
    nearest
}
