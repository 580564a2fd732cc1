//! The whole chain without ROS: scene, controller, grasp machine, in lockstep. What the nodes only wire together.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may stop them")]
#![expect(clippy::print_stdout, reason = "the course of a run, shown when it fails")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use karakuri_control::joint_trajectory::{Goal, GoalId};
use karakuri_control::trajectory::{JointTrajectory, TrajectoryPoint};
use karakuri_control::{
    Command, Controller, FeedforwardController, FeedforwardSettings, State, Time,
};
use karakuri_files::{load_robot, read_text};
use karakuri_grasp::grip_force::GripSettings;
use karakuri_grasp::pick_and_place::{
    ArmReport, ArmRequest, Failure, Measurement, ObjectPose, PickAndPlace, PickAndPlaceGoal,
    PickAndPlaceResult, PickAndPlaceSettings, Stage,
};
use karakuri_model::Model;
use karakuri_physics::{RobotId, Scene, World};
use karakuri_spatial::{Motion, Pose, Vector3};

const ARM: usize = 0;
const HAND: usize = 1;
/// Control period: the physics' own step. [s]
const DT: f64 = 0.001;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// A cell in lockstep: world, controller, grasp machine.
struct Cell {
    world: World,
    robot: RobotId,
    model: Arc<Model>,
    controller: FeedforwardController,
    machine: PickAndPlace,
    command: Command,
    goal: Option<GoalId>,
    arm_failure: Option<String>,
    peak_force: f64,
    peak_tracking: f64,
}

impl Cell {
    fn new(posture: &str, config: &str) -> Self {
        let scene_path = repository().join("config/scenes/pick_and_place.yaml");
        let text = read_text(&scene_path).unwrap();
        let mut scene = Scene::parse(&text, "pick_and_place.yaml").unwrap();
        let folder = scene_path.parent().unwrap();
        let robot = &mut scene.robots[0];
        let urdf = folder.join(&robot.urdf).with_file_name(format!("{config}.urdf"));
        let yaml = folder.join("..").join(format!("{config}.yaml"));
        let base = robot.base();
        let loaded = load_robot(&urdf, Some(&yaml), Some(base)).unwrap();
        let model = Arc::new(loaded.model);
        let posture = model.postures.iter().find(|p| p.name == posture).unwrap().clone();
        robot.joints.clear();
        let mut world = World::from_scene(&scene, std::slice::from_ref(&model)).unwrap();
        let id = world.robot_ids().next().unwrap();
        let q = position(&model, &posture);
        world.set_robot_state(id, &q, &vec![0.0; model.nv]).unwrap();
        for joint in &model.joints {
            world.drive_mut(id).position[joint.v_start] = q[joint.q_start];
        }
        let settings = FeedforwardSettings::default();
        let controller = FeedforwardController::new(model.clone(), settings).unwrap();
        let machine = PickAndPlace::new(
            model.clone(),
            PickAndPlaceSettings::default(),
            GripSettings::default(),
        )
        .unwrap();
        let command = Command::new(&model);
        let mut cell = Self {
            world,
            robot: id,
            model,
            controller,
            machine,
            command,
            goal: None,
            arm_failure: None,
            peak_force: 0.0,
            peak_tracking: 0.0,
        };
        // Let the objects settle.
        for _ in 0..200 {
            cell.step();
        }
        cell
    }

    fn now(&self) -> Time {
        Time::from_seconds(self.world.time())
    }

