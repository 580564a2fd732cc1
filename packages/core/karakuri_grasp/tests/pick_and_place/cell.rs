//! A cell in lockstep: scene, controller, grasp machine. What the nodes only wire together.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use karakuri_control::joint_trajectory::{Goal, GoalId, Outcome};
use karakuri_control::trajectory::{JointTrajectory, TrajectoryPoint};
use karakuri_control::{Command, Controller, FeedforwardController, FeedforwardSettings, State};
use karakuri_files::{load_robot, read_text};
use karakuri_grasp::grip_force::GripSettings;
use karakuri_grasp::pick_and_place::{
    ArmReport, ArmRequest, KnownObject, Measurement, ObjectPose, ObjectShape, Part, PickAndPlace,
    PickAndPlaceGoal, PickAndPlaceResult, PickAndPlaceSettings, PlanError, Profile, Sighting,
    Stage, path_tolerances,
};
use karakuri_model::{BodyId, Model};
use karakuri_physics::{BodyDescription, RobotId, Scene, World, loop_gap};
use karakuri_spatial::{Motion, Pose, Time, UnitQuaternion, Vector3};

const ARM: usize = 0;
const HAND: usize = 1;
/// Control period: the physics' own step. [s]
const DT: f64 = 0.001;
/// Control periods without a command after which the drives hold their place.
const COMMAND_TIMEOUT: u32 = 100;
/// [m/s²]
const EARTH: f64 = 9.81;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// What does not come through for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stall {
    /// The controller does not run; the drives keep their last targets, and after a while hold their place.
    Controller,
    /// The controller does not get the hand's targets; the last one counts.
    HandTargets,
}

/// World, controller, grasp machine.
pub(crate) struct Cell {
    pub(crate) world: World,
    robot: RobotId,
    pub(crate) model: Arc<Model>,
    /// With hinges in the loops: what is locked there, and what the tree's parallel axes hold.
    hinged: Model,
    controller: FeedforwardController,
    pub(crate) machine: PickAndPlace,
    command: Command,
    goal: Option<GoalId>,
    /// Why the arm does not follow: rejected, or stopped.
    rejected: Option<String>,
    stopped: Option<String>,
    preempted: Option<String>,
    /// The machine sees all bodies.
    pub(crate) sees: bool,
    /// The fingers' drive is stuck where it is.
    pub(crate) jammed: bool,
    pub(crate) stall: Option<Stall>,
    /// Control periods since the controller ran.
    silence: u32,
    /// Motions of the arm that left their path too far.
    pub(crate) n_aborted: usize,
    /// Of a finger sensor along its normal, as it is measured. [N]
    pub(crate) peak_force: f64,
    pub(crate) peak_tracking: f64,
    /// Of the gripper's loop joints. [m or rad]
    pub(crate) peak_loop_gap: f64,
    /// Stages in the order in which they were entered.
    pub(crate) stages: Vec<Stage>,
}

impl Cell {
    pub(crate) fn new(posture: &str, config: &str) -> Self {
        Self::with(posture, config, |_| {})
    }

    /// With another scene than the demonstration's.
    pub(crate) fn with(
        posture: &str,
        config: &str,
        change: impl Fn(&mut Vec<BodyDescription>),
    ) -> Self {
        Self::under(EARTH, posture, config, change)
    }

