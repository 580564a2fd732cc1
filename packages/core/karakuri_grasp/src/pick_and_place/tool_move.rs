//! Moves of the tool with whatever the hand holds, to a pose or to a posture of the robot.
//!
//! A pose is reached straight, else along an arc around the base, else by the joints; a posture by the joints, else first straight up. The first
//! way that is clear of the known objects is taken, and slowed until the hand holds what it has picked. `MOVE` ends in `DONE`; trouble and a
//! cancel brake the arm in `HALT`, and what is held stays held.
//! Units: m, rad, s, N; poses of the tool frame in the world.

use karakuri_control::cartesian::{MoveLimits, MovePlanner};
use karakuri_control::trajectory::JointTrajectory;
use karakuri_model::{BodyId, Model};
use karakuri_spatial::{Pose, Time, Vector3};

use super::clearance::Clearance;
use super::plan;
use super::plan_error::PlanError;
use super::planner::{Planner, Task, axis, joined, limits};
use super::run::{Found, trouble};
use super::tuning::{
    COLLISION_FORCE, REST_TIME, SAFETY_DISTANCE, STAGE_TIMEOUT, VELOCITY_TOLERANCE,
};
use super::{
    ArmRequest, Failure, KnownObject, Measurement, PickAndPlace, PickAndPlaceGoal,
    PickAndPlaceResult, PickAndPlaceSettings, Stage,
};
use crate::hand::hold::looking_down;

/// Heights by which the tool first goes straight up where the direct way to a posture is barred. [m] (2)
// The usual height above an object, and twice of it.
const RISES: [f64; 2] = [0.1, 0.2];
/// Where a move of the tool ends.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolAim {
    /// Pose of the tool frame.
    Pose(Pose),
    /// Posture of the robot, by its name; the arm's joints that it does not name stay.
    Posture(String),
}

/// Move of the tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolMove {
    /// Where it ends.
    pub aim: ToolAim,
    /// Largest speed of the tool. [m/s]
    pub speed: f64,
    /// Largest acceleration of the tool. [m/s²]
    pub acceleration: f64,
    /// Name of a known object that a gripper command took, and that goes along; of what was picked the machine knows.
    pub along: Option<String>,
}

impl ToolMove {
    /// Move at the speed and acceleration of settings.
    pub fn new(aim: ToolAim, settings: &PickAndPlaceSettings) -> Self {
        Self { aim, speed: settings.speed, acceleration: settings.acceleration, along: None }
    }

    /// Pose of a tool that looks down, with its closing direction at an angle about the vertical from the world's y. [m] (3), [rad]
    pub fn looking_down(position: Vector3, yaw: f64) -> Pose {
        Pose::new(looking_down(yaw), position)
    }

    /// Angle about the vertical of a tool's closing direction from the world's y. [rad]
    pub fn yaw(tool: &Pose) -> f64 {
        let closing = tool.rotation.column(1);
        (-closing.x).atan2(closing.y)
    }

    /// Refuses numbers outside their ranges.
    pub(super) fn check(&self) -> Result<(), PlanError> {
        for (what, value) in
            [("speed [m/s]", self.speed), ("acceleration [m/s²]", self.acceleration)]
        {
            if !(value > 0.0 && value.is_finite()) {
                return Err(PlanError::Range { what, value, range: "above 0".to_owned() });
            }
        }
        let ToolAim::Pose(pose) = &self.aim else { return Ok(()) };
        let numbers = pose.translation.iter().chain(pose.rotation.iter());
        match numbers.copied().find(|x| !x.is_finite()) {
            Some(value) => {
                Err(PlanError::Range { what: "pose", value, range: "finite".to_owned() })
            }
            None => Ok(()),
        }
    }
}

/// Planner of one move from the positions `q`. (nq)
pub(super) struct MoveRoute<'a> {
    pub(super) model: &'a Model,
    pub(super) moves: MovePlanner,
    pub(super) clearance: Clearance,
    pub(super) limits: MoveLimits,
    pub(super) q: &'a [f64],
}

