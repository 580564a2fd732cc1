//! Trait of a robot's machine, and the plain data that crosses it.

use std::sync::Arc;

use karakuri_model::{BodyId, Model, SensorKind, SuctionCup, SuctionUnit};
use karakuri_spatial::{Force, Motion, Pose, UnitQuaternion, Vector3};

use crate::Health;

/// One or more robots that are sampled together: simulated, mocked or real.
pub trait RobotIo: Send {
    /// Layouts of the robots, in the order of the index that the other calls take.
    fn robots(&self) -> &[RobotLayout];

    /// Time between two samples. [s]
    fn period(&self) -> f64;

    /// Time of the present sample since the first one. [s]
    fn time(&self) -> f64;

    /// Sets the drives' targets for the next period. NaN leaves the target of a joint as it is.
    ///
    /// # Errors
    /// When the command does not fit the layout, has a number that is infinite or out of range, or the device fails.
    /// The robot is in hold afterwards.
    fn write(&mut self, robot: usize, command: &JointCommand) -> Result<(), RobotIoError>;

    /// Makes every drive of a robot hold its present position: at rest with the effort that now bears its load, as it would sag
    /// otherwise, in motion without feed-forward. Where `gripping`, those of the end effector keep their targets and feed-forward,
    /// and with them the grip. Vacuums stay as they are commanded: what they hold would fall.
    fn hold(&mut self, robot: usize, gripping: bool);

    /// Advances to the next sample: one control period.
    ///
    /// # Errors
    /// When the device fails: a bus that does not answer, a servo that stops. The robot is in hold afterwards.
    fn advance(&mut self) -> Result<(), RobotIoError>;

    /// Time until the next sample is due, by a machine with deadlines of its own; none where whoever advances decides. [s]
    fn due_in(&self) -> Option<f64> {
        None
    }

    /// Copies the present sample into `state`, which [`RobotState::new`] made for the same layout.
    fn read(&self, robot: usize, state: &mut RobotState);

    /// Reason why a robot cannot be commanded or read now; none without a fault.
    fn fault(&self, _robot: usize) -> Option<&Fault> {
        None
    }

    /// Lets a robot that a fault has stopped be commanded again, once a person has seen to it.
    ///
    /// # Errors
    /// When the device does not start again. The robot stays in hold.
    fn resume(&mut self, _robot: usize) -> Result<(), RobotIoError> {
        Ok(())
    }

    /// Switches the drives of a robot off, so that it can be moved by hand, until it is [resumed](Self::resume). It is measured
    /// all the same.
    ///
    /// # Errors
    /// When it is a machine that keeps its torque, or the device fails.
    fn release(&mut self, robot: usize) -> Result<(), RobotIoError> {
        let what =
            format!("robot `{}` has no drives that can be let go", self.robots()[robot].name);
        Err(RobotIoError::Device { what })
    }

    /// Appends the health of a robot's parts.
    fn health(&self, _robot: usize, _health: &mut Vec<Health>) {}

    /// Whether a robot exists and is measured, even with a fault; nothing is published about one that is not.
    fn is_present(&self, robot: usize) -> bool {
        !matches!(self.fault(robot), Some(Fault::Absent))
    }
}

impl<Io: RobotIo + ?Sized> RobotIo for Box<Io> {
    fn robots(&self) -> &[RobotLayout] {
        (**self).robots()
    }

    fn period(&self) -> f64 {
        (**self).period()
    }

    fn time(&self) -> f64 {
        (**self).time()
    }

    fn write(&mut self, robot: usize, command: &JointCommand) -> Result<(), RobotIoError> {
        (**self).write(robot, command)
    }

    fn hold(&mut self, robot: usize, gripping: bool) {
        (**self).hold(robot, gripping);
    }

    fn advance(&mut self) -> Result<(), RobotIoError> {
        (**self).advance()
    }

    fn due_in(&self) -> Option<f64> {
        (**self).due_in()
    }

    fn read(&self, robot: usize, state: &mut RobotState) {
        (**self).read(robot, state);
    }

    fn fault(&self, robot: usize) -> Option<&Fault> {
        (**self).fault(robot)
    }

    fn resume(&mut self, robot: usize) -> Result<(), RobotIoError> {
        (**self).resume(robot)
    }

    fn release(&mut self, robot: usize) -> Result<(), RobotIoError> {
        (**self).release(robot)
    }

    fn health(&self, robot: usize, health: &mut Vec<Health>) {
        (**self).health(robot, health);
    }

    fn is_present(&self, robot: usize) -> bool {
        (**self).is_present(robot)
    }
}

/// Fault that keeps a robot from being commanded or read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The robot is gone: nothing is published about it, and no commands to it are awaited.
    Absent,
    /// The machine has failed: an emergency stop, a servo too hot, a bus that does not answer.
    Device {
        /// Description of the fault, with its remedy.
        what: String,
    },
}

