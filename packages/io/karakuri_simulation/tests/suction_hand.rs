//! Hands of suction cups that pick and place, in lockstep with the simulation: what the nodes only wire together.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may stop them")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use karakuri_control::joint_trajectory::{Goal, GoalId};
use karakuri_control::{Command, Controller, FeedforwardController, FeedforwardSettings, State};
use karakuri_files::{load_robot, read_text};
use karakuri_grasp::grip_force::GripSettings;
use karakuri_grasp::pick_and_place::{
    ArmReport, ArmRequest, Failure, KnownObject, Measurement, ObjectPose, PickAndPlace,
    PickAndPlaceGoal, PickAndPlaceResult, PickAndPlaceSettings, PlanError, Sighting, Stage,
};
use karakuri_hardware::{JointCommand, RobotIo, RobotState};
use karakuri_model::{Model, Shape};
use karakuri_physics::{BodyDescription, Scene, World};
use karakuri_simulation::SimulatedWorld;
use karakuri_spatial::{Motion, Pose, Time, Vector3};

const DT: f64 = 0.001;
/// Edges of the scene's plate. [m]
const PLATE: [f64; 3] = [0.18, 0.14, 0.02];

struct Cell {
    io: SimulatedWorld,
    state: RobotState,
    model: Arc<Model>,
    controller: FeedforwardController,
    machine: PickAndPlace,
    command: Command,
    goal: Option<GoalId>,
    rejected: Option<String>,
    /// The generator does not run.
    is_broken: bool,
    stages: Vec<Stage>,
    /// Largest force that the hand felt on the way to the object. [N]
    met: f64,
}

impl Cell {
    fn new(robot: &str, posture: &str, change: impl Fn(&mut BodyDescription)) -> Self {
        let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let path = root.join("config/scenes/pick_and_place_suction.yaml");
        let mut scene = Scene::parse(&read_text(&path).unwrap(), "suction.yaml").unwrap();
        let urdf = root.join(format!("urdf/arm6/{robot}.urdf"));
        let yaml = root.join(format!("config/{robot}.yaml"));
        let base = scene.robots[0].base();
        let model = Arc::new(load_robot(&urdf, Some(&yaml), Some(base)).unwrap().model);
        scene.robots[0].joints.clear();
        let bodies: Vec<_> = scene.bodies.drain(..).map(|body| body.description).collect();
        let mut world = World::from_scene(&scene, std::slice::from_ref(&model)).unwrap();
        for mut body in bodies {
            if body.name == "plate" {
                change(&mut body);
            }
            world.add_body(body).unwrap();
        }
        let id = world.robot_ids().next().unwrap();
        let mut q = model.neutral_position();
        let posture = model.postures.iter().find(|p| p.name == posture).unwrap();
        for (joint, value) in &posture.positions {
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
        let mut cell = Self {
            command: Command::new(&model),
            io,
            state,
            model,
            controller,
            machine,
            goal: None,
            rejected: None,
            is_broken: false,
            stages: Vec::new(),
            met: 0.0,
        };
        for _ in 0..200 {
            cell.step();
        }
        cell
    }

    fn objects(&self) -> Vec<KnownObject> {
        let world = self.io.world();
        let known = world.body_ids().filter_map(|id| {
            let (body, pose) = (world.body(id).description().clone(), world.body(id).pose());
            match body.shape {
                Shape::Box { size } => Some(KnownObject { name: body.name, pose, size }),
                _ => None,
            }
        });
        known.collect()
    }

    fn step(&mut self) -> Option<PickAndPlaceResult> {
        self.io.read(0, &mut self.state);
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
            sighting: Some(Sighting { time: now, objects: &objects }),
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
        self.controller.update(&State { q, v, effort }, now, DT, &mut self.command);
        let mut command = JointCommand::new(layout);
        command.position.copy_from_slice(&self.command.position);
        command.velocity.copy_from_slice(&self.command.velocity);
        command.effort.copy_from_slice(&self.command.effort);
        if !self.is_broken {
            command.vacuum[0] = output.hand.effort / layout.generators[0].area;
        } else {
            command.vacuum[0] = 0.0;
        }
        self.io.write(0, &command).unwrap();
        self.io.advance().unwrap();
        output.result
    }

    fn start(&mut self, goal: PickAndPlaceGoal) -> Result<(), PlanError> {
        let (now, q) = (Time::from_seconds(self.io.time()), self.state.position.clone());
        let objects = self.objects();
        self.machine.start(goal, now, &q, &objects)
    }

    fn run(&mut self, mut each: impl FnMut(&mut Self)) -> PickAndPlaceResult {
        let mut stage = Stage::Idle;
        for _ in 0..20_000 {
            let result = self.step();
            each(self);
            let now = self.machine.feedback().stage;
            if now != stage {
                stage = now;
                self.stages.push(stage);
                println!("  {:.3} {stage} {:?}", self.io.time(), self.state.vacuums);
            }
            if let Some(result) = result {
                println!("  {result:?}");
                return result;
            }
        }
        panic!("no result, in {stage}");
    }

    fn plate(&self) -> Pose {
        let world = self.io.world();
        world.body(world.find_body("plate").unwrap()).pose()
    }

    /// Distance of the plate from its place, and its tilt. [m], [rad]
    fn error(&self) -> (f64, f64) {
        let pose = self.plate();
        let tilt = pose.rotation.m33.clamp(-1.0, 1.0).acos();
        ((pose.translation - goal().place.position).norm(), tilt)
    }
}

fn machine(model: &Arc<Model>) -> PickAndPlace {
    let (settings, grip) = (PickAndPlaceSettings::default(), GripSettings::default());
    PickAndPlace::new(Arc::clone(model), settings, grip).unwrap()
}

/// From the table to the shelf.
fn goal() -> PickAndPlaceGoal {
    PickAndPlaceGoal {
        size: Vector3::from(PLATE),
        mass: 0.5,
        friction: 0.5,
        pick: ObjectPose { position: Vector3::new(0.5, -0.2, 0.76), yaw: 0.0 },
        place: ObjectPose { position: Vector3::new(0.5, 0.2, 0.86), yaw: 0.0 },
        grip_force: 69.0,
        max_grip_force: 69.0,
        approach_height: 0.12,
    }
}

#[test]
fn a_cup_places_a_plate_from_three_starts() {
    for posture in ["start1", "start2", "start3"] {
        let mut cell = Cell::new("arm6_suction", posture, |_| {});
        cell.start(goal()).unwrap();
        let result = cell.run(|_| {});
        assert_eq!((result.failure, result.retries), (None, 0), "{result:?}");
        for _ in 0..300 {
            cell.step();
        }
        let (off, tilt) = cell.error();
        assert!(
            off < 0.005 && tilt.to_degrees() < 1.0,
            "{posture}: {:.2} mm off, {tilt} rad",
            1e3 * off
        );
    }
}
