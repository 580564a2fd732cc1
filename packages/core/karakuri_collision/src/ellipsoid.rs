//! The ellipsoid, which parry does not have, as a shape of parry: for its box, its mass and rays.

use karakuri_spatial::Vector3;
use parry3d_f64::bounding_volume::{Aabb, BoundingSphere};
use parry3d_f64::mass_properties::MassProperties;
use parry3d_f64::math::{Pose3, Vec3};
use parry3d_f64::query::{PointProjection, PointQuery, Ray, RayCast, RayIntersection};
use parry3d_f64::shape::{FeatureId, Shape, ShapeType, TypedShape};

use crate::convert;

/// An ellipsoid with its axes along x, y and z.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ellipsoid {
    /// Half of each axis. [m] (3)
    pub(crate) semi_axes: Vector3,
}

impl Ellipsoid {
    /// Level `‖S⁻¹ p‖` of a point: 1 on the surface.
    fn level(&self, p: &Vector3) -> f64 {
        p.component_div(&self.semi_axes).norm()
    }

    /// The surface's point nearest to `p`: `q_i = s_i² p_i / (s_i² + t)` with the `t` that puts it on the surface. The
    /// level falls with `t` from minus the least `s²` on, so halving finds it. [Eberly 2013]
    fn nearest(&self, p: &Vector3) -> Vector3 {
        let squares = self.semi_axes.component_mul(&self.semi_axes);
        let at = |t: f64| squares.zip_map(p, |s, p| s * p / (s + t));
        let mut low = -squares.min();
        // Bracket: at t = ‖p‖ max s no |q_i|/s_i exceeds |p_i|/‖p‖, so the level is at most 1 there.
        let mut high = p.norm() * self.semi_axes.max();
        // 128 halvings leave no digit undecided; Newton's method can step across the pole at t = −min s².
        for _ in 0..128 {
            let middle = 0.5 * (low + high);
            if self.level(&at(middle)) > 1.0 { low = middle } else { high = middle }
        }
        let mut q = at(high);
        // Inside and on the plane of symmetry the shortest axis may lead out on either side.
        let i = squares.imin();
        if self.level(&q) < 1.0 - 1e-9 {
            q[i] = 0.0;
            let left = (1.0 - self.level(&q).powi(2)).max(0.0).sqrt();
            q[i] = (self.semi_axes[i] * left).copysign(p[i]);
        }
        q
    }
}

impl Shape for Ellipsoid {
    fn compute_local_aabb(&self) -> Aabb {
        Aabb::new(convert::vector(&-self.semi_axes), convert::vector(&self.semi_axes))
    }

    /// Box with the half extents `√(Σ (R_ij s_j)²)`.
    fn compute_aabb(&self, position: &Pose3) -> Aabb {
        let s = &self.semi_axes;
        let [x, y, z] =
            [Vec3::X * s.x, Vec3::Y * s.y, Vec3::Z * s.z].map(|a| position.rotation * a);
        let half = Vec3::new(
            Vec3::new(x.x, y.x, z.x).length(),
            Vec3::new(x.y, y.y, z.y).length(),
            Vec3::new(x.z, y.z, z.z).length(),
        );
        Aabb::new(position.translation - half, position.translation + half)
    }

    fn compute_local_bounding_sphere(&self) -> BoundingSphere {
        BoundingSphere::new(Vec3::ZERO, self.semi_axes.max())
    }

    fn clone_dyn(&self) -> Box<dyn Shape> {
        Box::new(*self)
    }

    fn scale_dyn(&self, scale: Vec3, _num_subdivisions: u32) -> Option<Box<dyn Shape>> {
        let semi_axes = self.semi_axes.component_mul(&convert::from_vector(scale)).abs();
        Some(Box::new(Self { semi_axes }))
    }

    /// Mass `m = 4/3 π abc ρ`, moments `I_x = m (b² + c²)/5` and so on.
    fn mass_properties(&self, density: f64) -> MassProperties {
        let s = &self.semi_axes;
        let mass = 4.0 / 3.0 * core::f64::consts::PI * s.product() * density;
        let [xx, yy, zz] = [s.x * s.x, s.y * s.y, s.z * s.z];
        let inertia = Vec3::new(yy + zz, zz + xx, xx + yy) * (0.2 * mass);
        MassProperties::new(Vec3::ZERO, mass, inertia)
    }

    fn shape_type(&self) -> ShapeType {
        ShapeType::Custom
    }