/// Reason why a call failed. The robot is in hold afterwards.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RobotIoError {
    /// A command array does not have one entry per joint or vacuum generator.
    #[error("command of robot `{robot}`: `{field}` has {got} entries, its layout asks for {want}")]
    CommandLength {
        /// Name of the robot.
        robot: String,
        /// Name of the array.
        field: &'static str,
        /// Number of entries given.
        got: usize,
        /// Number of joints, or of vacuum generators, of the robot.
        want: usize,
    },
    /// A command is infinite.
    #[error(
        "command of {part}: {field} is {value}; send a finite number, or NaN for `not commanded`"
    )]
    CommandNotFinite {
        /// Joint or vacuum generator, with its name.
        part: String,
        /// Name of the array.
        field: &'static str,
        /// Value that was given.
        value: f64,
    },
    /// A command is beyond the range of any joint.
    #[error(
        "command of {part}: {field} is {value:e}, beyond ±{limit:e}; whoever sends it has lost its numbers"
    )]
    CommandOutOfRange {
        /// Joint or vacuum generator, with its name.
        part: String,
        /// Name of the array.
        field: &'static str,
        /// Value that was given.
        value: f64,
        /// Largest magnitude that is accepted.
        limit: f64,
    },
    /// The machine behind the trait failed.
    #[error("{what}")]
    Device {
        /// Description of the failure, with its remedy.
        what: String,
    },
}

/// Largest magnitude of a command, far above the range of robots and far below what makes a simulation diverge in one step.
/// [rad, rad/s or N·m; m, m/s or N]
const LARGEST_COMMAND: f64 = 1e6;

/// Layout of one robot: its joints and sensors that are commanded and read.
#[derive(Debug, Clone)]
pub struct RobotLayout {
    /// Name of the robot; the ROS namespace of its topics.
    pub name: String,
    /// Model of the robot.
    pub model: Arc<Model>,
    /// Joints with one degree of freedom, in the model's order.
    pub joints: Vec<JointLayout>,
    /// Force sensors, in the model's order.
    pub wrenches: Vec<SensorLayout>,
    /// Inertial sensors, in the model's order.
    pub imus: Vec<SensorLayout>,
    /// Vacuum generators, in the model's order.
    pub generators: Vec<GeneratorLayout>,
    /// All suction cups, generator by generator.
    pub cups: Vec<CupLayout>,
}

/// Suction cup of a layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CupLayout {
    /// Name of the cup; the last part of its topic.
    pub name: String,
    /// Name of the link that it is on.
    pub link: String,
}

/// Vacuum generator of a layout.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratorLayout {
    /// Name of the generator, by which it is commanded.
    pub name: String,
    /// Effective area of all its cups. [m²]
    pub area: f64,
}

/// Joint of a layout.
#[derive(Debug, Clone, PartialEq)]
pub struct JointLayout {
    /// Name of the joint.
    pub name: String,
    /// Body of the model that the joint carries.
    pub body: BodyId,
    /// Index of its position coordinate.
    pub q: usize,
    /// Index of its velocity coordinate.
    pub v: usize,
    /// Least and largest position target of its drive. [rad or m]
    pub limits: (f64, f64),
    /// Whether it has a drive.
    pub driven: bool,
    /// Whether it belongs to the end effector.
    pub grips: bool,
}

/// Sensor of a layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SensorLayout {
    /// Name of the sensor; the last part of its topic.
    pub name: String,
    /// Name of the link that it is on.
    pub link: String,
    /// Index into the model's sensors.
    pub index: usize,
}

