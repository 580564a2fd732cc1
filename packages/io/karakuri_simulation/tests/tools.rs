//! Tools that an arm takes from a dock and puts back there.

#![expect(clippy::unwrap_used, reason = "a helper of tests may stop them")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use karakuri_dynamics::{IkOptions, IkProblem, IkTarget, InverseKinematics, frame_pose};
use karakuri_files::Tools;
use karakuri_hardware::{RobotIo, RobotState};
use karakuri_model::Model;
use karakuri_physics::{RobotId, World};
use karakuri_simulation::{LoadedScene, RackTool, SimulatedWorld, load_scene};
use karakuri_spatial::{Pose, Vector3};

const SCENE: &str = "config/scenes/pick_and_place_tools.yaml";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn tools_file() -> PathBuf {
    root().join("config/tools/arm6.yaml")
}

/// Scene of the tools, whose arm has the jaws.
fn scene() -> LoadedScene {
    load_scene(&root().join(SCENE)).unwrap()
}

fn tool_models(scene: &LoadedScene) -> Vec<RackTool> {
    let tools = Tools::read(&tools_file()).unwrap();
    let models = tools.load(&tools_file(), Some(scene.scene.robots[0].base())).unwrap();
    let own = tools.of_urdf(&root().join("urdf/arm6/arm6.urdf")).unwrap();
    let with = tools.tools.iter().zip(models).map(|(tool, model)| {
        let model = if tool == own { Arc::clone(&scene.models[0]) } else { model };
        RackTool { name: tool.name.clone(), model, dock: tool.dock }
    });
    with.collect()
}

struct Cell {
    io: SimulatedWorld,
    tools: Vec<RackTool>,
}

impl Cell {
    fn new() -> Self {
        let scene = scene();
        let tools = tool_models(&scene);
        let world = SimulatedWorld::new(scene.world().unwrap(), 1);
        Self { io: world.with_tools(0, "flange", tools.clone()).unwrap(), tools }
    }

    fn id(&self) -> RobotId {
        self.io.world().find_robot("arm").unwrap()
    }

    fn dock(&self, tool: &str) -> Pose {
        self.tools.iter().find(|t| t.name == tool).unwrap().dock.unwrap()
    }

    /// Puts the flange at a pose, at rest.
    fn put_flange(&mut self, pose: Pose) {
        let id = self.id();
        let q = flange_at(self.io.world(), id, pose);
        let still = vec![0.0; self.io.world().robot(id).v().len()];
        self.io.world_mut().set_robot_state(id, &q, &still).unwrap();
        self.io.hold(0, false);
    }

    /// Lets the present tool go, if any, and takes another, each at its place.
    fn change(&mut self, tool: &str) {
        let present = self.io.tool().unwrap().1.to_owned();
        if present != "none" {
            self.put_flange(self.dock(&present));
            self.io.set_tool("none").unwrap();
        }
        if tool != "none" {
            self.put_flange(self.dock(tool));
            self.io.set_tool(tool).unwrap();
        }
        assert_eq!(self.io.tool(), Some((0, tool)));
    }

    /// Force that the wrist feels, upwards, after it has come to rest. [N]
    fn weight(&mut self) -> f64 {
        for _ in 0..1000 {
            self.io.advance().unwrap();
        }
        let layout = self.io.robots()[0].clone();
        let wrist = layout.wrenches.iter().position(|sensor| sensor.name == "wrist").unwrap();
        let mut state = RobotState::new(&layout);
        self.io.read(0, &mut state);
        let robot = self.io.world().robot(self.id());
        let link = robot.model().frame("wrist_3_link").unwrap();
        let pose = frame_pose(robot.model(), robot.data(), link);
        (pose.rotation * state.wrenches[wrist].force).z
    }
}

/// Position of the arm with its flange at a pose, from where it is. (nq)
fn flange_at(world: &World, id: RobotId, pose: Pose) -> Vec<f64> {
    let robot = world.robot(id);
    let model: &Model = robot.model();
    let targets = [IkTarget::pose(model.frame("flange").unwrap(), pose)];
    let problem = IkProblem { targets: &targets, start: robot.q(), ..IkProblem::default() };
    let mut ik = InverseKinematics::new(model, 1);
    let outcome = ik.solve(model, &problem, &IkOptions::default()).unwrap();
    assert!(outcome.converged, "{}", outcome.explain(model, &targets));
    ik.position
}

