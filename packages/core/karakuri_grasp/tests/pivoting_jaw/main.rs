//! The jaw of so101: its law against the robot's kinematics, and a grip that is felt by its drive alone against the contacts.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may stop them")]

mod lift;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use karakuri_dynamics::{Data, forward_kinematics, frame_pose};
use karakuri_files::{load_robot, read_text};
use karakuri_grasp::grip_force::{GripSettings, GripTask};
use karakuri_grasp::gripper_command::{
    GripperCommand, GripperCommandRun, GripperCommandSettings, GripperReport,
};
use karakuri_grasp::pick_and_place::{
    ArmReport, Measurement, ObjectPose, ObjectShape, Part, PickAndPlace, PickAndPlaceGoal,
    PickAndPlaceSettings, PlanError, Profile,
};
use karakuri_model::{FrameId, Model, Shape};
use karakuri_physics::{BodyDescription, RobotId, Scene, World};
use karakuri_spatial::{Force, Pose, Time, Vector3};

/// Period of a sample, as that of so101's bus, and steps of the physics in it.
const PERIOD: f64 = 0.01;
const STEPS: usize = 10;
/// Edge of the cube. [m]
const CUBE: f64 = 0.025;
/// Force of so101's dry friction at the jaw: 0.052 N·m at 0.07 m at least. [N]
const FRICTION: f64 = 0.75;

/// The scene of so101, a table and a cube.
fn scene() -> Scene {
    Scene::parse(&read_text(&scene_path()).unwrap(), "so101.yaml").unwrap()
}

fn scene_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config/scenes/so101.yaml")
}

fn model() -> Model {
    let folder = scene_path().parent().unwrap().join("../..");
    let urdf = folder.join("urdf/so101/so101.urdf");
    load_robot(&urdf, Some(&folder.join("config/so101.yaml")), None).unwrap().model
}

fn frame(model: &Model, name: &str) -> FrameId {
    FrameId(model.frames.iter().position(|frame| frame.name == name).unwrap())
}

/// Pose of the moving jaw's link in the tool frame, with the joint at a position.
fn jaw_in_tool(model: &Model, data: &mut Data, position: f64) -> Pose {
    let mut q = vec![0.0; model.nq];
    q[model.joints.iter().find(|joint| joint.name == "gripper").unwrap().q_start] = position;
    forward_kinematics(model, data, &q);
    let pose = |name| frame_pose(model, data, frame(model, name));
    pose("tool").inverse() * pose("moving_jaw")
}

#[test]
fn the_opening_is_that_of_the_urdf() {
    let model = model();
    let hand = karakuri_grasp::end_effector::from_model(&model).unwrap();
    let mut data = Data::new(&model);
    let shut = hand.position(0.0005);
    assert!((shut + 0.174_533).abs() < 1e-6, "shut at {shut} rad, the joint's lower limit");
    // The point of the moving jaw that is above the tool's origin when shut.
    let shut_pose = jaw_in_tool(&model, &mut data, shut);
    let point = shut_pose.inverse().transform_point(&Vector3::new(0.0, 0.0005, 0.0));
    for step in 0..=50 {
        let position = shut + f64::from(step) * 0.025;
        let place = jaw_in_tool(&model, &mut data, position).transform_point(&point);
        let (opening, depth) = (hand.opening(position), hand.tool_depth(position));
        assert!(
            (place.y - opening).abs() < 1e-9,
            "{position} rad: {opening} m, it is {} m",
            place.y
        );
        assert!((place.x - depth).abs() < 1e-9, "{position} rad: {depth} m, it is {} m", place.x);
        assert!((hand.position(opening) - position).abs() < 1e-9 || opening > 0.095);
    }
}

/// so101 with its jaws about a cube, far above the table, in free fall.
struct Cell {
    world: World,
    robot: RobotId,
    model: Arc<Model>,
    machine: PickAndPlace,
    n: i64,
    /// Whether the drive's effort is measured.
    is_measured: bool,
}

impl Cell {
    fn new(width: f64) -> Self {
        let mut scene = scene();
        scene.settings.gravity = Vector3::zeros();
        scene.bodies.clear();
        let mut cell = Self::of(scene, &[0.0; 5]);
        // In the middle of the jaws' width, 1 mm before the fixed jaw.
        let middle = Pose::from_translation(Vector3::new(0.0, 0.5 * width + 0.001, 0.0));
        let place = cell.tool() * middle;
        let shape = Shape::Box { size: Vector3::repeat(width) };
        let cube =
            BodyDescription { friction: 0.6, ..BodyDescription::new("cube", shape, 0.02, place) };
        cell.world.add_body(cube).unwrap();
        cell
    }

