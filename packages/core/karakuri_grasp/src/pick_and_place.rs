//! Pick and place: arm trajectories, hand references and a result from a pose to pick and a pose to place.
//!
//! `APPROACH → DESCEND → CLOSE → VERIFY → LIFT_OFF → WEIGH → LIFT → MOVE → LOWER → OPEN → RETREAT`. Everything is planned,
//! and checked by inverse kinematics and against known objects, before anything moves. Each
//! [`tick`](PickAndPlace::tick) is a function of the measurement and the time: transitions never depend on when an answer
//! to a request came, so equal measurements give equal runs.
//!
//! | trouble | sign | reaction |
//! |---|---|---|
//! | one finger touches first | one sensor only while closing | `CENTRE`: the hand moves to that side until both touch; out of reach: `BLOCKED` |
//! | no seal | no vacuum though the lips are on the object | as for no object; then `NO_SEAL` |
//! | a finger of three does not press | the forces of the two that face the thumb | `OPEN`, `UNDO`, `PARTIAL` |
//! | no object, or blocked | fingers closed, or centring out of reach | `OPEN`, `UNDO` (up), `LOOK`; once more where it is seen; then the failure |
//! | wrong size | stopped at another opening | `OPEN`, `UNDO`, `WRONG_SIZE` |
//! | slips when lifted | in `WEIGH` the load changes with the grip's force | `SET_DOWN`, `OPEN`, `UNDO`, `LOOK`, a grip for the friction felt; at the limit `SLIPPED` |
//! | other weight than stated | the load in `WEIGH` | lighter: goes on; heavier: the same with a grip for that weight; beyond the limit `TOO_HEAVY` |
//! | stands early | the load falls in `LOWER` | `HALT`, `OPEN` |
//! | slips while carried | forces or load fall | more force up to the limit; then `HALT`, `SLIPPED`, what is held stays held |
//! | vacuum lost while carried | no vacuum in any cup | `HALT`, `PRESSURE_LOST` |
//! | collision | force on a free finger, or the controller gives up | `HALT`, `BACK_UP` 20 mm, `COLLISION` |
//! | sticks to the hand | not free after opening | `SHAKE` once, then `STUCK` |
//! | no progress | a stage takes too long | `HALT`, `TIMEOUT` |
//!
//! A move of the tool ([`ToolMove`]) is a run of its own, with the stages `MOVE` and `HALT`.
//! A cancel stops smoothly; a held object stays held: the machine then goes on giving the hand's reference for as long as
//! it is ticked.
//! Units: m, rad, s, N, kg; poses of the object's centre in the world.

mod alternatives;
mod clearance;
mod plan;
mod plan_error;
mod planner;
mod posture;
mod run;
mod statement;
mod tool_move;
mod tuning;
pub(crate) mod types;
mod upright;

pub use crate::hull::Hull;
pub use plan::Plan;
pub use plan_error::PlanError;
pub use statement::{Defaults, Misstated, StatedGrasp, Statement, Unstated, speed_share};
pub use tool_move::{ToolAim, ToolMove};
pub use tuning::path_tolerances;
pub use types::{
    ArmFailure, ArmReport, ArmRequest, Failure, Feedback, Grasp, KnownObject, Measurement,
    ObjectPose, ObjectShape, Output, Part, PickAndPlaceGoal, PickAndPlaceResult,
    PickAndPlaceSettings, Profile, Sighting, Stage,
};
pub use upright::{Leaning, Tilted, Upright, centered, grasp, moved, turned, upright};

use std::sync::Arc;

use karakuri_control::trajectory::{JointTrajectory, TrajectoryPoint};
use karakuri_dynamics::{Data, forward_kinematics, frame_pose, frame_velocity, update_velocities};
use karakuri_model::{FrameId, Model};
use karakuri_spatial::Time;
use karakuri_spatial::Vector3;