    /// With another scene, under a gravity that machine and controller know. [m/s²]
    pub(crate) fn under(
        gravity: f64,
        posture: &str,
        config: &str,
        change: impl Fn(&mut Vec<BodyDescription>),
    ) -> Self {
        // The scissor has a scene of its own, in which its pads yield to an edge.
        let name = if config == "arm6_scissor" { "_scissor" } else { "" };
        let scene_path = repository().join(format!("config/scenes/pick_and_place{name}.yaml"));
        let text = read_text(&scene_path).unwrap();
        let mut scene = Scene::parse(&text, "pick_and_place.yaml").unwrap();
        scene.settings.gravity = Vector3::new(0.0, 0.0, -gravity);
        let folder = scene_path.parent().unwrap();
        let robot = &mut scene.robots[0];
        let urdf = folder.join(&robot.urdf).with_file_name(format!("{config}.urdf"));
        let yaml = folder.join("..").join(format!("{config}.yaml"));
        let base = robot.base();
        let loaded = load_robot(&urdf, Some(&yaml), Some(base)).unwrap();
        let model = Arc::new(loaded.model);
        let posture = model.postures.iter().find(|p| p.name == posture).unwrap().clone();
        robot.joints.clear();
        let mut bodies: Vec<_> = scene.bodies.iter().map(|b| b.description.clone()).collect();
        change(&mut bodies);
        scene.bodies.clear();
        let mut world = World::from_scene(&scene, std::slice::from_ref(&model)).unwrap();
        for body in bodies {
            world.add_body(body).unwrap();
        }
        let id = world.robot_ids().next().unwrap();
        let q = position(&model, &posture);
        world.set_robot_state(id, &q, &vec![0.0; model.nv]).unwrap();
        for joint in &model.joints {
            world.drive_mut(id).position[joint.v_start] = q[joint.q_start];
        }
        let settings = FeedforwardSettings {
            gravity: scene.settings.gravity,
            ..FeedforwardSettings::default()
        };
        let controller = FeedforwardController::new(model.clone(), settings).unwrap();
        let machine = PickAndPlace::new(
            model.clone(),
            PickAndPlaceSettings { gravity, ..PickAndPlaceSettings::default() },
            GripSettings::default(),
        )
        .unwrap();
        let command = Command::new(&model);
        let mut cell = Self {
            world,
            robot: id,
            hinged: hinged(&model),
            model,
            controller,
            machine,
            command,
            goal: None,
            rejected: None,
            stopped: None,
            preempted: None,
            sees: true,
            jammed: false,
            stall: None,
            silence: 0,
            n_aborted: 0,
            peak_force: 0.0,
            peak_tracking: 0.0,
            peak_loop_gap: 0.0,
            stages: Vec::new(),
        };
        // Let the objects settle.
        for _ in 0..200 {
            cell.step();
        }
        cell
    }

    /// All bodies, as a sensor would see them.
    pub(crate) fn objects(&self) -> Vec<KnownObject> {
        let bodies = self.world.body_ids().map(|id| self.world.body(id));
        let known = bodies.map(|body| {
            let size = body.description().shape.bounds().1;
            KnownObject {
                name: body.description().name.clone(),
                pose: body.pose(),
                size,
                shape: None,
            }
        });
        known.collect()
    }

    fn now(&self) -> Time {
        Time::from_seconds(self.world.time())
    }

    /// One control period, in the order of the lockstep.
    pub(crate) fn step(&mut self) -> Option<PickAndPlaceResult> {
        let now = self.now();
        let (q, v) =
            (self.world.robot(self.robot).q().to_vec(), self.world.robot(self.robot).v().to_vec());
        let sensors = self.machine.sensors().iter();
        let wrenches: Vec<_> = sensors.map(|s| self.world.sensor_wrench(self.robot, *s)).collect();
        let arm = match (&self.rejected, &self.preempted, &self.stopped) {
            (Some(why), ..) => ArmReport::Lost(why),
            (_, Some(why), _) => ArmReport::Preempted(why),
            (.., Some(why)) => ArmReport::Blocked(why),
            _ => ArmReport::Fine,
        };
        let objects = self.objects();
        let sighting = self.sees.then_some(Sighting { time: now, objects: &objects });
        let effort = self.world.robot(self.robot).efforts().to_vec();
        let measured = Measurement {
            time: now,
            q: &q,
            v: &v,
            effort: &effort,
            wrenches: &wrenches,
            vacuums: &[],
            arm,
            sighting,
        };
        let output = self.machine.tick(&measured, DT).clone();
        for wrench in &wrenches {
            self.peak_force = self.peak_force.max(wrench.force.y.abs());
        }
        self.request(output.arm, now);
        let stream = self.machine.hand_trajectory(now, DT);
        if self.stall == Some(Stall::Controller) {
            self.silence += 1;
            if self.silence == COMMAND_TIMEOUT {
                self.hold(&q);
            }
        } else {
            self.silence = 0;
            self.control(&stream, &State { q: &q, v: &v, effort: &effort }, now);
        }
        self.world.step();
        let gap = loop_gap(&self.hinged, self.world.robot(self.robot).data());
        self.peak_loop_gap = self.peak_loop_gap.max(gap);
        output.result
    }

    /// Holds the arm where it is, as the simulation's node does without commands; the hand keeps its grip.
    fn hold(&mut self, q: &[f64]) {
        let drives = self.world.drive_mut(self.robot);
        let hand = self.machine.opening_hand().unwrap().fingers().joint().0;
        for (i, joint) in self.model.joints.iter().enumerate() {
            drives.velocity[joint.v_start] = 0.0;
            if i != hand && self.command.position[i].is_finite() {
                drives.position[joint.v_start] = q[joint.q_start];
                drives.effort[joint.v_start] = 0.0;
            }
        }
    }

