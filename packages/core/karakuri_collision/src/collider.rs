//! Colliders: shapes with a pose in the world.

use karakuri_spatial::{Pose, Vector3};
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math::Pose3;
use parry3d_f64::shape::SharedShape;

use crate::bounds::Bounds;
use crate::convert;
use crate::narrow::posed::Posed;
use crate::shape::ColliderShape;
use crate::solid::Solid;

/// Identifier of a collider; not used again after its removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColliderId(pub usize);

/// A shape to add to a scene.
#[derive(Debug, Clone, PartialEq)]
pub struct Collider {
    /// Shape of the collider.
    pub shape: ColliderShape,
    /// Pose `X_WC` of the collider.
    pub pose: Pose,
    /// Whether it is fixed: a fixed collider never touches another fixed one.
    pub fixed: bool,
    /// Whether joints hold it: what it touches keeps at most four points, also where the surfaces turn against each other.
    pub jointed: bool,
}

impl Collider {
    /// A collider that does not move.
    pub fn fixed(shape: ColliderShape, pose: Pose) -> Self {
        Self { shape, pose, fixed: true, jointed: false }
    }

    /// A collider that moves.
    pub fn moving(shape: ColliderShape, pose: Pose) -> Self {
        Self { shape, pose, fixed: false, jointed: false }
    }
}

/// A collider in place.
#[derive(Clone)]
pub(crate) struct Placed {
    pub(crate) solid: Solid,
    pub(crate) parry: SharedShape,
    /// Pose of parry's frame in the collider's.
    pub(crate) frame: Pose,
    pub(crate) pose_in_world: Pose,
    /// Box in the world; none of a half-space.
    pub(crate) bounds: Option<Bounds>,
    pub(crate) fixed: bool,
    pub(crate) jointed: bool,
    /// Whether it is elsewhere, or something else, than in the last update.
    pub(crate) changed: bool,
}

impl Placed {
    /// Core in world axes, seen from `origin`.
    pub(crate) fn posed(&self, origin: &Vector3) -> Posed<'_> {
        // Relative to a point of the pair, as coordinates far from the world's origin have fewer digits for the gap.
        let X = &self.pose_in_world;
        Posed::new(&self.solid, Pose::new(X.rotation, X.translation - origin))
    }

    /// Moves to the pose `X_WC`.
    pub(crate) fn place(&mut self, X_WC: &Pose) {
        self.pose_in_world = *X_WC;
        // A pose that is not finite has no box, so it meets nothing and spoils no sort.
        self.bounds = self.solid.bounds(X_WC).filter(Bounds::is_finite);
        self.changed = true;
    }

    /// Pose of parry's frame in the world.
    pub(crate) fn parry_pose(&self) -> Pose3 {
        convert::pose(&(self.pose_in_world * self.frame))
    }

    /// The box around `other` along the axes of this one; none of a half-space.
    pub(crate) fn box_around(&self, other: &Self) -> Option<Aabb> {
        let X = self.pose_in_world.inverse() * other.pose_in_world;
        other.solid.bounds(&X).map(|b| b.aabb())
    }
}
