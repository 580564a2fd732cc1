//! Pick and place: from a pose to take and a pose to put to arm trajectories, hand references and an honest result.
//!
//! `APPROACH → DESCEND → CLOSE → VERIFY → LIFT → MOVE → LOWER → OPEN → RETREAT`. Everything is planned and checked by
//! inverse kinematics before anything moves. Each [`tick`](PickAndPlace::tick) is a function of the measurement and the
//! time: transitions never depend on when an answer to a request came, so equal measurements give equal runs.
//!
//! On a failure with free hands the fingers open and the arm goes back up. A cancel stops smoothly; a held object stays
//! held: the machine then goes on giving the hand's reference for as long as it is ticked.
//! Units: m, rad, s, N, kg; poses of the object's centre in the world.

mod plan;
mod types;

pub use plan::{Plan, PlanError};
pub use types::{
    ArmReport, ArmRequest, Failure, Feedback, Measurement, ObjectPose, Output, PickAndPlaceGoal,
    PickAndPlaceResult, PickAndPlaceSettings, Stage,
};

use std::sync::Arc;

use karakuri_control::Time;
use karakuri_control::trajectory::JointTrajectory;
use karakuri_dynamics::{Data, forward_kinematics};
use karakuri_model::Model;

use crate::end_effector::{EndEffectorError, FingerSensors, from_model};
use crate::grip_force::{GripForce, GripSettings, GripTask, is_firm};
use crate::{EndEffector, FingerForce};

/// The machine.
#[derive(Debug)]
pub struct PickAndPlace {
    model: Arc<Model>,
    hand: Box<dyn EndEffector>,
    sensors: FingerSensors,
    grip: GripForce,
    settings: PickAndPlaceSettings,
    data: Data,
    run: Option<Run>,
    last: Option<Time>,
    output: Output,
    /// The output was given by a tick already.
    delivered: bool,
}

/// A goal under way.
#[derive(Debug)]
struct Run {
    goal: PickAndPlaceGoal,
    plan: Plan,
    stage: Stage,
    started: Time,
    entered: Time,
    /// How long the present stage's condition has held. [s]
    held: f64,
    /// Time without a sign of what the stage waits for. [s]
    missing: f64,
    failure: Option<(Failure, Stage, String)>,
    /// Forces and width when the object was held, for the result.
    grip: Option<(f64, [f64; 2])>,
    retries: u32,
}

impl PickAndPlace {
    /// For a robot with an end effector; the arm is its first group.
    pub fn new(
        model: Arc<Model>,
        settings: PickAndPlaceSettings,
        grip: GripSettings,
    ) -> Result<Self, EndEffectorError> {
        let hand = from_model(&model)?;
        let sensors = FingerSensors::new(&model)?;
        let stiffness = model.joints[hand.joint().0].drive.map_or(1.0, |d| d.stiffness);
        Ok(Self {
            data: Data::new(&model),
            grip: GripForce::new(grip, stiffness),
            model,
            hand,
            sensors,
            settings,
            run: None,
            last: None,
            output: Output::default(),
            delivered: true,
        })
    }

    /// The hand.
    pub fn hand(&self) -> &dyn EndEffector {
        self.hand.as_ref()
    }

    /// The hand and its grip control, for gripper commands while nothing is picked.
    pub fn hand_and_grip(&mut self) -> (&dyn EndEffector, &mut GripForce) {
        (self.hand.as_ref(), &mut self.grip)
    }

    /// The hand's sensors, in the order of a measurement's wrenches.
    pub fn sensors(&self) -> FingerSensors {
        self.sensors
    }

    /// The settings, live; a goal under way keeps its plan.
    pub fn settings_mut(&mut self) -> &mut PickAndPlaceSettings {
        &mut self.settings
    }

    /// True while a goal is under way.
    pub fn is_busy(&self) -> bool {
        self.run.is_some()
    }

