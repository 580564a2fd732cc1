//! Links of one robot that overlap.

use karakuri_collision::ColliderId;
use karakuri_model::{BodyId, FrameId};
use karakuri_spatial::Pose;

/// A collider of a robot that is being added.
pub(crate) struct OwnCollider {
    pub(crate) collider: ColliderId,
    /// None on the fixed base.
    pub(crate) body: Option<BodyId>,
    pub(crate) frame: FrameId,
    /// On its body.
    pub(crate) pose: Pose,
}

/// Two links of a robot that overlap.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkOverlap {
    /// Names.
    pub links: [String; 2],
    /// How deep. [m]
    pub depth: f64,
}