    /// so101 in a scene with the joints of its arm at these positions, its jaw open. [rad]
    fn of(mut scene: Scene, arm: &[f64]) -> Self {
        scene.robots[0].joints.clear();
        let model = Arc::new(model());
        let mut world = World::from_scene(&scene, std::slice::from_ref(&model)).unwrap();
        let robot = world.robot_ids().next().unwrap();
        let machine =
            PickAndPlace::new(Arc::clone(&model), PickAndPlaceSettings::default(), settings())
                .unwrap();
        let fingers = machine.opening_hand().unwrap().fingers();
        let mut q = vec![0.0; model.nq];
        q[..arm.len()].copy_from_slice(arm);
        q[model.joints[fingers.joint().0].q_start] = fingers.position(0.06);
        world.set_robot_state(robot, &q, &vec![0.0; model.nv]).unwrap();
        for joint in &model.joints {
            world.drive_mut(robot).position[joint.v_start] = q[joint.q_start];
        }
        Self { world, robot, model, machine, n: 0, is_measured: true }
    }

    /// Pose of the tool frame in the world.
    fn tool(&self) -> Pose {
        frame_pose(&self.model, self.world.robot(self.robot).data(), frame(&self.model, "tool"))
    }

    /// Position of the cube in the tool frame. [m] (3)
    fn in_hand(&self) -> Vector3 {
        let cube = self.world.body(self.world.find_body("cube").unwrap());
        (self.tool().inverse() * cube.pose()).translation
    }

    /// A sample, the hand's target for it, and the period after it.
    fn step(&mut self) {
        self.n += 1;
        let robot = self.world.robot(self.robot);
        let (q, v) = (robot.q().to_vec(), robot.v().to_vec());
        let effort: Vec<f64> = (0..v.len()).map(|dof| robot.motor_effort(dof)).collect();
        let measured = Measurement {
            time: Time::from_nanoseconds(self.n * 10_000_000),
            q: &q,
            v: &v,
            effort: if self.is_measured { &effort } else { &[] },
            wrenches: &[Force::default(); 2],
            vacuums: &[],
            arm: ArmReport::Fine,
            sighting: None,
        };
        let hand = self.machine.tick(&measured, PERIOD).hand[0];
        let dof =
            self.model.joints[self.machine.opening_hand().unwrap().fingers().joint().0].v_start;
        for _ in 0..STEPS {
            let drives = self.world.drive_mut(self.robot);
            (drives.position[dof], drives.velocity[dof], drives.effort[dof]) =
                (hand.position, hand.velocity, hand.effort);
            self.world.step();
        }
    }

    /// Carries a command out; how it ended.
    fn command(&mut self, opening: f64, force: f64) -> GripperReport {
        let command = GripperCommand { opening, max_effort: force, max_velocity: 0.0 };
        let settings =
            GripperCommandSettings { goal_tolerance: 0.0015, ..GripperCommandSettings::default() };
        let (hand, grip) = self.machine.opening_hand_mut().unwrap().fingers_and_grip();
        let mut run = GripperCommandRun::start(command, settings, hand, grip).unwrap();
        for _ in 0..1000 {
            self.step();
            let (hand, grip) = self.machine.opening_hand_mut().unwrap().fingers_and_grip();
            let (report, ended) = run.check(hand, grip, PERIOD);
            if ended {
                assert!(run.succeeded(&report));
                return report;
            }
        }
        panic!("no end after 10 s, at {:?}", self.machine.feedback());
    }

    /// Force with which the contacts press the cube on the fixed jaw, along the opening. [N]
    fn pressed(&self) -> f64 {
        let tool = self.tool();
        let cube = self.world.find_part("cube").unwrap();
        let fixed = self.world.find_part("so101/gripper_link").unwrap();
        let on = self.world.contacts_on(cube).filter(|contact| contact.a == fixed);
        on.map(|contact| tool.rotation.column(1).dot(&contact.force)).sum()
    }
}

/// Those of `config/nodes/so101_gripper.yaml`.
fn settings() -> GripSettings {
    GripSettings { contact_force: 2.0, speed: 0.05, ..GripSettings::default() }
}

/// Force at the nearer edge of a box by that at the point of which the opening is measured, without friction. [-]
fn harder_at_the_edge_of(width: f64) -> f64 {
    let (depth, below) = (0.0747, 0.0281 - 0.0005);
    let angle = stopped_by(width) + 0.174_533;
    let at_the_point = depth * angle.cos() + below * angle.sin();
    at_the_point * angle.cos().powi(2) / (depth - 0.5 * width - below * angle.sin())
}

/// Position at which the jaw's face passes through the edge of a box in the middle of the pads that is nearer to the pivot. [rad]
fn stopped_by(width: f64) -> f64 {
    let (depth, height, gap) = (0.0747, 0.0281, 0.0005);
    let face =
        |angle: f64| height + (depth - 0.5 * width) * angle.tan() - (height - gap) / angle.cos();
    let (mut low, mut high) = (0.0, 1.2);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if face(middle) < width { low = middle } else { high = middle }
    }
    low - 0.174_533
}

