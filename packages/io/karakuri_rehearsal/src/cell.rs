//! Simulated world, controller and machine of the hand of one robot, in one loop.

use std::sync::Arc;

use karakuri_control::{
    Command, Controller, ControllerError, FeedforwardController, FeedforwardSettings, State,
};
use karakuri_dynamics::frame_pose;
use karakuri_grasp::end_effector::EndEffectorError;
use karakuri_grasp::grip_force::GripSettings;
use karakuri_grasp::gripper_command::GripperCommandSettings;
use karakuri_grasp::pick_and_place::{
    ArmRequest, KnownObject, Measurement, PickAndPlace, PickAndPlaceGoal, PickAndPlaceResult,
    PickAndPlaceSettings, PlanError, Sighting,
};
use karakuri_hardware::{JointCommand, RobotIo, RobotIoError, RobotLayout, RobotState};
use karakuri_model::Model;
use karakuri_simulation::{Digest, SimulatedWorld};
use karakuri_spatial::{Pose, Time};

use crate::act::GripperRun;
use crate::arm::Arm;

/// Settings of the controller and of the machine of the hand.
#[derive(Debug, Clone, Default)]
pub struct CellSettings {
    /// Settings of the controller.
    pub control: FeedforwardSettings,
    /// Settings of pick and place.
    pub pick_and_place: PickAndPlaceSettings,
    /// Settings of the grip.
    pub grip: GripSettings,
    /// Settings of gripper commands.
    pub command: GripperCommandSettings,
    /// Time between two sightings of the objects; 0: they are seen at each instant. [s]
    pub sight_period: f64,
}

/// Faults of a rehearsal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Faults {
    /// Whether no object is seen.
    pub blind: bool,
    /// Whether vacuum generators do not run.
    pub no_vacuum: bool,
}

