//! Monitor of a robot that does not carry out its plan.

use karakuri_model::{BodyId, Model};

/// Time for which a joint may be far from its target in all: a strike, or a busy machine, and the middleware, which may stall
/// for a third of a second when a participant joins. [s]
const PATIENCE: f64 = 0.5;
/// Share of the time near its targets that makes up for time far from them: a robot that does not follow is near them in passing.
/// [-]
const FORGIVEN: f64 = 0.25;

/// Error of a joint against its target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointError {
    /// Joint of the model.
    pub joint: BodyId,
    /// Position less target. [rad or m]
    pub error: f64,
}

impl JointError {
    /// Largest error of joints with one degree of freedom, measured at `q` (nq) and planned at `target` (nq).
    pub fn largest(
        model: &Model,
        joints: impl IntoIterator<Item = BodyId>,
        q: &[f64],
        target: &[f64],
    ) -> Option<Self> {
        let errors = joints.into_iter().map(|joint| {
            let i = model.joints[joint.0].q_start;
            Self { joint, error: q[i] - target[i] }
        });
        errors.max_by(|a, b| a.error.abs().total_cmp(&b.error.abs()))
    }

    /// Describes the error in a sentence for people.
    pub fn describe(&self, model: &Model) -> String {
        let Self { joint, error } = self;
        format!(
            "joint `{}` is {error:.2} from where the walk has it, and has been for {PATIENCE} s: the robot does not \
             follow; is the controller running, and the robot free to move?",
            model.joints[joint.0].name
        )
    }
}

/// Counts the time for which a robot is too far from its targets.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FollowingMonitor {
    /// Time far from the targets, less a share of the time near them. [s]
    astray: f64,
}

impl FollowingMonitor {
    /// Takes up the largest error of a period `dt` [s]; true where the robot does not follow: errors above the tolerance
    /// [rad or m] for half a second in all.
    pub fn tick(&mut self, largest: &JointError, tolerance: f64, dt: f64) -> bool {
        // A leaky sum, not a run of bad periods, which a target that swings past would break again and again.
        let step = if largest.error.abs() > tolerance { dt } else { -FORGIVEN * dt };
        // Not below zero: a long time in order must not excuse a longer one astray.
        self.astray = (self.astray + step).max(0.0);
        self.astray > PATIENCE
    }

    /// Forgets what was counted.
    pub fn restart(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use karakuri_model::Base;
    use karakuri_testkit::{Kind, random_tree};

    use super::*;

    const DT: f64 = 0.01;

    /// First of some periods after which the robot is given up, `error` being that of each.
    fn gives_up(n: u32, error: impl Fn(u32) -> f64) -> Option<u32> {
        let mut monitor = FollowingMonitor::default();
        (0..n).find(|&k| {
            let error = JointError { joint: BodyId(1), error: error(k) };
            monitor.tick(&error, 0.3, DT)
        })
    }

    #[test]
    fn a_strike_is_borne_and_a_robot_that_stands_still_is_not() {
        assert_eq!(gives_up(1000, |k| if k % 300 < 48 { 1.0 } else { 0.1 }), None);
        assert!(gives_up(100, |_| -0.4).is_some_and(|k| (49..=51).contains(&k)));
        assert_eq!(gives_up(1000, |_| 0.29), None);
    }

    /// A plan swings past a robot that does not move.
    #[test]
    fn being_near_in_passing_is_no_following() {
        let swings = |k: u32| 0.9 * (0.13 * f64::from(k)).sin();
        assert!(gives_up(150, swings).is_some());
    }

    #[test]
    fn the_largest_error_has_its_joint_and_sign() {
        let model = random_tree(3, 5, Base::Floating, &[Kind::Revolute]);
        let target = model.neutral_position();
        let mut q = target.clone();
        for (i, error) in [(1, 0.2), (4, -0.5), (5, 0.4)] {
            q[model.joints[i].q_start] += error;
        }
        let of = |joints: &[usize]| {
            JointError::largest(&model, joints.iter().map(|i| BodyId(*i)), &q, &target)
        };
        assert_eq!(of(&[1, 2, 3, 4, 5]), Some(JointError { joint: BodyId(4), error: -0.5 }));
        assert_eq!(of(&[1, 5]).map(|e| e.joint), Some(BodyId(5)));
        assert_eq!(of(&[]), None);
    }
}