impl MoveRoute<'_> {
    /// Trajectory of the first way to the aim that is clear.
    pub(super) fn plan(&mut self, aim: &ToolAim) -> Result<JointTrajectory, PlanError> {
        match aim {
            ToolAim::Pose(pose) => self.pose_route(pose),
            ToolAim::Posture(name) => self.posture_route(name),
        }
    }

    fn pose_route(&mut self, aim: &Pose) -> Result<JointTrajectory, PlanError> {
        let (model, q, limits) = (self.model, self.q, self.limits);
        let X_WT = self.moves.tool_pose(model, q);
        let straight = self.moves.path_move(model, q, MovePlanner::straight(X_WT, *aim), &limits);
        let why =
            match straight.map_err(|why| why.to_string()).and_then(|found| self.clear(found.0)) {
                Ok(found) => return Ok(found),
                Err(why) => why,
            };
        let arc =
            self.moves.path_move(model, q, MovePlanner::arc(axis(model), X_WT, *aim), &limits);
        if let Some(found) = arc.ok().and_then(|found| self.clear(found.0).ok()) {
            return Ok(found);
        }
        let by_joints = self.positions_at(aim).map(|to| self.by_joints(q, &to));
        // What bars the straight way is what a person can see.
        by_joints
            .and_then(|found| self.clear(found).ok())
            .ok_or(PlanError::Unreachable { stage: Stage::Move, why })
    }

    fn posture_route(&mut self, name: &str) -> Result<JointTrajectory, PlanError> {
        let (model, q) = (self.model, self.q);
        let Some(to) = in_posture(model, self.moves.joints(), q, name) else {
            let known = model.postures.iter().map(|posture| posture.name.clone()).collect();
            return Err(PlanError::NoPosture { name: name.to_owned(), known });
        };
        let direct = self.by_joints(q, &to);
        let why = match self.clear(direct) {
            Ok(found) => return Ok(found),
            Err(why) => why,
        };
        let X_WT = self.moves.tool_pose(model, q);
        for rise in RISES {
            let lifted = Pose::new(X_WT.rotation, X_WT.translation + Vector3::z() * rise);
            let up = MovePlanner::straight(X_WT, lifted);
            let Ok((up, q_up)) = self.moves.path_move(model, q, up, &self.limits) else {
                continue;
            };
            let across = self.by_joints(&q_up, &to);
            if let Ok(found) = self.clear(joined(up, &across)) {
                return Ok(found);
            }
        }
        Err(PlanError::Unreachable { stage: Stage::Move, why })
    }

    /// A trajectory, if it is clear of the known objects.
    fn clear(&mut self, trajectory: JointTrajectory) -> Result<JointTrajectory, String> {
        let joints = self.moves.joints().to_vec();
        let checked = self.clearance.check(self.model, self.q, &joints, &trajectory);
        checked.map(|()| trajectory).map_err(|hit| hit.to_string())
    }

    /// Motion by the joints, slowed until the tool keeps its limits. (nq)
    fn by_joints(&mut self, from: &[f64], to: &[f64]) -> JointTrajectory {
        let mut found = self.moves.joint_move(self.model, from, to, &self.limits);
        self.moves.slow_for_tool(self.model, from, &mut found, &self.limits);
        found
    }

    /// Positions with the tool at a pose, of those found from here and from the robot's postures the nearest. (nq)
    fn positions_at(&mut self, aim: &Pose) -> Option<Vec<f64>> {
        let (model, q) = (self.model, self.q);
        let joints = self.moves.joints().to_vec();
        let postures = model.postures.iter().map(|posture| posture.name.as_str());
        let starts = postures.filter_map(|name| in_posture(model, &joints, q, name));
        let starts: Vec<_> = core::iter::once(q.to_vec()).chain(starts).collect();
        let found = starts.iter().filter_map(|start| self.moves.solve(model, aim, start, 0).ok());
        let far = |found: &[f64]| {
            found.iter().zip(q).fold(0.0, |far: f64, (a, b)| far.max((a - b).abs()))
        };
        found.min_by(|a, b| far(a).total_cmp(&far(b)))
    }
}

/// Positions with the arm in a posture; `None` where the robot has none of that name. (nq)
fn in_posture(model: &Model, arm: &[BodyId], q: &[f64], name: &str) -> Option<Vec<f64>> {
    let posture = model.postures.iter().find(|posture| posture.name == name)?;
    let mut positions = q.to_vec();
    for (id, value) in posture.positions.iter().filter(|(id, _)| arm.contains(id)) {
        positions[model.joints[id.0].q_start] = *value;
    }
    Some(positions)
}