    /// Where it stands since the last tick.
    pub fn feedback(&self) -> &Feedback {
        &self.output.feedback
    }

    /// Plans a goal from the measured position and starts it; nothing moves if the plan fails. (nq)
    pub fn start(&mut self, goal: PickAndPlaceGoal, now: Time, q: &[f64]) -> Result<(), PlanError> {
        if self.run.is_some() {
            return Err(PlanError::Busy);
        }
        let plan = Plan::new(&self.model, self.hand.as_ref(), &goal, &self.settings, q)?;
        let run = Run {
            goal,
            plan,
            stage: Stage::Approach,
            started: now,
            entered: now,
            held: 0.0,
            missing: 0.0,
            failure: None,
            grip: None,
            retries: 0,
        };
        self.run = Some(run);
        self.output.result = None;
        self.enter(Stage::Approach, now);
        self.delivered = false;
        Ok(())
    }

    /// Cancels: the arm stops smoothly; an object in the hand stays there. The result comes with the next tick.
    pub fn cancel(&mut self) {
        if let Some(run) = &mut self.run {
            let text = if run.stage.is_carrying() {
                "cancelled; the arm stopped and the object is still held"
            } else {
                "cancelled; the arm stopped"
            };
            run.failure = Some((Failure::Canceled, run.stage, text.to_owned()));
            run.stage = Stage::Stopped;
            self.output.arm = Some(ArmRequest::Stop);
            self.delivered = false;
            if !matches!(self.grip.task(), GripTask::Close { .. }) {
                self.grip.set_task(GripTask::Stay);
            }
        }
    }

    /// One period from the measurement on. [s]
    pub fn tick(&mut self, measured: &Measurement<'_>, dt: f64) -> &Output {
        // What the last tick gave was taken. Requests made since then (start, cancel) leave with this one.
        if core::mem::replace(&mut self.delivered, true) {
            self.output.arm = None;
            self.output.result = None;
        }
        if self.last == Some(measured.time) {
            // The same instant again (a paused simulation): the same hand reference, no request twice.
            self.delivered = self.output.arm.is_none();
            return &self.output;
        }
        if self.last.is_some_and(|last| measured.time < last) {
            self.grip.reset();
            self.abandon("the clock jumped back");
        }
        let gap = self.last.map_or(0.0, |last| measured.time.since(last));
        self.last = Some(measured.time);
        if self.run.is_some() && gap > self.settings.robot_timeout {
            self.abandon(&format!("no measurement for {gap:.2} s"));
            self.output.arm = Some(ArmRequest::Stop);
        }
        let fingers = self.feel(measured);
        let joint = &self.model.joints[self.hand.joint().0];
        let position = measured.q[joint.q_start];
        self.output.hand = self.grip.tick(self.hand.as_ref(), position, &fingers, dt);
        self.advance(measured, dt);
        self.report(measured.time);
        &self.output
    }

    fn feel(&mut self, measured: &Measurement<'_>) -> [FingerForce; 2] {
        forward_kinematics(&self.model, &mut self.data, measured.q);
        self.sensors.forces(&self.model, &self.data, measured.wrenches)
    }

    /// Ends a run whose time or robot is gone.
    fn abandon(&mut self, why: &str) {
        if let Some(run) = &mut self.run {
            run.failure = Some((Failure::RobotLost, run.stage, why.to_owned()));
            run.stage = Stage::Stopped;
        }
    }

    /// Enters a stage: its hand task and its arm trajectory.
    fn enter(&mut self, stage: Stage, now: Time) {
        let Some(run) = &mut self.run else { return };
        (run.stage, run.entered, run.held, run.missing) = (stage, now, 0.0, 0.0);
        let speed = self.grip.settings().speed;
        let open = GripTask::MoveTo { opening: run.plan.open, speed };
        match stage {
            Stage::Approach | Stage::Open | Stage::Undo => self.grip.set_task(open),
            Stage::Close => {
                self.grip.tare();
                self.grip.set_task(GripTask::Close {
                    force: run.goal.grip_force,
                    slow_below: run.plan.width + self.settings.width_tolerance,
                });
            }
            _ => {}
        }
        if let Some(trajectory) = run.plan.trajectory(stage) {
            let trajectory = JointTrajectory { start: Some(now), ..trajectory.clone() };
            self.output.arm = Some(ArmRequest::Follow(trajectory));
        }
    }