    fn as_typed_shape(&self) -> TypedShape<'_> {
        TypedShape::Custom(self)
    }

    fn ccd_thickness(&self) -> f64 {
        self.semi_axes.min()
    }

    fn ccd_angular_thickness(&self) -> f64 {
        core::f64::consts::PI
    }

    fn is_convex(&self) -> bool {
        true
    }
}

impl RayCast for Ellipsoid {
    /// Crossing of the ray with the unit ball, all divided by the half axes.
    fn cast_local_ray_and_get_normal(
        &self,
        ray: &Ray,
        max_time_of_impact: f64,
        solid: bool,
    ) -> Option<RayIntersection> {
        // Scaled by S⁻¹ the ellipsoid is the unit ball; a linear map keeps the ray's parameter t.
        let unit = |v: Vec3| convert::from_vector(v).component_div(&self.semi_axes);
        let (o, d) = (unit(ray.origin), unit(ray.dir));
        let (a, b, c) = (d.norm_squared(), o.dot(&d), o.norm_squared() - 1.0);
        if solid && c <= 0.0 {
            return Some(RayIntersection::new(0.0, Vec3::ZERO, FeatureId::Unknown));
        }
        // ‖o + t d‖² = 1 is a t² + 2 b t + c = 0: its first root from outside, its second from inside.
        let root = b * b - a * c;
        if root < 0.0 {
            return None;
        }
        let time = (-b - root.sqrt().copysign(c)) / a;
        if !(0.0..=max_time_of_impact).contains(&time) {
            return None;
        }
        // Along the gradient S⁻² p of the level.
        let outward = (o + d * time).component_div(&self.semi_axes).normalize();
        let normal = if c < 0.0 { -outward } else { outward };
        Some(RayIntersection::new(time, convert::vector(&normal), FeatureId::Unknown))
    }
}

impl PointQuery for Ellipsoid {
    fn project_local_point(&self, pt: Vec3, solid: bool) -> PointProjection {
        let p = convert::from_vector(pt);
        let inside = self.level(&p) <= 1.0;
        let point = if inside && solid { pt } else { convert::vector(&self.nearest(&p)) };
        PointProjection::new(inside, point)
    }

    fn project_local_point_and_get_feature(&self, pt: Vec3) -> (PointProjection, FeatureId) {
        (self.project_local_point(pt, false), FeatureId::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SHAPE: Ellipsoid = Ellipsoid { semi_axes: Vector3::new(0.3, 0.1, 0.05) };

    proptest! {
        /// The nearest point is on the surface, and along its normal from the point.
        #[test]
        fn the_nearest_point_is_below_the_point(p in prop::array::uniform3(-0.5..0.5_f64)) {
            let p = Vector3::from(p);
            let q = SHAPE.nearest(&p);
            prop_assert!((SHAPE.level(&q) - 1.0).abs() < 1e-9, "{q}");
            let normal = q.component_div(&SHAPE.semi_axes).component_div(&SHAPE.semi_axes);
            prop_assert!(normal.normalize().cross(&(p - q)).norm() < 1e-7);
        }

        /// A ray ends on the surface, on the side it comes from.
        #[test]
        fn a_ray_ends_on_the_surface(p in prop::array::uniform3(-0.5..0.5_f64), q in prop::array::uniform3(-0.04..0.04_f64)) {
            let (p, q) = (Vector3::from(p), Vector3::from(q));
            prop_assume!(SHAPE.level(&p) > 1.01 && SHAPE.level(&q) < 0.99);
            let direction = (q - p).normalize();
            let ray = Ray::new(convert::vector(&p), convert::vector(&direction));
            let hit = SHAPE.cast_local_ray_and_get_normal(&ray, 10.0, true).unwrap();
            let end = p + direction * hit.time_of_impact;
            prop_assert!((SHAPE.level(&end) - 1.0).abs() < 1e-9);
            prop_assert!(convert::from_vector(hit.normal).dot(&direction) < 0.0);
            let back = Ray::new(convert::vector(&q), convert::vector(&-direction));
            let left = SHAPE.cast_local_ray_and_get_normal(&back, 10.0, false).unwrap();
            prop_assert!((left.time_of_impact + hit.time_of_impact - (q - p).norm()).abs() < 1e-9);
        }
    }

    #[test]
    fn a_round_ellipsoid_has_the_mass_of_a_ball() {
        let round = Ellipsoid { semi_axes: Vector3::repeat(0.2) };
        let ball = parry3d_f64::shape::Ball::new(0.2);
        let (own, theirs) = (round.mass_properties(2.0), ball.mass_properties(2.0));
        assert!((own.mass() - theirs.mass()).abs() < 1e-12);
        assert!((own.principal_inertia() - theirs.principal_inertia()).length() < 1e-12);
    }
}
