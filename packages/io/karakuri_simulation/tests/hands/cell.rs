//! A cell in lockstep: the simulation behind `RobotIo`, controller, machine of the hand. What the nodes only wire together.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use karakuri_control::joint_trajectory::{Goal, GoalId};
use karakuri_control::{Command, Controller, FeedforwardController, FeedforwardSettings, State};
use karakuri_dynamics::frame_pose;
use karakuri_files::{load_robot, read_text};
use karakuri_grasp::grip_force::GripSettings;
use karakuri_grasp::pick_and_place::{
    ArmReport, ArmRequest, KnownObject, Measurement, PickAndPlace, PickAndPlaceGoal,
    PickAndPlaceResult, PickAndPlaceSettings, PlanError, Sighting, Stage,
};
use karakuri_hardware::{JointCommand, RobotIo, RobotState};
use karakuri_model::Model;
use karakuri_physics::{BodyDescription, Scene, World};
use karakuri_simulation::SimulatedWorld;
use karakuri_spatial::{Motion, Pose, Time, Vector3};

/// Control period: the physics' own step. [s]
const DT: f64 = 0.001;
/// Name of what is picked.
const OBJECT: &str = "object";
pub(crate) struct Cell {
    pub(crate) io: SimulatedWorld,
    pub(crate) state: RobotState,
    pub(crate) model: Arc<Model>,
    pub(crate) controller: FeedforwardController,
    pub(crate) machine: PickAndPlace,
    command: Command,
    pub(crate) goal: Option<GoalId>,
    rejected: Option<String>,
    /// The generator does not run.
    pub(crate) is_broken: bool,
    /// Whether the machine sees all bodies.
    pub(crate) sees: bool,
    /// Of ten samples, those that do not reach the machine.
    pub(crate) missed: usize,
    n: usize,
    /// Force of the vacuum that a generator is to make. [N]
    press: f64,
    pub(crate) stages: Vec<Stage>,
    /// Whether a lip slid, turned or tipped while the object was in the air.
    pub(crate) has_slipped: bool,
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
        let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let scene = match robot {
            "arm6_scissor" => "pick_and_place_scissor",
            "arm6_three_fingers" => "pick_and_place_three_fingers",
            "arm6_suction" | "arm6_suction4" => "pick_and_place_suction",
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
        let controller =
            FeedforwardController::new(Arc::clone(&model), FeedforwardSettings::default()).unwrap();
        let machine = machine(&model);
        let io = SimulatedWorld::new(world, 1);
        let state = RobotState::new(&io.robots()[0]);
        Self {
            command: Command::new(&model),
            io,
            state,
            model,
            controller,
            machine,
            goal: None,
            rejected: None,
            is_broken: false,
            sees: true,
            missed: 0,
            n: 0,
            press: 0.0,
            stages: Vec::new(),
            has_slipped: false,
        }
    }

    fn objects(&self) -> Vec<KnownObject> {
        let world = self.io.world();
        let known = world.body_ids().map(|id| {
            let body = world.body(id);
            let (middle, size) = body.description().shape.bounds();
            let pose = body.shape_pose() * Pose::from_translation(middle);
            KnownObject { name: body.description().name.clone(), pose, size }
        });
        known.collect()
    }

    pub(crate) fn step(&mut self) -> Option<PickAndPlaceResult> {
        self.io.read(0, &mut self.state);
        self.n += 1;
        let result = if self.n % 10 < self.missed { None } else { self.tick() };
        self.actuate();
        result
    }

    /// A sample for the machine of the hand.
    fn tick(&mut self) -> Option<PickAndPlaceResult> {
        let now = Time::from_seconds(self.io.time());
        let RobotState { position: q, velocity: v, effort, .. } = &self.state;
        let layout = &self.io.robots()[0];
        let named = |i: &usize| {
            let name = &self.model.sensors[*i].name;
            layout.wrenches.iter().position(|sensor| sensor.name == *name).unwrap()
        };
        let wrenches: Vec<_> =
            self.machine.sensors().iter().map(|i| self.state.wrenches[named(i)]).collect();
        let objects = self.objects();
        let measured = Measurement {
            time: now,
            q,
            v,
            effort,
            wrenches: &wrenches,
            vacuums: &self.state.vacuums,
            arm: self.rejected.as_deref().map_or(ArmReport::Fine, ArmReport::Lost),
            sighting: self.sees.then_some(Sighting { time: now, objects: &objects }),
        };
        let output = self.machine.tick(&measured, DT).clone();
        match output.arm {
            Some(ArmRequest::Follow(trajectory)) => {
                let goal = Goal { trajectory, ..Goal::default() };
                match self.controller.machine_mut(0).unwrap().accept_goal(&goal, now) {
                    Ok((id, _)) => self.goal = Some(id),
                    Err(error) => self.rejected = Some(error.to_string()),
                }
            }
            Some(ArmRequest::Stop) => {
                if let Some(id) = self.goal.take() {
                    self.controller.machine_mut(0).unwrap().cancel(id);
                }
            }
            None => {}
        }
        if matches!(output.feedback.stage, Stage::Lift | Stage::Move) && !self.is_broken {
            let world = self.io.world();
            let reports =
                world.suction_names().filter_map(|name| world.suction(world.find_suction(name)?));
            self.has_slipped |= reports.into_iter().any(|report| report.slips || report.lost);
        }
        self.press = output.hand.iter().map(|reference| reference.effort).sum();
        output.result
    }

    fn actuate(&mut self) {
        let now = Time::from_seconds(self.io.time());
        let RobotState { position: q, velocity: v, effort, .. } = &self.state;
        if self.machine.opening_hand().is_some() {
            let stream = self.machine.hand_trajectory(now, DT);
            // Before the first update the controller knows no state and takes nothing.
            self.controller.machine_mut(1).unwrap().accept_topic(&stream, now).ok();
        }
        self.controller.update(&State { q, v, effort }, now, DT, &mut self.command);
        let layout = &self.io.robots()[0];
        let mut command = JointCommand::new(layout);
        command.position.copy_from_slice(&self.command.position);
        command.velocity.copy_from_slice(&self.command.velocity);
        command.effort.copy_from_slice(&self.command.effort);
        if let Some(generator) = layout.generators.first() {
            command.vacuum[0] = if self.is_broken { 0.0 } else { self.press / generator.area };
        }
        self.io.write(0, &command).unwrap();
        self.io.advance().unwrap();
    }

    pub(crate) fn start(&mut self, goal: PickAndPlaceGoal) -> Result<(), PlanError> {
        let (now, q) = (Time::from_seconds(self.io.time()), self.state.position.clone());
        let objects = if self.sees { self.objects() } else { Vec::new() };
        self.machine.start(goal, now, &q, &objects)
    }

    pub(crate) fn run(&mut self, mut each: impl FnMut(&mut Self)) -> PickAndPlaceResult {
        let mut stage = Stage::Idle;
        for _ in 0..60_000 {
            let result = self.step();
            each(self);
            let now = self.machine.feedback().stage;
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
        let world = self.io.world();
        let id = world.robot_ids().next().unwrap();
        frame_pose(&self.model, world.robot(id).data(), self.machine.tool_frame()).translation
    }

    /// Pose of the object in the world.
    pub(crate) fn object(&self) -> Pose {
        let world = self.io.world();
        world.body(world.find_body(OBJECT).unwrap()).pose()
    }
}

pub(crate) fn machine(model: &Arc<Model>) -> PickAndPlace {
    let (settings, grip) = (PickAndPlaceSettings::default(), GripSettings::default());
    PickAndPlace::new(Arc::clone(model), settings, grip).unwrap()
}