    fn fail(&mut self, failure: Failure, now: Time, text: String) {
        let Some(run) = &mut self.run else { return };
        let stage = run.stage;
        run.failure.get_or_insert((failure, stage, text));
        if stage.is_at_object() {
            // Free hands at the object: open and go back up.
            self.enter(Stage::Undo, now);
        } else {
            run.stage = Stage::Stopped;
            self.output.arm = Some(ArmRequest::Stop);
        }
    }

    /// What the present stage makes of the measurement.
    fn advance(&mut self, measured: &Measurement<'_>, dt: f64) {
        let now = measured.time;
        let Some(run) = &mut self.run else { return };
        let stage = run.stage;
        if stage == Stage::Stopped {
            return;
        }
        if let ArmReport::Failed(why) = measured.arm
            && stage != Stage::Undo
        {
            let text = format!("the arm gave up: {why}");
            let failure = Failure::Collision;
            run.failure = Some((failure, stage, text));
            run.stage = Stage::Stopped;
            return;
        }
        let elapsed = now.since(run.entered);
        let arrived = run.plan.arrived(&self.model, &self.settings, stage, elapsed, measured);
        if elapsed > run.plan.duration(stage) + self.settings.stage_timeout {
            let lacking = run.plan.describe_error(&self.model, stage, measured);
            let text = format!("{stage} took longer than {elapsed:.1} s; {lacking}");
            // A failed undo must not undo again.
            if stage == Stage::Undo {
                run.stage = Stage::Stopped;
                self.output.arm = Some(ArmRequest::Stop);
            } else {
                self.fail(
                    if stage == Stage::Open { Failure::Stuck } else { Failure::TimeOut },
                    now,
                    text,
                );
            }
            return;
        }
        match stage {
            Stage::Approach | Stage::Descend => self.unloaded(stage, arrived, now),
            Stage::Close => self.close(now, dt),
            Stage::Verify | Stage::Lift | Stage::Move | Stage::Lower => {
                self.carry(stage, arrived, now, dt);
            }
            Stage::Open => self.open(now, dt),
            Stage::Undo if arrived => {
                if let Some(run) = &mut self.run {
                    run.stage = Stage::Stopped;
                }
            }
            Stage::Retreat if arrived => {
                if let Some(run) = &mut self.run {
                    run.stage = Stage::Done;
                }
            }
            _ => {}
        }
    }

    fn unloaded(&mut self, stage: Stage, arrived: bool, now: Time) {
        let state = *self.grip.state();
        let collision = self.settings.collision_force;
        if let Some(k) = state.forces.iter().position(|f| f.abs() > collision) {
            let force = state.forces[k];
            let text = format!("finger {k} met {force:.1} N on the way, above {collision:.1} N");
            return self.fail(Failure::Collision, now, text);
        }
        if arrived {
            self.enter(if stage == Stage::Approach { Stage::Descend } else { Stage::Close }, now);
        }
    }

