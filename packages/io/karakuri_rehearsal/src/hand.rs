//! Hand of a cell's robot: its machine, and what stands between that and the controller.

use karakuri_control::FeedforwardController;
use karakuri_grasp::gripper_command::GripperReport;
use karakuri_grasp::hand_command::HandCommandRun;
use karakuri_grasp::pick_and_place::{
    Defaults, Failure, Measurement, PickAndPlace, PickAndPlaceResult, PickAndPlaceSettings,
    Sighting, Stage,
};
use karakuri_hardware::RobotLayout;
use karakuri_spatial::Time;

use crate::arm::Arm;
use crate::cell::CellError;
use crate::measured::Instant;
use crate::tuning::HandTuning;

/// Hand of a cell's robot.
#[derive(Debug, Clone)]
pub struct Hand {
    /// Machine of the hand; a new one by [`Cell::start_again`](crate::Cell::start_again).
    pub machine: PickAndPlace,
    /// Settings of its next act.
    pub(crate) tuning: HandTuning,
    pub(crate) arm: Arm,
    /// Gripper command that is carried out.
    pub(crate) gripper: Option<GripperRun>,
    /// Group of the hand's joints; `None` where the hand has none.
    group: Option<usize>,
    /// Indices of the hand's force sensors in a sample.
    wrenches: Vec<usize>,
    /// Force of the vacuum that is desired. [N]
    vacuum: f64,
}

/// Gripper command that is being carried out, and when it began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GripperRun {
    pub(crate) run: HandCommandRun,
    pub(crate) begun: Time,
}

impl Hand {
    pub(crate) fn new(
        machine: PickAndPlace,
        tuning: HandTuning,
        layout: &RobotLayout,
    ) -> Result<Self, CellError> {
        let model = &layout.model;
        let measured = |&sensor: &usize| {
            let name = &model.sensors[sensor].name;
            let place = layout.wrenches.iter().position(|wrench| wrench.name == *name);
            place.ok_or_else(|| CellError::Sensor(name.clone()))
        };
        let wrenches = machine.sensors().iter().map(measured).collect::<Result<_, _>>()?;
        let in_group = |joint: &String| {
            let id = model.joint(joint);
            let found = model
                .groups
                .iter()
                .position(|group| id.is_some_and(|id| group.joints.contains(&id)));
            found.ok_or_else(|| CellError::Group(joint.clone()))
        };
        let group = match (machine.opening_hand(), machine.drives().first()) {
            (Some(_), Some(joint)) => Some(in_group(joint)?),
            _ => None,
        };
        Ok(Self {
            machine,
            tuning,
            arm: Arm::default(),
            gripper: None,
            group,
            wrenches,
            vacuum: 0.0,
        })
    }

    /// Settings of pick and place at full speed.
    pub fn usual_settings(&self) -> &PickAndPlaceSettings {
        &self.tuning.pick_and_place
    }

    /// Values for what a goal leaves open.
    pub fn defaults(&self) -> Defaults {
        self.tuning.unstated.of(&self.machine)
    }

    /// Sets the speeds to a share of the usual ones. [-]
    pub(crate) fn set_speeds(&mut self, share: f64) {
        self.machine.set_speeds(&self.tuning.pick_and_place, share);
    }

    /// Sets what closes and opens the hand.
    pub(crate) fn set_grip(&mut self) {
        self.machine.set_grip(self.tuning.grip);
    }

    /// Force of the vacuum that is desired. [N]
    pub(crate) fn vacuum(&self) -> f64 {
        self.vacuum
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.machine.is_busy() || self.gripper.is_some()
    }

    pub(crate) fn cancel(&mut self) {
        self.machine.cancel();
        if self.gripper.take().is_some() {
            self.machine.stay();
        }
    }

    /// Drops what an act before has left.
    pub(crate) fn prepare(&mut self) {
        self.arm.clear();
        self.gripper = None;
    }

    /// Gives the machine a sample and what is seen; the result of an act that ends by it.
    pub(crate) fn tick(
        &mut self,
        at: &Instant<'_>,
        sighting: Option<Sighting<'_>>,
        controller: &mut FeedforwardController,
    ) -> Option<PickAndPlaceResult> {
        let Instant { now, period, sample, measured } = *at;
        let wrenches: Vec<_> = self.wrenches.iter().map(|&i| sample.wrenches[i]).collect();
        let measured = Measurement {
            time: now,
            q: &measured.q,
            v: &measured.v,
            effort: &measured.effort,
            wrenches: &wrenches,
            vacuums: &sample.vacuums,
            arm: self.arm.report(),
            sighting,
        };
        let output = self.machine.tick(&measured, period).clone();
        if let Some(request) = &output.arm {
            self.arm.request(request, controller, now);
        }
        self.vacuum = output.hand.iter().map(|reference| reference.effort).sum();
        output.result.or_else(|| self.check_gripper(now, period))
    }

    /// Gives the controller the references of the hand's joints.
    pub(crate) fn refer(&self, controller: &mut FeedforwardController, now: Time, period: f64) {
        if let Some(machine) = self.group.and_then(|group| controller.machine_mut(group)) {
            let stream = self.machine.hand_trajectory(now, period);
            // Before its first update the controller knows no state, and takes nothing.
            machine.accept_topic(&stream, now).ok();
        }
    }

    /// Checks the gripper command after a tick; its result when it has ended.
    fn check_gripper(&mut self, now: Time, period: f64) -> Option<PickAndPlaceResult> {
        let GripperRun { mut run, begun } = self.gripper.take()?;
        let (report, has_ended) = run.check(&mut self.machine, period);
        if !has_ended {
            self.gripper = Some(GripperRun { run, begun });
            return None;
        }
        let GripperReport { opening, effort, stalled, .. } = report;
        let end = if stalled { "stalled" } else { "as commanded" };
        let message = match self.machine.opening_hand() {
            Some(_) => format!("{end}: {:.1} mm open, {effort:.1} N", 1e3 * opening),
            None => format!("{end}: the vacuum holds with {effort:.1} N"),
        };
        Some(PickAndPlaceResult {
            failure: (!run.succeeded(&report)).then_some(Failure::Blocked),
            stage: Stage::Done,
            message,
            elapsed: now.seconds_since(begun),
            width: opening,
            forces: [effort; 2],
            retries: 0,
        })
    }
}
