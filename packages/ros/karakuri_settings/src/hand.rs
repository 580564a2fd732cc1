//! Parameters of a hand.

use karakuri_grasp::grip_force::GripSettings;
use karakuri_grasp::gripper_command::{CommandUnit, GripperCommandSettings};
use karakuri_grasp::pick_and_place::{PickAndPlaceSettings, Unstated};

karakuri_ros::parameters! {
    /// Parameters of a hand.
    pub struct HandParameters {
        grip_force: f64 = Unstated::default().grip_force, "Force of a finger where a goal names none. [N]", range(0.1..=1000.0);
        friction: f64 = Unstated::default().friction, "Friction coefficient between jaw and object where a goal names none. [-]", range(0.01..=5.0);
        approach_height: f64 = Unstated::default().approach_height, "Vertical distance above pick and place where a goal names none. [m]", range(0.0..=1.0);
        speed: f64 = PickAndPlaceSettings::default().speed, "Speed of the tool. [m/s]", range(0.01..=5.0);
        acceleration: f64 = PickAndPlaceSettings::default().acceleration, "Acceleration of the tool without load. [m/s²]", range(0.01..=50.0);
        slip_safety: f64 = PickAndPlaceSettings::default().slip_safety, "How much more friction than needed a held object has. [-]", range(1.0..=10.0);
        gravity: f64 = PickAndPlaceSettings::default().gravity, "Gravity where the robot works: what is held weighs by it. [m/s²]", range(0.1..=100.0);
        touch_speed: f64 = GripSettings::default().touch_speed, "Rate of the opening near the object and after contact. [m/s]", range(0.001..=0.1);
        closing_speed: f64 = GripSettings::default().speed, "Rate of the opening in free motion. [m/s]", range(0.001..=1.0);
        contact_force: f64 = GripSettings::default().contact_force, "Force of a finger above which it touches something. [N]", range(0.05..=100.0);
        allow_stalling: bool = GripperCommandSettings::default().allow_stalling, "Whether gripper_cmd succeeds when an object stops the fingers.";
        joint_positions: bool = false, "Whether gripper_cmd states position and effort of the driven joint, as MoveIt does, in place of opening and force of a finger.";
        stall_timeout: f64 = GripperCommandSettings::default().stall_timeout, "Time without progress after which the fingers count as stalled. [s]", range(0.05..=60.0);
        goal_tolerance: f64 = GripperCommandSettings::default().goal_tolerance, "Opening error below which gripper_cmd has reached its goal. [m]", range(1e-5..=0.1);
    }
}

impl HandParameters {
    /// Settings of pick and place at full speed.
    pub fn pick_and_place(&self) -> PickAndPlaceSettings {
        PickAndPlaceSettings {
            speed: self.speed.get(),
            acceleration: self.acceleration.get(),
            slip_safety: self.slip_safety.get(),
            gravity: self.gravity.get(),
            ..PickAndPlaceSettings::default()
        }
    }

    /// Settings of the grip.
    pub fn grip(&self) -> GripSettings {
        GripSettings {
            contact_force: self.contact_force.get(),
            speed: self.closing_speed.get(),
            touch_speed: self.touch_speed.get(),
        }
    }

    /// Settings of gripper commands.
    pub fn command(&self) -> GripperCommandSettings {
        GripperCommandSettings {
            goal_tolerance: self.goal_tolerance.get(),
            stall_timeout: self.stall_timeout.get(),
            allow_stalling: self.allow_stalling.get(),
            max_effort: self.grip_force.get(),
            ..GripperCommandSettings::default()
        }
    }

    /// Values for what a goal leaves open.
    pub fn unstated(&self) -> Unstated {
        Unstated {
            grip_force: self.grip_force.get(),
            friction: self.friction.get(),
            approach_height: self.approach_height.get(),
        }
    }

    /// Quantities that a client of `gripper_cmd` speaks of.
    pub fn command_unit(&self) -> CommandUnit {
        if self.joint_positions.get() { CommandUnit::Joint } else { CommandUnit::Opening }
    }
}