    fn close(&mut self, now: Time, dt: f64) {
        let state = *self.grip.state();
        let Some(run) = &mut self.run else { return };
        let (width, tolerance) = (run.plan.width, self.settings.width_tolerance);
        if state.at_end || state.opening < width - 2.0 * tolerance {
            let text = format!(
                "the fingers closed to {:.1} mm, the object is {:.1} mm wide; forces {:.1} and {:.1} N",
                1e3 * state.opening,
                1e3 * width,
                state.forces[0],
                state.forces[1]
            );
            let touched = state.touching[0] && state.touching[1] && !state.at_end;
            let failure = if touched { Failure::WrongSize } else { Failure::NoObject };
            return self.fail(failure, now, text);
        }
        if state.gripped {
            if (state.opening - width).abs() > tolerance {
                let text = format!(
                    "the fingers stopped at {:.1} mm, the object should be {:.1} mm wide",
                    1e3 * state.opening,
                    1e3 * width
                );
                return self.fail(Failure::WrongSize, now, text);
            }
            return self.enter(Stage::Verify, now);
        }
        // One finger presses hard and the other feels nothing: something holds the object or the hand.
        let [a, b] = state.touching;
        let pressed = state.forces.iter().any(|f| *f > 0.5 * run.goal.grip_force);
        run.missing = if a != b && pressed { run.missing + dt } else { 0.0 };
        if run.missing > self.settings.one_sided_time {
            let text = format!(
                "only one finger touches: forces {:.1} and {:.1} N",
                state.forces[0], state.forces[1]
            );
            self.fail(Failure::Blocked, now, text);
        }
    }

    fn carry(&mut self, stage: Stage, arrived: bool, now: Time, dt: f64) {
        let state = *self.grip.state();
        let Some(run) = &mut self.run else { return };
        run.grip = Some((state.opening, state.forces));
        let wanted = run.goal.grip_force;
        let lost = state.forces.iter().any(|f| *f < 0.5 * wanted)
            || state.opening < run.plan.width - 2.0 * self.settings.width_tolerance;
        run.missing = if lost { run.missing + dt } else { 0.0 };
        if run.missing > self.settings.slip_time {
            let text = format!(
                "the grip was lost in {stage} after {:.2} s: opening {:.1} mm, forces {:.1} and {:.1} N of {wanted:.1}",
                now.since(run.entered),
                1e3 * state.opening,
                state.forces[0],
                state.forces[1]
            );
            return self.fail(Failure::Slipped, now, text);
        }
        let firm = is_firm(&state.forces, wanted);
        run.held = if firm { run.held + dt } else { 0.0 };
        let next = match stage {
            Stage::Verify if run.held >= self.settings.verify_time => Stage::Lift,
            Stage::Lift if arrived && firm => Stage::Move,
            Stage::Move if arrived => Stage::Lower,
            Stage::Lower if arrived => Stage::Open,
            _ => return,
        };
        self.enter(next, now);
    }

    fn open(&mut self, now: Time, dt: f64) {
        let state = *self.grip.state();
        let Some(run) = &mut self.run else { return };
        let free = !state.touching[0] && !state.touching[1];
        let wide = state.opening > run.plan.open - 0.002;
        run.held = if free && wide { run.held + dt } else { 0.0 };
        if run.held > self.settings.release_time {
            self.enter(Stage::Retreat, now);
        }
    }

    /// Feedback, and the result when the run is over.
    fn report(&mut self, now: Time) {
        let state = *self.grip.state();
        let Some(run) = &self.run else {
            self.output.feedback =
                Feedback { opening: state.opening, forces: state.forces, ..Feedback::default() };
            return;
        };
        self.output.feedback = Feedback {
            stage: run.stage,
            progress: run.plan.progress(run.stage, now.since(run.entered)),
            opening: state.opening,
            forces: state.forces,
            holding: run.stage.is_carrying(),
        };
        if !matches!(run.stage, Stage::Done | Stage::Stopped) {
            return;
        }
        let (opening, forces) = run.grip.unwrap_or((state.opening, state.forces));
        let (failure, stage, message) = match &run.failure {
            Some((failure, stage, text)) => (Some(*failure), *stage, text.clone()),
            None => (None, Stage::Done, "the object is placed".to_owned()),
        };
        self.output.result = Some(PickAndPlaceResult {
            failure,
            stage,
            message,
            elapsed: now.since(run.started),
            width: opening,
            forces,
            retries: run.retries,
        });
        self.run = None;
    }
}
