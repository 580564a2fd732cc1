//! Simulated world, controller, machine of the hand and walking engine of one robot, in one loop.

use std::sync::Arc;

use karakuri_collision::ColliderShape;
use karakuri_control::{Command, Controller, ControllerError, FeedforwardController, State};
use karakuri_dynamics::frame_pose;
use karakuri_gait::planner::WalkEngine;
use karakuri_grasp::end_effector::EndEffectorError;
use karakuri_grasp::pick_and_place::{KnownObject, PickAndPlace, Sighting};
use karakuri_grasp::tool_change::RackError;
use karakuri_hardware::{JointCommand, RobotIo, RobotIoError, RobotLayout, RobotState};
use karakuri_model::{FrameId, Model, Shape};
use karakuri_simulation::{Digest, SimulatedWorld};
use karakuri_spatial::{Motion, Pose, Time, Vector3};

use crate::ended::Ended;
use crate::error::RehearsalError;
use crate::gait::Gait;
use crate::hand::Hand;
use crate::measured::{Instant, Measured};
use crate::tool_changer::{Asked, ToolChanger};
use crate::tuning::{HandTuning, Tuning};

/// Settings of a cell.
#[derive(Debug, Clone, Default)]
pub struct CellSettings {
    /// Settings of the controller, of the machine of the hand and of the walk.
    pub tuning: Tuning,
    /// Time between two sightings of the objects; 0: they are seen at each instant. [s]
    pub sight_period: f64,
    /// Whether the shapes of objects are seen; else their boxes alone, as messages bring them.
    pub sees_shapes: bool,
    /// Engine that walks the robot, as it stands at the start; none of one that does not walk.
    pub walk: Option<WalkEngine>,
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
    /// The walk is another robot's.
    #[error("the gait is of `{gait}`, whose joints are not those of `{robot}`")]
    Gait {
        /// Name of the gait's robot.
        gait: String,
        /// Name of the world's robot.
        robot: String,
    },
    /// The tools are no rack.
    #[error(transparent)]
    Rack(#[from] RackError),
    /// A tool cannot be on the flange.
    #[error("{0}")]
    Tool(String),
    /// There is nothing to command.
    #[error("robot `{0}` has no hand, and no gait is given")]
    Nothing(String),
}

/// Simulated world, controller, machine of the hand and walking engine of one robot, in one loop: in each period the steps of the world, a sample, the
/// ticks of machine and engine, the controller's update and the command, in the order in which the nodes answer each other in lockstep. Between two
/// periods time stands still after the answer to a sample: what begins then, begins in that sample.
///
/// A copy shares nothing that changes with its original, and goes on to the same bits.
#[derive(Debug, Clone)]
pub struct Cell {
    /// The world and its robots.
    pub io: SimulatedWorld,
    /// Controller of the robot.
    pub controller: FeedforwardController,
    /// The robot's hand, if it has one.
    pub hand: Option<Hand>,
    /// What walks the robot, if it walks.
    pub gait: Option<Gait>,
    /// What changes the robot's tools, if it has several.
    pub tools: Option<ToolChanger>,
    /// Settings that are in force, also with another tool.
    tuning: Tuning,
    /// Faults in force.
    pub faults: Faults,
    /// Object that is seen elsewhere than it is, and the pose in its frame with which it is seen.
    pub(crate) sight_error: Option<(String, Pose)>,
    pub(crate) robot: usize,
    pub(crate) model: Arc<Model>,
    sample: RobotState,
    measured: Measured,
    /// Whether the sample has been answered with a command.
    is_answered: bool,
    sight: Sight,
    command: Command,
    message: JointCommand,
}

/// Convex shape about the middle (3) of its box. [m]
fn in_its_box(shape: &Shape, middle: &Vector3) -> ColliderShape {
    let mut convex = ColliderShape::convex(shape);
    if let ColliderShape::ConvexHull { points } = &mut convex {
        for point in points {
            *point -= middle;
        }
    }
    convex
}

/// Objects as they were seen last, and when they are seen again.
#[derive(Debug, Clone, Default)]
struct Sight {
    period: f64,
    /// Whether the shapes of objects are seen, and not their boxes alone.
    has_shapes: bool,
    at: Time,
    next: Time,
    objects: Vec<KnownObject>,
}

/// What a robot with another tool has another of.
struct Parts {
    model: Arc<Model>,
    controller: FeedforwardController,
    hand: Option<Hand>,
}

impl Parts {
    fn new(layout: &RobotLayout, tuning: &Tuning) -> Result<Self, CellError> {
        let model = Arc::clone(&layout.model);
        let hand = new_hand(layout, tuning)?;
        Ok(Self { controller: tuning.controller(&model)?, hand, model })
    }
}

/// Hand of a robot that has one, of which it knows nothing.
fn new_hand(layout: &RobotLayout, tuning: &Tuning) -> Result<Option<Hand>, CellError> {
    let model = &layout.model;
    let hand = model
        .end_effector
        .as_ref()
        .map(|_| Hand::new(new_machine(model, tuning)?, tuning.hand, layout));
    hand.transpose()
}

/// Machine of the hand of a robot that has one, before its first sample.
fn new_machine(model: &Arc<Model>, tuning: &Tuning) -> Result<PickAndPlace, EndEffectorError> {
    let HandTuning { pick_and_place, grip, .. } = tuning.hand;
    PickAndPlace::new(Arc::clone(model), pick_and_place, grip)
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
        let CellSettings { tuning, sight_period, sees_shapes, walk } = settings;
        let gait = walk.map(|engine| Gait::new(engine, tuning.walk, layout)).transpose()?;
        let tools = ToolChanger::new(&io, layout)?;
        let Parts { model, controller, hand } = Parts::new(layout, &tuning)?;
        if hand.is_none() && gait.is_none() && tools.is_none() {
            return Err(CellError::Nothing(layout.name.clone()));
        }
        Ok(Self {
            controller,
            hand,
            gait,
            tools,
            faults: Faults::default(),
            sight_error: None,
            robot,
            sample: RobotState::new(layout),
            measured: Measured::new(&model),
            is_answered: false,
            sight: Sight { period: sight_period, has_shapes: sees_shapes, ..Sight::default() },
            command: Command::new(&model),
            message: JointCommand::new(layout),
            tuning,
            model,
            io,
        })
    }

