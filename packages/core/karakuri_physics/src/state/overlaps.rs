//! Links of one robot that overlap.

use karakuri_collision::ColliderId;
use karakuri_model::{BodyId, FrameId};
use karakuri_spatial::Pose;

/// A collider of a robot that is being added.
pub(crate) struct OwnCollider {
    pub(crate) collider: ColliderId,
    /// Body that carries it; none on the fixed base.
    pub(crate) body: Option<BodyId>,
    pub(crate) frame: FrameId,
    /// Pose on its body.
    pub(crate) pose: Pose,
}

/// Two links of a robot that overlap.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkOverlap {
    /// Names of both links.
    pub links: [String; 2],
    /// Depth of the overlap. [m]
    pub depth: f64,
}
