//! Poses of the robot: where its bodies are, what holds it up, and how its links reach targets.

mod evaluate;
mod feet;
mod reach;

use std::sync::Arc;

use karakuri_dynamics::{Data, InverseKinematics, Reduction};
use karakuri_model::{FrameId, Model};

pub(crate) use feet::feet_of;

/// Workspace for the poses of one robot.
#[derive(Debug)]
pub(crate) struct Poser {
    model: Arc<Model>,
    data: Data,
    reduction: Reduction,
    ik: InverseKinematics,
    feet: Option<[FrameId; 2]>,
}

impl Poser {
    /// Workspace for a robot.
    pub(crate) fn new(model: &Arc<Model>) -> Self {
        Self {
            data: Data::new(model),
            reduction: Reduction::new(model),
            ik: InverseKinematics::new(model, 4),
            feet: feet_of(model),
            model: Arc::clone(model),
        }
    }
}
