//! Poses of the robot: where its bodies are, what holds it up, and how its links reach targets.

mod evaluate;
mod in_motion;
mod reach;

use std::sync::Arc;

use karakuri_dynamics::{Data, InverseKinematics, Reduction};
use karakuri_model::Model;
use karakuri_motion::Performer;

/// Workspace for the poses of one robot.
#[derive(Debug)]
pub(crate) struct Poser {
    model: Arc<Model>,
    data: Data,
    reduction: Reduction,
    ik: InverseKinematics,
    performer: Arc<Performer>,
}

impl Poser {
    /// Workspace for a robot.
    pub(crate) fn new(performer: &Arc<Performer>) -> Self {
        let model = &performer.model;
        Self {
            data: Data::new(model),
            reduction: Reduction::new(model),
            ik: InverseKinematics::new(model, 4),
            performer: Arc::clone(performer),
            model: Arc::clone(model),
        }
    }
}