    /// Settings of controller, hand and walk that are in force.
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// Takes other settings while time stands still, as nodes do whose parameters are set: those of the controller and of the walk count from the next
    /// sample on, those of the hand from the next act on. The answer to the present sample stays. A new cell is as if made with them.
    ///
    /// # Errors
    /// When a setting is none of this robot's; the cell is then as before.
    pub fn tune(&mut self, tuning: &Tuning) -> Result<(), CellError> {
        tuning.tune(&mut self.controller)?;
        self.tuning = tuning.clone();
        if !self.is_answered {
            self.hand = new_hand(&self.io.robots()[self.robot], tuning)?;
        } else if let Some(hand) = &mut self.hand {
            hand.tuning = tuning.hand;
        }
        if let Some(gait) = &mut self.gait {
            gait.tuning = tuning.walk;
        }
        Ok(())
    }

    /// Couples a tool, or lets the present one go; why not, if it is refused. Controller and machine are then those of the robot with the tool, as
    /// nodes that have started again.
    fn couple(&mut self, tool: &str) -> Option<String> {
        if let Err(refused) = self.io.set_tool(tool) {
            return Some(refused.to_string());
        }
        self.start_again().err().map(|wrong| wrong.to_string())
    }

    /// Puts a tool on the flange wherever that is, as where the cell is made to be as a robot is.
    ///
    /// # Errors
    /// When there is no such tool, or the world refuses it.
    pub fn put_tool(&mut self, tool: &str) -> Result<(), CellError> {
        self.io.put_tool(tool).map_err(|error| CellError::Tool(error.to_string()))?;
        self.start_again()
    }

    /// Makes controller and machine of the robot as it is now, as nodes do that start again: they know nothing of before.
    ///
    /// # Errors
    /// When its hand or its controller cannot be made.
    pub fn start_again(&mut self) -> Result<(), CellError> {
        let layout = &self.io.robots()[self.robot];
        let Parts { model, controller, hand } = Parts::new(layout, &self.tuning)?;
        self.sample = RobotState::new(layout);
        self.measured = Measured::new(&model);
        self.command = Command::new(&model);
        self.message = JointCommand::new(layout);
        (self.model, self.controller, self.hand) = (model, controller, hand);
        self.io.read(self.robot, &mut self.sample);
        self.measured.take(&self.io.robots()[self.robot], &self.sample);
        Ok(())
    }

    /// Model of the robot.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// Machine of the hand; `None` of robots without.
    pub fn machine(&self) -> Option<&PickAndPlace> {
        self.hand.as_ref().map(|hand| &hand.machine)
    }

    /// Machines of all hands that the robot has: those of the tools that it changes by their names, or that of its only hand by its kind.
    ///
    /// # Errors
    /// When the hand of a tool cannot be made.
    pub fn machines(&self) -> Result<Vec<(String, PickAndPlace)>, EndEffectorError> {
        if let Some(tools) = &self.tools {
            let hands = tools.hands();
            return hands
                .map(|(tool, model)| Ok((tool.to_owned(), new_machine(model, &self.tuning)?)))
                .collect();
        }
        Ok(self.machine().map(|own| (own.kind().to_owned(), own.clone())).into_iter().collect())
    }

