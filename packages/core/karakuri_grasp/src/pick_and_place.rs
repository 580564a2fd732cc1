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
//! | no object, or blocked | fingers closed, or centring out of reach | `OPEN`, `UNDO` (up), `LOOK`; once more where it is seen; then the failure |
//! | wrong size | stopped at another opening | `OPEN`, `UNDO`, `WRONG_SIZE` |
//! | slips when lifted | in `WEIGH` the load changes with the grip's force | `SET_DOWN`, `OPEN`, `UNDO`, `LOOK`, a grip for the friction felt; at the limit `SLIPPED` |
//! | other weight than stated | the load in `WEIGH` | lighter: goes on; heavier: the same with a grip for that weight; beyond the limit `TOO_HEAVY` |
//! | stands early | the load falls in `LOWER` | `HALT`, `OPEN` |
//! | slips while carried | forces or load fall | more force up to the limit; then `HALT`, `SLIPPED`, what is held stays held |
//! | collision | force on a free finger, or the controller gives up | `HALT`, `BACK_UP` 20 mm, `COLLISION` |
//! | sticks to the hand | not free after opening | `SHAKE` once, then `STUCK` |
//! | no progress | a stage takes too long | `HALT`, `TIMEOUT` |
//!
//! A cancel stops smoothly; a held object stays held: the machine then goes on giving the hand's reference for as long as
//! it is ticked.
//! Units: m, rad, s, N, kg; poses of the object's centre in the world.

mod clearance;
mod hold;
mod plan;
mod planner;
mod run;
mod tuning;
mod types;

pub use plan::{Plan, PlanError};
pub use tuning::PATH_TOLERANCE;
pub use types::{
    ArmReport, ArmRequest, Failure, Feedback, KnownObject, Measurement, ObjectPose, Output,
    PickAndPlaceGoal, PickAndPlaceResult, PickAndPlaceSettings, Sighting, Stage,
};

use std::sync::Arc;

use karakuri_control::trajectory::JointTrajectory;
use karakuri_dynamics::{Data, forward_kinematics, frame_pose, frame_velocity, update_velocities};
use karakuri_model::Model;
use karakuri_spatial::Time;
use karakuri_spatial::Vector3;

use crate::end_effector::{EndEffectorError, FingerSensors, from_model};
use crate::finger_sense::{FingerSense, HandReading};
use crate::grip_force::{DriveRange, GripForce, GripSettings, GripTask};
use crate::{EndEffector, FingerForce};
use plan::Reaction;
use planner::{Task, similar};
use run::{Found, Run, Seen, Step, Tries, Weighing};
use tuning::{
    BACK_UP, CENTRING_REACH, LOOK_RADIUS, LOOK_TIME, ROBOT_TIMEOUT, STAGE_TIMEOUT,
    VELOCITY_TOLERANCE,
};

/// Speed below which the tool's velocity has no reliable direction. [m/s]
const HEADING_SPEED: f64 = 0.01;