    /// One period of the controller.
    fn control(&mut self, stream: &JointTrajectory, state: &State<'_>, now: Time) {
        if self.stall != Some(Stall::HandTargets) {
            // Before the first update the controller knows no state and takes nothing.
            self.controller.machine_mut(HAND).unwrap().accept_topic(stream, now).ok();
        }
        let status = self.controller.update(state, now, DT, &mut self.command);
        assert!(status.realised.loop_gap < 1e-6, "{status:?}");
        for event in self.controller.events() {
            let settings = self.controller.groups()[event.group].machine.settings();
            let outcome = event.finished.outcome;
            if matches!(outcome, Outcome::PathTolerance(_)) {
                self.stopped = Some(outcome.describe(settings));
                self.n_aborted += 1;
            }
            println!(
                "  {:.3} arm goal ended: {:?} {}",
                now.seconds(),
                outcome.status(),
                outcome.describe(settings)
            );
        }
        for e in self.controller.groups()[ARM].machine.error() {
            self.peak_tracking = self.peak_tracking.max(e.position.abs());
        }
        self.actuate();
    }

    fn request(&mut self, request: Option<ArmRequest>, now: Time) {
        let arm = self.controller.machine_mut(ARM).unwrap();
        match request {
            Some(ArmRequest::Follow(trajectory)) => {
                self.stopped = None;
                let path_tolerance = path_tolerances(&trajectory);
                let goal = Goal { trajectory, path_tolerance, ..Goal::default() };
                match arm.accept_goal(&goal, now) {
                    Ok((id, _)) => self.goal = Some(id),
                    Err(error) => self.rejected = Some(error.to_string()),
                }
            }
            Some(ArmRequest::Stop) => {
                if let Some(id) = self.goal.take() {
                    arm.cancel(id);
                }
            }
            None => {}
        }
    }

    /// Another client moves the arm's joints to `positions` within `duration` [s].
    pub(crate) fn take_over(&mut self, positions: &[f64], duration: f64) {
        let now = self.now();
        let point = TrajectoryPoint {
            positions: positions.to_vec(),
            time_from_start: duration,
            ..TrajectoryPoint::default()
        };
        let name = |joint: &BodyId| self.model.joints[joint.0].name.clone();
        let trajectory = JointTrajectory {
            joints: self.model.groups[ARM].joints.iter().map(name).collect(),
            points: vec![point],
            ..JointTrajectory::default()
        };
        let arm = self.controller.machine_mut(ARM).unwrap();
        let (_, preempted) = arm.accept_goal(&Goal { trajectory, ..Goal::default() }, now).unwrap();
        if let Some(finished) = preempted.filter(|finished| self.goal == Some(finished.id)) {
            self.preempted = Some(finished.outcome.describe(arm.settings()));
        }
    }

    fn actuate(&mut self) {
        let drives = self.world.drive_mut(self.robot);
        let hand = self.machine.opening_hand().unwrap().fingers().joint().0;
        for (i, joint) in self.model.joints.iter().enumerate() {
            if self.jammed && i == hand {
                continue;
            }
            if self.command.position[i].is_finite() {
                drives.position[joint.v_start] = self.command.position[i];
                drives.velocity[joint.v_start] = self.command.velocity[i];
                drives.effort[joint.v_start] = self.command.effort[i];
            }
        }
    }

    /// A controller that has just started takes the place of the one there is.
    pub(crate) fn exchange_controller(&mut self) {
        let settings = FeedforwardSettings::default();
        self.controller = FeedforwardController::new(self.model.clone(), settings).unwrap();
    }

    /// A grasp machine that has just started takes the place of the one there is.
    pub(crate) fn exchange_machine(&mut self) {
        let (settings, grip) = (PickAndPlaceSettings::default(), GripSettings::default());
        self.machine = PickAndPlace::new(self.model.clone(), settings, grip).unwrap();
    }

    /// The largest speed of a joint of the arm. [rad/s]
    pub(crate) fn speed(&self) -> f64 {
        let v = self.world.robot(self.robot).v();
        let joints = self.model.groups[0].joints.iter();
        joints.fold(0.0, |s: f64, id| s.max(v[self.model.joints[id.0].v_start].abs()))
    }