use crate::end_effector::EndEffectorError;
use crate::grip_force::{DriveRange, GripSettings, HandReference};
use crate::grip_monitor::GripTrend;
use crate::hand::interface::{Centring, Hand, Sample};
use crate::hand::{self, Channel, OpeningHand};
use alternatives::alternatives;
use plan::Reaction;
use planner::{Task, as_it_stands};
use run::{Found, Run, Seen, Step, Tries, Weighing};
use tool_move::MoveRun;
use tuning::{
    BACK_UP, CENTRING_REACH, LOOK_RADIUS, LOOK_TIME, ROBOT_TIMEOUT, SLIP_TIME, STAGE_TIMEOUT,
    VELOCITY_TOLERANCE,
};

/// Speed below which the tool's velocity has no reliable direction. [m/s]
const HEADING_SPEED: f64 = 0.01;

/// State machine of pick and place.
#[derive(Debug, Clone)]
pub struct PickAndPlace {
    model: Arc<Model>,
    hand: Box<dyn Hand>,
    settings: PickAndPlaceSettings,
    data: Data,
    run: Option<Run>,
    /// Last run, if it ended with the object in the hand, for as long as it is there.
    carried: Option<Run>,
    /// Move of the tool in progress.
    moving: Option<MoveRun>,
    /// First sighting since the run began to look.
    sighted: Option<Vec<KnownObject>>,
    last: Option<Time>,
    /// Positions at the last tick. [m or rad] (nq)
    place: Vec<f64>,
    tool_velocity: Vector3,
    output: Output,
    /// Whether a tick has given the output already.
    delivered: bool,
}

impl PickAndPlace {
    /// Machine of a robot with an end effector; the arm is its first group. Without finger sensors it runs gripper commands only.
    ///
    /// # Errors
    /// When the hand or its finger sensors cannot be made from the model's `end_effector`.
    pub fn new(
        model: Arc<Model>,
        settings: PickAndPlaceSettings,
        grip: GripSettings,
    ) -> Result<Self, EndEffectorError> {
        Ok(Self {
            data: Data::new(&model),
            hand: hand::from_model(&model, grip)?,
            model,
            settings,
            run: None,
            carried: None,
            moving: None,
            sighted: None,
            last: None,
            place: Vec::new(),
            tool_velocity: Vector3::zeros(),
            output: Output::default(),
            delivered: true,
        })
    }

    /// The hand, if it is one with fingers and an opening.
    pub fn opening_hand(&self) -> Option<&OpeningHand> {
        self.hand.opening()
    }

    /// The hand, for gripper commands while nothing is picked, if it is one with fingers and an opening.
    pub fn opening_hand_mut(&mut self) -> Option<&mut OpeningHand> {
        self.hand.opening_mut()
    }

    /// Tool frame of the hand.
    pub fn tool_frame(&self) -> FrameId {
        self.hand.tool_frame()
    }

    /// Limits of the driven joint of a hand with an opening.
    pub(crate) fn drive_range(&self) -> Option<DriveRange> {
        let joint = self.opening_hand()?.fingers().joint();
        let limits = self.model.joints[joint.0].limits;
        Some(DriveRange { lower: limits.lower, upper: limits.upper })
    }

    pub(crate) fn hand_mut(&mut self) -> &mut dyn Hand {
        self.hand.as_mut()
    }

