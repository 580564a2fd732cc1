//! The result, and a sentence that explains it.

use karakuri_model::{BodyId, Model};

use super::IkTarget;

/// Result of inverse kinematics; the position itself is in the workspace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IkOutcome {
    /// Whether every target is met within the tolerances.
    pub converged: bool,
    /// Largest position error of a target. [m]
    pub position_error: f64,
    /// Largest orientation error of a target. [rad]
    pub orientation_error: f64,
    /// Steps over all starts.
    pub iterations: usize,
    /// Random starts that were tried.
    pub restarts: usize,
    /// The obstacle at the best position found; `None` when converged.
    pub obstacle: Option<IkObstacle>,
}

/// Why a target is not reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum IkObstacle {
    /// The target is farther from the first joint of the chain to the frame than all links stretched out.
    OutOfReach {
        /// Index of the target.
        target: usize,
        /// Distance from that joint to the target. [m]
        distance: f64,
        /// Sum of the links and strokes between that joint and the frame. [m]
        reach: f64,
    },
    /// The error pushes this joint against its limit.
    Limit {
        /// The joint; of several, the one that is pushed hardest.
        joint: BodyId,
        /// The limit. [rad or m]
        limit: f64,
        /// Whether it is the upper limit.
        is_upper: bool,
    },
    /// A target whose frame no joint that may move carries.
    NothingMoves {
        /// Index of the target.
        target: usize,
    },
    /// A place from which no small motion brings the frames nearer, or steps that ran out: too few degrees of freedom, a singular
    /// posture, or targets that exclude each other.
    Stuck,
}

impl IkOutcome {
    /// One sentence for a user: reached or not, the remaining error, its reason and a remedy.
    pub fn explain(&self, model: &Model, targets: &[IkTarget]) -> String {
        let link = |target: usize| {
            targets.get(target).map_or("the frame", |t| model.frames[t.frame.0].name.as_str())
        };
        let Some(obstacle) = self.obstacle else {
            return format!("reached after {} steps", self.iterations);
        };
        let reason = match obstacle {
            IkObstacle::OutOfReach { target, distance, reach } => format!(
                "`{}` cannot reach it: the target is {distance:.4} m from the first joint and the links \
                 stretch {reach:.4} m; move the target nearer",
                link(target)
            ),
            IkObstacle::Limit { joint, limit, is_upper } => format!(
                "joint `{}` is at its {} limit {limit:.4}; move the target or widen the limit",
                model.joints[joint.0].name,
                if is_upper { "upper" } else { "lower" },
            ),
            IkObstacle::NothingMoves { target } => {
                format!("no joint that may move carries `{}`", link(target))
            }
            IkObstacle::Stuck => "no small motion brings it nearer: too few degrees of freedom, a singular \
                                  posture, or targets that exclude each other; free an axis, ask for the \
                                  position alone, or start elsewhere"
                .to_owned(),
        };
        format!(
            "not reached after {} steps from {} starts: {:.3e} m and {:.3e} rad remain; {reason}",
            self.iterations,
            self.restarts + 1,
            self.position_error,
            self.orientation_error,
        )
    }
}
