//! Joints that move as prescribed.

use std::sync::Arc;

use karakuri_model::BodyId;

use crate::state::motion_table::MotionTable;

/// A joint that moves as prescribed.
#[derive(Debug, Clone)]
pub(crate) struct PrescribedJoint {
    pub(crate) joint: BodyId,
    pub(crate) motion: Arc<MotionTable>,
}