#[test]
fn it_opens_and_shuts_on_nothing() {
    let mut cell = Cell::new(0.010);
    let cube = cell.world.find_body("cube").unwrap();
    cell.world.remove_body(cube);
    for opening in [0.08, 0.0, 0.04] {
        let report = cell.command(opening, 5.0);
        assert!(report.reached_goal && !report.stalled, "{opening} m: {report:?}");
        let reached = report.opening - opening.max(0.0005);
        assert!(reached.abs() < 0.0015 && report.effort.abs() < 2.0, "{report:?}");
    }
}

#[test]
fn a_cube_stalls_it_with_the_force_that_was_asked_for_and_is_held() {
    for (width, force) in [(0.010, 4.0), (CUBE, 6.0), (CUBE, 12.0)] {
        let mut cell = Cell::new(width);
        let report = cell.command(0.0, force);
        assert!(report.stalled && !report.reached_goal, "{width} m, {force} N: {report:?}");
        assert!(
            (report.effort - force).abs() < 0.1 * force,
            "felt are {} of {force} N",
            report.effort
        );
        (0..100).for_each(|_| cell.step());
        let pressed = cell.pressed();
        // At its edge, which is nearer to the pivot, the jaw presses harder: by the ratio of the levers, less what friction takes.
        let range = 0.9 * force - FRICTION..=1.1 * force * harder_at_the_edge_of(width) + FRICTION;
        assert!(range.contains(&pressed), "{pressed} N press, not {range:?}");
        let hand = cell.machine.opening_hand().unwrap().fingers();
        let joint = &cell.model.joints[hand.joint().0];
        let position = cell.world.robot(cell.robot).q()[joint.q_start];
        let expected = stopped_by(width);
        assert!((position - expected).abs() < 0.02, "{width} m at {position} rad, not {expected}");
        assert!((report.opening - hand.opening(expected)).abs() < 0.0015, "{report:?}");
        // Shaken by the arm, it stays in the hand.
        let before = cell.in_hand();
        for n in 0..200 {
            cell.world.drive_mut(cell.robot).position[0] = 0.2 * (0.06 * f64::from(n)).sin();
            cell.step();
        }
        let slip = (cell.in_hand() - before).norm();
        assert!(slip < 0.002, "{width} m, {force} N: it slips by {slip} m");
        let report = cell.command(0.06, 0.0);
        assert!(report.reached_goal && cell.pressed().abs() < 1e-9, "let go: {report:?}");
    }
}

#[test]
fn where_no_effort_is_measured_the_target_says_the_force() {
    let mut cell = Cell::new(CUBE);
    cell.is_measured = false;
    let report = cell.command(0.0, 6.0);
    assert!(report.stalled && (report.effort - 6.0).abs() < 0.6, "{report:?}");
    (0..100).for_each(|_| cell.step());
    let range = 5.4 - FRICTION..=6.6 * harder_at_the_edge_of(CUBE) + FRICTION;
    assert!(range.contains(&cell.pressed()), "{} N press", cell.pressed());
}

#[test]
fn what_it_holds_is_taken_over_by_the_next_machine() {
    let mut cell = Cell::new(CUBE);
    cell.command(0.0, 6.0);
    cell.machine =
        PickAndPlace::new(Arc::clone(&cell.model), PickAndPlaceSettings::default(), settings())
            .unwrap();
    (0..50).for_each(|_| cell.step());
    let (_, grip) = cell.machine.opening_hand_mut().unwrap().fingers_and_grip();
    assert!(
        matches!(grip.task(), GripTask::Close { force, .. } if (force - 6.0).abs() < 1.0),
        "{grip:?}"
    );
    let range = 5.0 - FRICTION..=7.0 * harder_at_the_edge_of(CUBE) + FRICTION;
    assert!(range.contains(&cell.pressed()), "{} N press", cell.pressed());
}

#[test]
fn it_does_not_pick_and_place() {
    let mut cell = Cell::new(CUBE);
    cell.step();
    let place = ObjectPose { position: Vector3::new(0.2, 0.0, 0.8), yaw: 0.0 };
    let goal = PickAndPlaceGoal {
        part: Part::Whole,
        shape: ObjectShape::Box,
        profile: Profile::Box,
        size: Vector3::repeat(CUBE),
        mass: 0.02,
        friction: 0.6,
        pick: place,
        place,
        grip_force: 5.0,
        max_grip_force: 10.0,
        approach_height: 0.05,
        grasps: Vec::new(),
    };
    let q = cell.world.robot(cell.robot).q().to_vec();
    let error = cell.machine.start(goal, Time::ZERO, &q, &[]).unwrap_err();
    assert!(matches!(error, PlanError::NoSensors { .. }));
    assert!(error.to_string().contains("robot `so101` has none"), "{error}");
}