    /// The middle of the pads. [m] (3)
    pub(crate) fn tool(&self) -> Vector3 {
        let frame = self.machine.opening_hand().unwrap().fingers().tool_frame();
        karakuri_dynamics::frame_pose(&self.model, self.world.robot(self.robot).data(), frame)
            .translation
    }

    /// Puts a body somewhere else, at rest.
    pub(crate) fn put(&mut self, name: &str, position: [f64; 3], yaw: f64) {
        let body = self.world.find_body(name).unwrap();
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw);
        let pose = Pose::from_quaternion(&turn, Vector3::from(position));
        self.world.set_body_state(body, pose, Motion::default()).unwrap();
    }

    /// Place, tilt and yaw of the cube. [m], [rad]
    pub(crate) fn cube(&self) -> (Vector3, f64, f64) {
        let pose: Pose = self.world.body(self.world.find_body("cube").unwrap()).pose();
        let tilt = pose.rotation.m33.clamp(-1.0, 1.0).acos();
        let yaw = pose.rotation.m21.atan2(pose.rotation.m11);
        (pose.translation, tilt, yaw)
    }

    /// Until the result, at most `until` seconds; `each` is called after every step.
    pub(crate) fn run(
        &mut self,
        until: f64,
        mut each: impl FnMut(&mut Self),
    ) -> PickAndPlaceResult {
        let mut stage = Stage::Idle;
        let start = self.world.time();
        while self.world.time() - start < until {
            let result = self.step();
            each(self);
            let output = self.machine.feedback();
            if output.stage != stage {
                stage = output.stage;
                self.stages.push(stage);
                let p = self.cube().0;
                println!(
                    "  {:.3} {stage} opening {:.4} forces {:.2?} cube {:.4} {:.4} {:.4} peak force {:.1} tracking {:.5}",
                    self.world.time() - start,
                    output.opening,
                    output.forces,
                    p.x,
                    p.y,
                    p.z,
                    self.peak_force,
                    self.peak_tracking
                );
            }
            if let Some(result) = result {
                println!("  {result:?}, state {:016x}", self.world.state_hash());
                return result;
            }
        }
        panic!("no result after {until} s, in {stage}");
    }
}

fn hinged(model: &Model) -> Model {
    let mut model = model.clone();
    for joint in &mut model.loops {
        joint.locked = [true, true, false, true, true, true];
    }
    model
}

const PASSIVE: [(&str, f64); 6] = [
    ("right_finger_joint", 1.0),
    ("left_jaw_joint", -1.0),
    ("left_follower_joint", 1.0),
    ("right_crank_joint", 1.0),
    ("right_jaw_joint", -1.0),
    ("right_follower_joint", 1.0),
];

/// A posture; the passive joints of the fingers follow from the driven one.
fn position(model: &Model, posture: &karakuri_model::Posture) -> Vec<f64> {
    let mut q = model.neutral_position();
    let driven = model.end_effector.as_ref().unwrap().joints[0];
    for (id, value) in &posture.positions {
        q[model.joints[id.0].q_start] = *value;
        if *id == driven {
            for (name, sign) in PASSIVE {
                if let Some(j) = model.joint(name) {
                    q[model.joints[j.0].q_start] = sign * value;
                }
            }
        }
    }
    q
}

/// The demonstration's.
pub(crate) fn goal() -> PickAndPlaceGoal {
    PickAndPlaceGoal {
        part: Part::Whole,
        shape: ObjectShape::Box,
        profile: Profile::Box,
        size: Vector3::repeat(0.05),
        mass: 0.2,
        friction: 0.6,
        pick: ObjectPose { position: Vector3::new(0.5, -0.2, 0.775), yaw: 0.0 },
        place: ObjectPose { position: Vector3::new(0.5, 0.2, 0.875), yaw: 0.0 },
        grip_force: 10.0,
        max_grip_force: 15.0,
        approach_height: 0.12,
        grasps: Vec::new(),
    }
}

/// Starts a goal; the machine knows all bodies if it sees.
pub(crate) fn try_start(cell: &mut Cell, goal: &PickAndPlaceGoal) -> Result<(), PlanError> {
    let (now, q) = (cell.now(), cell.world.robot(cell.robot).q().to_vec());
    let objects = if cell.sees { cell.objects() } else { Vec::new() };
    cell.machine.start(goal.clone(), now, &q, &objects)
}

pub(crate) fn start(cell: &mut Cell, goal: &PickAndPlaceGoal) {
    try_start(cell, goal).unwrap();
}