    /// Pose of the root link of a robot with a floating base in the world; else that of its tool.
    pub fn robot_pose(&self) -> Pose {
        self.sample.base.map_or_else(|| self.tool_pose(), |(pose, _)| pose)
    }

    /// Pose of a link of the robot in the world; the identity of a robot that is gone.
    fn pose_of(&self, frame: FrameId) -> Pose {
        let world = self.io.world();
        let id = world.find_robot(&self.io.robots()[self.robot].name);
        id.map_or_else(Pose::default, |id| frame_pose(&self.model, world.robot(id).data(), frame))
    }

    /// Place of a robot that walks: the middle of its soles, looking ahead.
    pub fn stance(&self, gait: &Gait) -> Pose {
        let legs = &gait.engine().generator().biped.legs;
        let soles = legs.each_ref().map(|leg| self.pose_of(leg.foot) * leg.sole_in_foot);
        let middle = 0.5 * (soles[0].translation + soles[1].translation);
        let [_, _, yaw] = self.robot_pose().rpy();
        Pose::new(Pose::from_axis_angle(&Vector3::z(), yaw).rotation, middle)
    }

    /// Pose of the tool in the world; the identity of robots without a hand.
    pub fn tool_pose(&self) -> Pose {
        self.machine().map_or_else(Pose::default, |machine| self.pose_of(machine.tool_frame()))
    }

    /// Whether the hand holds what it has picked.
    pub fn is_holding(&self) -> bool {
        self.machine().is_some_and(|machine| machine.feedback().holding)
    }