impl RobotLayout {
    /// Whether it has the name, joints and sensors of another layout.
    pub fn has_the_topics_of(&self, other: &Self) -> bool {
        let same = |a: &[SensorLayout], b: &[SensorLayout]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.name == b.name && a.link == b.link)
        };
        self.name == other.name
            && self.joints == other.joints
            && same(&self.wrenches, &other.wrenches)
            && same(&self.imus, &other.imus)
            && self.generators == other.generators
            && self.cups == other.cups
    }

    /// Layout of a model.
    pub fn new(name: &str, model: Arc<Model>) -> Self {
        let joints = model
            .joints
            .iter()
            .enumerate()
            .filter(|(_, j)| j.kind.single().is_some())
            .map(|(i, j)| JointLayout {
                name: j.name.clone(),
                body: BodyId(i),
                q: j.q_start,
                v: j.v_start,
                limits: (j.limits.lower, j.limits.upper),
                driven: j.drive.is_some(),
                grips: model.end_effector.as_ref().is_some_and(|e| e.joints.contains(&BodyId(i))),
            })
            .collect();
        let sensors = |matches: fn(SensorKind) -> bool| {
            model
                .sensors
                .iter()
                .enumerate()
                .filter(|(_, s)| matches(s.kind))
                .map(|(index, s)| SensorLayout {
                    name: s.name.clone(),
                    link: model.frames[s.frame.0].name.clone(),
                    index,
                })
                .collect()
        };
        let wrenches = sensors(|k| k != SensorKind::Imu);
        let imus = sensors(|k| k == SensorKind::Imu);
        let generator = |unit: &SuctionUnit| {
            let area = unit.cups.iter().map(|cup| cup.area).sum();
            GeneratorLayout { name: unit.name.clone(), area }
        };
        let generators = model.suctions.iter().map(generator).collect();
        let cup = |cup: &SuctionCup| CupLayout {
            name: cup.name.clone(),
            link: model.frames[cup.link.0].name.clone(),
        };
        let cups = model.suctions.iter().flat_map(|unit| &unit.cups).map(cup).collect();
        Self { name: name.to_owned(), joints, wrenches, imus, generators, cups, model }
    }

    /// Checks a command against the layout.
    ///
    /// # Errors
    /// When an array does not have one entry per joint or vacuum generator, or an entry is infinite or beyond the largest
    /// command. NaN passes.
    pub fn check(&self, command: &JointCommand) -> Result<(), RobotIoError> {
        for (field, values) in command.fields() {
            let part = |i: usize| format!("joint `{}`", self.joints[i].name);
            self.check_values(field, values, self.joints.len(), part)?;
        }
        let part = |i: usize| format!("vacuum generator `{}`", self.generators[i].name);
        self.check_values("vacuum", &command.vacuum, self.generators.len(), part)
    }

    fn check_values(
        &self,
        field: &'static str,
        values: &[f64],
        want: usize,
        part: impl Fn(usize) -> String,
    ) -> Result<(), RobotIoError> {
        if values.len() != want {
            let (robot, got) = (self.name.clone(), values.len());
            return Err(RobotIoError::CommandLength { robot, field, got, want });
        }
        let limit = LARGEST_COMMAND;
        let beyond = |v: &f64| v.abs() > limit;
        if let Some(i) = values.iter().position(|v| v.is_finite() && beyond(v)) {
            let (part, value) = (part(i), values[i]);
            return Err(RobotIoError::CommandOutOfRange { part, field, value, limit });
        }
        if let Some(i) = values.iter().position(|v| v.is_infinite()) {
            let (part, value) = (part(i), values[i]);
            return Err(RobotIoError::CommandNotFinite { part, field, value });
        }
        Ok(())
    }
}

/// Targets of the joint drives, in the layout's order; NaN is `not commanded`.
#[derive(Debug, Clone, PartialEq)]
pub struct JointCommand {
    /// Position targets of the drives; one beyond the limits of its joint means that limit. [rad or m] (n joints)
    pub position: Vec<f64>,
    /// Velocity targets of the drives. [rad/s or m/s] (n joints)
    pub velocity: Vec<f64>,
    /// Feed-forward efforts. [N·m or N] (n joints)
    pub effort: Vec<f64>,
    /// Desired vacuums; at 0 what is held is let go. [Pa] (n generators)
    pub vacuum: Vec<f64>,
}

impl JointCommand {
    /// Command that leaves all targets as they are.
    pub fn new(layout: &RobotLayout) -> Self {
        let none = vec![f64::NAN; layout.joints.len()];
        let vacuum = vec![f64::NAN; layout.generators.len()];
        Self { position: none.clone(), velocity: none.clone(), effort: none, vacuum }
    }

    /// Arrays of the command with their names.
    fn fields(&self) -> [(&'static str, &[f64]); 3] {
        [("position", &self.position), ("velocity", &self.velocity), ("effort", &self.effort)]
    }
}

/// Sample of one robot, in the layout's order.
#[derive(Debug, Clone, PartialEq)]
pub struct RobotState {
    /// Joint positions. [rad or m] (n joints)
    pub position: Vec<f64>,
    /// Joint velocities. [rad/s or m/s] (n joints)
    pub velocity: Vec<f64>,
    /// Efforts that the drives exert; NaN where one is not measured. [N·m or N] (n joints)
    pub effort: Vec<f64>,
    /// World pose and velocity of a floating root link.
    pub base: Option<(Pose, Motion)>,
    /// Wrenches that the surroundings exert on the sensors' links, at the links' origins and in their axes.
    pub wrenches: Vec<Force>,
    /// Readings of the inertial sensors.
    pub imus: Vec<ImuReading>,
    /// Vacuums in the suction cups; NaN where one is not measured. [Pa] (n cups)
    pub vacuums: Vec<f64>,
}

impl RobotState {
    /// Sample of zeros for a layout.
    pub fn new(layout: &RobotLayout) -> Self {
        let zeros = vec![0.0; layout.joints.len()];
        Self {
            position: zeros.clone(),
            velocity: zeros.clone(),
            effort: zeros,
            base: None,
            wrenches: vec![Force::default(); layout.wrenches.len()],
            imus: vec![ImuReading::default(); layout.imus.len()],
            vacuums: vec![0.0; layout.cups.len()],
        }
    }
}

/// Sample of an inertial sensor (REP 145), in the sensor link's axes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ImuReading {
    /// Orientation of the link in the world.
    pub orientation: UnitQuaternion,
    /// Angular velocity. [rad/s] (3)
    pub angular_velocity: Vector3,
    /// Specific force: at rest +g upward. [m/s²] (3)
    pub linear_acceleration: Vector3,
}
