//! Parameters of the node.

use karakuri_control::FeedforwardSettings;
use karakuri_control::inverse_dynamics::METHODS;
use karakuri_control::joint_trajectory::GroupSettings;
use karakuri_ros::{Node, Parameter, RobotParameters, RosError};

use crate::node::ControllerNode;

/// All parameters.
#[derive(Debug)]
pub(crate) struct Parameters {
    pub(crate) robot: RobotParameters,
    pub(crate) lockstep_sources: Parameter<Vec<String>>,
    pub(crate) command_timeout: Parameter<f64>,
    pub(crate) action_monitor_rate: Parameter<f64>,
    method: Parameter<String>,
    feedforward_scale: Parameter<f64>,
    friction_compensation: Parameter<bool>,
    state_timeout: Parameter<f64>,
    path_tolerance: Parameter<f64>,
    goal_tolerance: Parameter<f64>,
    stopped_velocity_tolerance: Parameter<f64>,
    goal_time: Parameter<f64>,
    following_tolerance: Parameter<f64>,
    allow_partial_joints_goal: Parameter<bool>,
}

impl Parameters {
    pub(crate) fn declare(node: &mut Node<ControllerNode>) -> Result<Self, RosError> {
        Ok(Self {
            robot: RobotParameters::declare(node)?,
            lockstep_sources: node
                .parameter("lockstep_sources", Vec::<String>::new())
                .describe("Topics among `<group>/joint_trajectory` that lockstep waits for.")
                .read_only()
                .declare()?,
            command_timeout: node
                .parameter("command_timeout", 0.2)
                .describe("Silence of a lockstep source until it is not waited for any more, in wall time. [s]")
                .range(0.001..=3600.0)
                .declare()?,
            action_monitor_rate: node
                .parameter("action_monitor_rate", 20.0)
                .describe("Rate of the actions' feedback. [Hz]")
                .range(0.1..=1000.0)
                .declare()?,
            method: node
                .parameter("method", "recursive".to_owned())
                .describe("Inverse dynamics.")
                .validate(&METHODS.join(", "), |v: &String| {
                    if METHODS.contains(&v.as_str()) {
                        Ok(())
                    } else {
                        Err(format!("`{v}` is no method; there are: {}", METHODS.join(", ")))
                    }
                })
                .declare()?,
            feedforward_scale: node
                .parameter("feedforward_scale", 1.0)
                .describe("Share of the feed-forward that is applied. [-]")
                .range(0.0..=1.0)
                .declare()?,
            friction_compensation: node
                .parameter("friction_compensation", true)
                .describe("Add the joints' dry friction to the feed-forward.")
                .declare()?,
            state_timeout: node
                .parameter("state_timeout", 0.5)
                .describe("Gap between two samples after which all goals are aborted; 0 is never. [s]")
                .range(0.0..=3600.0)
                .declare()?,
            path_tolerance: node
                .parameter("constraints.trajectory", 0.0)
                .describe("Largest position error on the way, for every joint; 0 is not checked. [rad or m]")
                .range(0.0..=1000.0)
                .declare()?,
            goal_tolerance: node
                .parameter("constraints.goal", 0.0)
                .describe("Largest position error at the end, for every joint; 0 is not checked. [rad or m]")
                .range(0.0..=1000.0)
                .declare()?,
            stopped_velocity_tolerance: node
                .parameter("constraints.stopped_velocity_tolerance", 0.01)
                .describe("Largest speed at the end; 0 is not checked. [rad/s or m/s]")
                .range(0.0..=1000.0)
                .declare()?,
            goal_time: node
                .parameter("constraints.goal_time", 0.0)
                .describe("Time after the last point to come into tolerance; 0 waits for ever. [s]")
                .range(0.0..=3600.0)
                .declare()?,
            following_tolerance: node
                .parameter("constraints.following", 0.2)
                .describe("Position error beyond twice what saturates the drive at which a joint counts as blocked or moved by others: its group's goal is aborted and it holds where it is; 0 is not checked. [rad or m]")
                .range(0.0..=1000.0)
                .declare()?,
            allow_partial_joints_goal: node
                .parameter("allow_partial_joints_goal", false)
                .describe("Take goals for some joints of a group; the others hold.")
                .declare()?,
        })
    }

    pub(crate) fn feedforward(&self) -> FeedforwardSettings {
        FeedforwardSettings {
            method: self.method.get(),
            feedforward_scale: self.feedforward_scale.get(),
            friction_compensation: self.friction_compensation.get(),
            state_timeout: self.state_timeout.get(),
        }
    }

    pub(crate) fn apply_to_group(&self, settings: &mut GroupSettings) {
        for joint in &mut settings.joints {
            joint.path_tolerance.position = self.path_tolerance.get();
            joint.goal_tolerance.position = self.goal_tolerance.get();
        }
        settings.stopped_velocity_tolerance = self.stopped_velocity_tolerance.get();
        settings.following_tolerance = self.following_tolerance.get();
        settings.goal_time = self.goal_time.get();
        settings.allow_partial_joints_goal = self.allow_partial_joints_goal.get();
    }
}