/// A move in progress.
#[derive(Debug, Clone)]
pub(super) struct MoveRun {
    pub(super) motion: JointTrajectory,
    pub(super) joints: Vec<BodyId>,
    pub(super) stage: Stage,
    pub(super) started: Time,
    pub(super) entered: Time,
    /// Time for which the arm has been at rest. [s]
    pub(super) rest: f64,
    /// Force that the hand felt before. [N]
    pub(super) touch: f64,
    /// Whether the move began with an object in the hand that was picked.
    pub(super) carries: bool,
    /// Failure, the stage in which it was found, and its description.
    pub(super) failure: Option<(Failure, Stage, String)>,
}

/// What a tick shows of a move.
#[derive(Debug)]
pub(super) struct MoveSeen<'a> {
    pub(super) measured: &'a Measurement<'a>,
    pub(super) dt: f64,
    /// Force that the hand feels. [N]
    pub(super) touch: f64,
    /// How what was picked was lost, if it was.
    pub(super) lost: Option<(Failure, String)>,
}

impl MoveRun {
    /// Part of the motion that is done. [-]
    pub(super) fn progress(&self, now: Time) -> f64 {
        let elapsed = now.seconds_since(self.entered);
        match self.stage {
            Stage::Move => (elapsed / self.motion.duration().max(1e-9)).clamp(0.0, 1.0),
            Stage::Done => 1.0,
            _ => 0.0,
        }
    }

    /// Evaluates a tick; whether the arm is to stop.
    pub(super) fn step(&mut self, model: &Model, seen: &MoveSeen<'_>) -> bool {
        let measured = seen.measured;
        let elapsed = measured.time.seconds_since(self.entered);
        let is_moving = self.stage == Stage::Move;
        if let Some((failure, why)) = trouble(measured.arm, self.stage) {
            return self.fail(failure, why, measured.time);
        }
        let speed = |id: &BodyId| measured.v[model.joints[id.0].v_start].abs();
        if !is_moving {
            let is_slow = self.joints.iter().all(|id| speed(id) < VELOCITY_TOLERANCE);
            self.rest = if is_slow { self.rest + seen.dt } else { 0.0 };
            if self.rest >= REST_TIME || elapsed > STAGE_TIMEOUT {
                self.stage = Stage::Stopped;
            }
            return false;
        }
        if let Some((failure, why)) = &seen.lost {
            return self.fail(*failure, why.clone(), measured.time);
        }
        let felt = seen.touch - self.touch;
        if !self.carries && felt > COLLISION_FORCE {
            let why = format!(
                "the hand met {felt:.1} N on the way, above {COLLISION_FORCE:.1} N; clear the way"
            );
            return self.fail(Failure::Collision, why, measured.time);
        }
        if plan::arrived(model, &self.joints, &self.motion, elapsed, measured) {
            self.stage = Stage::Done;
            return false;
        }
        if elapsed > self.motion.duration() + STAGE_TIMEOUT {
            let lacking = plan::describe_error(model, &self.joints, &self.motion, measured);
            let why = format!("the move took longer than {elapsed:.1} s; {lacking}");
            return self.fail(Failure::TimeOut, why, measured.time);
        }
        false
    }

    /// Fails for a cause; whether the arm is to stop.
    pub(super) fn fail(&mut self, failure: Failure, why: String, now: Time) -> bool {
        self.failure.get_or_insert((failure, self.stage, why));
        // What another client moves, or nobody answers for, is not waited for.
        let is_left = matches!(failure, Failure::Preempted | Failure::RobotLost);
        self.stage = if is_left { Stage::Stopped } else { Stage::Halt };
        (self.entered, self.rest) = (now, 0.0);
        failure != Failure::Preempted
    }
}

