//! Violations of limits by a plan.

use karakuri_gait::planner::WalkEngine;
use karakuri_model::Model;

/// Limits that a plan cannot keep.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) failure: Option<String>,
    pub(super) clips: Vec<String>,
    pub(super) excesses: Vec<String>,
}

/// Descriptions of planned motion beyond the joints' limits.
pub(super) fn excesses(engine: &mut WalkEngine, model: &Model) -> Vec<String> {
    engine.take_excesses().iter().map(|excess| excess.describe(model)).collect()
}