    /// One control period, in the order of the lockstep.
    fn step(&mut self) -> Option<PickAndPlaceResult> {
        let now = self.now();
        let (q, v) =
            (self.world.robot(self.robot).q().to_vec(), self.world.robot(self.robot).v().to_vec());
        let wrenches =
            self.machine.sensors().indices().map(|s| self.world.sensor_wrench(self.robot, s));
        let arm = self.arm_failure.as_deref().map_or(ArmReport::Fine, ArmReport::Failed);
        let measured = Measurement { time: now, q: &q, v: &v, wrenches: &wrenches, arm };
        let output = self.machine.tick(&measured, DT).clone();
        for force in output.feedback.forces {
            self.peak_force = self.peak_force.max(force);
        }
        self.request(output.arm, now);
        let crank = self.machine.hand().joint();
        let stream = JointTrajectory {
            start: Some(now),
            joints: vec![self.model.joints[crank.0].name.clone()],
            points: vec![TrajectoryPoint {
                time_from_start: DT,
                positions: vec![output.hand.position],
                velocities: vec![output.hand.velocity],
                ..TrajectoryPoint::default()
            }],
        };
        // Before the first update the controller knows no state and takes nothing.
        self.controller.machine_mut(HAND).unwrap().accept_topic(&stream, now).ok();
        let state = State { q: &q, v: &v };
        let status = self.controller.update(&state, now, DT, &mut self.command);
        assert!(status.realised.loop_gap < 1e-6, "{status:?}");
        for event in self.controller.events() {
            let settings = self.controller.groups()[event.group].machine.settings();
            let outcome = event.finished.outcome;
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
        self.world.step();
        output.result
    }

    fn request(&mut self, request: Option<ArmRequest>, now: Time) {
        let arm = self.controller.machine_mut(ARM).unwrap();
        match request {
            Some(ArmRequest::Follow(trajectory)) => {
                let goal = Goal { trajectory, ..Goal::default() };
                match arm.accept_goal(&goal, now) {
                    Ok((id, _)) => self.goal = Some(id),
                    Err(error) => self.arm_failure = Some(error.to_string()),
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

    fn actuate(&mut self) {
        let drives = self.world.drive_mut(self.robot);
        for (i, joint) in self.model.joints.iter().enumerate() {
            if self.command.position[i].is_finite() {
                drives.position[joint.v_start] = self.command.position[i];
                drives.velocity[joint.v_start] = self.command.velocity[i];
                drives.effort[joint.v_start] = self.command.effort[i];
            }
        }
    }

    fn cube(&self) -> (Vector3, f64, f64) {
        let pose: Pose = self.world.body(self.world.find_body("cube").unwrap()).pose();
        let tilt = pose.rotation.m33.clamp(-1.0, 1.0).acos();
        let yaw = pose.rotation.m21.atan2(pose.rotation.m11);
        (pose.translation, tilt, yaw)
    }

    fn run(&mut self, until: f64, mut each: impl FnMut(&mut Self)) -> PickAndPlaceResult {
        let mut stage = Stage::Idle;
        let start = self.world.time();
        while self.world.time() - start < until {
            let result = self.step();
            each(self);
            let output = self.machine.feedback();
            if output.stage != stage {
                stage = output.stage;
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
                return result;
            }
        }
        panic!("no result after {until} s, in {stage}");
    }
}

const PASSIVE: [(&str, f64); 5] = [
    ("left_jaw_joint", -1.0),
    ("left_follower_joint", 1.0),
    ("right_crank_joint", 1.0),
    ("right_jaw_joint", -1.0),
    ("right_follower_joint", 1.0),
];

/// A posture; the passive joints of the fingers follow from the crank.
fn position(model: &Model, posture: &karakuri_model::Posture) -> Vec<f64> {
    let mut q = model.neutral_position();
    let crank = model.joint("left_crank_joint").unwrap();
    for (id, value) in &posture.positions {
        q[model.joints[id.0].q_start] = *value;
        if *id == crank {
            for (name, sign) in PASSIVE {
                if let Some(j) = model.joint(name) {
                    q[model.joints[j.0].q_start] = sign * value;
                }
            }
        }
    }
    q
}

fn goal() -> PickAndPlaceGoal {
    PickAndPlaceGoal {
        size: Vector3::repeat(0.05),
        mass: 0.2,
        friction: 0.6,
        pick: ObjectPose { position: Vector3::new(0.5, -0.2, 0.775), yaw: 0.0 },
        place: ObjectPose { position: Vector3::new(0.5, 0.2, 0.875), yaw: 0.0 },
        grip_force: 10.0,
        approach_height: 0.12,
    }
}

fn start(cell: &mut Cell, goal: PickAndPlaceGoal) {
    let (now, q) = (cell.now(), cell.world.robot(cell.robot).q().to_vec());
    cell.machine.start(goal, now, &q).unwrap();
}

fn picks_and_places(posture: &str, config: &str) -> u64 {
    let mut cell = Cell::new(posture, config);
    start(&mut cell, goal());
    let result = cell.run(15.0, |_| {});
    println!("{posture} {config}: {result:?}");
    assert_eq!(result.failure, None, "{result:?}");
    // At rest on the shelf.
    for _ in 0..300 {
        cell.step();
    }
    let (p, tilt, yaw) = cell.cube();
    let error = (p - goal().place.position).norm();
    println!(
        "{posture}: placed within {:.2} mm, tilt {:.3} yaw {:.3} deg, peak force {:.2} N, tracking {:.5} rad",
        1e3 * error,
        tilt.to_degrees(),
        yaw.to_degrees(),
        cell.peak_force,
        cell.peak_tracking
    );
    assert!(error < 0.005, "{:.2} mm off", 1e3 * error);
    assert!(tilt.to_degrees() < 2.0 && yaw.to_degrees().abs() < 2.0);
    assert!(cell.peak_force <= 15.0, "{} N", cell.peak_force);
    cell.world.state_hash()
}

#[test]
fn picks_and_places_from_three_starts() {
    for posture in ["start1", "start2", "start3"] {
        picks_and_places(posture, "arm6");
    }
}

#[test]
fn two_runs_are_equal_to_the_bit() {
    assert_eq!(picks_and_places("start2", "arm6"), picks_and_places("start2", "arm6"));
}

#[test]
fn the_mimic_hand_does_it_too() {
    picks_and_places("start1", "arm6_mimic");
}

#[test]
fn an_empty_table_is_no_object() {
    let mut cell = Cell::new("start1", "arm6");
    let cube = cell.world.find_body("cube").unwrap();
    let away = Pose::from_translation(Vector3::new(0.3, 0.4, 0.775));
    cell.world.set_body_state(cube, away, Motion::default()).unwrap();
    start(&mut cell, goal());
    let result = cell.run(15.0, |_| {});
    assert_eq!(result.failure, Some(Failure::NoObject), "{result:?}");
}

#[test]
fn a_cancel_while_carrying_keeps_the_object() {
    let mut cell = Cell::new("start1", "arm6");
    start(&mut cell, goal());
    let result = cell.run(15.0, |cell| {
        let feedback = *cell.machine.feedback();
        if feedback.stage == Stage::Move && feedback.progress > 0.5 {
            cell.machine.cancel();
        }
    });
    assert_eq!(result.failure, Some(Failure::Canceled), "{result:?}");
    for _ in 0..1000 {
        cell.step();
    }
    let speed = cell.world.robot(cell.robot).v().iter().fold(0.0, |s: f64, v| s.max(v.abs()));
    let (p, ..) = cell.cube();
    println!("cancelled: cube at {p:?}, speed {speed:.5}");
    assert!(p.z > 0.9 && speed < 0.01, "cube at {p:?}, speed {speed}");
}