impl PickAndPlace {
    /// Plans a move of the tool from the measured position, clear of the known objects, and starts it; nothing moves if the plan fails. What the
    /// hand holds goes along. (nq)
    ///
    /// # Errors
    /// When a goal or another move is in progress, a number is out of range, the robot has no group for its arm or no such posture, or no way
    /// is clear.
    pub fn move_tool(
        &mut self,
        goal: &ToolMove,
        now: Time,
        q: &[f64],
        objects: &[KnownObject],
    ) -> Result<(), PlanError> {
        if self.is_busy() {
            return Err(PlanError::Busy);
        }
        goal.check()?;
        let (motion, joints) = self.plan_move(goal, q, objects)?;
        self.output.result = None;
        self.output.arm = Some(ArmRequest::Follow(motion.clone().begun_at(now)));
        self.moving = Some(MoveRun {
            motion,
            joints,
            stage: Stage::Move,
            started: now,
            entered: now,
            rest: 0.0,
            touch: self.hand.reading().touch,
            carries: self.carried.is_some(),
            failure: None,
        });
        self.delivered = false;
        Ok(())
    }

    /// Trajectory of a move of the tool, and the joints that it moves. (nq)
    fn plan_move(
        &mut self,
        goal: &ToolMove,
        q: &[f64],
        objects: &[KnownObject],
    ) -> Result<(JointTrajectory, Vec<BodyId>), PlanError> {
        let (model, s) = (&*self.model, &self.settings);
        let Some(arm) = model.groups.first() else {
            return Err(PlanError::NoArm { robot: model.name.clone() });
        };
        let limits = MoveLimits { acceleration: goal.acceleration, ..limits(s, goal.speed) };
        let mut moves = MovePlanner::new(model, self.hand.tool_frame(), &arm.joints);
        let Some(run) = &mut self.carried else {
            let is_along = |object: &&KnownObject| goal.along.as_ref() == Some(&object.name);
            let others: Vec<_> = objects.iter().filter(|o| !is_along(o)).cloned().collect();
            let mut clearance = Clearance::new(model, &others, SAFETY_DISTANCE);
            if let Some(along) = objects.iter().find(is_along) {
                let in_tool = moves.tool_pose(model, q).inverse() * along.pose;
                clearance.hold(moves.frame(), in_tool, &along.size);
            }
            let mut route = MoveRoute { model, moves, clearance, limits, q };
            return Ok((route.plan(&goal.aim)?, arm.joints.clone()));
        };
        let Found { mass, friction } = run.found;
        let held = PickAndPlaceGoal { mass, friction, ..run.goal.clone() };
        let task = Task { model, goal: &held, settings: s };
        let clearance = run.plan.clearance_of_held(task, q, objects);
        let mut route = MoveRoute { model, moves, clearance, limits, q };
        let mut motion = route.plan(&goal.aim)?;
        let MoveRoute { moves, clearance, .. } = route;
        Planner { task, moves, clearance }.slow_for_grip(run.plan.hold(), q, &mut motion);
        Ok((motion, arm.joints.clone()))
    }

    /// Evaluates the measurement in a move of the tool.
    pub(super) fn keep_moving(&mut self, measured: &Measurement<'_>, dt: f64) {
        let Some(moving) = self.moving.as_mut().filter(|moving| !moving.stage.is_final()) else {
            return;
        };
        let is_lost = moving.carries && self.carried.is_none();
        let lost = is_lost.then(|| {
            let why =
                format!("what was held is not in the hand any more: {}", self.hand.describe());
            (self.hand.lost(), why)
        });
        let seen = MoveSeen { measured, dt, touch: self.hand.reading().touch, lost };
        if moving.step(&self.model, &seen) {
            self.output.arm = Some(ArmRequest::Stop);
        }
    }

    /// Adds a move of the tool to the feedback, and writes its result when it is over.
    pub(super) fn report_move(&mut self, now: Time) {
        let Some(moving) = &self.moving else { return };
        let feedback = &mut self.output.feedback;
        (feedback.stage, feedback.progress) = (moving.stage, moving.progress(now));
        if !moving.stage.is_final() {
            return;
        }
        let done = (Stage::Done, "the tool is where it was to go".to_owned());
        let (failure, (stage, message)) = match moving.failure.clone() {
            Some((failure, stage, text)) => (Some(failure), (stage, text)),
            None => (None, done),
        };
        self.output.result = Some(PickAndPlaceResult {
            failure,
            stage,
            message,
            elapsed: now.seconds_since(moving.started),
            width: feedback.opening,
            forces: feedback.forces,
            retries: 0,
        });
        self.moving = None;
    }
}