    /// Name of the hand's kind in the robot YAML.
    pub fn kind(&self) -> &'static str {
        self.hand.kind()
    }

    /// Names of what the hand's references are for: its driven joints, or its vacuum generator.
    pub fn drives(&self) -> &[String] {
        self.hand.drives()
    }

    /// Targets of the hand's drives at the end of a period [s] that began at a time, as the last tick gave them.
    pub fn hand_trajectory(&self, time: Time, period: f64) -> JointTrajectory {
        let each = |of: fn(&HandReference) -> f64| self.output.hand.iter().map(of).collect();
        JointTrajectory {
            start: Some(time),
            joints: self.drives().to_vec(),
            points: vec![TrajectoryPoint {
                time_from_start: period,
                positions: each(|reference| reference.position),
                velocities: each(|reference| reference.velocity),
                accelerations: Vec::new(),
                efforts: each(|reference| reference.effort),
            }],
        }
    }

    /// Suction cups of a measurement's vacuums, in their order.
    pub fn cups(&self) -> &[Channel] {
        self.hand.cups()
    }

    /// What the hand tells of itself.
    pub fn channels(&self) -> &[Channel] {
        self.hand.channels()
    }

    /// The grip since the last call, `elapsed` ago. [s]
    pub fn trend(&mut self, elapsed: f64) -> GripTrend {
        self.hand.trend(self.output.feedback.holding, elapsed)
    }

    /// Run that has its object in the hand: the one in progress, or the last one.
    fn holding(&self) -> Option<&Run> {
        self.run.as_ref().or(self.carried.as_ref()).filter(|run| run.holding)
    }

    /// Share of the hand's strength that what it carries leaves unused at rest; NaN where it carries nothing. [-]
    pub fn margin(&self) -> f64 {
        let Some(run) = self.holding() else { return f64::NAN };
        let payload = run.found.payload(&self.settings);
        1.0 - run.plan.hold().contact.at_rest(&payload) / self.hand.reading().strength
    }

    /// Keeps the hand where it is, at the end of a gripper command.
    pub fn stay(&mut self) {
        self.hand.stay();
    }

    /// Changes the settings of the grip, which may be done while it runs; hands without fingers have none.
    pub fn set_grip(&mut self, settings: GripSettings) {
        if let Some(hand) = self.hand.opening_mut() {
            *hand.fingers_and_grip().1.settings_mut() = settings;
        }
    }

    /// Greatest strength of the hand: the force of a finger, or that of the vacuum over all cups. [N]
    pub fn force_max(&self) -> f64 {
        self.hand.force_max()
    }

    /// Strength of the hand where a goal names none and the setting is `setting`. [N]
    pub fn usual_strength(&self, setting: f64) -> f64 {
        self.hand.usual_strength(setting)
    }

    /// Sensors of a measurement's wrenches, in their order, as indices into the model's; none where the hand estimates its forces.
    pub fn sensors(&self) -> &[usize] {
        self.hand.sensors()
    }

    /// Settings that are in force.
    pub fn settings(&self) -> &PickAndPlaceSettings {
        &self.settings
    }

    /// Takes settings at a share of their speeds and accelerations, for what is in the hand, whose width keeps its tolerance. [-]
    pub fn set_speeds(&mut self, settings: &PickAndPlaceSettings, share: f64) {
        let width_tolerance = self.settings.width_tolerance;
        self.settings = PickAndPlaceSettings { width_tolerance, ..settings.at_speed(share) };
    }

    /// Settings, which may change while it runs; a goal in progress keeps its plan.
    pub fn settings_mut(&mut self) -> &mut PickAndPlaceSettings {
        &mut self.settings
    }

    /// Checks whether the hand holds a goal's object as it lies in any of its ways, wherever that is: reach and obstacles are left out.
    ///
    /// # Errors
    /// When a number of the goal is out of range, the robot has no finger sensors, or the hand cannot hold the object.
    pub fn check_hold(&self, goal: &PickAndPlaceGoal) -> Result<(), PlanError> {
        self.check(goal)?;
        self.hand.holds(goal, &self.settings).map(|_| ())
    }

    /// Refuses what the hand holds in none of its ways; of a goal with grasps only what is out of range.
    fn check(&self, goal: &PickAndPlaceGoal) -> Result<(), PlanError> {
        if let Some(sensors) = self.hand.lacks() {
            return Err(PlanError::NoSensors { robot: self.model.name.clone(), sensors });
        }
        plan::check(goal)?;
        if goal.grasps.is_empty() {
            self.hand.check(goal, &self.settings)?;
        }
        Ok(())
    }

    fn task<'a>(&'a self, goal: &'a PickAndPlaceGoal) -> Task<'a> {
        Task { model: &self.model, goal, settings: &self.settings }
    }

    /// Plan of a goal by any of the holds that the hand has of its object. (nq)
    fn plan(
        &self,
        goal: &PickAndPlaceGoal,
        q: &[f64],
        objects: &[KnownObject],
    ) -> Result<Plan, PlanError> {
        if !goal.grasps.is_empty() {
            return self.plan_given(goal, q, objects);
        }
        let (task, hand) = (self.task(goal), self.hand.as_ref());
        let holds = hand.holds(goal, &self.settings)?;
        let plan = Plan::new(task, hand, &holds, q, objects);
        let Err(PlanError::Unreachable { stage: Stage::Descend, .. }) = plan else { return plan };
        let others = alternatives(hand, goal, &self.settings, &holds);
        Plan::new(task, hand, &others, q, objects).or(plan)
    }

    /// Plan of a goal by the first of its own grasps that can be taken. (nq)
    fn plan_given(
        &self,
        goal: &PickAndPlaceGoal,
        q: &[f64],
        objects: &[KnownObject],
    ) -> Result<Plan, PlanError> {
        let (task, own) = (self.task(goal), self.hand.as_ref());
        let mut order: Vec<_> = goal.grasps.iter().enumerate().collect();
        order.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score));
        let mut faults = Vec::new();
        for (i, grasp) in order {
            let hold = self.hand.grasp(goal, &self.settings, grasp);
            match hold.and_then(|hold| Plan::new(task, own, &[hold], q, objects)) {
                Ok(plan) => return Ok(plan),
                Err(why) => faults.push((i, format!("{}: {why}", i + 1))),
            }
        }
        faults.sort_by_key(|(i, _)| *i);
        let faults: Vec<_> = faults.into_iter().map(|(_, fault)| fault).collect();
        Err(PlanError::Grasps { faults: faults.join("; ") })
    }

    /// Whether the last tick was at this time and position.
    pub fn has_seen(&self, time: Time, q: &[f64]) -> bool {
        self.last == Some(time) && self.place == q
    }

    /// Whether a goal or a move is in progress.
    pub fn is_busy(&self) -> bool {
        self.run.is_some() || self.moving.is_some()
    }

    /// Feedback of the last tick.
    pub fn feedback(&self) -> &Feedback {
        &self.output.feedback
    }

    /// Plans a goal from the measured position, clear of the known objects, and starts it; nothing moves if the plan
    /// fails. The grip is as strong as the goal says, or as the object needs. (nq)
    ///
    /// # Errors
    /// When another goal is active or an object in the hand, a number of this goal is out of range, the object is too heavy for the grip,
    /// the robot has no group for its arm or no finger sensors, or a stage is unreachable.
    pub fn start(
        &mut self,
        mut goal: PickAndPlaceGoal,
        now: Time,
        q: &[f64],
        objects: &[KnownObject],
    ) -> Result<(), PlanError> {
        if self.is_busy() {
            return Err(PlanError::Busy);
        }
        if self.carried.is_some() {
            return Err(PlanError::Holding);
        }
        if goal.part == Part::Pick {
            goal.place = goal.pick;
        }
        self.check(&goal)?;
        let plan = self.plan(&goal, q, objects)?;
        goal.grip_force = plan.hold().strength(&goal, &self.settings);
        let run = Run {
            found: Found { friction: goal.friction, mass: goal.mass },
            goal,
            plan,
            stage: Stage::Idle,
            started: now,
            entered: now,
            motion: None,
            held: 0.0,
            missing: 0.0,
            standing: 0.0,
            failure: None,
            holding: false,
            placed: false,
            grip: None,
            weighing: Weighing::default(),
            tries: Tries::default(),
            heading: None,
            progress: 0.0,
        };
        self.output.result = None;
        self.run = Some(self.enter(run, Stage::Approach, now, q));
        self.delivered = false;
        Ok(())
    }

    /// Plans the way of the object in the hand to a place, from wherever the arm has it, clear of the known objects, and starts it; nothing moves
    /// if the plan fails. `place` has the middle of the object in the world, and the turn about the vertical since it was picked. (nq)
    ///
    /// # Errors
    /// When a goal is active, no object that was picked is in the hand, the place is not finite, or a stage is unreachable.
    pub fn place(
        &mut self,
        place: ObjectPose,
        now: Time,
        q: &[f64],
        objects: &[KnownObject],
    ) -> Result<(), PlanError> {
        if self.is_busy() {
            return Err(PlanError::Busy);
        }
        let Some(mut run) = self.carried.clone() else { return Err(PlanError::EmptyHand) };
        let picked = run.goal.pick.yaw;
        let place = ObjectPose { yaw: picked + place.yaw, ..place };
        // The height at which the hand passes over things is that of the place alone: the object is in the air.
        let pick = ObjectPose { yaw: picked, ..place };
        run.goal = PickAndPlaceGoal { part: Part::Whole, pick, place, ..run.goal };
        plan::check(&run.goal)?;
        let task = Task { model: &self.model, goal: &run.goal, settings: &self.settings };
        let planned = run.plan.bring(task, q, objects);
        planned.map_err(|(stage, why)| PlanError::Unreachable { stage, why })?;
        (run.started, run.failure, run.placed, run.standing) = (now, None, false, 0.0);
        (run.tries, run.progress) = (Tries::default(), 0.0);
        self.carried = None;
        self.output.result = None;
        self.run = Some(self.enter(run, Stage::Lift, now, q));
        self.delivered = false;
        Ok(())
    }

    /// Cancels: the arm stops smoothly; an object in the hand stays there. The result comes with the next tick.
    pub fn cancel(&mut self) {
        if let Some(moving) = &mut self.moving {
            let held = if self.carried.is_some() { " and the object is still held" } else { "" };
            let text = format!("cancelled; the arm stopped{held}");
            moving.failure.get_or_insert((Failure::Canceled, moving.stage, text));
            moving.stage = Stage::Stopped;
            self.output.arm = Some(ArmRequest::Stop);
            self.delivered = false;
        }
        if let Some(run) = &mut self.run {
            let text = if run.holding {
                "cancelled; the arm stopped and the object is still held"
            } else {
                "cancelled; the arm stopped"
            };
            run.failure = Some((Failure::Canceled, run.stage, text.to_owned()));
            run.stage = Stage::Stopped;
            self.output.arm = Some(ArmRequest::Stop);
            self.delivered = false;
            // With an object in the hand the grip goes on as it is.
            if !run.holding {
                self.hand.stay();
            }
        }
    }

    /// Runs one period from a measurement on. [s]
    pub fn tick(&mut self, measured: &Measurement<'_>, dt: f64) -> &Output {
        // The output of the last tick was taken. Requests made since then (start, cancel) leave with this one.
        if core::mem::replace(&mut self.delivered, true) {
            self.output.arm = None;
            self.output.result = None;
        }
        if self.has_seen(measured.time, measured.q) {
            // The same instant again (a paused simulation): the same hand reference, no request twice.
            self.delivered = self.output.arm.is_none();
            return &self.output;
        }
        // Equal times come here only with another position: a reset while time stood still.
        if self.last.is_some_and(|last| measured.time <= last) {
            // Filter and target are of another time.
            self.hand.reset();
            self.carried = None;
            self.abandon("the clock jumped back, or the robot was put elsewhere");
            if let Some(run) = &mut self.run {
                run.holding = false;
            }
        }
        self.place.clear();
        self.place.extend_from_slice(measured.q);
        let gap = self.last.map_or(0.0, |last| measured.time.seconds_since(last));
        let is_first = self.last.replace(measured.time).is_none();
        if self.is_busy() && gap > ROBOT_TIMEOUT {
            self.abandon(&format!("no measurement for {gap:.2} s"));
            // The arm may still be following its trajectory.
            self.output.arm = Some(ArmRequest::Stop);
        }
        self.look(measured);
        forward_kinematics(&self.model, &mut self.data, measured.q);
        update_velocities(&self.model, &mut self.data, measured.v);
        let (model, data) = (&self.model, &self.data);
        self.hand.update(&Sample { model, data, measured, dt, is_first });
        self.output.hand.clear();
        self.output.hand.extend_from_slice(self.hand.references());
        self.advance(measured, dt);
        self.report(measured.time);
        &self.output
    }

    /// Keeps the first sighting since the run began to look or to weigh, or a while after it let go: the choice does not depend on when
    /// the sighting came.
    fn look(&mut self, measured: &Measurement<'_>) {
        let Some(run) = &self.run else { return };
        let since = match run.stage {
            Stage::Look | Stage::Weigh => run.entered,
            Stage::Retreat => run.entered.plus_seconds(LOOK_TIME),
            _ => return,
        };
        if self.sighted.is_none()
            && let Some(sighting) = measured.sighting
            && sighting.time >= since
        {
            self.sighted = Some(sighting.objects.to_vec());
        }
    }

    /// Object of the run's size that is seen nearest to a place, and its distance. [m]
    fn nearest(&self, goal: &PickAndPlaceGoal, place: &Vector3) -> Option<(Upright, f64)> {
        let seen = self.sighted.as_ref()?.iter().filter_map(|o| as_it_stands(goal, o));
        let off = seen.map(|o| ((o.pose.position - place).norm(), o));
        off.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(distance, found)| (found, distance))
    }

    /// Distance from a place at which an object of the run's size is seen. [m]
    fn distance(&self, goal: &PickAndPlaceGoal, place: &Vector3) -> Option<f64> {
        self.nearest(goal, place).map(|(_, distance)| distance)
    }

    /// Ends a run whose clock or robot is lost.
    fn abandon(&mut self, why: &str) {
        if let Some(run) = &mut self.run {
            run.failure = Some((Failure::RobotLost, run.stage, why.to_owned()));
            run.stage = Stage::Stopped;
        }
        if let Some(moving) = &mut self.moving {
            moving.failure = Some((Failure::RobotLost, moving.stage, why.to_owned()));
            moving.stage = Stage::Stopped;
        }
    }

    /// Evaluates the measurement in the present stage, and takes the step that follows.
    fn advance(&mut self, measured: &Measurement<'_>, dt: f64) {
        let Some(mut run) = self.run.take() else {
            self.keep_carrying(dt);
            return self.keep_moving(measured, dt);
        };
        if !run.stage.is_final() {
            let seen = self.see(&mut run, measured, dt);
            let step = match run.step(&seen, self.hand.as_ref(), &self.settings) {
                // Only where nothing else follows: a condition that is met in the last tick counts.
                Step::Stay => self.overdue(&run, &seen, measured).unwrap_or(Step::Stay),
                step => step,
            };
            run = self.apply(run, step, measured);
        }
        self.run = Some(run);
    }

    /// Notices when the object that the last run left in the hand is not there any more: let go by a command, taken, or fallen.
    fn keep_carrying(&mut self, dt: f64) {
        let Some(run) = &mut self.carried else { return };
        let loss = self.hand.loss(run.goal.grip_force, self.settings.width_tolerance);
        run.missing = if loss.gone || loss.weak { run.missing + dt } else { 0.0 };
        if run.missing > SLIP_TIME {
            self.carried = None;
        }
    }

    fn see<'a>(&mut self, run: &mut Run, measured: &Measurement<'a>, dt: f64) -> Seen<'a> {
        let tool = self.hand.tool_frame();
        let X_WT = frame_pose(&self.model, &self.data, tool);
        let v = frame_velocity(&self.model, &self.data, tool).linear;
        // The acceleration is a difference over the period, for the report of a slip.
        let acceleration = (v - self.tool_velocity).norm() / dt;
        self.tool_velocity = v;
        // Kept from before a collision, when the tool no longer moves: the way back is against it.
        if run.motion.is_some() && v.norm() > HEADING_SPEED {
            run.heading = Some(v.normalize());
        }
        let speed = |id: &karakuri_model::BodyId| measured.v[self.model.joints[id.0].v_start].abs();
        let elapsed = measured.time.seconds_since(run.entered);
        let joints = run.plan.joints();
        let arrived = run
            .motion
            .as_ref()
            .is_none_or(|motion| plan::arrived(&self.model, joints, motion, elapsed, measured));
        Seen {
            dt,
            elapsed,
            arrived,
            at_rest: joints.iter().all(|id| speed(id) < VELOCITY_TOLERANCE),
            hand: self.hand.reading(),
            position: X_WT.translation,
            acceleration,
            placed_off: match run.stage {
                Stage::Retreat => self.distance(&run.goal, &run.goal.place.position),
                _ => None,
            },
            stays: run.stage == Stage::Weigh && {
                let hold = run.plan.hold();
                let picked = &run.goal.pick.position;
                let rise = X_WT.translation.z - (picked.z + hold.raise + hold.depth);
                self.distance(&run.goal, picked).is_some_and(|off| off < 0.5 * rise)
            },
            arm: measured.arm,
        }
    }

    /// Time-out of a stage that takes too long.
    fn overdue(&self, run: &Run, seen: &Seen<'_>, measured: &Measurement<'_>) -> Option<Step> {
        let planned = match (&run.motion, run.stage) {
            (Some(motion), _) => motion.duration(),
            (None, Stage::Close) => self.hand.engaging_time(),
            _ => 0.0,
        };
        if seen.elapsed <= planned + STAGE_TIMEOUT {
            return None;
        }
        let lacking = match &run.motion {
            Some(motion) if !seen.arrived => {
                plan::describe_error(&self.model, run.plan.joints(), motion, measured)
            }
            _ => self.hand.late().to_owned(),
        };
        let text = format!("{} took longer than {:.1} s; {lacking}", run.stage, seen.elapsed);
        Some(Step::Fail(Failure::TimeOut, text))
    }

    fn apply(&mut self, mut run: Run, step: Step, measured: &Measurement<'_>) -> Run {
        let (now, q) = (measured.time, measured.q);
        match step {
            Step::Stay => run,
            Step::Grip => {
                self.hand.hold(run.goal.grip_force, self.settings.width_tolerance);
                run
            }
            Step::Enter(stage) => self.enter(run, stage, now, q),
            Step::Fail(failure, text) => {
                let next = run.recovery(failure);
                // The first failure is the cause; what follows from its recovery is not reported in its place.
                run.failure.get_or_insert((failure, run.stage, text));
                if next == Stage::Stopped {
                    self.output.arm = Some(ArmRequest::Stop);
                }
                if failure == Failure::Preempted && !run.holding {
                    self.hand.stay();
                }
                self.enter(run, next, now, q)
            }
            Step::Again => self.again(run, measured),
        }
    }

    /// Enters a stage: its hand task and its arm trajectory.
    fn enter(&mut self, mut run: Run, stage: Stage, now: Time, q: &[f64]) -> Run {
        (run.stage, run.entered, run.held, run.missing) = (stage, now, 0.0, 0.0);
        // A mean over two stages would mix two loads.
        run.weighing.restart();
        if matches!(stage, Stage::Look | Stage::Weigh | Stage::Retreat) {
            // What was seen before, as in a run before, shows where the object was.
            self.sighted = None;
        }
        let (strength, tolerance) = (run.goal.grip_force, self.settings.width_tolerance);
        match stage {
            Stage::Approach | Stage::Open => {
                run.holding = false;
                self.hand.open(run.plan.hold());
            }
            Stage::Close => self.hand.engage(strength, tolerance),
            Stage::Verify => run.holding = true,
            Stage::Weigh | Stage::Lift if run.holding => self.hand.hold(strength, tolerance),
            Stage::Halt => self.output.arm = Some(ArmRequest::Stop),
            _ => {}
        }
        if let Err(why) = self.prepare(&mut run, stage, q) {
            // The object still stands where it was taken: it is let go there.
            run.failure.get_or_insert((Failure::Blocked, stage, why));
            return self.enter(run, Stage::Open, now, q);
        }
        if let Some(trajectory) = &run.motion {
            self.output.arm = Some(ArmRequest::Follow(trajectory.clone().begun_at(now)));
        }
        run
    }

    /// Prepares the arm's trajectory of a stage, planned before or made now; none: the arm stands.
    fn prepare(&mut self, run: &mut Run, stage: Stage, q: &[f64]) -> Result<(), String> {
        let (model, s) = (&*self.model, &self.settings);
        if stage == Stage::LiftOff && run.tries.centrings > 0 {
            // The hand is not where it was planned to be.
            let planned = run.plan.carry_from(Task { model, goal: &run.goal, settings: s }, q);
            planned.map_err(|(stage, why)| {
                format!("no path on from where the object is: {stage}: {why}")
            })?;
        }
        if stage == Stage::Lift {
            // With what was felt while it was weighed, not with what was stated.
            let Found { mass, friction } = run.found;
            let goal = PickAndPlaceGoal { mass, friction, ..run.goal.clone() };
            run.plan.slow_for_grip(Task { model, goal: &goal, settings: s }, q);
        }
        let reaction = match stage {
            Stage::Centre => self.centring(run, q),
            Stage::BackUp => run.heading.map(|heading| Reaction::By {
                displacement: -heading * BACK_UP,
                speed: s.vertical_speed,
            }),
            Stage::SetDown => Some(run.plan.grasp()),
            Stage::Shake => Some(Reaction::Shake),
            Stage::Retreat | Stage::Undo => Some(Reaction::Up),
            _ => None,
        };
        run.motion = match reaction {
            Some(reaction) => run.plan.reaction(model, &self.settings, q, reaction),
            None => run.plan.trajectory(stage).cloned(),
        };
        Ok(())
    }

    /// Motion sideways to the finger that touches, as fast as it closes: that finger keeps its place and the other one comes.
    fn centring(&self, run: &mut Run, q: &[f64]) -> Option<Reaction> {
        let Centring { side, speed } = self.hand.centring(&self.model, &self.data)?;
        // From the planned pose, or each of several centrings would have the whole reach again.
        let done = side * run.plan.off_centre(&self.model, q);
        let rest = CENTRING_REACH - done;
        let y =
            frame_pose(&self.model, &self.data, self.hand.tool_frame()).rotation.column(1) * side;
        (rest > 1e-4).then_some(Reaction::By { displacement: y * rest, speed })
    }

    /// Plans the whole run once more: the object may be elsewhere.
    fn again(&mut self, mut run: Run, measured: &Measurement<'_>) -> Run {
        if self.sighted.is_some() {
            let radius = LOOK_RADIUS;
            match self.nearest(&run.goal, &run.goal.pick.position) {
                Some((found, distance)) if distance < radius => found.replace_in(&mut run.goal),
                _ => {
                    let why = format!("nothing of its size is seen within {:.0} mm", 1e3 * radius);
                    return self.give_up(run, &why, measured);
                }
            }
        }
        let objects = self.sighted.take().unwrap_or_default();
        match self.plan(&run.goal, measured.q, &objects) {
            Ok(plan) => {
                // Forgiven, as the run goes on from its beginning; repetitions of the same kind stay counted.
                (run.plan, run.failure, run.tries.centrings) = (plan, None, 0);
                self.enter(run, Stage::Approach, measured.time, measured.q)
            }
            Err(error) => self.give_up(run, &error.to_string(), measured),
        }
    }

    fn give_up(&mut self, mut run: Run, why: &str, measured: &Measurement<'_>) -> Run {
        match &mut run.failure {
            Some((_, _, text)) => *text = format!("{text}; {why}"),
            none => *none = Some((Failure::NoObject, run.stage, why.to_owned())),
        }
        self.enter(run, Stage::Stopped, measured.time, measured.q)
    }

    /// Writes the feedback, and the result when the run is over.
    fn report(&mut self, now: Time) {
        let state = self.hand.reading();
        let Some(run) = &mut self.run else {
            self.output.feedback = Feedback {
                opening: state.opening,
                forces: state.forces,
                holding: self.carried.is_some(),
                ..Feedback::default()
            };
            return self.report_move(now);
        };
        if let Some(progress) = run.plan.progress(run.stage, now.seconds_since(run.entered)) {
            run.progress = progress;
        }
        self.output.feedback = Feedback {
            stage: run.stage,
            progress: run.progress,
            opening: state.opening,
            forces: state.forces,
            holding: run.holding,
            retries: run.tries.total(),
        };
        if !run.stage.is_final() {
            return;
        }
        let (opening, forces) = run.grip.unwrap_or((state.opening, state.forces));
        let (failure, stage, message) = match &run.failure {
            Some((failure, stage, text)) => (Some(*failure), *stage, text.clone()),
            None if run.holding => (None, Stage::Done, "the object is in the hand".to_owned()),
            None => (None, Stage::Done, "the object is placed".to_owned()),
        };
        self.output.result = Some(PickAndPlaceResult {
            failure,
            stage,
            message,
            elapsed: now.seconds_since(run.started),
            width: opening,
            forces,
            retries: run.tries.total(),
        });
        self.carried = self.run.take_if(|run| run.holding);
        self.run = None;
    }
}
