//! Trajectories that were checked, with all the memory that following them takes: checking and making room happen wherever
//! there is time, and the machine only exchanges.

use super::goal::Limits;
use super::validate::Checked;
use super::{Goal, GoalError, GoalId, GroupSettings, validate};
use crate::trajectory::{JointTrajectory, Path};
use karakuri_spatial::Time;

/// A trajectory ready to be followed by the machine of the group whose settings checked it.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub(super) start: Option<Time>,
    pub(super) path: Path,
    /// Identifier of a goal; a stream of references has none.
    pub(super) goal: Option<(GoalId, Limits)>,
}

impl GroupSettings {
    /// Checks an action goal that arrives at `now`; `id` is its identifier in the machine.
    ///
    /// # Errors
    ///
    /// If the goal is invalid or names other joints than the group.
    pub fn prepare_goal(&self, id: GoalId, goal: &Goal, now: Time) -> Result<Prepared, GoalError> {
        let trajectory = &goal.trajectory;
        let Checked { order, start } = validate::check(trajectory, self, now, false)?;
        let path = Path::new(trajectory, &order);
        // A goal is refused before it moves anything; a stream cannot be, and is cut to the limits as it is followed.
        validate::check_reach(trajectory, &path, self)?;
        Ok(Prepared { start, path, goal: Some((id, Limits::new(goal, self))) })
    }

    /// Checks a trajectory that arrives on the topic at `now`.
    ///
    /// # Errors
    ///
    /// If the trajectory is invalid or names other joints than the group.
    pub fn prepare_topic(
        &self,
        trajectory: &JointTrajectory,
        now: Time,
    ) -> Result<Prepared, GoalError> {
        let Checked { order, start } = validate::check(trajectory, self, now, true)?;
        Ok(Prepared { start, path: Path::new(trajectory, &order), goal: None })
    }
}
