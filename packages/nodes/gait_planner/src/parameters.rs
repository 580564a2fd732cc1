//! Parameters of the node.

use karakuri_ros::{Node, Parameter, RosError};

use crate::node::GaitPlanner;

/// All parameters but the gains.
#[derive(Debug)]
pub(crate) struct Parameters {
    pub(crate) gait: Parameter<String>,
    pub(crate) period: Parameter<f64>,
    pub(crate) lockstep: Parameter<bool>,
    pub(crate) frame: Parameter<String>,
    pub(crate) start_tolerance: Parameter<f64>,
    pub(crate) following_tolerance: Parameter<f64>,
    pub(crate) state_timeout: Parameter<f64>,
    pub(crate) velocity_timeout: Parameter<f64>,
}

impl Parameters {
    pub(crate) fn declare(node: &mut Node<GaitPlanner>) -> Result<Self, RosError> {
        Ok(Self {
            gait: node
                .parameter("gait", String::new())
                .describe("Path of the gait file: the robot, and how it walks.")
                .read_only()
                .declare()?,
            period: node
                .parameter("period", 0.002)
                .describe("Time from a sample to the next, for which an answer holds. [s]")
                .range(1e-4..=0.05)
                .read_only()
                .declare()?,
            lockstep: node
                .parameter("lockstep", false)
                .describe("Answer a sample only when its inertial reading is there too, and those of its feet: runs repeat bit by bit.")
                .declare()?,
            frame: node
                .parameter("frame", "world".to_owned())
                .describe("Frame in which the robot stood between its feet, looking along X, when it began.")
                .declare()?,
            start_tolerance: node
                .parameter("start_tolerance", 0.1)
                .describe("Distance of every joint from the gait's standing posture up to which it is taken over. [rad or m]")
                .range(0.0..=10.0)
                .declare()?,
            following_tolerance: node
                .parameter("following_tolerance", 0.15)
                .describe("Distance of a joint from its target beyond which, for 0.5 s in all, a walk is given up; 0 is not checked. [rad or m]")
                .range(0.0..=10.0)
                .declare()?,
            state_timeout: node
                .parameter("state_timeout", 0.5)
                .describe("Gap between two samples after which a walk is given up. [s]")
                .range(0.001..=60.0)
                .declare()?,
            velocity_timeout: node
                .parameter("velocity_timeout", 0.5)
                .describe("Silence of `cmd_vel` after which the robot stops. [s]")
                .range(0.01..=60.0)
                .declare()?,
        })
    }
}
