//! Settings of the nodes of a robot, as a cell takes them.

use std::collections::BTreeMap;
use std::sync::Arc;

use karakuri_control::joint_trajectory::Constraints;
use karakuri_control::{
    ControllerError, FeedforwardController, FeedforwardSettings, Gains, Payload,
};
use karakuri_gait::planner::{StabilizerSettings, WalkerSettings};
use karakuri_grasp::grip_force::GripSettings;
use karakuri_grasp::gripper_command::GripperCommandSettings;
use karakuri_grasp::pick_and_place::{PickAndPlaceSettings, Unstated};
use karakuri_grasp::tool_change::ToolChangeSettings;
use karakuri_model::Model;

/// Settings that `gripper`, `feedforward_controller`, `gait_planner` and `tool_changer` have as parameters.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tuning {
    /// Settings of the controller, whose gains are apart: a robot with another tool has other joints.
    pub control: FeedforwardSettings,
    /// Gains of the controller's feedback by the names of joints; the others have none.
    pub gains: BTreeMap<String, Gains>,
    /// Tolerances of the controller's goals.
    pub constraints: Constraints,
    /// Settings of the hand.
    pub hand: HandTuning,
    /// Settings of the walk.
    pub walk: WalkTuning,
    /// Settings of changes of tools.
    pub tool_change: ToolChangeSettings,
}

/// Settings of a hand.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HandTuning {
    /// Settings of pick and place at full speed.
    pub pick_and_place: PickAndPlaceSettings,
    /// Settings of the grip.
    pub grip: GripSettings,
    /// Settings of gripper commands.
    pub command: GripperCommandSettings,
    /// Values for what a goal leaves open.
    pub unstated: Unstated,
}

/// Settings of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct WalkTuning {
    /// Settings of the stabiliser; `None`: those of the gait file.
    pub stabilizer: Option<StabilizerSettings>,
    /// Tolerances of the robot's joints.
    pub walker: WalkerSettings,
    /// Whether the inertial sensor is not followed, nor those of the feet.
    pub without_imu: bool,
}

impl Tuning {
    /// Settings of the controller of a model.
    fn control_of(&self, model: &Model) -> FeedforwardSettings {
        let gains = |name: &String| self.gains.get(name).copied().unwrap_or_default();
        // What a link of a tool carries goes with the tool.
        let is_there = |payload: &&Payload| model.frame(&payload.link).is_some();
        FeedforwardSettings {
            gains: model.joints.iter().map(|joint| gains(&joint.name)).collect(),
            payload: self.control.payload.as_ref().filter(is_there).cloned(),
            ..self.control.clone()
        }
    }

    /// Controller with these settings, before its first sample.
    pub(crate) fn controller(
        &self,
        model: &Arc<Model>,
    ) -> Result<FeedforwardController, ControllerError> {
        let settings = self.control_of(model);
        let mut controller = FeedforwardController::new(Arc::clone(model), settings)?;
        self.constrain(&mut controller);
        Ok(controller)
    }

    /// Gives a controller these settings, from its next sample on.
    pub(crate) fn tune(
        &self,
        controller: &mut FeedforwardController,
    ) -> Result<(), ControllerError> {
        let settings = self.control_of(controller.model());
        controller.set_settings(settings)?;
        self.constrain(controller);
        Ok(())
    }

    fn constrain(&self, controller: &mut FeedforwardController) {
        for group in 0..controller.groups().len() {
            if let Some(machine) = controller.machine_mut(group) {
                self.constraints.apply(machine.settings_mut());
            }
        }
    }
}