/// Cause that keeps a cell from being made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CellError {
    /// There is no such robot.
    #[error("the world has {n} robots, there is none of index {robot}")]
    NoRobot {
        /// Index of the robot that was asked for.
        robot: usize,
        /// Number of robots.
        n: usize,
    },
    /// The hand cannot be made.
    #[error(transparent)]
    Hand(#[from] EndEffectorError),
    /// The controller cannot be made.
    #[error(transparent)]
    Controller(#[from] ControllerError),
    /// A force sensor of the hand is not measured.
    #[error("sensor `{0}` of the hand is not among those that the robot measures")]
    Sensor(String),
    /// A joint of the hand is in no group.
    #[error("joint `{0}` of the hand is in no group of the robot")]
    Group(String),
}

/// Simulated world, controller and machine of the hand of one robot, in one loop: in each period the steps of the world, a sample, the machine's tick,
/// the controller's update and the command, in the order in which the nodes answer each other in lockstep. Between two periods time stands still
/// after the answer to a sample: what begins then, begins in that sample.
///
/// A copy shares nothing that changes with its original, and goes on to the same bits.
#[derive(Debug, Clone)]
pub struct Cell {
    /// The world and its robots.
    pub io: SimulatedWorld,
    /// Controller of the robot.
    pub controller: FeedforwardController,
    /// Machine of the hand; exchanged by [`replace_machine`](Self::replace_machine).
    pub machine: PickAndPlace,
    /// Faults in force.
    pub faults: Faults,
    /// Object that is seen elsewhere than it is, and the pose in its frame with which it is seen.
    pub(crate) sight_error: Option<(String, Pose)>,
    pub(crate) robot: usize,
    pub(crate) model: Arc<Model>,
    pub(crate) sample: RobotState,
    /// Whether the sample has been answered with a command.
    is_answered: bool,
    /// Settings of pick and place at full speed.
    pub(crate) usual: PickAndPlaceSettings,
    sight: Sight,
    command: Command,
    message: JointCommand,
    pub(crate) arm: Arm,
    pub(crate) command_settings: GripperCommandSettings,
    /// Gripper command that is carried out.
    pub(crate) gripper: Option<GripperRun>,
    /// Group of the hand's joints; `None` where the hand has none.
    hand_group: Option<usize>,
    /// Indices of the hand's force sensors in a sample.
    wrenches: Vec<usize>,
    /// Force of the vacuum that is desired. [N]
    vacuum: f64,
}

/// Objects as they were seen last, and when they are seen again.
#[derive(Debug, Clone, Default)]
struct Sight {
    period: f64,
    at: Time,
    next: Time,
    objects: Vec<KnownObject>,
}

impl Cell {
    /// Cell of the robot of this index, before its first sample.
    ///
    /// # Errors
    /// When there is no such robot, or its hand or its controller cannot be made.
    pub fn new(
        io: SimulatedWorld,
        robot: usize,
        settings: CellSettings,
    ) -> Result<Self, CellError> {
        let n = io.robots().len();
        let layout = io.robots().get(robot).ok_or(CellError::NoRobot { robot, n })?;
        let model = Arc::clone(&layout.model);
        let usual = settings.pick_and_place;
        let machine = PickAndPlace::new(Arc::clone(&model), usual, settings.grip)?;
        let measured = |&sensor: &usize| {
            let name = &model.sensors[sensor].name;
            let place = layout.wrenches.iter().position(|wrench| wrench.name == *name);
            place.ok_or_else(|| CellError::Sensor(name.clone()))
        };
        let wrenches = machine.sensors().iter().map(measured).collect::<Result<_, _>>()?;
        let in_group = |joint: &String| {
            let id = model.joint(joint);
            let found = model
                .groups
                .iter()
                .position(|group| id.is_some_and(|id| group.joints.contains(&id)));
            found.ok_or_else(|| CellError::Group(joint.clone()))
        };
        let hand_group = match (machine.opening_hand(), machine.drives().first()) {
            (Some(_), Some(joint)) => Some(in_group(joint)?),
            _ => None,
        };
        Ok(Self {
            controller: FeedforwardController::new(Arc::clone(&model), settings.control)?,
            machine,
            faults: Faults::default(),
            sight_error: None,
            robot,
            sample: RobotState::new(layout),
            is_answered: false,
            usual,
            sight: Sight { period: settings.sight_period, ..Sight::default() },
            command: Command::new(&model),
            message: JointCommand::new(layout),
            arm: Arm::default(),
            command_settings: settings.command,
            gripper: None,
            hand_group,
            wrenches,
            vacuum: 0.0,
            model,
            io,
        })
    }

    /// Model of the robot.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// Settings of pick and place at full speed.
    pub fn usual_settings(&self) -> &PickAndPlaceSettings {
        &self.usual
    }

    /// Pose of the tool in the world.
    pub fn tool_pose(&self) -> Pose {
        let name = &self.io.robots()[self.robot].name;
        let world = self.io.world();
        let id = world.find_robot(name);
        id.map_or_else(Pose::default, |id| {
            frame_pose(&self.model, world.robot(id).data(), self.machine.tool_frame())
        })
    }

    /// Area of all suction cups together; `None` of hands without. [m²]
    pub fn cup_area(&self) -> Option<f64> {
        self.io.robots()[self.robot].generators.first().map(|generator| generator.area)
    }

    /// Last sample of the robot.
    pub fn sample(&self) -> &RobotState {
        &self.sample
    }

    /// Command that answered the last sample.
    pub fn command(&self) -> &Command {
        &self.command
    }

    /// Digest of everything that decides what happens next: world, controller, machine of the hand. Equal cells go on to the same bits; a
    /// cell and its copy are equal.
    pub fn digest(&self) -> Digest {
        // Of a copy, which leaves out what solvers keep between steps as mere memory.
        Digest::of(&self.clone())
    }

    /// Joints and sensors of the robot, in the order of samples and commands.
    pub fn layout(&self) -> &RobotLayout {
        &self.io.robots()[self.robot]
    }

    /// Command that was sent to the robot last, in the order of its layout.
    pub fn sent(&self) -> &JointCommand {
        &self.message
    }

    /// Objects as they were seen last, where they are seen now and then, and when.
    pub fn seen(&self) -> (Time, &[KnownObject]) {
        (self.sight.at, &self.sight.objects)
    }

    /// Adds the command that answered the last sample to a digest of all of them.
    pub fn add_command(&self, digest: &mut Digest) {
        let Command { position, velocity, effort, .. } = &self.command;
        for number in [position, velocity, effort].into_iter().flatten() {
            digest.add(number.to_bits());
        }
    }

    /// Time of the last sample; of a new cell that of its first one.
    pub fn now(&self) -> Time {
        Time::from_seconds(self.io.time())
    }

    /// All bodies of the world, as they are seen.
    pub fn objects(&self) -> Vec<KnownObject> {
        let world = self.io.world();
        let known = world.body_ids().map(|id| {
            let body = world.body(id);
            let name = &body.description().name;
            let (middle, size) = body.description().shape.bounds();
            let pose = body.shape_pose() * Pose::from_translation(middle);
            let error = self.sight_error.as_ref().filter(|(object, _)| object == name);
            let elsewhere = |seen: &Pose| body.pose() * *seen * (body.pose().inverse() * pose);
            let pose = error.map_or(pose, |(_, seen)| elsewhere(seen));
            KnownObject { name: name.clone(), pose, size }
        });
        known.collect()
    }

    /// All bodies of the world, to the bits with which messages bring them, whose orientations are quaternions.
    fn objects_as_sent(&self) -> Vec<KnownObject> {
        let mut objects = self.objects();
        for object in &mut objects {
            object.pose = object.pose.through_quaternion();
        }
        objects
    }

    /// Begins a pick and place in the present sample.
    ///
    /// # Errors
    /// When it cannot be planned.
    pub fn start(&mut self, goal: &PickAndPlaceGoal) -> Result<(), PlanError> {
        let objects = self.prepare();
        self.machine.start(goal.clone(), self.now(), &self.sample.position, &objects)
    }

    /// Puts a machine that has just started in the place of the one there is, whose arm then stops.
    pub fn replace_machine(&mut self, machine: PickAndPlace) {
        self.machine = machine;
        let now = self.now();
        self.arm.request(&ArmRequest::Stop, &mut self.controller, now);
    }

    /// Whether an act is under way.
    pub fn is_busy(&self) -> bool {
        self.machine.is_busy() || self.gripper.is_some()
    }

    /// Ends the act that is under way: the arm brakes, what is held stays held, and a hand that moves stays where it is. The result of a
    /// gripper command that ends so does not come.
    pub fn cancel(&mut self) {
        self.machine.cancel();
        if self.gripper.take().is_some() {
            self.machine.stay();
        }
    }

    /// Runs one period, of a new cell only its first sample; the result of an act that ends in it.
    ///
    /// # Errors
    /// When the robot does not take the command, or the world can no longer be stepped.
    pub fn step(&mut self) -> Result<Option<PickAndPlaceResult>, RobotIoError> {
        self.advance()?;
        self.read();
        let result = self.tick();
        self.answer()?;
        Ok(result)
    }

    /// Runs a new cell's first sample; else nothing: time stands still.
    ///
    /// # Errors
    /// When the robot does not take the command.
    pub(crate) fn begin_to_answer(&mut self) -> Result<(), RobotIoError> {
        if !self.is_answered {
            self.step()?;
        }
        Ok(())
    }

    /// Advances the world by a period, once its sample has been answered.
    ///
    /// # Errors
    /// When the world can no longer be stepped.
    pub fn advance(&mut self) -> Result<(), RobotIoError> {
        if self.is_answered {
            self.is_answered = false;
            self.io.advance()?;
        }
        Ok(())
    }

    /// Reads a sample, and sees the objects where it is time for it.
    pub fn read(&mut self) {
        self.io.read(self.robot, &mut self.sample);
        let now = self.now();
        if self.sight.period > 0.0 && now >= self.sight.next {
            let Sight { period, .. } = self.sight;
            let next = now.plus_seconds(period);
            self.sight = Sight { period, at: now, next, objects: self.objects_as_sent() };
        }
    }

    /// Drops what an act before has left, its gripper command among it; the objects that are seen.
    pub(crate) fn prepare(&mut self) -> Vec<KnownObject> {
        self.arm.clear();
        self.gripper = None;
        self.sighting().1
    }

    /// Objects as the machine of the hand sees them, and since when: none where it is blind.
    fn sighting(&self) -> (Time, Vec<KnownObject>) {
        if self.faults.blind {
            return (self.now(), Vec::new());
        }
        match self.sight {
            Sight { period, at, ref objects, .. } if period > 0.0 => (at, objects.clone()),
            _ => (self.now(), self.objects()),
        }
    }

    /// Gives the machine of the hand the sample; the result of an act that ends by it.
    pub fn tick(&mut self) -> Option<PickAndPlaceResult> {
        let (now, period) = (self.now(), self.io.period());
        let (time, objects) = self.sighting();
        let RobotState { position: q, velocity: v, effort, vacuums, .. } = &self.sample;
        let wrenches: Vec<_> = self.wrenches.iter().map(|&i| self.sample.wrenches[i]).collect();
        let measured = Measurement {
            time: now,
            q,
            v,
            effort,
            wrenches: &wrenches,
            vacuums,
            arm: self.arm.report(),
            sighting: (!self.faults.blind).then_some(Sighting { time, objects: &objects }),
        };
        let output = self.machine.tick(&measured, period).clone();
        if let Some(request) = &output.arm {
            self.arm.request(request, &mut self.controller, now);
        }
        self.vacuum = output.hand.iter().map(|reference| reference.effort).sum();
        output.result.or_else(|| self.check_gripper())
    }

    /// Answers the sample with a command.
    ///
    /// # Errors
    /// When the robot does not take the command.
    pub fn answer(&mut self) -> Result<(), RobotIoError> {
        let (now, period) = (self.now(), self.io.period());
        if let Some(machine) = self.hand_group.and_then(|group| self.controller.machine_mut(group))
        {
            let stream = self.machine.hand_trajectory(now, period);
            // Before its first update the controller knows no state, and takes nothing.
            machine.accept_topic(&stream, now).ok();
        }
        let RobotState { position: q, velocity: v, effort, .. } = &self.sample;
        self.controller.update(&State { q, v, effort }, now, period, &mut self.command);
        self.arm.hear(&self.controller);
        self.message.position.copy_from_slice(&self.command.position);
        self.message.velocity.copy_from_slice(&self.command.velocity);
        self.message.effort.copy_from_slice(&self.command.effort);
        if let Some(generator) = self.io.robots()[self.robot].generators.first() {
            self.message.vacuum[0] =
                if self.faults.no_vacuum { 0.0 } else { self.vacuum / generator.area };
        }
        self.io.write(self.robot, &self.message)?;
        self.is_answered = true;
        Ok(())
    }
}
