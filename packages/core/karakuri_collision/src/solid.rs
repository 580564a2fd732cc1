//! Shapes as the narrow phase sees them.
//!
//! A ball is a point and a capsule a segment, both with a margin: their *core* is what the algorithms work on.

use std::sync::Arc;

use karakuri_spatial::{Pose, Vector3};

use crate::bounds::Bounds;
use crate::hull::Hull;
use crate::surface::Surface;

/// A shape, ready to touch.
#[derive(Debug, Clone)]
pub(crate) enum Solid {
    Box { half_extents: Vector3 },
    Sphere { radius: f64 },
    Cylinder { radius: f64, half_length: f64 },
    Capsule { radius: f64, half_length: f64 },
    Ellipsoid { semi_axes: Vector3 },
    HalfSpace,
    Hull(Arc<Hull>),
    Triangles(Arc<Surface>),
}

impl Solid {
    /// Radius by which the surface lies outside the core. [m]
    pub(crate) fn margin(&self) -> f64 {
        match self {
            Self::Sphere { radius } | Self::Capsule { radius, .. } => *radius,
            _ => 0.0,
        }
    }

    /// Whether flat faces and straight edges are all its core has.
    pub(crate) fn has_only_corners(&self) -> bool {
        !matches!(self, Self::Cylinder { .. } | Self::Ellipsoid { .. })
    }

    /// Farthest distance of its surface from its frame's origin; infinite where the shape is. [m]
    pub(crate) fn radius(&self) -> f64 {
        match self {
            Self::Box { half_extents } => half_extents.norm(),
            Self::Sphere { radius } => *radius,
            Self::Cylinder { radius, half_length } => radius.hypot(*half_length),
            Self::Capsule { radius, half_length } => radius + half_length,
            Self::Ellipsoid { semi_axes } => semi_axes.max(),
            Self::HalfSpace | Self::Triangles(_) => f64::INFINITY,
            Self::Hull(hull) => hull.vertices.iter().map(Vector3::norm).fold(0.0, f64::max),
        }
    }

    /// Half of the shape's least width: 0 of a surface, infinite of a half-space. [m]
    pub(crate) fn half_width(&self) -> f64 {
        match self {
            Self::Box { half_extents } => half_extents.min(),
            Self::Sphere { radius } | Self::Capsule { radius, .. } => *radius,
            Self::Cylinder { radius, half_length } => radius.min(*half_length),
            Self::Ellipsoid { semi_axes } => semi_axes.min(),
            Self::HalfSpace => f64::INFINITY,
            Self::Triangles(_) => 0.0,
            Self::Hull(hull) => hull.half_width,
        }
    }

    /// The box around the shape at a pose, along the axes that the pose is given in; none of a half-space. Tight but for
    /// hulls and meshes, whose box in their own frame is turned.
    pub(crate) fn bounds(&self, X: &Pose) -> Option<Bounds> {
        let axis = X.rotation.column(2);
        let half = match self {
            // Half extents of a turned box: |R| h.
            Self::Box { half_extents } => X.rotation.abs() * half_extents,
            Self::Sphere { radius } => Vector3::repeat(*radius),
            Self::Capsule { radius, half_length } => {
                axis.abs() * *half_length + Vector3::repeat(*radius)
            }
            // A disc across the axis a reaches r √(1 − a_i²) along the axis i.
            Self::Cylinder { radius, half_length } => {
                axis.map(|a| a.abs() * half_length + radius * (1.0 - a * a).max(0.0).sqrt())
            }
            // Reach of an ellipsoid along the axis e_i: ‖S Rᵀ e_i‖.
            Self::Ellipsoid { semi_axes } => Vector3::from_fn(|i, _| {
                X.rotation.row(i).transpose().component_mul(semi_axes).norm()
            }),
            Self::HalfSpace => return None,
            Self::Hull(hull) => return Some(hull.bounds.turned(X)),
            Self::Triangles(surface) => return Some(surface.bounds.turned(X)),
        };
        Some(Bounds::about(&X.translation, &half))
    }

    /// The core's point farthest along `d`, both in the shape's frame. [m] (3)
    #[inline]
    pub(crate) fn support(&self, d: &Vector3) -> Vector3 {
        match self {
            Self::Box { half_extents: h } => {
                // `copysign` instead of `signum` by factor: a zero component, too, has to give a corner.
                Vector3::new(h.x.copysign(d.x), h.y.copysign(d.y), h.z.copysign(d.z))
            }
            Self::Capsule { half_length, .. } => Vector3::new(0.0, 0.0, half_length.copysign(d.z)),
            Self::Cylinder { radius, half_length } => {
                let across = d.x.hypot(d.y);
                // Along the axis all points of the cap are as far: its middle, which no noise turns.
                let scale = if across > 0.0 { radius / across } else { 0.0 };
                Vector3::new(d.x * scale, d.y * scale, half_length.copysign(d.z))
            }
            // The point of an ellipsoid with the normal d is S² d/‖S d‖.
            Self::Ellipsoid { semi_axes } => {
                let scaled = semi_axes.component_mul(d);
                semi_axes.component_mul(&scaled.try_normalize(0.0).unwrap_or_else(Vector3::x))
            }
            Self::Hull(hull) => hull.vertices[hull.support(d)],
            Self::Sphere { .. } | Self::HalfSpace | Self::Triangles(_) => Vector3::zeros(),
        }
    }
}

#[cfg(test)]
mod tests {
    use karakuri_spatial::UnitQuaternion;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The box reaches as far as the shape along every axis.
        #[test]
        fn bounds_are_those_of_the_farthest_points(
            radius in 0.01..1.0_f64,
            half_length in 0.01..1.0_f64,
            turn in prop::array::uniform3(-3.0..3.0_f64),
            p in prop::array::uniform3(-1.0..1.0_f64),
        ) {
            let turn = UnitQuaternion::from_scaled_axis(Vector3::from(turn));
            let X = Pose::new(*turn.to_rotation_matrix().matrix(), Vector3::from(p));
            for solid in [
                Solid::Box { half_extents: Vector3::new(radius, half_length, 0.3) },
                Solid::Sphere { radius },
                Solid::Cylinder { radius, half_length },
                Solid::Capsule { radius, half_length },
                Solid::Ellipsoid { semi_axes: Vector3::new(radius, half_length, 0.3) },
            ] {
                let bounds = solid.bounds(&X).unwrap();
                for i in 0..3 {
                    let mut e = Vector3::zeros();
                    e[i] = 1.0;
                    let far = |d: Vector3| {
                        let core = X.transform_point(&solid.support(&X.rotation.tr_mul(&d)));
                        core.dot(&d) + solid.margin()
                    };
                    prop_assert!((bounds.upper[i] - far(e)).abs() < 1e-12, "{solid:?}");
                    prop_assert!((bounds.lower[i] + far(-e)).abs() < 1e-12, "{solid:?}");
                }
            }
        }
    }
}
