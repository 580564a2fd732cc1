//! Settings of a group's machine.

use karakuri_model::{JointGroup, JointKind, Model};

use crate::trajectory::Interpolation;

/// Largest error of one joint; 0: not checked.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tolerance {
    /// Largest position error. [rad or m]
    pub position: f64,
    /// Largest velocity error. [rad/s or m/s]
    pub velocity: f64,
    /// Largest acceleration error. [rad/s² or m/s²]
    pub acceleration: f64,
}

/// One joint of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct JointSettings {
    /// Name of the joint.
    pub name: String,
    /// Whether it rotates without limits: errors are then the shortest angle.
    pub continuous: bool,
    /// Lower position limit. [rad or m]
    pub lower: f64,
    /// Upper position limit. [rad or m]
    pub upper: f64,
    /// Largest speed of a command. [rad/s or m/s]
    pub max_velocity: f64,
    /// Tolerance along the path (`constraints.<joint>.trajectory`).
    pub path_tolerance: Tolerance,
    /// Tolerance at the end (`constraints.<joint>.goal`).
    pub goal_tolerance: Tolerance,
    /// Deceleration after a cancelled motion; 0 holds at once. [rad/s² or m/s²]
    pub max_deceleration_on_cancel: f64,
    /// Jerk of that deceleration. [rad/s³ or m/s³]
    pub max_jerk_on_cancel: f64,
    /// Position error at which the drive gives its full effort; infinite for one without stiffness. [rad or m]
    pub saturation_error: f64,
}

impl JointSettings {
    /// Speed by which errors of unlike joints are compared: the limit, or 1 without one. [rad/s or m/s]
    pub(super) fn speed_scale(&self) -> f64 {
        if self.max_velocity.is_finite() && self.max_velocity > 0.0 {
            self.max_velocity
        } else {
            1.0
        }
    }
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "they are joint_trajectory_controller's parameters"
)]
/// Settings of a group's machine; names as `joint_trajectory_controller`'s parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupSettings {
    /// Joints in the group's order.
    pub joints: Vec<JointSettings>,
    /// Largest speed of a joint that has arrived; 0 is not checked. [rad/s or m/s]
    pub stopped_velocity_tolerance: f64,
    /// Time after the last point for the goal to be in tolerance; 0 waits for ever. [s]
    pub goal_time: f64,
    /// Whether a trajectory may name some of the joints; the others hold.
    pub allow_partial_joints_goal: bool,
    /// Whether points may give velocities or accelerations without positions.
    pub allow_integration_in_goal_trajectories: bool,
    /// Whether a trajectory may end in motion.
    pub allow_nonzero_velocity_at_trajectory_end: bool,
    /// Whether a new trajectory is entered from the desired rather than from the measured state.
    pub interpolate_from_desired_state: bool,
    /// Interpolation between the points.
    pub interpolation: Interpolation,
    /// Position error beyond twice the drive's saturation at which a joint counts as not following: the goal is aborted
    /// and the machine restarts from the measured state; 0 is not checked. [rad or m]
    pub following_tolerance: f64,
}

/// Tolerances by which the goals of groups are missed, reached or refused, the same for every joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constraints {
    /// Largest position error on the way; 0 is not checked. [rad or m]
    pub path_tolerance: f64,
    /// Largest position error at the end; 0 is not checked. [rad or m]
    pub goal_tolerance: f64,
    /// Largest speed of a joint that has arrived; 0 is not checked. [rad/s or m/s]
    pub stopped_velocity_tolerance: f64,
    /// Time after the last point for the goal to be in tolerance; 0 waits for ever. [s]
    pub goal_time: f64,
    /// Position error beyond twice the drive's saturation at which a joint counts as not following; 0 is not checked. [rad or m]
    pub following_tolerance: f64,
    /// Whether a trajectory may name some of the joints; the others hold.
    pub allow_partial_joints_goal: bool,
}

impl Default for Constraints {
    fn default() -> Self {
        Self {
            path_tolerance: 0.0,
            goal_tolerance: 0.0,
            // The defaults of joint_trajectory_controller.
            stopped_velocity_tolerance: 0.01,
            goal_time: 0.0,
            // Narrower, and the lag of a fast motion ends goals; wider, and a blocked joint leaps farther when it comes free.
            following_tolerance: 0.2,
            allow_partial_joints_goal: false,
        }
    }
}

impl Constraints {
    /// Puts them into the settings of a group.
    pub fn apply(&self, settings: &mut GroupSettings) {
        for joint in &mut settings.joints {
            joint.path_tolerance.position = self.path_tolerance;
            joint.goal_tolerance.position = self.goal_tolerance;
        }
        settings.stopped_velocity_tolerance = self.stopped_velocity_tolerance;
        settings.goal_time = self.goal_time;
        settings.following_tolerance = self.following_tolerance;
        settings.allow_partial_joints_goal = self.allow_partial_joints_goal;
    }
}

impl GroupSettings {
    /// Settings by the model's limits: a stop from full speed in a quarter of a second, a fifth of it for the deceleration to
    /// come, no path or goal tolerance, and 0.2 rad or m to follow.
    pub fn for_group(model: &Model, group: &JointGroup) -> Self {
        let joints = group.joints.iter().map(|&id| {
            let joint = &model.joints[id.0];
            let limits = joint.limits;
            let deceleration =
                if limits.velocity.is_finite() { 4.0 * limits.velocity } else { 0.0 };
            let unbounded = limits.lower == f64::NEG_INFINITY && limits.upper == f64::INFINITY;
            JointSettings {
                name: joint.name.clone(),
                // A slide without limits does not come round to where it was.
                continuous: unbounded && matches!(joint.kind, JointKind::Revolute { .. }),
                lower: limits.lower,
                upper: limits.upper,
                max_velocity: limits.velocity,
                path_tolerance: Tolerance::default(),
                goal_tolerance: Tolerance::default(),
                max_deceleration_on_cancel: deceleration,
                max_jerk_on_cancel: 20.0 * deceleration,
                saturation_error: match joint.drive {
                    Some(drive) if drive.stiffness > 0.0 && limits.effort.is_finite() => {
                        limits.effort / drive.stiffness
                    }
                    // A drive without a limit of effort never saturates, so no error is excused by that.
                    Some(drive) if drive.stiffness > 0.0 => 0.0,
                    _ => f64::INFINITY,
                },
            }
        });
        let constraints = Constraints::default();
        Self {
            joints: joints.collect(),
            stopped_velocity_tolerance: constraints.stopped_velocity_tolerance,
            goal_time: constraints.goal_time,
            allow_partial_joints_goal: constraints.allow_partial_joints_goal,
            // As joint_trajectory_controller, but for the entry: from the measured state, the command would step
            // back by the error of tracking whenever a new trajectory comes.
            allow_integration_in_goal_trajectories: false,
            allow_nonzero_velocity_at_trajectory_end: false,
            interpolate_from_desired_state: true,
            interpolation: Interpolation::Splines,
            following_tolerance: constraints.following_tolerance,
        }
    }
}