#[test]
fn a_tool_is_taken_and_put_back_at_its_place_only() {
    let mut cell = Cell::new();
    assert_eq!(cell.io.tool(), Some((0, "jaws")));
    let refused = |cell: &mut Cell, tool: &str| cell.io.set_tool(tool).unwrap_err().to_string();
    assert_eq!(refused(&mut cell, "drill"), "no tool `drill`; there are: none, jaws, cup");
    assert!(refused(&mut cell, "cup").starts_with("`jaws` is on the flange; let it go first"));
    assert!(
        refused(&mut cell, "none")
            .ends_with("from the place of `jaws`; it must be within 2 mm and 1°")
    );
    // What is there already is no change.
    cell.io.set_tool("jaws").unwrap();

    let mut high = cell.dock("jaws");
    high.translation.z += 2.5e-3;
    cell.put_flange(high);
    assert_eq!(
        refused(&mut cell, "none"),
        "the flange is 2.5 mm and 0° from the place of `jaws`; it must be within 2 mm and 1°"
    );
    cell.put_flange(cell.dock("jaws") * Pose::from_xyz_rpy([0.0; 3], [0.03, 0.0, 0.0]));
    assert!(refused(&mut cell, "none").contains("and 1.7° from"));
    cell.put_flange(cell.dock("jaws"));
    let id = cell.id();
    let (q, mut v) =
        (cell.io.world().robot(id).q().to_vec(), cell.io.world().robot(id).v().to_vec());
    v[2] = -0.02;
    cell.io.world_mut().set_robot_state(id, &q, &v).unwrap();
    assert_eq!(
        refused(&mut cell, "none"),
        "joint `elbow_pitch` moves at 0.02 rad/s; stop the arm first"
    );

    cell.change("cup");
    cell.change("jaws");
    let joints = cell.io.robots()[0].joints.len();
    assert_eq!(joints, scene().models[0].joints.len());
}

#[test]
fn tools_in_the_dock_are_boxes_below_their_places() {
    let mut cell = Cell::new();
    let docked = |cell: &Cell| -> Vec<(String, Pose, Vector3)> {
        cell.io.docked_tools().map(|t| (t.name.to_owned(), t.pose, t.size)).collect()
    };
    let [(name, pose, size)] = docked(&cell).try_into().unwrap();
    assert_eq!(name, "dock_cup");
    // The lip is 145 mm below the flange, and has no shape in its last 4 mm; the holder has a radius of 33.5 mm.
    assert!((pose.translation - Vector3::new(0.12, -0.5, 1.15 - 0.0705)).norm() < 1e-6, "{pose:?}");
    assert!((size - Vector3::new(0.141, 0.067, 0.067)).norm() < 1e-6, "{size:?}");
    cell.change("none");
    let names: Vec<String> = docked(&cell).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["dock_jaws", "dock_cup"]);
    cell.change("cup");
    assert_eq!(docked(&cell)[0].0, "dock_jaws");
}

#[test]
fn the_wrist_feels_the_weight_of_what_is_on_the_flange() {
    let mut cell = Cell::new();
    let mass =
        |cell: &Cell, tool: &str| cell.tools.iter().find(|t| t.name == tool).unwrap().model.mass();
    for tool in ["none", "cup", "jaws", "none"] {
        cell.change(tool);
        // Above the dock, where nothing touches.
        let mut free = cell.dock("cup");
        free.translation.z += 0.2;
        cell.put_flange(free);
        let (own, weight) = (mass(&cell, tool) - mass(&cell, "none") + 0.35, cell.weight());
        assert!((weight - own * 9.81).abs() < 1e-6, "{tool}: {weight} N of {own} kg");
    }
}

#[test]
fn an_arm_that_changed_its_tool_moves_as_one_that_began_with_it() {
    let mut cell = Cell::new();
    cell.change("cup");
    let id = cell.id();
    let q = cell.io.world().robot(id).q().to_vec();

    let mut scene = scene();
    scene.scene.robots[0].joints.clear();
    scene.models[0] = Arc::clone(&cell.tools[2].model);
    let mut built = scene.world().unwrap();
    let own = built.find_robot("arm").unwrap();
    let still = vec![0.0; q.len()];
    built.set_robot_state(own, &q, &still).unwrap();
    let drives = cell.io.world_mut().drive_mut(id).clone();
    *built.drive_mut(own) = drives;
    for world in [cell.io.world_mut(), &mut built] {
        let arm = world.find_robot("arm").unwrap();
        world.drive_mut(arm).position[2] -= 0.3;
    }
    for step in 0..500 {
        cell.io.advance().unwrap();
        _ = built.step();
        let (a, b) = (cell.io.world().robot(id), built.robot(own));
        assert_eq!((a.q(), a.v()), (b.q(), b.v()), "step {step}");
    }
}

#[test]
fn a_state_comes_back_with_the_tool_that_it_had() {
    let mut cell = Cell::new();
    let before = cell.io.save();
    let run = |cell: &mut Cell| {
        for _ in 0..100 {
            cell.io.advance().unwrap();
        }
        cell.io.world().state_hash()
    };
    let first = run(&mut cell);
    cell.change("cup");
    let with_cup = cell.io.save();
    cell.io.restore(&before);
    assert_eq!(cell.io.tool(), Some((0, "jaws")));
    assert!(cell.io.robots()[0].cups.is_empty());
    assert_eq!(run(&mut cell), first);
    cell.io.restore(&with_cup);
    assert_eq!(cell.io.tool(), Some((0, "cup")));
    assert_eq!(cell.io.robots()[0].cups.len(), 1);
    // The states alone: the tool stays, the arm goes back.
    cell.io.restore_states(&before);
    assert_eq!(cell.io.tool(), Some((0, "cup")));
    let id = cell.id();
    assert_eq!(&cell.io.world().robot(id).q()[..3], &[0.0, -0.4, 1.9]);
    run(&mut cell);
}
