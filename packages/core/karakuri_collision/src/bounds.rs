//! Axis-aligned boxes in the world.

use karakuri_spatial::{Pose, Vector3};
use parry3d_f64::bounding_volume::Aabb;

use crate::convert;

/// An axis-aligned box in the world. [m]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) lower: Vector3,
    pub(crate) upper: Vector3,
}

impl Bounds {
    /// Box as parry's type.
    pub(crate) fn aabb(&self) -> Aabb {
        Aabb::new(convert::vector(&self.lower), convert::vector(&self.upper))
    }

    /// The box about `center` that reaches `half` to each side.
    pub(crate) fn about(center: &Vector3, half: &Vector3) -> Self {
        Self { lower: center - half, upper: center + half }
    }

    /// The box around points.
    pub(crate) fn around(points: &[Vector3]) -> Self {
        // The inverted box is the neutral element of the union.
        let far = Vector3::repeat(f64::INFINITY);
        let none = Self { lower: far, upper: -far };
        points.iter().fold(none, |b, p| Self { lower: b.lower.inf(p), upper: b.upper.sup(p) })
    }

    /// Whether another box is within this one.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        (0..3).all(|k| self.lower[k] <= other.lower[k] && other.upper[k] <= self.upper[k])
    }

    /// Whether two boxes have a point in common.
    #[inline]
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.overlaps_along(other, 0) & self.overlaps_yz(other)
    }

    /// Whether two boxes overlap along y and z.
    // Without a branch a test: one of a dozen pairs overlaps, and which cannot be foreseen.
    #[inline]
    pub(crate) fn overlaps_yz(&self, other: &Self) -> bool {
        self.overlaps_along(other, 1) & self.overlaps_along(other, 2)
    }

    #[inline]
    fn overlaps_along(&self, other: &Self, k: usize) -> bool {
        u8::from(self.lower[k] <= other.upper[k]) & u8::from(other.lower[k] <= self.upper[k]) != 0
    }

    /// Box that is larger by `margin` on all sides. [m]
    pub(crate) fn grown(&self, margin: f64) -> Self {
        let margin = Vector3::repeat(margin);
        Self { lower: self.lower - margin, upper: self.upper + margin }
    }

    pub(crate) fn is_finite(&self) -> bool {
        // Infinities of opposite sign sum to NaN: one sum tests both corners.
        (self.lower + self.upper).iter().all(|x| x.is_finite())
    }

    /// The box around this box at the pose `X_WB`.
    pub(crate) fn turned(&self, X_WB: &Pose) -> Self {
        let center = X_WB.transform_point(&(0.5 * (self.lower + self.upper)));
        // Half extents of the turned box: |R| h.
        let half = X_WB.rotation.abs() * (0.5 * (self.upper - self.lower));
        Self::about(&center, &half)
    }

    /// Least height of a point of the box along `normal`. [m]
    pub(crate) fn lowest(&self, normal: &Vector3) -> f64 {
        // A linear function over a box: every coordinate takes the end that the sign of its factor picks.
        self.lower.component_mul(normal).inf(&self.upper.component_mul(normal)).sum()
    }
}
