//! Parameters of the node.

use karakuri_grasp::grip_force::GripSettings;
use karakuri_grasp::gripper_command::GripperCommandSettings;
use karakuri_grasp::pick_and_place::PickAndPlaceSettings;
use karakuri_ros::{Node, Parameter, RobotParameters, RosError};

use crate::node::GripperNode;

/// All parameters.
#[derive(Debug)]
pub(crate) struct Parameters {
    pub(crate) robot: RobotParameters,
    pub(crate) sensor_timeout: Parameter<f64>,
    pub(crate) grip_force: Parameter<f64>,
    pub(crate) friction: Parameter<f64>,
    pub(crate) approach_height: Parameter<f64>,
    speed: Parameter<f64>,
    acceleration: Parameter<f64>,
    slip_safety: Parameter<f64>,
    touch_speed: Parameter<f64>,
    allow_stalling: Parameter<bool>,
    stall_timeout: Parameter<f64>,
    goal_tolerance: Parameter<f64>,
}

impl Parameters {
    pub(crate) fn declare(node: &mut Node<GripperNode>) -> Result<Self, RosError> {
        let pick = PickAndPlaceSettings::default();
        let grip = GripSettings::default();
        let command = GripperCommandSettings::default();
        Ok(Self {
            robot: RobotParameters::declare(node)?,
            sensor_timeout: node
                .parameter("sensor_timeout", 0.2)
                .describe("Age of a force reading above which no goal is taken. [s]")
                .range(0.001..=60.0)
                .declare()?,
            grip_force: node
                .parameter("grip_force", 10.0)
                .describe("Force of a finger where a goal names none. [N]")
                .range(0.1..=1000.0)
                .declare()?,
            friction: node
                .parameter("friction", 0.5)
                .describe(
                    "Friction coefficient between jaw and object where a goal names none. [-]",
                )
                .range(0.01..=5.0)
                .declare()?,
            approach_height: node
                .parameter("approach_height", 0.10)
                .describe("Vertical way above pick and place where a goal names none. [m]")
                .range(0.0..=1.0)
                .declare()?,
            speed: node
                .parameter("speed", pick.speed)
                .describe("Speed of the tool. [m/s]")
                .range(0.01..=5.0)
                .declare()?,
            acceleration: node
                .parameter("acceleration", pick.acceleration)
                .describe("Acceleration of the tool without load. [m/s²]")
                .range(0.01..=50.0)
                .declare()?,
            slip_safety: node
                .parameter("slip_safety", pick.slip_safety)
                .describe("How much more friction than needed a held object has. [-]")
                .range(1.0..=10.0)
                .declare()?,
            touch_speed: node
                .parameter("touch_speed", grip.touch_speed)
                .describe("Rate of the opening near the object and after contact. [m/s]")
                .range(0.001..=0.1)
                .declare()?,
            allow_stalling: node
                .parameter("allow_stalling", command.allow_stalling)
                .describe("Whether gripper_cmd succeeds when an object stops the fingers.")
                .declare()?,
            stall_timeout: node
                .parameter("stall_timeout", command.stall_timeout)
                .describe("Time without progress after which the fingers count as stalled. [s]")
                .range(0.05..=60.0)
                .declare()?,
            goal_tolerance: node
                .parameter("goal_tolerance", command.goal_tolerance)
                .describe("Opening error below which gripper_cmd has reached its goal. [m]")
                .range(1e-5..=0.1)
                .declare()?,
        })
    }

    pub(crate) fn pick_and_place(&self) -> PickAndPlaceSettings {
        PickAndPlaceSettings {
            speed: self.speed.get(),
            acceleration: self.acceleration.get(),
            slip_safety: self.slip_safety.get(),
            ..PickAndPlaceSettings::default()
        }
    }

    pub(crate) fn grip(&self) -> GripSettings {
        GripSettings { touch_speed: self.touch_speed.get(), ..GripSettings::default() }
    }

    pub(crate) fn command(&self) -> GripperCommandSettings {
        GripperCommandSettings {
            goal_tolerance: self.goal_tolerance.get(),
            stall_timeout: self.stall_timeout.get(),
            allow_stalling: self.allow_stalling.get(),
            max_effort: self.grip_force.get(),
            ..GripperCommandSettings::default()
        }
    }
}