/// State machine of pick and place.
#[derive(Debug)]
pub struct PickAndPlace {
    model: Arc<Model>,
    hand: Box<dyn EndEffector>,
    sense: FingerSense,
    grip: GripForce,
    settings: PickAndPlaceSettings,
    data: Data,
    run: Option<Run>,
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
        let hand = from_model(&model)?;
        let sense = FingerSense::new(&model, hand.as_ref())?;
        let joint = &model.joints[hand.joint().0];
        // Without a drive nothing is commanded; 1 keeps divisions by it finite.
        let stiffness = joint.drive.map_or(1.0, |d| d.stiffness);
        let range = DriveRange { lower: joint.limits.lower, upper: joint.limits.upper };
        Ok(Self {
            data: Data::new(&model),
            grip: GripForce::new(grip, stiffness, range),
            model,
            hand,
            sense,
            settings,
            run: None,
            sighted: None,
            last: None,
            place: Vec::new(),
            tool_velocity: Vector3::zeros(),
            output: Output::default(),
            delivered: true,
        })
    }

    /// Hand of the robot.
    pub fn hand(&self) -> &dyn EndEffector {
        self.hand.as_ref()
    }

    /// Hand and grip control, for gripper commands while nothing is picked.
    pub fn hand_and_grip(&mut self) -> (&dyn EndEffector, &mut GripForce) {
        (self.hand.as_ref(), &mut self.grip)
    }

    /// Source of the forces on the fingers.
    pub fn sense(&self) -> &FingerSense {
        &self.sense
    }

    /// Finger sensors, in the order of a measurement's wrenches; `None` where forces are estimated from the drive.
    pub fn sensors(&self) -> Option<FingerSensors> {
        self.sense.sensors()
    }

    /// Settings that are in force.
    pub fn settings(&self) -> &PickAndPlaceSettings {
        &self.settings
    }

    /// Settings, which may change while it runs; a goal in progress keeps its plan.
    pub fn settings_mut(&mut self) -> &mut PickAndPlaceSettings {
        &mut self.settings
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
        let holds = hold::holds(self.hand.as_ref(), goal, &self.settings)?;
        Plan::new(self.task(goal), self.hand.tool_frame(), &holds, q, objects)
    }

    /// Whether the last tick was at this time and position.
    pub fn has_seen(&self, time: Time, q: &[f64]) -> bool {
        self.last == Some(time) && self.place == q
    }

    /// Whether a goal is in progress.
    pub fn is_busy(&self) -> bool {
        self.run.is_some()
    }

    /// Feedback of the last tick.
    pub fn feedback(&self) -> &Feedback {
        &self.output.feedback
    }

    /// Plans a goal from the measured position, clear of the known objects, and starts it; nothing moves if the plan
    /// fails. The grip is as strong as the goal says, or as the object needs. (nq)
    ///
    /// # Errors
    /// When another goal is active, a number of this one is out of range, the object is too heavy for the grip, the
    /// robot has no group for its arm or no finger sensors, or a stage is unreachable.
    pub fn start(
        &mut self,
        mut goal: PickAndPlaceGoal,
        now: Time,
        q: &[f64],
        objects: &[KnownObject],
    ) -> Result<(), PlanError> {
        if self.run.is_some() {
            return Err(PlanError::Busy);
        }
        if self.sensors().is_none() {
            return Err(PlanError::NoSensors { robot: self.model.name.clone() });
        }
        let hand = self.hand.as_ref();
        plan::check(&goal)?;
        hold::check(hand, &goal, &self.settings)?;
        let plan = self.plan(&goal, q, objects)?;
        goal.grip_force = plan.hold().grip(&goal, &self.settings);
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

    /// Cancels: the arm stops smoothly; an object in the hand stays there. The result comes with the next tick.
    pub fn cancel(&mut self) {
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
                self.grip.set_task(GripTask::Stay);
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
            self.grip.reset();
            self.sense.reset();
            self.abandon("the clock jumped back, or the robot was put elsewhere");
        }
        self.place.clear();
        self.place.extend_from_slice(measured.q);
        let gap = self.last.map_or(0.0, |last| measured.time.seconds_since(last));
        let is_first = self.last.replace(measured.time).is_none();
        if self.run.is_some() && gap > ROBOT_TIMEOUT {
            self.abandon(&format!("no measurement for {gap:.2} s"));
            // The arm may still be following its trajectory.
            self.output.arm = Some(ArmRequest::Stop);
        }
        self.look(measured);
        forward_kinematics(&self.model, &mut self.data, measured.q);
        update_velocities(&self.model, &mut self.data, measured.v);
        let joint = &self.model.joints[self.hand.joint().0];
        let reading = HandReading {
            position: measured.q[joint.q_start],
            velocity: measured.v[joint.v_start],
            effort: self.effort(measured),
            wrenches: measured.wrenches,
            dt,
        };
        let (hand, position) = (self.hand.as_ref(), reading.position);
        let fingers = self.sense.feel(&self.model, &self.data, hand, &reading);
        if is_first {
            let effort = Some(reading.effort).filter(|effort| effort.is_finite());
            self.grip.take_over(hand, position, &fingers, effort);
        }
        self.output.hand = self.grip.tick(hand, position, &fingers, dt);
        self.advance(measured, &fingers, dt);
        self.report(measured.time);
        &self.output
    }

    /// Effort of the hand's drive: as measured, else by its spring, which the target compresses. [N·m or N]
    fn effort(&self, measured: &Measurement<'_>) -> f64 {
        let joint = &self.model.joints[self.hand.joint().0];
        let effort =
            measured.effort.get(joint.v_start).copied().filter(|effort| effort.is_finite());
        effort.unwrap_or_else(|| self.grip.spring_effort(measured.q[joint.q_start]))
    }

    /// Keeps the first sighting since the run began to look, or a while after it let go: the choice does not depend on when the
    /// sighting came.
    fn look(&mut self, measured: &Measurement<'_>) {
        let Some(run) = &self.run else { return };
        let since = match run.stage {
            Stage::Look => run.entered,
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
    fn nearest(&self, size: &Vector3, place: &Vector3) -> Option<(&KnownObject, f64)> {
        let seen = self.sighted.as_ref()?.iter().filter(|o| similar(&o.size, size));
        seen.map(|o| (o, (o.pose.translation - place).norm())).min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Ends a run whose clock or robot is lost.
    fn abandon(&mut self, why: &str) {
        if let Some(run) = &mut self.run {
            run.failure = Some((Failure::RobotLost, run.stage, why.to_owned()));
            run.stage = Stage::Stopped;
        }
    }

    /// Evaluates the measurement in the present stage, and takes the step that follows.
    fn advance(&mut self, measured: &Measurement<'_>, fingers: &[FingerForce; 2], dt: f64) {
        let Some(mut run) = self.run.take() else { return };
        if !run.stage.is_final() {
            let seen = self.see(&mut run, measured, fingers, dt);
            let step = match run.step(&seen, &self.settings) {
                // Only where nothing else follows: a condition that is met in the last tick counts.
                Step::Stay => self.overdue(&run, &seen, measured).unwrap_or(Step::Stay),
                step => step,
            };
            run = self.apply(run, step, measured);
        }
        self.run = Some(run);
    }

    fn see<'a>(
        &mut self,
        run: &mut Run,
        measured: &Measurement<'a>,
        fingers: &[FingerForce; 2],
        dt: f64,
    ) -> Seen<'a> {
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
        let position = measured.q[self.model.joints[self.hand.joint().0].q_start];
        // The object pulls the pads down: friction on them, downwards in the world.
        let pull = |f: &FingerForce| -(X_WT.rotation * f.tangential).z;
        Seen {
            dt,
            elapsed,
            arrived,
            at_rest: joints.iter().all(|id| speed(id) < VELOCITY_TOLERANCE),
            grip: *self.grip.state(),
            width: self.hand.width_between(position, run.plan.hold().reach),
            // In any direction, as a collision may have any.
            touch: fingers.iter().map(|f| f.normal.hypot(f.tangential.norm())).fold(0.0, f64::max),
            load: fingers.iter().map(pull).sum(),
            position: X_WT.translation,
            acceleration,
            placed_off: self
                .nearest(&run.goal.size, &run.goal.place.position)
                .map(|(_, distance)| distance),
            arm: measured.arm,
        }
    }

    /// Time-out of a stage that takes too long.
    fn overdue(&self, run: &Run, seen: &Seen<'_>, measured: &Measurement<'_>) -> Option<Step> {
        let planned = match (&run.motion, run.stage) {
            (Some(motion), _) => motion.duration(),
            // The whole opening at the touch speed: nothing closes longer, however narrow the object.
            (None, Stage::Close) => run.plan.hold().open / self.grip.settings().touch_speed,
            _ => 0.0,
        };
        if seen.elapsed <= planned + STAGE_TIMEOUT {
            return None;
        }
        let lacking = match &run.motion {
            Some(motion) if !seen.arrived => {
                plan::describe_error(&self.model, run.plan.joints(), motion, measured)
            }
            _ => "the fingers did not get where they should".to_owned(),
        };
        let text = format!("{} took longer than {:.1} s; {lacking}", run.stage, seen.elapsed);
        Some(Step::Fail(Failure::TimeOut, text))
    }

    fn apply(&mut self, mut run: Run, step: Step, measured: &Measurement<'_>) -> Run {
        let (now, q) = (measured.time, measured.q);
        match step {
            Step::Stay => run,
            Step::Grip => {
                self.grip.set_task(self.closing(&run));
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
                self.enter(run, next, now, q)
            }
            Step::Again => self.again(run, measured),
        }
    }

    /// Task of the hand while it closes or holds.
    fn closing(&self, run: &Run) -> GripTask {
        GripTask::Close {
            force: run.goal.grip_force,
            slow_below: run.plan.hold().opening + self.settings.width_tolerance,
        }
    }

    /// Enters a stage: its hand task and its arm trajectory.
    fn enter(&mut self, mut run: Run, stage: Stage, now: Time, q: &[f64]) -> Run {
        (run.stage, run.entered, run.held, run.missing) = (stage, now, 0.0, 0.0);
        // A mean over two stages would mix two loads.
        run.weighing.restart();
        match stage {
            Stage::Approach | Stage::Open => {
                run.holding = false;
                let speed = self.grip.settings().speed;
                self.grip.set_task(GripTask::MoveTo { opening: run.plan.hold().open, speed });
            }
            Stage::Close => {
                // Only free fingers show zero: taring on an object would hide its force.
                if self.grip.state().touching == [false; 2] {
                    self.grip.tare();
                }
                self.grip.set_task(self.closing(&run));
            }
            Stage::Verify => run.holding = true,
            Stage::Weigh | Stage::Lift if run.holding => self.grip.set_task(self.closing(&run)),
            Stage::Halt => self.output.arm = Some(ArmRequest::Stop),
            // What was seen before the hand let go shows where the object was.
            Stage::Look | Stage::Retreat => self.sighted = None,
            _ => {}
        }
        if let Err(why) = self.prepare(&mut run, stage, q) {
            // The object still stands where it was taken: it is let go there.
            run.failure.get_or_insert((Failure::Blocked, stage, why));
            return self.enter(run, Stage::Open, now, q);
        }
        if let Some(trajectory) = &run.motion {
            let trajectory = JointTrajectory { start: Some(now), ..trajectory.clone() };
            self.output.arm = Some(ArmRequest::Follow(trajectory));
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
            let goal = PickAndPlaceGoal { mass, friction, ..run.goal };
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
        let [a, b] = self.grip.state().touching;
        let sides = self.sensors()?.sides(&self.model, &self.data);
        let side = if a && !b { sides[0] } else { sides[1] };
        // From the planned pose, or each of several centrings would have the whole reach again.
        let done = side * run.plan.off_centre(&self.model, q);
        let rest = CENTRING_REACH - done;
        let y =
            frame_pose(&self.model, &self.data, self.hand.tool_frame()).rotation.column(1) * side;
        // Each finger moves at half the rate of the opening; at 0.45 of it the hand stays a little slower.
        let speed = 0.45 * self.grip.settings().touch_speed;
        (rest > 1e-4).then_some(Reaction::By { displacement: y * rest, speed })
    }

    /// Plans the whole run once more: the object may be elsewhere.
    fn again(&mut self, mut run: Run, measured: &Measurement<'_>) -> Run {
        if self.sighted.is_some() {
            let radius = LOOK_RADIUS;
            match self.nearest(&run.goal.size, &run.goal.pick.position) {
                Some((found, distance)) if distance < radius => {
                    let yaw = found.pose.rpy()[2];
                    run.goal.pick = ObjectPose { position: found.pose.translation, yaw };
                    // With its edges as they are seen: x and y may be exchanged against the goal's, and the yaw fits only these.
                    run.goal.size = found.size;
                }
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
        let state = *self.grip.state();
        let Some(run) = &mut self.run else {
            self.output.feedback =
                Feedback { opening: state.opening, forces: state.forces, ..Feedback::default() };
            return;
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
        self.run = None;
    }
}
