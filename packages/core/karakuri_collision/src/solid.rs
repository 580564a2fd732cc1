//! Shapes as the narrow phase sees them.
//!
//! A ball is a point and a capsule a segment, both with a margin: their *core* is what the algorithms work on.

use std::sync::Arc;

use karakuri_spatial::Vector3;

use crate::hull::Hull;
use crate::surface::Surface;

/// A shape, ready to touch.
#[derive(Debug, Clone)]
pub(crate) enum Solid {
    Box { half_extents: Vector3 },
    Sphere { radius: f64 },
    Cylinder { radius: f64, half_length: f64 },
    Capsule { radius: f64, half_length: f64 },
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

    /// Farthest distance of its surface from its frame's origin; infinite where the shape is. [m]
    pub(crate) fn radius(&self) -> f64 {
        match self {
            Self::Box { half_extents } => half_extents.norm(),
            Self::Sphere { radius } => *radius,
            Self::Cylinder { radius, half_length } => radius.hypot(*half_length),
            Self::Capsule { radius, half_length } => radius + half_length,
            Self::HalfSpace | Self::Triangles(_) => f64::INFINITY,
            Self::Hull(hull) => hull.vertices.iter().map(Vector3::norm).fold(0.0, f64::max),
        }
    }

    /// The core's point farthest along `d`, both in the shape's frame. [m] (3)
    #[inline]
    pub(crate) fn support(&self, d: &Vector3) -> Vector3 {
        match self {
            Self::Box { half_extents: h } => {
                Vector3::new(h.x.copysign(d.x), h.y.copysign(d.y), h.z.copysign(d.z))
            }
            Self::Capsule { half_length, .. } => Vector3::new(0.0, 0.0, half_length.copysign(d.z)),
            Self::Cylinder { radius, half_length } => {
                let across = d.x.hypot(d.y);
                let scale = if across > 0.0 { radius / across } else { 0.0 };
                Vector3::new(d.x * scale, d.y * scale, half_length.copysign(d.z))
            }
            Self::Hull(hull) => hull.vertices[hull.support(d)],
            Self::Sphere { .. } | Self::HalfSpace | Self::Triangles(_) => Vector3::zeros(),
        }
    }
}