    /// Name of what the robot is doing.
    pub fn stage(&self) -> &'static str {
        if let Some(stage) = self.tools.as_ref().and_then(ToolChanger::stage) {
            return stage;
        }
        let walks = self.gait.as_ref().filter(|gait| gait.is_busy() || self.hand.is_none());
        let hand = || self.machine().map_or("IDLE", |machine| machine.feedback().stage.name());
        walks.map_or_else(hand, Gait::stage)
    }

    /// Name of what is on the flange of a robot that changes its tools.
    pub fn tool(&self) -> Option<&str> {
        self.io.tool().map(|(_, tool)| tool)
    }

    /// Pose of the flange of a robot that changes its tools in the world.
    pub fn flange_pose(&self) -> Option<Pose> {
        Some(self.pose_of(self.model.frame(self.tools.as_ref()?.flange())?))
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
            let shape = &body.description().shape;
            let shape = self.sight.has_shapes.then(|| Arc::new(in_its_box(shape, &middle)));
            KnownObject { name: name.clone(), pose, size, shape }
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

    /// Positions, velocities and efforts of the model, as measured in the last sample.
    pub(crate) fn measured(&self) -> &Measured {
        &self.measured
    }

    /// Puts the robot's joints, in the order of its layout [rad or m], and the objects that are known where they are measured, at rest. The
    /// controller then holds where the joints are; what the hand knows it keeps.
    ///
    /// # Errors
    /// When a number is none.
    pub fn put(
        &mut self,
        positions: &[f64],
        objects: &[KnownObject],
    ) -> Result<(), RehearsalError> {
        let layout = &self.io.robots()[self.robot];
        let (name, joints) = (layout.name.clone(), layout.joints.clone());
        let world = self.io.world_mut();
        if let Some(id) = world.find_robot(&name) {
            let mut q = world.robot(id).q().to_vec();
            for (joint, position) in joints.iter().zip(positions) {
                q[joint.q] = *position;
            }
            world.set_robot_state(id, &q, &vec![0.0; self.model.nv])?;
        }
        for object in objects {
            let Some(id) = world.find_body(&object.name) else { continue };
            let body = world.body(id);
            let (middle, _) = body.description().shape.bounds();
            let pose = body.shape_pose() * Pose::from_translation(middle);
            let there = object.pose * (pose.inverse() * body.pose());
            if !body.description().fixed {
                world.set_body_state(id, there, Motion::default())?;
            }
        }
        self.io.hold(self.robot, true);
        self.controller = self.tuning.controller(&self.model)?;
        self.read();
        Ok(())
    }

    /// Whether an act is under way.
    pub fn is_busy(&self) -> bool {
        self.hand.as_ref().is_some_and(Hand::is_busy)
            || self.gait.as_ref().is_some_and(Gait::is_busy)
            || self.tools.as_ref().is_some_and(ToolChanger::is_busy)
    }

    /// Ends the act that is under way: the arm brakes, what is held stays held, a hand that moves stays where it is, a walk ends within two steps, and
    /// a change of tools where nothing is between being coupled and being let go. The result of a gripper command that ends so does not come.
    pub fn cancel(&mut self) {
        if let Some(hand) = &mut self.hand {
            hand.cancel();
        }
        if let Some(gait) = &mut self.gait {
            gait.cancel();
        }
        if let Some(tools) = &mut self.tools {
            tools.cancel();
        }
    }

    /// Runs one period, of a new cell only its first sample; the result of an act that ends in it.
    ///
    /// # Errors
    /// When the robot does not take the command, or the world can no longer be stepped.
    pub fn step(&mut self) -> Result<Option<Ended>, RobotIoError> {
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
        self.measured.take(&self.io.robots()[self.robot], &self.sample);
        let now = self.now();
        if self.sight.period > 0.0 && now >= self.sight.next {
            let objects = self.objects_as_sent();
            self.sight.next = now.plus_seconds(self.sight.period);
            (self.sight.at, self.sight.objects) = (now, objects);
        }
    }

    /// Drops what an act before has left, its gripper command among it; the objects that are seen.
    pub(crate) fn prepare(&mut self) -> Vec<KnownObject> {
        if let Some(hand) = &mut self.hand {
            hand.prepare();
        }
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

    /// Gives machine, engine and changer the sample; the result of an act that ends by it.
    pub fn tick(&mut self) -> Option<Ended> {
        let ended = self.tick_hand();
        let Self { gait, tools, controller, sample, measured, io, robot, .. } = self;
        let at =
            Instant { now: Time::from_seconds(io.time()), period: io.period(), sample, measured };
        let walked = gait.as_mut().and_then(|gait| gait.tick(&at));
        let layout = &io.robots()[*robot];
        let tool = io.tool().map_or("", |(_, tool)| tool);
        let asked = tools
            .as_mut()
            .map_or(Asked::Nothing, |tools| tools.tick(&at, layout, tool, controller));
        let judged = walked.zip(self.gait.as_ref()).map(|(end, gait)| {
            let at = self.stance(gait);
            Ended::Walk(gait.judged(end, &at))
        });
        let ended = ended.or(judged);
        match asked {
            Asked::Nothing => ended,
            Asked::End(result) => Some(Ended::Tool(result)),
            Asked::Couple(tool) => {
                let refused = self.couple(&tool);
                // A machine that has just started has seen no sample.
                self.tick_hand();
                if let Some(tools) = &mut self.tools {
                    tools.hear_coupling(refused, &self.io.robots()[self.robot]);
                }
                ended
            }
        }
    }

    /// The last sample, and when it was taken.
    pub(crate) fn instant(&self) -> Instant<'_> {
        let (sample, measured) = (&self.sample, &self.measured);
        Instant { now: self.now(), period: self.io.period(), sample, measured }
    }

    fn tick_hand(&mut self) -> Option<Ended> {
        self.hand.as_ref()?;
        let (now, period) = (self.now(), self.io.period());
        let (time, objects) = self.sighting();
        let sighting = (!self.faults.blind).then_some(Sighting { time, objects: &objects });
        let Self { hand, controller, sample, measured, .. } = self;
        let at = Instant { now, period, sample, measured };
        hand.as_mut()?.tick(&at, sighting, controller).map(Ended::Hand)
    }

    /// Answers the sample with a command.
    ///
    /// # Errors
    /// When the robot does not take the command.
    pub fn answer(&mut self) -> Result<(), RobotIoError> {
        let (now, period) = (self.now(), self.io.period());
        if let Some(hand) = &self.hand {
            hand.refer(&mut self.controller, now, period);
        }
        if let Some(gait) = &self.gait {
            gait.refer(&mut self.controller, now);
        }
        let Measured { q, v, effort } = &self.measured;
        self.controller.update(&State { q, v, effort }, now, period, &mut self.command);
        let layout = &self.io.robots()[self.robot];
        for (i, joint) in layout.joints.iter().enumerate() {
            let Command { position, velocity, effort, .. } = &self.command;
            self.message.position[i] = position[joint.body.0];
            self.message.velocity[i] = velocity[joint.body.0];
            self.message.effort[i] = effort[joint.body.0];
        }
        if let Some(hand) = &mut self.hand {
            hand.arm.hear(&self.controller);
            if let Some(generator) = layout.generators.first() {
                self.message.vacuum[0] =
                    if self.faults.no_vacuum { 0.0 } else { hand.vacuum() / generator.area };
            }
        }
        if let Some(tools) = &mut self.tools {
            tools.hear(&self.controller);
        }
        self.io.write(self.robot, &self.message)?;
        self.is_answered = true;
        Ok(())
    }
}
