//! Cells of the pick-and-place scenes, and what tests look at.

use core::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use karakuri_files::{load_robot, read_text};
use karakuri_grasp::pick_and_place::{
    ObjectPose, PickAndPlace, PickAndPlaceGoal, PickAndPlaceResult, PlanError, Stage, ToolMove,
};
use karakuri_model::Model;
use karakuri_physics::{BodyDescription, Scene, World};
use karakuri_rehearsal::{CellSettings, RehearsalError};
use karakuri_simulation::SimulatedWorld;
use karakuri_spatial::{Motion, Pose, Vector3};

/// Name of what is picked.
pub(crate) const OBJECT: &str = "object";

/// Folder of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

#[derive(Clone)]
pub(crate) struct Cell {
    inner: karakuri_rehearsal::Cell,
    /// Of ten samples, those that do not reach the machine.
    pub(crate) missed: usize,
    n: usize,
    pub(crate) stages: Vec<Stage>,
    /// Whether a lip slid, turned or tipped while the object was in the air.
    pub(crate) has_slipped: bool,
}

impl Deref for Cell {
    type Target = karakuri_rehearsal::Cell;

    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}

impl DerefMut for Cell {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.inner
    }
}

impl Cell {
    pub(crate) fn new(robot: &str, posture: &str, change: impl Fn(&mut BodyDescription)) -> Self {
        Self::with(robot, posture, |_| {}, change)
    }

    pub(crate) fn with(
        robot: &str,
        posture: &str,
        fault: impl Fn(&mut Model),
        change: impl Fn(&mut BodyDescription),
    ) -> Self {
        let mut cell = Self::unsettled(robot, posture, fault, change);
        for _ in 0..200 {
            cell.step();
        }
        cell
    }

    /// Before its first step, in which no sensor has felt anything yet.
    pub(crate) fn unsettled(
        robot: &str,
        posture: &str,
        fault: impl Fn(&mut Model),
        change: impl Fn(&mut BodyDescription),
    ) -> Self {
        let root = root();
        let scene = match robot {
            "arm6_scissor" => "pick_and_place_scissor",
            "arm6_three_fingers" => "pick_and_place_three_fingers",
            "arm6_underactuated" => "pick_and_place_underactuated",
            "arm6_suction" | "arm6_suction4" | "arm6_bellows" => "pick_and_place_suction",
            _ => "pick_and_place",
        };
        let path = root.join(format!("config/scenes/{scene}.yaml"));
        let mut scene = Scene::parse(&read_text(&path).unwrap(), scene).unwrap();
        let urdf = root.join(format!("urdf/arm6/{robot}.urdf"));
        let yaml = root.join(format!("config/{robot}.yaml"));
        let base = scene.robots[0].base();
        let mut model = load_robot(&urdf, Some(&yaml), Some(base)).unwrap().model;
        fault(&mut model);
        let model = Arc::new(model);
        let bodies: Vec<_> = scene.bodies.drain(..).map(|body| body.description).collect();
        let mut world = World::from_scene(&scene, std::slice::from_ref(&model)).unwrap();
        for mut body in bodies {
            if !body.fixed {
                // The one object of each scene.
                OBJECT.clone_into(&mut body.name);
                change(&mut body);
            }
            world.add_body(body).unwrap();
        }
        let id = world.robot_ids().next().unwrap();
        // The fingers stand as in the scene.
        let mut q = world.robot(id).q().to_vec();
        let posture = model.postures.iter().find(|p| p.name == posture).unwrap();
        let arm = posture.positions.iter().filter(|(id, _)| model.groups[0].joints.contains(id));
        for (joint, value) in arm {
            q[model.joints[joint.0].q_start] = *value;
        }
        world.set_robot_state(id, &q, &vec![0.0; model.nv]).unwrap();
        for joint in &model.joints {
            world.drive_mut(id).position[joint.v_start] = q[joint.q_start];
        }
        let io = SimulatedWorld::new(world, 1);
        let mut inner = karakuri_rehearsal::Cell::new(io, 0, CellSettings::default()).unwrap();
        inner.read();
        Self { inner, missed: 0, n: 0, stages: Vec::new(), has_slipped: false }
    }

    pub(crate) fn step(&mut self) -> Option<PickAndPlaceResult> {
        self.advance().unwrap();
        self.read();
        self.n += 1;
        let ended = if self.n % 10 < self.missed { None } else { self.tick() };
        let is_carried = matches!(self.machine().feedback().stage, Stage::Lift | Stage::Move);
        if is_carried && !self.faults.no_vacuum {
            let world = self.io.world();
            let names = world.suction_names();
            let slips = names.filter_map(|name| world.suction(world.find_suction(name)?));
            let slips = slips.into_iter().any(|report| report.slips || report.lost);
            self.has_slipped |= slips;
        }
        self.answer().unwrap();
        ended.map(|ended| ended.hand().unwrap().clone())
    }

    pub(crate) fn start(&mut self, goal: &PickAndPlaceGoal) -> Result<(), PlanError> {
        planned(self.inner.start(goal))
    }

    pub(crate) fn place(&mut self, at: ObjectPose) -> Result<(), PlanError> {
        planned(self.inner.place(at))
    }

    pub(crate) fn move_tool(&mut self, goal: &ToolMove) -> Result<(), PlanError> {
        planned(self.inner.move_tool(goal))
    }

    /// Machine of the hand.
    pub(crate) fn machine(&self) -> &PickAndPlace {
        &self.inner.hand.as_ref().unwrap().machine
    }

    pub(crate) fn machine_mut(&mut self) -> &mut PickAndPlace {
        &mut self.inner.hand.as_mut().unwrap().machine
    }

    pub(crate) fn run(&mut self, mut each: impl FnMut(&mut Self)) -> PickAndPlaceResult {
        let mut stage = Stage::Idle;
        for _ in 0..60_000 {
            let result = self.step();
            each(self);
            let now = self.machine().feedback().stage;
            if now != stage {
                stage = now;
                self.stages.push(stage);
            }
            if let Some(result) = result {
                return result;
            }
        }
        panic!("no result, in {stage}, by {:?}", self.stages);
    }

    /// Puts the object somewhere else, at rest. [m]
    pub(crate) fn put(&mut self, position: [f64; 3]) {
        let world = self.io.world_mut();
        let object = world.find_body(OBJECT).unwrap();
        let pose = Pose::from_translation(Vector3::from(position));
        world.set_body_state(object, pose, Motion::default()).unwrap();
    }

    /// Position of the tool in the world. [m] (3)
    pub(crate) fn tool(&self) -> Vector3 {
        self.tool_pose().translation
    }

    /// Pose of the object in the world.
    pub(crate) fn object(&self) -> Pose {
        let world = self.io.world();
        world.body(world.find_body(OBJECT).unwrap()).pose()
    }
}

/// What keeps an act from being planned.
fn planned(begun: Result<(), RehearsalError>) -> Result<(), PlanError> {
    begun.map_err(|error| match error {
        RehearsalError::Plan(error) => error,
        other => panic!("{other}"),
    })
}
